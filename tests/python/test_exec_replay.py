"""Recorded programs on simulated systems: a replay is what the recording was, and so is another run of the program."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exec_support import SMALL, spec
from program_support import SMALL as SMALL_RUNS
from program_support import built_programs
from test_trace_emulator import needs_qemu
from validation.examples import some

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.execution import execute, replay
from cxloom.execution.feed import _Feed
from cxloom.execution.result import ExecutionResult
from cxloom.trace import CacheLevel, capture, info

SIZES = SMALL_RUNS | {"stream": ["20000", "3", "1"], "chase": ["4096", "8000"]}


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the examples, built."""
    return built_programs()


def same(one: ExecutionResult, other: ExecutionResult) -> None:
    """To the picosecond, and in all that is measured."""
    for a, b in zip(one.executions, other.executions, strict=True):
        assert a.time_ns == b.time_ns
        assert a.core == b.core
        measured = [{k: v for k, v in each.summary.items() if k != "cost"} for each in (a, b)]
        assert measured[0] == measured[1]
    assert one.accesses == other.accesses
    assert one.command == other.command


def commands(programs: Path) -> dict[str, list[str]]:
    """A single thread, several that wait for each other, and a program that is not ours."""
    query = "with recursive c(x) as (select 1 union all select x+1 from c where x<300) select sum(x) from c"
    return {
        "chase": [str(programs / "chase"), *SIZES["chase"]],
        "stream": [str(programs / "stream"), *SIZES["stream"]],
        "sqlite3": ["sqlite3", ":memory:", query],
    }


