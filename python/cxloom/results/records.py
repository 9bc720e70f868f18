"""Rows that a running simulation hands over (requests, ...): to a Parquet file as they come, or kept in memory.

Arrow and Polars take longer to load than most runs take, so they are loaded where there are rows.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

ROW_GROUP = 1 << 17
"""Rows of a row group of the Parquet file, and the most that wait in memory: a run of any length needs no more."""

PARTS = ["warm-up", "window", "drain"]
"""The parts of a run, as tables count them."""


class Coded(NamedTuple):
    """A column of numbers of things, and what these are called in this batch. A masked number stands for nothing."""

    numbers: NDArray[Any]
    names: Sequence[str]

    def tolist(self) -> list[str | None]:
        """The names of the rows."""
        names = self.names
        return [None if number is None else names[number] for number in self.numbers.tolist()]


Columns: TypeAlias = "Mapping[str, NDArray[Any] | Coded]"
Names: TypeAlias = Mapping[str, Sequence[str]]
"""The names of things, for each column that holds numbers of things."""


class Sink(Protocol):
    """Takes batches of rows."""

    def add(self, columns: Columns) -> None:
        """Takes the next rows; the arrays are not copied."""

    def close(self) -> None:
        """There are no more rows."""

    def abandon(self) -> None:
        """The rows are not wanted any more."""


class FileSink:
    """Writes rows to a file.

    A full disk is no reason to lose the run: `failure` says that the file is not whole, and further rows are dropped.
    """

    failure: OSError | None = None

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Remembers that the file cannot be written."""
        try:
            yield
        except OSError as error:
            self.failure = error
            self.abandon()

    def abandon(self) -> None:
        """Ends the file, and gives the disk back what it has not enough of; the caller removes it."""
        raise NotImplementedError


class ParquetSink(FileSink):
    """Writes rows to a Parquet file, a row group at a time."""

    def __init__(self, path: Path, names: Names) -> None:
        self._path = path
        self._names = names
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.Table] = []
        self._rows = 0

    def add(self, columns: Columns) -> None:
        """Takes the next rows; the arrays are not copied."""
        if self.failure is not None:
            return
        with self._failing():
            table = _table(columns, self._names)
            if self._writer is None:
                self._writer = _writer(self._path, table.schema)
            self._waiting.append(table)
            self._rows += table.num_rows
            if self._rows >= ROW_GROUP:
                self._write_groups()

    def _write_groups(self, *, last: bool = False) -> None:
        """Writes whole row groups; the rows left over wait on, unless they are the last.

        So the file is the same in however many pieces the rows came: that depends on how fast the run was.
        """
        if self._writer is None or not self._waiting:
            return
        import pyarrow as pa

        table = pa.concat_tables(self._waiting).unify_dictionaries()
        rows = table.num_rows if last else table.num_rows // ROW_GROUP * ROW_GROUP
        if rows:
            self._writer.write_table(table.slice(0, rows).combine_chunks(), row_group_size=ROW_GROUP)
        self._waiting, self._rows = [table.slice(rows)], table.num_rows - rows

    def close(self) -> None:
        """Writes what waits, and ends the file."""
        with self._failing():
            self._write_groups(last=True)
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def abandon(self) -> None:
        """Ends the file without what waits; the caller removes it."""
        self._waiting, self._rows = [], 0
        if self._writer is None:
            return
        try:
            self._writer.close()
        except OSError:
            self._writer.is_open = False  # it would try again when it is deleted
        self._writer = None
        with contextlib.suppress(OSError):
            os.truncate(self._path, 0)  # gives the disk back what it has not enough of


class DroppedSink:
    """Forgets rows that nobody will look at."""

    def add(self, columns: Columns) -> None:
        """Takes the next rows."""

    def close(self) -> None:
        """Nothing is left to do."""

    def abandon(self) -> None:
        """Nothing is left to do."""


class MemorySink:
    """Keeps rows for a data frame."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._tables: list[pa.Table] = []

    def add(self, columns: Columns) -> None:
        """Takes the next rows; the arrays are not copied."""
        table = _table(columns, self._names)
        if table.num_rows or not self._tables:
            self._tables.append(table)

    def close(self) -> None:
        """Nothing is left to do."""

    def abandon(self) -> None:
        """Forgets everything."""
        self._tables = []

    def frame(self) -> pl.DataFrame:
        """All rows."""
        import polars as pl
        import pyarrow as pa

        frame = pl.from_arrow(pa.concat_tables(self._tables))
        assert isinstance(frame, pl.DataFrame)  # a Series only for an array
        return frame


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Measured on requests: less than half the time and a fifth of the size of the library's defaults."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    counters = [
        field.name for field in schema if pa.types.is_integer(field.type) and field.type.bit_width == 64
    ]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=names,
        column_encoding=dict.fromkeys(counters, "DELTA_BINARY_PACKED"),
    )


def _table(columns: Columns, names: Names) -> pa.Table:
    """The columns as an Arrow table, numbers of things as their names."""
    import pyarrow as pa

    def named(numbers: NDArray[Any], called: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(called, pa.string()))

    arrays = {}
    for name, column in columns.items():
        if isinstance(column, Coded):
            arrays[name] = named(column.numbers, column.names)
        else:
            arrays[name] = named(column, names[name]) if name in names else pa.array(column)
    return pa.table(arrays)
