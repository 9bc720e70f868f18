"""Measures of a trace, and reading one in memory that does not depend on its length."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from validation.examples import slow, some

from cxloom import _core
from cxloom.trace import (
    ALL_BEFORE,
    ATOMIC,
    CALL,
    DEMAND,
    GO_ON,
    READ,
    WRITE,
    WRITE_BACK,
    TraceBatch,
    info,
    open_trace,
    write_trace,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_atomic_operations_are_neither_reads_nor_writes(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    write_trace(path, [TraceBatch.of(8 * np.arange(10), [READ] * 5 + [WRITE] * 3 + [ATOMIC] * 2)])
    for found in (info(path), info(convert_to_text(path))):
        assert (found.accesses, found.reads, found.writes, found.atomics) == (10, 5, 3, 2)
        assert found.bytes == 8 * 64 + 2 * 8


def test_measures_in_closed_form(tmp_path: Path) -> None:
    # 1000 writes of 4 bytes, one every 32 bytes: two per line, 128 per page; then 500 reads of 128 bytes at one place.
    path = tmp_path / "trace.parquet"
    writes = TraceBatch.of(0x10000 + 32 * np.arange(1000), WRITE, size=4, thread=1, instruction_gap=3)
    reads = TraceBatch.of([0x5020] * 500, READ, size=128, thread=7, instruction_gap=9, dependence=1)
    times = np.arange(1000, 1500)
    depends = np.where(np.arange(500) == 7, ALL_BEFORE, 1)
    reads = TraceBatch.of(**(reads.columns() | {"timestamp": times, "dependence": depends}))
    write_trace(path, [writes, reads], {"source": "a test"})
    for found in (info(path), info(convert_to_text(path))):
        assert (found.accesses, found.reads, found.writes) == (1500, 500, 1000)
        assert found.read_share == pytest.approx(1 / 3)
        assert (found.bytes, found.size_min, found.size_max) == (1000 * 4 + 500 * 128, 4, 128)
        assert found.footprint_bytes == 64 * (500 + 3)  # 128 bytes from the middle of a line touch three
        assert found.pages == 8 + 1
        assert (found.lowest_address, found.highest_address) == (0x5020, 0x10000 + 32 * 999 + 3)
        assert found.threads == {1: 1000, 7: 500}
        assert (found.instructions, found.instruction_gap_max) == (3000 + 4500, 9)
        assert found.instruction_gap_mean == 5
        assert (found.dependences, found.fences, found.timestamps) == (499, 1, 500)
        assert (found.first_timestamp_ps, found.last_timestamp_ps, found.span_ps) == (1000, 1499, 499)
        assert found.metadata == {"source": "a test"}


def test_what_is_no_access_is_no_access(tmp_path: Path) -> None:
    """A call between two accesses has instructions and cycles, and no line, page or byte."""
    path = tmp_path / "trace.parquet"
    batch = TraceBatch.of(
        [0x1000, 2**40, 7, 0x1040],
        [READ, READ, READ, WRITE],
        role=[DEMAND, CALL, GO_ON, WRITE_BACK],
        instruction_gap=[1, 2, 4, 8],
        cycles=[16, 32, 64, 128],
    )
    calls = TraceBatch.of([1, 2], READ, role=CALL, instruction_gap=16)
    assert write_trace(path, [batch, calls]) == 2
    for found in (info(path), info(convert_to_text(path))):
        assert (found.accesses, found.reads, found.writes, found.notes) == (2, 1, 1, 4)
        assert (found.pages, found.footprint_bytes, found.highest_address) == (1, 128, 0x107F)
        assert (found.instructions, found.cycles) == (15 + 32, 240)


def convert_to_text(path: Path) -> Path:
    target = path.with_suffix(".txt")
    write_trace(target, open_trace(path), open_trace(path).metadata)
    return target


def test_the_end_of_the_address_space(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    write_trace(path, [TraceBatch.of(np.array([2**64 - 1], dtype=np.uint64), READ, size=64)])
    found = info(path)
    assert (found.lowest_address, found.highest_address, found.footprint_bytes) == (2**64 - 1, 2**64 - 1, 64)


def test_the_command_says_it_to_people_and_to_programs(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("0x0 R 1000\n0x40 R 2500\n0x80 W 3000\n0xc0 R 3000\n")
    outcome = cxloom("trace", "info", path, "--tick", "1ps")
    assert outcome.code == 0
    assert "4: 3 reads, 1 write" in outcome.out
    assert "75.0%" in outcome.out
    assert "1 ns to 3 ns" in outcome.out
    assert "instructions      not given" in outcome.out
    told = json.loads(cxloom("trace", "info", path, "--json", "--tick", "1ns").out)
    assert told == info(path, tick="1ns").to_dict() | {"threads": {"0": 4}}
    assert told["span_ps"] == 2_000_000


def test_the_example_is_what_its_description_says() -> None:
    path = EXAMPLES / "redis.parquet"
    found = info(path)
    assert open_trace(path).length == found.accesses + found.notes
    assert 500_000 <= found.accesses <= 1_000_000
    assert path.stat().st_size < 4 << 20
    assert found.metadata["caches"] == "L1D:48KiB:12 L2:2MiB:16 LLC:3MiB:12"
    # Far more than the last level holds, in whole lines, as misses and write-backs of it are.
    assert found.footprint_bytes > 8 * (3 << 20)
    assert (found.size_min, found.size_max) == (64, 64)
    lowest_bits = [
        np.bitwise_or.reduce(batch.accesses().address & np.uint64(63)) for batch in open_trace(path)
    ]
    assert not any(lowest_bits)
    # Between a compute-bound program and a copy loop.
    assert 1 < 1000 / found.instruction_gap_mean < 50
    assert 0.5 < found.read_share < 1
    # Look-ups are chains of pointers.
    assert found.dependences > found.accesses / 2
    assert found.metadata["core"] == "{}"


def test_the_example_has_no_line_that_a_cache_would_have_kept() -> None:
    # Its own last level sees every read of it miss again, but for the lines that the first levels kept longer.
    levels = [("3MiB", 12, "lru")]
    sieve = _core.LackeyCapture(levels, False)
    reads = 0
    for batch in (each.accesses() for each in open_trace(EXAMPLES / "redis.parquet")):
        lines = b"".join(b" L %x,64\n" % address for address in batch.address[batch.kind == READ].tolist())
        reads += lines.count(b"\n")
        sieve.feed(lines)
    ((_hits, misses, *_others),) = sieve.counts
    assert misses > 0.97 * reads


def test_readers_of_one_file_take_little(tmp_path: Path) -> None:
    # A host that replays a trace has a reader of its own. One holds at a time 2^14 records of 40 bytes, as Arrow's
    # columns and as they were decoded, and a page of each column, however large the row groups are.
    rows = 1 << 18
    path = tmp_path / "trace.parquet"
    addresses = np.random.default_rng(1).integers(0, 1 << 40, rows)
    write_trace(path, [TraceBatch.of(addresses, READ, timestamp=np.arange(rows))])
    before = pa.total_allocated_bytes()
    readers = [iter(open_trace(path)) for _ in range(8)]
    held = [next(reader) for reader in readers]
    assert {len(batch.address) for batch in held} == {1 << 14}
    assert pa.total_allocated_bytes() - before < 8 * (3 << 20)


# Peak memory in KiB after reading all of a trace, in a process of its own.
MEASURE = """
import resource, sys
from cxloom.trace import info, open_trace
for batch in open_trace(sys.argv[1]):
    pass
info(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@slow
@pytest.mark.parametrize("suffix", some(["parquet", "txt"]))
def test_memory_does_not_depend_on_the_length(suffix: str, tmp_path: Path) -> None:
    def batches(count: int) -> Any:
        random = np.random.default_rng(1)
        for start in range(0, count, 100_000):
            addresses = random.integers(0, 1 << 22, 100_000) * 64  # a footprint that both have in full
            yield TraceBatch.of(addresses, READ, timestamp=np.arange(start, start + 100_000) * 1000)

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.{suffix}"
        write_trace(path, batches(count))
        command = [sys.executable, "-c", MEASURE, str(path)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    short, long = peak(500_000), peak(2_000_000)
    held = 1_500_000 * sum(column.itemsize for column in TraceBatch.of([0], READ).columns().values()) // 1024
    assert long - short < held / 6
