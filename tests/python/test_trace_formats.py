"""What is written is what is read: Parquet, text, and from one to the other."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples

from cxloom.base.errors import InputError
from cxloom.trace import (
    ALL_BEFORE,
    ATOMIC,
    BRANCH,
    CALL,
    DEMAND,
    GO_ON,
    NO_TIMESTAMP,
    PROGRESS,
    READ,
    STORE_FILL,
    WRITE,
    WRITE_BACK,
    TraceBatch,
    convert,
    open_trace,
    write_trace,
)
from cxloom.trace.format import DTYPES, rebatched
from cxloom.trace.parquet import ROW_GROUP


def joined(batches: Any) -> TraceBatch:
    """All batches as one."""
    held = list(batches)
    return TraceBatch(*(np.concatenate([getattr(batch, name) for batch in held]) for name in DTYPES))


def assert_same(some: TraceBatch, other: TraceBatch) -> None:
    """Column by column, types included."""
    for name, dtype in DTYPES.items():
        one, another = getattr(some, name), getattr(other, name)
        assert one.dtype == another.dtype == dtype, name
        np.testing.assert_array_equal(one, another, err_msg=name)


@st.composite
def traces(draw: st.DrawFn) -> TraceBatch:
    """Any trace that the format allows, extremes included."""

    def column(most: int, least: int = 0) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=count, max_size=count))

    count = draw(st.integers(1, 40))
    given_times = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    times = np.sort(np.array(column(2**63 - 1), dtype=np.int64))
    kinds = np.array(column(2))
    atomic = kinds == ATOMIC
    addresses = np.array(column(2**64 - 1), dtype=np.uint64)
    return TraceBatch.of(
        address=np.where(atomic, addresses // 8 * 8, addresses),
        kind=kinds,
        size=np.where(atomic, np.where(np.array(column(1)) == 1, 8, 4), column(2**16 - 1, 1)),
        thread=column(2**32 - 1),
        instruction_gap=column(2**32 - 1),
        dependence=[draw(st.just(ALL_BEFORE) | st.integers(0, place)) for place in range(count)],
        timestamp=np.where(given_times, times, NO_TIMESTAMP),
        role=np.where(kinds == READ, READS[column(5)], np.where(kinds == WRITE, WRITES[column(1)], DEMAND)),
        cycles=column(2**32 - 1),
        dependence_cycles=column(2**16 - 1),
    )


# The roles of either kind.
READS, WRITES = np.array([DEMAND, STORE_FILL, CALL, GO_ON, BRANCH, PROGRESS]), np.array([DEMAND, WRITE_BACK])
METADATA = st.dictionaries(
    st.text("abcdefgh -", min_size=1).filter(lambda name: name != "version"), st.text(max_size=20)
)


@settings(max_examples=examples(120), deadline=None)
@given(trace=traces(), metadata=METADATA)
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, trace: TraceBatch, metadata: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("round")
    names = ["a.parquet", "b.txt", "c.parquet", "d.trace", "e.txt"]
    accesses = len(trace.accesses())
    if accesses == 0:
        with pytest.raises(InputError, match="no accesses"):
            write_trace(folder / names[0], [trace], metadata)
        return
    assert write_trace(folder / names[0], [trace], metadata) == accesses
    for source, target in itertools.pairwise(names):
        assert convert(folder / source, folder / target) == accesses
    for name in names:
        reader = open_trace(folder / name)
        assert reader.metadata == metadata
        assert_same(joined(reader), trace)
    # Not only the accesses are equal: the bytes are.
    assert (folder / "a.parquet").read_bytes() == (folder / "c.parquet").read_bytes()
    assert (folder / "b.txt").read_bytes() == (folder / "e.txt").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


@given(sizes=st.lists(st.integers(0, 30), max_size=12), rows=st.integers(1, 25))
def test_rebatching_keeps_the_accesses(sizes: list[int], rows: int) -> None:
    starts = np.cumsum([0, *sizes])
    batches = [
        TraceBatch.of(np.arange(start, start + size), READ)
        for start, size in zip(starts, sizes, strict=False)
    ]
    made = list(rebatched(iter(batches), rows))
    assert all(len(batch) == rows for batch in made[:-1])
    assert all(0 < len(batch) <= rows for batch in made)
    if made:
        np.testing.assert_array_equal(joined(made).address, np.arange(sum(sizes)))
    else:
        assert sum(sizes) == 0


def test_the_parquet_file_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    count = ROW_GROUP + 1
    write_trace(
        path, [TraceBatch.of(np.arange(count), WRITE, timestamp=np.arange(count) - 1)], {"source": "a test"}
    )
    file = pq.ParquetFile(path)
    assert file.metadata.num_row_groups == 2
    assert file.metadata.metadata == {b"cxloom.trace.version": b"2", b"cxloom.trace.source": b"a test"}
    types = {
        name: str(field.type) for name, field in zip(file.schema_arrow.names, file.schema_arrow, strict=True)
    }
    assert types == {name: np.dtype(dtype).name for name, dtype in DTYPES.items()}
    assert [field.name for field in file.schema_arrow if field.nullable] == ["timestamp"]
    table = file.read()
    assert table["timestamp"].null_count == 1
    assert table["timestamp"][0].as_py() is None
    assert {file.metadata.row_group(0).column(i).compression for i in range(len(DTYPES))} == {"ZSTD"}


def test_parquet_of_others_needs_only_address_and_kind(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    table = pa.table({"kind": pa.array([0, 1], pa.int64()), "address": pa.array([64, 128], pa.int64())})
    pq.write_table(table, path, compression="snappy")
    reader = open_trace(path)
    assert (reader.format, reader.length, reader.metadata) == ("parquet", 2, {})
    assert_same(joined(reader), TraceBatch.of([64, 128], [READ, WRITE]))


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_trace_of_the_first_version_is_read_as_it_was(tmp_path: Path, version: str) -> None:
    """It has seven columns."""
    path = tmp_path / "old.parquet"
    batch = TraceBatch.of([64, 128], [READ, WRITE], thread=3, instruction_gap=[5, 6], dependence=[0, 1])
    old = {name: column for name, column in batch.columns().items() if name in list(DTYPES)[:6]}
    table = pa.table(old | {"timestamp": pa.array([None, 7], pa.int64())})
    pq.write_table(table.replace_schema_metadata({"cxloom.trace.version": version}), path)
    assert_same(joined(open_trace(path)), TraceBatch.of(**old, timestamp=[NO_TIMESTAMP, 7]))
    text = tmp_path / "old.txt"
    text.write_text(
        f"# cxloom-trace {version}: address kind timestamp size thread instruction_gap dependence\n"
        "0x40 R - 64 3 5 0\n0x80 W 7 64 3 6 1\n"
    )
    assert_same(joined(open_trace(text)), joined(open_trace(path)))


def test_an_atomic_operation_has_eight_bytes_where_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"kind": [0, 2, 1], "address": [64, 72, 128]}), path)
    assert joined(open_trace(path)).size.tolist() == [64, 8, 64]
    (tmp_path / "plain.txt").write_text("0x40 R 0\n0x48 A 0\n0x80 W 0\n")
    assert joined(open_trace(tmp_path / "plain.txt")).size.tolist() == [64, 8, 64]
    assert TraceBatch.of([64, 72], ATOMIC, size=4).size.tolist() == [4, 4]


def test_a_plain_text_trace(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_text("0x40 R 5\n0x80 W 7\n")
    expected = TraceBatch.of([0x40, 0x80], [READ, WRITE], timestamp=[5, 7])
    assert_same(joined(open_trace(path)), expected)
    assert_same(
        joined(open_trace(path, tick="1ns")),
        TraceBatch.of([0x40, 0x80], [READ, WRITE], timestamp=[5000, 7000]),
    )
    with pytest.raises(InputError, match="fortnight"):
        open_trace(path, tick="1fortnight")


def test_compressed_text(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt.gz"
    path.write_bytes(gzip.compress(b"0x40 R 5\n" * 200_000))
    reader = open_trace(path)
    assert reader.format == "text"
    for _ in range(2):  # a file may be read again
        assert sum(len(batch) for batch in reader) == 200_000


def test_lackey_output_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "lackey.log"
    path.write_text("==1== Lackey\nI  0401,3\n L 1000,8\nI  0404,3\n S 1fff,2\n")
    reader = open_trace(path)
    assert reader.format == "lackey"
    expected = TraceBatch.of([0x1000, 0x1FFF], [READ, WRITE], size=[8, 2], thread=1, instruction_gap=1)
    assert_same(joined(reader), expected)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    text = b"0x40 R 5\n" * 50_000
    writer = threading.Timer(0.1, path.write_bytes, args=(text,))  # a reader may come first
    writer.start()
    reader = open_trace(path)
    assert sum(len(batch) for batch in reader) == 50_000
    writer.join()
    with pytest.raises(InputError, match="only once"):
        next(iter(reader))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BufferedReader(io.BytesIO(b"0x40 R 5\n0x40 W 5\n"))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    assert_same(joined(open_trace("-")), TraceBatch.of([0x40, 0x40], [READ, WRITE], timestamp=5))


def test_a_batch_takes_what_is_array_like() -> None:
    batch = TraceBatch.of([1, 2], kind=0, thread=3)
    assert batch.thread.tolist() == [3, 3]
    assert batch.size.tolist() == [64, 64]
    assert batch.timestamp.tolist() == [-1, -1]
    for columns, problem in (
        ({"size": 70000}, "'size' is out of range, found 70000 to 70000; allowed: 0 to 65535"),
        ({"thread": [1, 2, 3]}, "'thread' has the wrong shape"),
        ({"size": 1.5}, "'size' does not hold integers"),
        ({"thred": 1}, "an unknown column, found 'thred'"),
    ):
        with pytest.raises(InputError, match=problem):
            TraceBatch.of([1, 2], kind=0, **columns)  # type: ignore[arg-type]


# 70000 bytes from 0x1020 on: 32 to the end of the first line, 1093 lines, and 16 of the last one.
def test_a_large_access_becomes_its_lines_in_every_form(tmp_path: Path) -> None:
    columns = {"address": [0x1020, 0x40], "kind": [1, 0], "size": [70_000, 8], "instruction_gap": [5, 1]}
    pq.write_table(pa.table(columns), tmp_path / "large.parquet")
    rows = [f"{a:#x} {'RW'[k]} {s} {g}" for a, k, s, g in zip(*columns.values(), strict=True)]
    text = "# cxloom-trace 2: address kind size instruction_gap\n" + "\n".join(rows)
    (tmp_path / "large.txt").write_text(text)
    one, other = (joined(open_trace(tmp_path / name)) for name in ("large.parquet", "large.txt"))
    assert_same(one, other)
    assert len(one) == 1 + 1093 + 1 + 1
    assert one.size.tolist() == [32, *[64] * 1093, 16, 8]
    assert one.address.tolist()[:2] == [0x1020, 0x1040]
    assert one.instruction_gap.tolist() == [5, *[0] * 1094, 1]


def test_a_large_access_is_read_in_parts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"address": [0], "kind": [0], "size": [1 << 25]}), tmp_path / "large.parquet")
    counts = [len(batch) for batch in open_trace(tmp_path / "large.parquet")]
    assert sum(counts) == 1 << 19
    assert max(counts) <= 1 << 16


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (
            {"size": [64, (1 << 30) + 1]},
            "bad size of access 1, found 1073741825; allowed: at most 1073741824",
        ),
        (
            {"size": [70_000, 64], "dependence": [0, 1]},
            "access 1 needs another one, in a trace with a size above",
        ),
    ],
)
def test_large_accesses_that_cannot_be(columns: dict[str, list[int]], problem: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"address": [0, 0], "kind": [0, 0], **columns}), tmp_path / "large.parquet")
    with pytest.raises(InputError, match=problem):
        list(open_trace(tmp_path / "large.parquet"))
