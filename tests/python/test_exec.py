"""Programs on simulated systems: what they take is what the system gives, and what goes wrong is said."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exec_support import SMALL, spec
from test_trace_emulator import needs_qemu

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.execution import execute
from cxloom.execution.result import ExecutionResult

ROOT = Path(__file__).parents[2]


def played(command: list[str], *systems: Path, **options: Any) -> ExecutionResult:
    """What the marked part of it takes."""
    loaded = [cx.System.load(str(system)) for system in systems]
    return execute(command, loaded, caches=SMALL, region="marks", **options)


@needs_qemu
def test_a_chase_takes_the_latency_of_an_idle_read(program: str, tmp_path: Path) -> None:
    """20000 steps through a cycle of which the cache holds next to nothing."""
    systems = [spec(tmp_path), spec(tmp_path, "far", "250ns")]
    result = played([program, "chase", "16384"], *systems)
    assert result.ended.exit_code == 7
    for execution, system in zip(result.executions, systems, strict=True):
        [idle] = cx.System.load(str(system)).check()["routes"]
        assert execution.time_ns / 20000 == pytest.approx(idle["idle_read_ns"]["mean"], rel=0.03)
        assert sum(execution.parts().values()) == pytest.approx(1.0)
        assert execution.parts()["media"] > 0.8
    near, far = result.executions
    assert result.slowdowns == [1.0, pytest.approx(far.time_ns / near.time_ns)]
    assert 60000 <= result.instructions < 110000  # three or four per step, and the marks


@needs_qemu
def test_a_triad_takes_all_of_the_bandwidth(program: str, tmp_path: Path) -> None:
    result = played([program, "triad", "65536"], spec(tmp_path))
    [execution] = result.executions
    assert execution.summary["bandwidth_gb_per_s"] == pytest.approx(20.0, rel=0.03)
    lines = 65536 * 8 // 64
    assert result.accesses == pytest.approx(4 * lines, rel=0.03)  # three are read and one is written back


@needs_qemu
def test_a_narrow_core_is_slower(program: str, tmp_path: Path) -> None:
    """One line at a time instead of several; and what is computed goes by the width."""
    command = [program, "triad", "16384"]
    wide = played(command, spec(tmp_path)).executions[0]
    alone = played(command, spec(tmp_path, "alone", **{"core: {}": "core: {mshrs: 1}"})).executions[0]
    assert alone.time_ns > 3 * wide.time_ns
    narrow = "core: {width: 1, cycles_per_instruction: 1}"
    slow = played(command, spec(tmp_path, "slow", **{"core: {}": narrow})).executions[0]
    assert slow.core["busy_ns"] > 3 * wide.core["busy_ns"]


@needs_qemu
def test_threads_wait_for_each_other(program: str, tmp_path: Path) -> None:
    """Two chases take as long as one, or twice as long if one is joined before the other begins."""
    step = 90 * 8192
    pair = played([program, "pair", "8192"], spec(tmp_path)).executions[0]
    assert pair.core["threads"] == 2
    assert step < pair.time_ns < 1.05 * step
    in_turn = played([program, "in-turn", "8192"], spec(tmp_path)).executions[0]
    assert in_turn.time_ns == pytest.approx(2 * step, rel=0.05)
    assert in_turn.core["idle_ns"] == pytest.approx(step, rel=0.1)  # the one that joins


@needs_qemu
def test_a_thread_that_has_ended_is_joined_without_a_call(program: str, tmp_path: Path) -> None:
    """The emulator has it ended before it is joined: the word that shows this is told before what led to it."""
    step = 90 * 8192
    for _ in range(4):
        late = played([program, "late", "8192"], spec(tmp_path)).executions[0]
        assert late.time_ns == pytest.approx(2 * step, rel=0.05)


@needs_qemu
def test_other_work_on_this_machine_changes_nothing(program: str, tmp_path: Path) -> None:
    """The emulator runs threads when it can; their simulated times are their own."""
    alone = played([program, "pair", "8192"], spec(tmp_path)).executions[0]
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        beside = [played([program, "pair", "8192"], spec(tmp_path)).executions[0] for _ in range(3)]
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert [each.time_ns for each in beside] == [pytest.approx(alone.time_ns, rel=0.01)] * 3


@needs_qemu
def test_threads_share_the_bandwidth(program: str, tmp_path: Path) -> None:
    """Four lines in 90 ns for each thread, until all together reach what the memory has."""

    def bandwidth(threads: int, memory: str) -> float:
        file = spec(tmp_path, **{"core: {}": "core: {mshrs: 4}", "bandwidth: 20GB/s": f"bandwidth: {memory}"})
        [execution] = played([program, "sums", "32768", str(threads)], file).executions
        assert execution.core["threads"] == threads + 1
        return float(execution.summary["bandwidth_gb_per_s"])

    each = 4 * 64 / 90
    for threads in (1, 2, 4):
        assert bandwidth(threads, "20GB/s") == pytest.approx(threads * each, rel=0.03)
    assert bandwidth(4, "8GB/s") == pytest.approx(8, rel=0.03)


@needs_qemu
def test_a_region_without_an_access_takes_its_instructions(
    program: str, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    """A million rounds of a cycle each, at 4 GHz."""
    systems = (spec(tmp_path), spec(tmp_path, "far", "250ns"))
    result = played([program, "nothing", "1000000"], *systems)
    assert result.ended.exit_code == 3
    assert result.accesses == 0
    assert result.slowdowns == [1.0, 1.0]
    for execution in result.executions:
        assert execution.time_ns == pytest.approx(250_000, rel=0.01)
        assert execution.parts() == {"busy": 1.0}
        assert execution.summary["requests"] == 0
    assert "no memory was accessed" in result.notes[-1]
    page = tmp_path / "page.html"
    system = ("--system", systems[0], "--roi", "marks", "--html", page)
    outcome = cxloom("exec", *system, "--", program, "nothing", "1000")
    assert outcome.code == 3
    assert "no memory was accessed" in outcome.err
    assert "no memory was accessed" in page.read_text()


@needs_qemu
def test_the_command(program: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    out = tmp_path / "out" / "result.json"
    levels = ("--levels", "L1:4KiB:4", "--roi", "marks", "--out", out)
    systems = ("--system", spec(tmp_path, "far", "250ns"), "--against", spec(tmp_path))
    outcome = cxloom("exec", *systems, *levels, "--", program, "chase", "16384")
    assert outcome.code == 7
    assert outcome.out == "1\n"
    assert "slowdown" in outcome.err
    assert "Most of the time on far" in outcome.err
    assert "goes to media" in outcome.err
    found = json.loads(out.read_text())
    assert [each["system"] for each in found["systems"]] == ["near", "far"]
    assert found["systems"][1]["slowdown"] == pytest.approx(260 / 90, rel=0.05)


@needs_qemu
def test_pages_where_they_are_wanted(program: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    """A chase through pages in far memory, or half of them there, beside the same in the nearest."""
    file = tmp_path / "both.yaml"
    file.write_text(
        "name: both\n"
        "devices:\n"
        "  host: {kind: host, process_time: 5ns}\n"
        "  near: {kind: memory, capacity: 1GiB, controller_time: 5ns, media: {kind: fixed, latency: 80ns}}\n"
        "  far: {kind: memory, capacity: 1GiB, controller_time: 5ns, media: {kind: fixed, latency: 280ns}}\n"
        'links: [{between: ["host", "near"]}, {between: ["host", "far"], port_delay: 1ns}]\n'
        "address_map: [{to: near}, {to: far}]\n"
    )
    out = tmp_path / "result.json"

    def times(*options: str) -> list[float]:
        """The times of a step, in ns, on each system."""
        more = ("--levels", "L1:4KiB:4", "--roi", "marks", "--out", out, "--", program, "chase", "16384")
        outcome = cxloom("exec", "--system", file, *options, *more)
        assert outcome.code == 7, outcome.err
        return [each["time_ns"] / 20000 for each in json.loads(out.read_text())["systems"]]

    assert times() == [pytest.approx(90, rel=0.03)]
    assert times("--membind", "far") == [pytest.approx(90, rel=0.03), pytest.approx(294, rel=0.03)]
    assert times("--preferred", "far")[1] == pytest.approx(294, rel=0.03)
    assert times("--interleave", "near,far")[1] == pytest.approx((90 + 294) / 2, rel=0.03)
    weighted = "{kind: interleave, nodes: [near, far], weights: [3, 1]}"
    assert times("--pages", weighted)[1] == pytest.approx((3 * 90 + 294) / 4, rel=0.03)
    twice = cxloom("exec", "--system", file, "--membind", "far", "--pages", "first-touch", "--", program)
    assert twice.code == 2
    assert "said twice" in twice.err
    nowhere = cxloom("exec", "--system", file, "--membind", "fra", "--", program)
    assert nowhere.code == 2
    assert "fra" in nowhere.err


@needs_qemu
def test_a_program_that_is_interrupted_leaves_what_it_did(tmp_path: Path) -> None:
    """Ctrl-C once the program runs."""
    started = tmp_path / "started"
    command = [sys.executable, "-m", "cxloom", "exec", "--system", str(spec(tmp_path)), "--", "/bin/sh"]
    child = subprocess.Popen(
        [*command, "-c", f"echo > {started}; while :; do :; done"], stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while not started.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "interrupted" in said
    assert "instructions per cycle" in said


@needs_qemu
def test_mistakes(program: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    near = spec(tmp_path)

    def refused(*arguments: Any) -> str:
        outcome = cxloom("exec", *arguments)
        assert outcome.code == 2, outcome.err
        assert outcome.out == ""
        return str(outcome.err)

    assert "no such file" in refused("--system", tmp_path / "none.yaml", "--", program).lower()
    assert "missing option '--system'" in refused("--", program)
    assert "'mem' makes no requests" in refused("--system", near, "--host", "mem", "--", program)
    assert "missing" in refused("--system", near, "--", tmp_path / "missing")
    assert "not a cache level" in refused("--system", near, "--levels", "L1:4KiB", "--", program)
    two = spec(tmp_path, "two", **{"core: {}}": "core: {}}\n  other: {kind: host}"})
    assert "which device runs the program?" in refused("--system", two, "--", program)
    other = spec(tmp_path, "other", **{"core: {}": "core: {window: 64}"})
    assert "differ in how they run instructions" in refused(
        "--system", near, "--against", other, "--", program
    )
    tiny = spec(tmp_path, "tiny", **{"1GiB": "64KiB"})
    assert "out of memory" in refused("--system", tiny, "--", program, "triad", "65536")


@needs_qemu
def test_memory_that_the_host_has_no_way_to(program: str, tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    """Bound to it the program was out of memory with at most 0 pages, and interleaved the table said that it was."""
    host = "host: {kind: host, process_time: 5ns, queue: 256, core: {}}"
    vcs = "sw: {kind: switch, vcs: [{upstream: host, vppbs: 2, bind: [near]}]}\n  near: {kind: memory}"
    links = "{between: [sw, host]}, {between: [sw, mem]}, {between: [sw, near]}"
    instead = {
        host: f"{host}\n  {vcs}",
        "{between: [host, mem], bandwidth: 64GB/s}": links,
        "{to: [mem]}": "{to: near}, {to: mem}",
    }
    apart = ("exec", "--system", spec(tmp_path, "apart", **instead), "--roi", "marks")
    bound = cxloom(*apart, "--membind", "mem", "--", program, "chase", "4096")
    assert bound.code == 2
    words = "--membind: out of memory: of those that the pages of the program may use none is there for it"
    assert words in bound.err
    said = cxloom(*apart, "--interleave", "near,mem", "--", program, "chase", "4096").err
    assert "note: no access went to mem, where 'interleave near,mem' puts pages, too" in said


@needs_qemu
def test_work_of_others_that_is_not_played_is_said(program: str, tmp_path: Path) -> None:
    beside = {
        "core: {}}": "core: {}}\n  other: {kind: host}",
        "capacity: 1GiB": "heads: 2, capacity: 1GiB",
        "[{between": "[{between: [other, mem]}, {between",
        "address_map": "workload: {other: {pattern: random, requests: 9, footprint: 1MiB}}\naddress_map",
    }
    [line] = notes_on_others(program, spec(tmp_path, "two", **beside), "host")
    assert line.startswith("the program runs alone: the workload of other is not played; --record")
    assert notes_on_others(program, spec(tmp_path), None) == []


def notes_on_others(program: str, system: Path, host: str | None) -> list[str]:
    found = execute([program, "chase", "64"], [cx.System.load(str(system))], caches=SMALL, host=host)
    return [note for note in found.notes if "alone" in note]


def test_no_system_is_refused() -> None:
    with pytest.raises(InputError, match="no system"):
        execute(["true"], [])


@needs_qemu
def test_errors_name_the_option_or_the_program(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    """And not the spec, which has neither."""
    system = spec(tmp_path)
    bind = "{kind: bind, nodes: [fra]}"
    for options, said in (
        (("--pages", bind), "error: --pages.nodes[0]: no node of this device has such a memory found: 'fra'"),
        (("--membind", "fra"), "error: --membind: no node of this device has such a memory found: 'fra'"),
        (
            ("--interleave", "mem,fra"),
            "error: --interleave: no node of this device has such a memory found: 'fra'",
        ),
        (
            ("--place", "a=mem", "--place", "heap=fra"),
            "error: --place heap=fra: no node of this device has such",
        ),
        (("--place", "heap=mem", "--pages", bind), "error: --pages.nodes[0]: no node"),
        (("--place", "heap=mem", "--preferred", "fra"), "error: --preferred: no node"),
        (("--roi", "marks"), "error: the region of interest was not reached: no mark"),
    ):
        outcome = cxloom("exec", "--system", system, *options, "--", "/bin/true")
        assert outcome.code == 2
        assert said in " ".join(outcome.err.split())
        assert str(system) not in outcome.err