@needs_qemu
@pytest.mark.parametrize("name", some(["sqlite3", "stream", "chase"]))
def test_a_replay_is_the_same_to_the_picosecond(programs: Path, tmp_path: Path, name: str) -> None:
    command = commands(programs)[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    systems = [cx.load(str(spec(tmp_path))), cx.load(str(spec(tmp_path, "far", "250ns")))]
    trace = tmp_path / "trace.parquet"
    online = execute(command, systems, caches=SMALL, record=trace)
    assert online.accesses == info(trace).accesses > 1000
    again = replay(trace, systems)
    assert again.ended is None
    same(online, again)
    assert again.executions[0].core["threads"] == (3 if name == "stream" else 1)
    # As text, and on one of the systems alone.
    text = tmp_path / "trace.txt"
    cx.trace.convert(trace, text)
    alone = replay(text, systems[1:])
    assert alone.executions[0].core == online.executions[1].core


@needs_qemu
@pytest.mark.parametrize(("name", "within"), [("chase", 0.001), ("stream", 0.02)])
def test_another_run_takes_as_long(programs: Path, tmp_path: Path, name: str, within: float) -> None:
    """What is captured without a system is what another run does on one; threads meet in another order."""
    command = commands(programs)[name]
    system = [cx.load(str(spec(tmp_path)))]
    trace = tmp_path / "trace.parquet"
    capture(command, trace, caches=SMALL, region="marks")
    online = execute(command, system, caches=SMALL, region="marks")
    assert replay(trace, system).executions[0].time_ns == pytest.approx(
        online.executions[0].time_ns, rel=within
    )


@needs_qemu
def test_a_run_of_a_host_with_a_core_is_the_same(programs: Path, tmp_path: Path) -> None:
    """A workload that plays the trace, and without a core its accesses alone."""
    trace = tmp_path / "trace.parquet"
    file = spec(tmp_path)
    online = execute(commands(programs)["stream"], [cx.load(str(file))], caches=SMALL, record=trace)
    work = f"workload: {{host: {{trace: {trace}, addresses: first-touch}}}}\n"
    file.write_text(file.read_text() + work)
    played = cx.run(cx.load(str(file))).summary
    assert played["per_requester"]["host"]["core"] == online.executions[0].core
    assert not any("ended after" in note for note in played["notes"])
    file.write_text(
        file.read_text().replace("first-touch}", "first-touch, requests: 100}") + "run: {warmup: 0}\n"
    )
    assert cx.run(cx.load(str(file))).summary["requests"] == 100  # what is no access does not count
    file.write_text(file.read_text().replace(", requests: 100", "").replace("run: {warmup: 0}\n", ""))
    file.write_text(file.read_text().replace(", core: {}", ""))
    cx.load(str(file)).check()
    without = cx.run(cx.load(str(file))).summary
    assert without["requests"] == online.accesses
    assert not any("ended after" in note for note in without["notes"])


@needs_qemu
@pytest.mark.parametrize("name", some(SIZES))
def test_programs_run_as_they_do_by_themselves(
    programs: Path, tmp_path: Path, cxloom: Callable[..., Any], name: str
) -> None:
    """Output and exit code are the program's, also of one that refuses its arguments."""
    for arguments in (SIZES[name], ["none"]) if name == "graph" else (SIZES[name],):
        command = [str(programs / name), *arguments]
        native = subprocess.run(command, capture_output=True, text=True, check=False)
        outcome = cxloom("exec", "--system", spec(tmp_path), "--", *command)
        assert (outcome.code, outcome.out) == (native.returncode, native.stdout), outcome.err
        assert native.stderr in outcome.err
        assert "instructions per cycle" in outcome.err


@needs_qemu
def test_the_command_records_and_replays(programs: Path, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    near, far = spec(tmp_path), spec(tmp_path, "far", "250ns")
    trace, out = tmp_path / "chase.parquet", tmp_path / "out.json"
    chase = commands(programs)["chase"]
    options = ("--system", far, "--against", near, "--out", out)
    online = cxloom("exec", *options, "--levels", "L1:4KiB:4", "--record", trace, "--", *chase)
    assert online.code == 0, online.err
    first = json.loads(out.read_text())
    again = cxloom("exec", *options, "--replay", trace)
    assert (again.code, again.out) == (0, "")
    assert "replayed" in again.err
    second = json.loads(out.read_text())
    assert second["ended"] is None
    for one, other in zip(first["systems"], second["systems"], strict=True):
        assert (one["time_ns"], one["slowdown"]) == (other["time_ns"], other["slowdown"])


def test_mistakes(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    near = spec(tmp_path)
    trace = tmp_path / "trace.txt"

    def refused(*arguments: Any) -> str:
        outcome = cxloom("exec", "--system", near, *arguments)
        assert outcome.code == 2, outcome.err
        assert outcome.out == ""
        return " ".join(str(outcome.err).split())

    assert "what is to be run?" in refused()
    assert "what is to be run?" in refused("--replay", trace, "--", "true")
    assert "no such file" in refused("--replay", trace)
    assert "a replay with options of a recording found: --levels and --record" in refused(
        "--replay", trace, "--levels", "L1:4KiB:4", "--record", tmp_path / "again.parquet"
    )
    trace.write_text(
        '# cxloom-trace 2: address kind cycles\n# metadata: {"core": "{\\"width\\": 4}"}\n0x0 R 1\n'
    )
    said = refused("--replay", trace)
    assert "the trace was recorded for another core" in said
    assert "--core '{}'" in said
    trace.write_text('# cxloom-trace 2: address kind cycles\n# metadata: {"core": "wide"}\n0x0 R 1\n')
    assert "not a core found: 'wide'" in refused("--replay", trace)
    trace.write_text("# cxloom-trace 2: address kind\n0x0 R\n")
    for option, name, words in (
        ("--out", "out.csv", "--out: unsupported result format"),
        ("--html", "page.txt", "--html: unsupported page format"),
        ("--out", "near.yaml/out.json", "cannot be written: not a directory"),
    ):  # before the program has run for an hour
        assert words in refused("--replay", trace, option, tmp_path / name)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["near.yaml", "trace.txt"]


def test_systems_of_one_name_are_called_as_their_files(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    """Both columns were of `the system: first-touch`. What two halves of a program differ in is no fault of a run."""
    near, far = spec(tmp_path), spec(tmp_path, "far", "250ns")
    for file in (near, far):
        file.write_text(file.read_text().replace(f"name: {file.stem}\n", "outputs: {series: 1s}\n"))
    trace, out = tmp_path / "trace.txt", tmp_path / "out.json"
    lines = [f"{64 * at:#x} R {int(0 < at < 1000)}\n" for at in range(2000)]
    trace.write_text("# cxloom-trace 2: address kind dependence\n" + "".join(lines))
    done = cxloom("exec", "--system", far, "--against", near, "--replay", trace, "--out", out)
    assert done.code == 0, done.err
    assert [each["system"] for each in json.loads(out.read_text())["systems"]] == [str(near), str(far)]
    assert "not stationary" not in done.err
    assert "series" not in done.err


def test_a_replay_of_a_trace_that_is_cut_off_leaves_nothing_behind(tmp_path: Path) -> None:
    """The error knows where it was raised, and its frames the simulation: what that holds must not hold the error."""
    trace = tmp_path / "trace.txt"
    head = '# cxloom-trace 2: address kind cycles\n# metadata: {"core": "{}"}\n'
    trace.write_text(head + "0x0 R 1\n" * 900 + "0x0 R te")
    with pytest.raises(InputError, match=r"trace\.txt:903"):
        replay(trace, [cx.load(str(spec(tmp_path)))])
    gc.collect()
    assert not [each for each in gc.get_objects() if isinstance(each, _Feed)]


def test_a_trace_without_cycles_says_so(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("# cxloom-trace 1: address kind instruction_gap\n" + "0x0 R 10\n" * 10)
    outcome = cxloom("exec", "--system", spec(tmp_path), "--replay", trace)
    assert outcome.code == 0, outcome.err
    assert "the trace has no cycles" in outcome.err
    assert "100 instructions of 1 thread" in outcome.err
    assert replay(trace, [cx.load(str(spec(tmp_path)))]).executions[0].core["instructions"] == 100


def test_the_record_has_a_name_that_says_its_form(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no known trace suffix"):
        execute(
            ["true"], [cx.load(str(spec(tmp_path)))], caches=[CacheLevel("L1", "4KiB", 4)], record="a.json"
        )
