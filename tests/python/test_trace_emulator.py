"""Recording programs under QEMU: counts, dependences, threads, children, regions and samples."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_programs import built_exercises, needs_qemu
from validation.examples import slow

from cxloom.base.errors import InputError
from cxloom.trace import (
    ALL_BEFORE,
    CALL,
    READ,
    WAIT,
    WRITE,
    CacheLevel,
    CaptureResult,
    Sample,
    capture,
    info,
    open_trace,
)
from cxloom.trace.format import DTYPES

NODES = 1000


@pytest.fixture(scope="module")
def programs() -> Path:
    return built_exercises()


class Columns:
    """The accesses of a trace as one array a column; dependences are distances between them."""

    def __init__(self, path: Path) -> None:
        reader = open_trace(path)
        batches = list(reader)
        self.metadata = reader.metadata
        for name in DTYPES:
            setattr(self, name, np.concatenate([getattr(batch.accesses(), name) for batch in batches]))
        roles = np.concatenate([batch.role for batch in batches])
        needed = np.concatenate([batch.dependence for batch in batches]).astype(np.int64)
        places = np.cumsum(roles < CALL)
        distances = places - places[np.arange(len(roles)) - np.where(needed == ALL_BEFORE, 0, needed)]
        self.dependence = np.where(needed == ALL_BEFORE, needed, distances)[roles < CALL]
        at = np.concatenate([batch.address for batch in batches])
        self.calls = int(((roles == CALL) | ((roles == WAIT) & (at != 0))).sum())  # 0: it has ended

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def recorded(path: Path, *command: str | Path, **options: Any) -> tuple[CaptureResult, Columns]:
    result = capture([str(word) for word in command], path, **options)
    return result, Columns(path)


@needs_qemu
def test_counts_are_exact(programs: Path, tmp_path: Path) -> None:
    """The numbers stand in the program."""
    result, trace = recorded(tmp_path / "out.parquet", programs / "counts", virtual=True)
    assert (result.instructions, result.loads, result.stores) == (5013, 2102, 2102)
    assert result.exit_code == 0
    assert len(trace.kind) == result.accesses == 4204
    assert int((trace.kind == READ).sum()) == 2102
    # The wide ones are one access each, the repeated ones one per byte.
    assert np.bincount(trace.size).tolist()[1] == 200
    assert [
        (int(size), int(kind)) for size, kind in zip(trace.size, trace.kind, strict=True) if size == 32
    ] == [
        (32, READ),
        (32, WRITE),
    ]
    # All but exit's three instructions come before an access.
    assert int(trace.instruction_gap.sum()) == 5013 - 3
    assert trace.calls == 1
    assert info(tmp_path / "out.parquet").instructions == 5013
    # The copied bytes: read and written in turn, side by side.
    copied = trace.address[trace.size == 1].astype(np.int64)
    np.testing.assert_array_equal(copied[1::2] - copied[::2], 4096)
    np.testing.assert_array_equal(np.diff(copied[::2]), 1)


@needs_qemu
def test_each_load_of_a_chase_waits_for_the_one_before(programs: Path, tmp_path: Path) -> None:
    _, trace = recorded(tmp_path / "out.parquet", programs / "exercise", "chase", region="chase")
    loads = trace.dependence[: NODES + 1]  # the last access is that of the return
    assert len(trace.dependence) == NODES + 1
    np.testing.assert_array_equal(loads[1:NODES], 1)
    assert loads[0] == loads[NODES] == 0


@needs_qemu
def test_streams_wait_for_nothing(programs: Path, tmp_path: Path) -> None:
    _, trace = recorded(tmp_path / "out.parquet", programs / "exercise", "streams", region="streams")
    assert len(trace.dependence) == 2 * NODES + 1
    assert not trace.dependence.any()


@needs_qemu
def test_nodes_of_a_tree_wait_for_their_parents(programs: Path, tmp_path: Path) -> None:
    """A node is a line of keys and a line of children; both addresses are made of the pointer to the node, which is in
    the line of children of its parent: one record before the keys, and two before the children."""
    _, trace = recorded(
        tmp_path / "out.parquet",
        programs / "exercise",
        "tree",
        region="descend",
        caches=[CacheLevel.parse("L1:64B:1")],
        virtual=True,
    )
    reads = trace.kind == READ
    inner = trace.address[reads]
    assert len(inner) == 2 * 3 + 1  # and the stack, for the return
    np.testing.assert_array_equal(inner[1:6:2] - inner[0:6:2], 64)
    assert trace.dependence[reads].tolist() == [0, 0, 1, 2, 1, 2, 0]


@needs_qemu
def test_threads(programs: Path, tmp_path: Path) -> None:
    result, trace = recorded(
        tmp_path / "out.parquet", programs / "exercise", "threads", region="chase", virtual=True
    )
    assert result.threads == 3
    assert result.processes == 1
    # The region of one is that of all: what the other does meanwhile is recorded, too.
    for thread in (2, 3):
        mine = np.flatnonzero(trace.thread == thread)
        assert len(mine) >= 20 * NODES
        waits = mine[trace.dependence[mine] > 0]
        producers = waits - trace.dependence[waits].astype(np.int64)
        assert (trace.thread[producers] == thread).all()
        assert len(waits) >= 20 * (NODES - 1)


@needs_qemu
def test_forks_have_memory_of_their_own(programs: Path, tmp_path: Path) -> None:
    result, trace = recorded(tmp_path / "out.parquet", programs / "exercise", "forks", region="chase")
    assert result.exit_code == 7
    assert (result.processes, result.threads) == (2, 2)
    pages = [set((trace.address[trace.thread == thread] // 4096).tolist()) for thread in (1, 2)]
    assert len(pages[0]) >= NODES * 128 // 4096
    assert len(pages[1]) >= NODES * 128 // 4096
    assert not pages[0] & pages[1]


def accesses_by_thread(trace: Columns) -> list[int]:
    return [int(count) for count in np.bincount(trace.thread)]


@needs_qemu
def test_programs_that_a_program_starts_are_followed(programs: Path, tmp_path: Path) -> None:
    """A static one, too, into which nothing could be preloaded."""
    counts = str(programs / "counts")
    result, trace = recorded(tmp_path / "out.parquet", programs / "exercise", "starts", counts)
    assert (result.exit_code, result.processes, result.threads) == (0, 2, 2)
    assert accesses_by_thread(trace)[2] == 4204
    result, trace = recorded(tmp_path / "out.parquet", "sh", "-c", f"{counts}; exit 3")
    assert (result.exit_code, result.escaped) == (3, 0)
    assert 4204 in accesses_by_thread(trace)


@needs_qemu
def test_scripts_are_run_by_their_interpreters(programs: Path, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#! {programs / 'exercise'} \t chase\n")
    script.chmod(0o755)
    result, _ = recorded(tmp_path / "out.parquet", script, region="chase")
    assert (result.exit_code, result.accesses) == (0, NODES + 1)
    # As a program that another one starts.
    result, _ = recorded(tmp_path / "out.parquet", programs / "exercise", "starts", script)
    assert (result.exit_code, result.processes) == (0, 2)


@needs_qemu
def test_programs_that_cannot_be_emulated_escape(programs: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no program")
    text.chmod(0o755)
    result, _ = recorded(tmp_path / "out.parquet", programs / "exercise", "starts", text)
    assert (result.exit_code, result.processes, result.escaped) == (1, 1, 1)
    result, _ = recorded(tmp_path / "out.parquet", programs / "exercise", "starts", tmp_path / "missing")
    assert (result.exit_code, result.processes, result.escaped) == (1, 1, 0)


@needs_qemu
def test_a_program_may_close_every_file(programs: Path, tmp_path: Path) -> None:
    result, _ = recorded(tmp_path / "out.parquet", programs / "exercise", "closes", region="chase")
    assert result.exit_code == 5
    assert result.accesses == NODES + 1


@needs_qemu
def test_signals_and_shells_that_wait_for_their_children(programs: Path, tmp_path: Path) -> None:
    """For a signal the emulator stores registers, which are no accesses of an instruction."""
    result, _ = recorded(tmp_path / "out.parquet", programs / "exercise", "signals", region="chase")
    assert result.exit_code == 0
    assert 50 * (NODES + 1) <= result.accesses < 50 * (NODES + 200)
    result, _ = recorded(
        tmp_path / "out.parquet", "sh", "-c", "for i in 1 2 3 4 5; do (:) & done; wait; exit 4"
    )
    assert (result.exit_code, result.processes) == (4, 6)


@needs_qemu
def test_what_a_program_did_before_it_crashed_is_kept(programs: Path, tmp_path: Path, capfd: Any) -> None:
    result, trace = recorded(tmp_path / "out.parquet", programs / "exercise", "crashes", region="chase")
    assert result.exit_code == -11
    assert result.accesses == NODES + 1
    assert trace.metadata["ended"] == "signal 11 (SIGSEGV)"
    result, trace = recorded(tmp_path / "out.trace", programs / "exercise", "crashes", region="chase")
    assert (tmp_path / "out.trace").read_text().endswith("# ended: signal 11 (SIGSEGV)\n")


@needs_qemu
def test_marks(programs: Path, tmp_path: Path) -> None:
    result, trace = recorded(tmp_path / "out.parquet", programs / "exercise", "marks", region="marks")
    # Twice: the call's store, a thousand loads, the return's load, and the store of the result.
    assert result.accesses == 2 * (NODES + 3)
    assert int((trace.kind == WRITE).sum()) == 4
    assert trace.metadata["region of interest"] == "marks"
    with pytest.raises(InputError, match="not reached"):
        capture([str(programs / "counts")], tmp_path / "none.parquet", region="marks")
    assert not (tmp_path / "none.parquet").exists()


@needs_qemu
def test_samples_are_windows_of_instructions(programs: Path, tmp_path: Path) -> None:
    command = [str(programs / "exercise"), "sorts"]
    whole = capture(command, tmp_path / "whole.parquet", caches=[CacheLevel.parse("L1:4KiB:4")])
    part = capture(
        command,
        tmp_path / "part.parquet",
        caches=[CacheLevel.parse("L1:4KiB:4")],
        sample=Sample.parse("1K/10K"),
    )
    assert part.instructions_in_all == whole.instructions
    assert part.instructions / whole.instructions == pytest.approx(0.1, rel=0.02)
    # Sorting misses evenly enough for a tenth of its instructions to have a tenth of the misses.
    assert part.accesses / whole.accesses == pytest.approx(0.1, rel=0.25)


@needs_qemu
def test_the_limit_and_an_interrupt_end_the_program(programs: Path, tmp_path: Path) -> None:
    command = [str(programs / "exercise"), "endless"]
    result, _ = recorded(tmp_path / "out.parquet", *command, limit=100_000)
    assert result.accesses == 100_000
    assert result.ended.limit
    seen = 0

    def watch(_: int, records: int) -> None:
        nonlocal seen
        seen = records

    path = tmp_path / "interrupted.parquet"
    result, trace = recorded(path, *command, watch=watch, interrupted=lambda: seen > 1000)
    assert result.ended.interrupted
    assert result.accesses >= 1000
    assert trace.metadata["ended"] == "interrupted"


@slow
@needs_qemu
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_counts_are_those_of_valgrind(programs: Path, tmp_path: Path) -> None:
    """Less what the C library does at the start, which goes by the processor that each of the two emulates."""

    def counts(work: str, source: str) -> np.ndarray:
        command = [programs / "exercise", work]
        result, trace = recorded(tmp_path / "out.parquet", *command, source=source)
        reads = int((trace.kind == READ).sum())
        return np.array([result.instructions, reads, result.accesses - reads])

    before = {source: counts("nothing", source) for source in ("qemu", "valgrind")}
    for work in ("sorts", "multiplies", "hashes"):
        mine, others = (counts(work, source) - before[source] for source in before)
        np.testing.assert_allclose(mine, others, rtol=0.01)


@needs_qemu
def test_standard_streams_and_the_exit_code_are_the_programs(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    command = [sys.executable, "-m", "cxloom", "trace", "capture", "--out", str(path), "--", "sh", "-c"]
    done = subprocess.run(
        [*command, "cat; echo err >&2; exit 9"], input="in", capture_output=True, text=True, check=False
    )
    assert done.returncode == 9
    assert done.stdout == "in"
    assert done.stderr.startswith("err\n")
    assert "exit code 9" in done.stderr
    assert path.exists()


@needs_qemu
def test_the_caches_of_the_core_filter_if_none_is_named(programs: Path, tmp_path: Path) -> None:
    command = [str(programs / "counts")]
    core = {"caches": [{"size": "1KiB", "ways": 2}, {"size": "64KiB", "ways": 4}]}
    own = capture(command, tmp_path / "own.parquet", core=core)
    named = (CacheLevel("L1", "1KiB", 2), CacheLevel("L2", "64KiB", 4))
    same = capture(command, tmp_path / "same.parquet", core=core, caches=named)
    assert [str(counts.level) for counts in own.levels] == ["L1:1KiB:2:lru", "L2:64KiB:4:lru"]
    for one, other in zip(own.levels, same.levels, strict=True):
        assert (one.hits, one.misses, one.write_backs) == (other.hits, other.misses, other.write_backs)
        assert one.misses > 0
    assert len(capture(command, tmp_path / "default.parquet", core={}).levels) == 2
    assert capture(command, tmp_path / "none.parquet", core={"caches": []}).levels == ()
