"""A table's file is the same in however many pieces its rows came."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from cxloom.results.records import ROW_GROUP, ParquetSink

ROWS = 2 * ROW_GROUP + 1000
NUMBERS = np.arange(ROWS, dtype=np.int64) ** 2 % 1_000_003
KINDS = (NUMBERS % 3).astype(np.uint32)


def written(path: Path, ends: list[int]) -> bytes:
    """The file of all rows, which came in pieces that end there."""
    sink = ParquetSink(path, {"kind": ["read", "write", "atomic"]})
    for begin, end in zip([0, *ends], [*ends, ROWS], strict=True):
        sink.add({"number": NUMBERS[begin:end], "kind": KINDS[begin:end]})
    sink.close()
    assert sink.failure is None
    return path.read_bytes()


@pytest.mark.parametrize(
    "ends",
    [
        [1],
        [ROW_GROUP],
        [ROW_GROUP - 1, ROW_GROUP + 1],
        [5000, 5000, 150_000, 260_000],
        [ROWS],
        [7 * ROWS // 9],
    ],
)
def test_pieces_make_no_difference(ends: list[int], tmp_path: Path) -> None:
    whole = written(tmp_path / "whole.parquet", [])
    assert written(tmp_path / "pieces.parquet", ends) == whole
    metadata = pq.ParquetFile(tmp_path / "pieces.parquet").metadata
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert groups == [ROW_GROUP, ROW_GROUP, 1000]
    assert pl.read_parquet(tmp_path / "pieces.parquet")["number"].to_numpy().tolist() == NUMBERS.tolist()


def test_a_table_without_rows_can_be_read(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "none.parquet", {})
    sink.add({"number": NUMBERS[:0]})
    sink.close()
    frame = pl.read_parquet(tmp_path / "none.parquet")
    assert frame.height == 0
    assert frame.columns == ["number"]
