"""Boards of gem5's standard library and programs on hosts of cxloom, in gem5 itself: `make gem5-check GEM5=FOLDER`.

Programs want a gem5 that runs RISC-V and a compiler for it; boards want the standard library; Ruby's caches want
MESI_Two_Level.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from gem5_support import (
    EXPANDER,
    IDLE_TICKS,
    LOGS,
    ROOT,
    SCRIPTS,
    cxloom,
    gem5,
    output,
    program,
    replayed,
    resolved,
    statistics,
    wants,
)


def test_a_generator_of_a_board_reads_from_the_system(tmp_path: Path) -> None:
    wants("boards")
    (tmp_path / "system.yaml").write_text(EXPANDER.format(queue=64))
    stats = gem5(tmp_path, "board_traffic.py", "--system", tmp_path / "system.yaml")
    assert stats["memory.host.reads"] > 90
    assert stats["memory.host.meanReadLatency"] == IDLE_TICKS


def test_a_medium_of_gem5_has_the_same_time_on_a_board(tmp_path: Path) -> None:
    wants("boards")
    spec = EXPANDER.format(queue=64)
    (tmp_path / "system.yaml").write_text(spec)
    # As in gem5_real.py, a read each microsecond before the first refresh.
    few = ["--duration", "7us", "--medium", "mem"]
    board = gem5(tmp_path, "board_traffic.py", "--system", tmp_path / "system.yaml", *few)
    system = resolved(tmp_path, spec)
    bare = gem5(tmp_path / "bare", "traffic.py", "--system", system, "--medium", "mem", "--requests", "7")
    opens_the_row = 14_160  # tRCD, of the first read alone
    hits = [
        stats[f"{host}.meanReadLatency"] - opens_the_row / stats[f"{host}.reads"]
        for stats, host in ((board, "memory.host"), (bare, "host"))
    ]
    assert board["memory.host.reads"] == pytest.approx(7, abs=1)
    assert hits[0] == pytest.approx(hits[1], rel=1e-9)
    assert hits[0] != IDLE_TICKS, "gem5's DRAM takes other than 45 ns"


CYCLE = 1000 / 3
"""Ticks, at 3 GHz."""
WAY_THROUGH_CACHES = 24 * CYCLE
"""The way of a miss: look-ups of 1 and 10 cycles, buses of 1 and 7 down; 2, 1, 1 and 1 up again."""
PROGRAMS = ROOT / "examples" / "programs"


def test_a_chase_of_pointers_takes_the_latency_of_the_system(tmp_path: Path) -> None:
    wants("boards")
    chase = program(tmp_path, PROGRAMS / "chase.c", "-DCXLOOM_GEM5")
    (tmp_path / "system.yaml").write_text(EXPANDER.format(queue=64))
    lines, steps = 8192, 4000
    arguments = ["--system", tmp_path / "system.yaml", "--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB"]
    said = output(tmp_path, "one_host.py", *arguments, "--", chase, str(lines), str(steps))
    assert f"chase: lines in the cycle: {lines}\n" in said
    between_marks = statistics(tmp_path, 1)
    assert between_marks["memory.host.meanReadLatency"] == pytest.approx(IDLE_TICKS, rel=0.03)
    missed = (
        between_marks["memory.host.reads"] / steps
    )  # a step rarely finds its line in the 32 KiB of a cache
    assert missed > 0.9
    way = missed * (IDLE_TICKS + WAY_THROUGH_CACHES)
    assert between_marks["simTicks"] / steps == pytest.approx(way, rel=0.03)


def test_an_offset_chooses_the_memory_of_a_program(tmp_path: Path) -> None:
    """The commands of docs/gem5.md: local DRAM first, then the expander behind a link."""
    wants("boards")
    chase = program(tmp_path, PROGRAMS / "chase.c", "-DCXLOOM_GEM5")
    arguments = ["--system", SCRIPTS / "local-and-cxl.yaml", "--l1", "4KiB", "--l2", "32KiB"]
    latency = []
    for name, offset in (("local", []), ("cxl", ["--offset", "64MiB"])):
        output(tmp_path / name, "one_host.py", *arguments, *offset, "--", chase, "8192", "2000")
        latency.append(statistics(tmp_path / name, 1)["memory.host.meanReadLatency"])
    # Controllers of 40 and 20 ns; ways of 2 (25 + 5 + 25) + 0.5 + 2.5 ns and of 2 x 5 ns.
    assert latency[1] - latency[0] == pytest.approx(20_000 + 113_000 - 10_000, rel=0.03)


@pytest.mark.parametrize("memory", ["--simple", "--delay"])
def test_a_memory_of_one_latency_is_in_the_place_of_a_system(tmp_path: Path, memory: str) -> None:
    wants("boards")
    chase = program(tmp_path, PROGRAMS / "chase.c", "-DCXLOOM_GEM5")
    small = ["--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB", "--no-prefetchers"]
    lines, steps = 8192, 2000
    ticks = []
    for latency in (IDLE_TICKS, 2 * IDLE_TICKS):
        arguments = [memory, f"{latency}ps", *small, "--", chase, str(lines), str(steps)]
        output(tmp_path / str(latency), "one_host.py", *arguments)
        ticks.append(statistics(tmp_path / str(latency), 1)["simTicks"] / steps)
    missed = (ticks[1] - ticks[0]) / IDLE_TICKS
    assert missed == pytest.approx(1, rel=0.01)  # no line is met twice in so few steps
    assert ticks[0] == pytest.approx(missed * (IDLE_TICKS + WAY_THROUGH_CACHES), rel=0.03)


def test_prefetchers_can_be_left_out(tmp_path: Path) -> None:
    """A stream waits for less of the latency if strides are read before they are asked for."""
    wants("boards")
    stream = program(tmp_path, PROGRAMS / "stream.c")
    small = ["--delay", "208ns", "--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB", "--cpu", "timing"]
    ticks = []
    for name, none in (("with", []), ("without", ["--no-prefetchers"])):
        output(tmp_path / name, "one_host.py", *small, *none, "--", stream, "8192", "1", "1")
        ticks.append(statistics(tmp_path / name)["simTicks"])
    assert ticks[1] > 1.1 * ticks[0]


@pytest.mark.parametrize("caches", ["ruby", "garnet"])
def test_a_host_is_behind_the_directory_of_ruby(tmp_path: Path, caches: str) -> None:
    wants("boards", "MESI_Two_Level")
    chase = program(tmp_path, PROGRAMS / "chase.c", "-DCXLOOM_GEM5")
    (tmp_path / "system.yaml").write_text(EXPANDER.format(queue=64))
    arguments = ["--system", tmp_path / "system.yaml", "--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB"]
    lines, steps = 8192, 2000
    said = output(
        tmp_path, "one_host.py", *arguments, "--caches", caches, "--", chase, str(lines), str(steps)
    )
    assert f"chase: lines in the cycle: {lines}\n" in said
    between_marks = statistics(tmp_path, 1)
    reads = between_marks["memory.host.reads"]
    assert 0.9 * steps < reads < 1.2 * steps
    assert between_marks["memory.host.meanReadLatency"] == pytest.approx(IDLE_TICKS, rel=0.03)
    assert between_marks["simTicks"] > reads * IDLE_TICKS * 0.97


@pytest.mark.parametrize("caches", ["ruby", "garnet"])
def test_what_leaves_the_caches_of_ruby_comes_back(tmp_path: Path, caches: str) -> None:
    """Three arrays of 64 KiB through 32 KiB of cache: each number has been written to the memory and read again."""
    wants("boards", "MESI_Two_Level")
    stream = program(tmp_path, PROGRAMS / "stream.c")
    (tmp_path / "system.yaml").write_text(EXPANDER.format(queue=64))
    arguments = ["--system", tmp_path / "system.yaml", "--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB"]
    said = output(tmp_path, "one_host.py", *arguments, "--caches", caches, "--", stream, "8192", "1", "1")
    assert "stream: numbers that are right: 8192\n" in said
    stats = statistics(tmp_path)
    lines = 3 * 8192 * 8 // 64
    assert stats["memory.host.reads"] > 2 * lines
    assert stats["memory.host.writes"] > 2 * lines


def test_a_stream_takes_what_its_accesses_take_without_gem5(tmp_path: Path) -> None:
    wants("boards")
    stream = program(tmp_path, PROGRAMS / "stream.c")
    spec = EXPANDER.format(queue=64)
    (tmp_path / "system.yaml").write_text(spec)
    arguments = ["--system", tmp_path / "system.yaml", "--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB"]
    said = output(tmp_path, "one_host.py", *arguments, "--", stream, "8192", "1", "1", flags=LOGS)
    assert "stream: numbers that are right: 8192\n" in said
    stats = statistics(tmp_path)
    alone = replayed(tmp_path, spec)
    # What is under way at the end of the program is not answered in gem5.
    assert stats["memory.host.reads"] == pytest.approx(alone["read"]["requests"], rel=0.001)
    assert stats["memory.host.writes"] == pytest.approx(alone["write"]["requests"], rel=0.001)
    mean = alone["read"]["latency_ns"]["mean"] * 1000
    assert stats["memory.host.meanReadLatency"] == pytest.approx(mean, rel=0.001)
    assert mean > 1.01 * IDLE_TICKS, "accesses wait for each other"


@pytest.mark.parametrize("shares", [[], ["--shares"]])
def test_programs_of_two_hosts_see_what_the_other_has_written(tmp_path: Path, shares: list[str]) -> None:
    handover = program(tmp_path, SCRIPTS / "handover.c")
    system = tmp_path / "system.json"
    system.write_text(cxloom("resolve", SCRIPTS / "pool.yaml"))
    rounds = 30
    said = output(tmp_path, "two_hosts.py", "--system", system, *shares, "--", handover, str(rounds))
    stats = statistics(tmp_path)
    for side in (0, 1):
        assert f"handover: side {side} saw 0 wrong words in {rounds} rounds\n" in said
        # The other side takes the line of the number and eight of the table whenever it is its turn.
        assert stats[f"hosts{side}.dirtySnoops"] >= (rounds - 1) * 9


@pytest.mark.parametrize(
    "mode",
    [
        ["--cpu", "RiscvO3CPU"],
        ["--cpu", "RiscvO3CPU", "--shares"],
        ["--cpu", "RiscvTimingSimpleCPU", "--shares"],
        ["--first", "RiscvAtomicSimpleCPU", "--switch-at", "100us", "--shares"],
    ],
    ids=["own", "shares", "in-order", "atomic-first"],
)
def test_two_hosts_count_together(tmp_path: Path, mode: list[str]) -> None:
    """Atomic additions, store-conditionals that fail and go on, and a lock."""
    counter = program(tmp_path, SCRIPTS / "counter.c")
    system = tmp_path / "system.json"
    system.write_text(cxloom("resolve", SCRIPTS / "pool.yaml"))
    rounds = 2000 if "--first" in mode else 100
    said = output(tmp_path, "two_hosts.py", "--system", system, *mode, "--", counter, str(rounds))
    for side in (0, 1):
        assert f"counter: side {side} counted {2 * rounds} {2 * rounds} {2 * rounds}\n" in said


@pytest.mark.parametrize("shares", [[], ["--shares"]])
def test_hosts_go_on_from_atomic_to_timing_without_a_wrong_word(tmp_path: Path, shares: list[str]) -> None:
    """Lines that caches got without time are taken back by the drain between: the system knows of no copy then."""
    handover = program(tmp_path, SCRIPTS / "handover.c")
    system = tmp_path / "system.json"
    system.write_text(cxloom("resolve", SCRIPTS / "pool.yaml"))
    rounds = 60
    switch = ["--first", "RiscvAtomicSimpleCPU", "--switch-at", "20us"]
    said = output(tmp_path, "two_hosts.py", "--system", system, *switch, *shares, "--", handover, str(rounds))
    stats = statistics(tmp_path)
    for side in (0, 1):
        assert f"handover: side {side} saw 0 wrong words in {rounds} rounds\n" in said
        # Some rounds were handed over without time, and some with it.
        assert 9 <= stats[f"hosts{side}.dirtySnoops"] < (rounds - 1) * 9
