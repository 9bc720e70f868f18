"""Programs that make lines durable, under QEMU: which flushes and fences are recorded, and what they take."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program_support import PROGRAMS as EXAMPLES
from test_trace_emulator import needs_qemu
from validation.examples import some

import cxloom as cx
from cxloom.base.errors import InputError, SimulationError
from cxloom.execution import execute, replay
from cxloom.trace import (
    ALL_BEFORE,
    FLUSH,
    FLUSH_DATA_KEEPING,
    PROGRESS,
    CacheLevel,
    capture,
    info,
    open_trace,
)

ROOT = Path(__file__).parents[2]
FORCED = {"F": {3, 5}, "K": {4, 6}}
"""The kinds of flushes that take a line out, and of those that keep it: with data of caches in front, or without."""

SPEC = """
name: {name}
devices:
  host: {{kind: host, process_time: 10ns, core: {{}}}}
  pm:
    {{kind: memory, capacity: 1GiB, controller_time: 40ns,
      media: {{kind: fixed, latency: 100ns, write_latency: {write}}}}}
links: [{{between: [host, pm], port_delay: 25ns}}]
address_map: [{{to: pm, persistence: {persistence}}}]
"""


def system(persistence: str = "media", write: str = "200ns", cache: str = "") -> cx.System:
    text = SPEC.format(name=persistence, write=write, persistence=persistence)
    return cx.System.from_yaml(text.replace("core: {}", f"core: {{}}{cache}"))


def built(folder: Path, source: Path, *flags: str) -> Path:
    compiler = shutil.which("cc") or "gcc"
    program = folder / source.stem
    options = ["-O2", "-static", f"-I{ROOT / 'include'}", *flags]
    subprocess.run([compiler, *options, source, "-o", program, "-lm"], check=True)
    return program


@pytest.fixture(scope="module")
def flushes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("flushes"), Path(__file__).parent / "programs" / "flushes.c")


def flush_rows(trace: Path) -> tuple[list[tuple[int, int]], list[int]]:
    """Address and kind of each flush, and how many of them were before each fence."""
    batches = list(open_trace(trace))
    kind, address, role, dependence = (
        np.concatenate([getattr(batch, name) for batch in batches])
        for name in ("kind", "address", "role", "dependence")
    )
    flush = (kind >= FLUSH) & (kind <= FLUSH_DATA_KEEPING)
    fence = (role == PROGRESS) & (dependence == ALL_BEFORE)
    before = np.cumsum(flush)[fence]
    rows = list(zip(address[flush].tolist(), kind[flush].tolist(), strict=True))
    return rows, before.tolist()


@needs_qemu
@pytest.mark.parametrize(("form", "fences"), [("instructions", [48, 51]), ("marks", [32, 33])])
@pytest.mark.parametrize("caches", [[], [CacheLevel("L1", "4KiB", 4)]])
def test_the_flushes_are_those_that_the_program_tells(
    flushes: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    form: str,
    fences: list[int],
    caches: list[CacheLevel],
) -> None:
    """Static and without randomisation, so that the program has the same addresses under the emulator."""
    trace = tmp_path / "t.parquet"
    result = capture([str(flushes), form], trace, caches=caches, region="marks", virtual=True)
    told = [line.split() for line in capfd.readouterr().out.splitlines()]
    rows, before = flush_rows(trace)
    assert result.flushes == len(told) == len(rows)
    assert [address for address, _ in rows] == [int(address, 16) for address, _ in told]
    assert all(kind in FORCED[letter] for (_, kind), (_, letter) in zip(rows, told, strict=True))
    assert before == fences
    found = info(trace)
    assert (found.flushes, found.fences) == (len(rows), len(fences))


@needs_qemu
def test_a_flush_whose_address_qemu_does_not_store_is_no_guess(flushes: Path, tmp_path: Path) -> None:
    with pytest.raises(
        SimulationError,
        match=r"cannot read the address of the flush instruction before 0x.* <cxloom/persist.h>",
    ):
        capture([str(flushes), "unknown"], tmp_path / "t.parquet")
    assert not (tmp_path / "t.parquet").exists()


@needs_qemu
def test_no_bytes_have_no_line_to_flush(tmp_path: Path) -> None:
    source = tmp_path / "none.c"
    source.write_text(
        "#include <cxloom/persist.h>\n"
        "static char data[256];\n"
        "int main(int argc, char** argv) {\n"
        "  const size_t none = (size_t)argc - 1;\n"
        "  cxloom_flush(data + 7, none), cxloom_flush_out(data + 63, none), cxloom_persist(data + 1, none);\n"
        "  cxloom_persist(data + 1, none + 1);\n"
        "  return argv == 0;\n"
        "}\n"
    )
    program = built(tmp_path, source, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
    assert capture([str(program)], tmp_path / "t.parquet").flushes == 1


@needs_qemu
@pytest.mark.parametrize("name", some(["hashmap", "logappend", "cowtree", "queue", "kvstore", "checkpoint"]))
def test_marks_and_instructions_are_the_same_persists(tmp_path: Path, name: str) -> None:
    """The example programs, built either way: the same lines of the pool, with fences at the same places."""
    sizes = {"hashmap": ["100", "300"], "checkpoint": ["3", "8"], "kvstore": ["50", "60"]}.get(name, ["150"])
    seen = []
    for flags in ((), ("-DINSTRUCTIONS",), ("-DINSTRUCTIONS", "-DFLUSH_OUT"), ("-DFLUSH_OUT",)):
        folder = tmp_path / "-".join(("built", *flags))
        folder.mkdir()
        program = built(folder, EXAMPLES / f"{name}.c", *flags)
        trace = folder / "t.parquet"
        capture(
            [str(program), *sizes],
            trace,
            region="marks",
            virtual=True,
            caches=[CacheLevel("L1", "32KiB", 8)],
        )
        rows, before = flush_rows(trace)
        assert len(rows) > 50
        assert {kind for _, kind in rows} <= FORCED["F" if "-DFLUSH_OUT" in flags else "K"]
        seen.append(([address for address, _ in rows], before))
    assert all(each == seen[0] for each in seen)


@needs_qemu
@pytest.mark.parametrize("cache", ["", ", cache: {size: 64KiB}"])
def test_a_replay_of_persists_is_the_same(tmp_path: Path, cache: str) -> None:
    program = built(tmp_path, EXAMPLES / "queue.c")
    systems = [system(cache=cache), system(write="400ns", cache=cache)]
    trace = tmp_path / "t.parquet"
    small = [CacheLevel("L1", "4KiB", 4)]
    online = execute([str(program), "200"], systems, caches=small, region="marks", record=trace)
    again = replay(trace, systems)
    for one, other in zip(online.executions, again.executions, strict=True):
        assert one.time_ns == other.time_ns
        assert one.summary["flush"] == other.summary["flush"]
        assert one.summary["flushes"] == 600
        assert one.summary["per_memory"]["pm"]["writes"] >= 600
    # Each of the 600 persists has a fence, and each fence waits for its line: 200 ns more each time.
    first, second = (each.time_ns for each in online.executions)
    assert second - first == pytest.approx(600 * 200, rel=0.01)
    assert first > 600 * (200 + 40 + 100 + 10)


@needs_qemu
def test_without_persistent_memory_flushes_are_left_out(tmp_path: Path) -> None:
    program = built(tmp_path, EXAMPLES / "queue.c")
    trace = tmp_path / "t.parquet"
    result = execute([str(program), "200"], [system("volatile")], record=trace)
    assert "602 flushes of lines left out: no memory of a system is persistent" in result.notes
    assert info(trace).flushes == info(trace).fences == 0
    # Beside another that has some, they write lines of this one.
    both = execute([str(program), "200"], [system("volatile"), system()], region="marks")
    volatile, durable = both.executions
    assert volatile.time_ns == durable.time_ns
    assert any("volatile memory 600 times" in note for note in volatile.summary["notes"])
    assert not any("volatile memory" in note for note in durable.summary["notes"])
    [lifted] = [note for note in both.notes if "volatile memory" in note]
    assert lifted.startswith("volatile: workload.host flushed lines of volatile memory 600 times")
    # The trace of a system with some is replayed as it is, and the result says what that does.
    execute([str(program), "200"], [system()], region="marks", record=trace)
    again = replay(trace, [system("volatile")])
    assert again.executions[0].time_ns == volatile.time_ns
    assert any(
        note.startswith("workload.host flushed lines of volatile memory 600 times") for note in again.notes
    )


def test_flushes_that_bring_data_of_coherent_memory_are_refused(tmp_path: Path) -> None:
    trace = tmp_path / "t.txt"
    trace.write_text("# cxloom-trace 2: address kind\n0x0 W\n0x0 G\n")
    text = """
devices:
  host: {kind: host}
  mem: {kind: memory, capacity: 1GiB, dcoh: {}}
links: [{between: [host, mem]}]
address_map: [{to: mem, coherence: hdm-db}]
"""
    text += f"workload: {{host: {{trace: {trace}}}}}\n"
    with pytest.raises(InputError, match="access 1 is a flush that brings data of coherent memory"):
        cx.run(cx.System.from_yaml(text))


@needs_qemu
def test_the_command_tells_of_flushes(flushes: Path, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    outcome = cxloom("trace", "capture", "--out", tmp_path / "t.parquet", "--", flushes, "marks")
    assert outcome.code == 0, outcome.err
    assert ", 33 flushes" in outcome.err
