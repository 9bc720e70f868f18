"""The Parquet form of a trace: small, typed, and read row group by row group."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cxloom.base.errors import InputError
from cxloom.trace.format import (
    DEFAULTS,
    DTYPES,
    NO_TIMESTAMP,
    REQUIRED,
    ROW_GROUP,
    VERSION,
    TraceBatch,
)
from cxloom.trace.large import MOST, LargeAccesses

BATCH = 1 << 14
"""Records read at once: each host that replays a file has its own in memory."""
_PREFIX = b"cxloom.trace."
_MAGIC = b"PAR1"  # the first and last bytes of a file

SCHEMA = pa.schema(
    [
        pa.field(name, pa.from_numpy_dtype(np.dtype(dtype)), nullable=name == "timestamp")
        for name, dtype in DTYPES.items()
    ]
)

# What makes real traces smallest; docs/trace-format.md has the measurements. Any other encoding is read as well.
_DICTIONARY = ["kind", "size", "thread", "role"]
_ENCODING = {
    "address": "BYTE_STREAM_SPLIT",
    "instruction_gap": "BYTE_STREAM_SPLIT",
    "dependence": "BYTE_STREAM_SPLIT",
    "timestamp": "DELTA_BINARY_PACKED",
    "cycles": "BYTE_STREAM_SPLIT",
    "dependence_cycles": "BYTE_STREAM_SPLIT",
}


class ParquetWriter:
    """Writes batches to a file; a context manager, so that the file's end is written."""

    def __init__(self, path: str | os.PathLike[str], metadata: Mapping[str, str]) -> None:
        self._writer = pq.ParquetWriter(
            os.fspath(path),
            SCHEMA,
            compression="zstd",
            compression_level=9,
            use_dictionary=_DICTIONARY,
            column_encoding=_ENCODING,
            write_page_checksum=True,
            store_schema=False,
        )
        self._metadata = metadata

    def write(self, batch: TraceBatch) -> None:
        """Writes the batch as a row group."""
        arrays = [
            pa.array(column, mask=column == NO_TIMESTAMP if name == "timestamp" else None)
            for name, column in ((name, getattr(batch, name)) for name in DTYPES)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA), row_group_size=ROW_GROUP)

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Last, as what is recorded may add to what it says about itself until its end.
        about = {**self._metadata, "version": str(VERSION)}
        self._writer.add_key_value_metadata(
            {_PREFIX.decode() + key: value for key, value in sorted(about.items())}
        )
        self._writer.close()


class ParquetFile:
    """An open Parquet trace: raises InputError if the file is damaged or is not a trace."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with Path(path).open("rb") as handle:
            handle.seek(-min(len(_MAGIC), handle.seek(0, os.SEEK_END)), os.SEEK_END)
            if handle.read() != _MAGIC:
                raise InputError("the Parquet file is cut off", allowed="a whole Parquet file")
        with self._open() as file:
            rows: int = file.metadata.num_rows
            self.length = None if _may_be_large(file) else rows
            """Records; None where accesses may become their lines."""
            raw: dict[bytes, bytes] = file.metadata.metadata or {}
            _check_columns(file.schema_arrow)
        found = {
            key.removeprefix(_PREFIX).decode(errors="replace"): value.decode(errors="replace")
            for key, value in raw.items()
            if key.startswith(_PREFIX)
        }
        version = found.pop("version", str(VERSION))
        if version not in map(str, range(1, VERSION + 1)):
            raise InputError("a trace of an unknown version", found=version, allowed=f"1 to {VERSION}")
        if rows == 0:
            raise InputError("the trace has no accesses")
        self.metadata = found

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        try:
            with (
                Path(self.path).open("rb") as handle,
                pq.ParquetFile(
                    handle, buffer_size=1 << 16, pre_buffer=False, page_checksum_verification=True
                ) as file,
            ):
                yield file
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise InputError(f"a damaged Parquet file: {reason}", allowed="a whole Parquet file") from error

    def batches(self) -> Iterator[TraceBatch]:
        """The accesses from the start; memory does not depend on how many there are."""
        with self._open() as file:
            names = [name for name in DTYPES if name in file.schema_arrow.names]
            start = 0
            large = LargeAccesses()
            for rows in file.iter_batches(batch_size=BATCH, columns=names, use_threads=False):
                columns = {name: _numpy(name, rows.column(name), start) for name in names}
                start += rows.num_rows
                if rows.num_rows:
                    yield from (TraceBatch.of(**part) for part in large.cut(columns))


def _may_be_large(file: Any) -> bool:
    """Whether some size may be more than that of one access, by what the file says of its parts."""
    names = file.schema_arrow.names
    if "size" not in names or file.schema_arrow.field("size").type in (
        pa.uint16(),
        pa.uint8(),
        pa.int8(),
        pa.int16(),
    ):
        return False
    column = names.index("size")
    parts = (file.metadata.row_group(i).column(column) for i in range(file.metadata.num_row_groups))
    said = [part.statistics for part in parts]
    return any(one is None or not one.has_min_max or one.max > MOST for one in said)


def _check_columns(schema: pa.Schema) -> None:
    names = list(DTYPES)
    for name in names:
        if schema.names.count(name) > 1:
            raise InputError(f"the column '{name}' is there twice", allowed="each column once")
    for field in schema:
        if field.name not in DTYPES:
            raise InputError(
                "an unknown column",
                found=repr(field.name),
                allowed=", ".join(names),
                suggestion=next(iter(difflib.get_close_matches(field.name, names, n=1)), ""),
            )
        if not pa.types.is_integer(field.type):
            allowed = str(SCHEMA.field(field.name).type)
            raise InputError(
                f"the column '{field.name}' has the wrong type", found=str(field.type), allowed=allowed
            )
    for name in REQUIRED:
        if name not in schema.names:
            raise InputError(
                f"the column '{name}' is missing", found=", ".join(schema.names), allowed=", ".join(names)
            )


def _numpy(name: str, column: pa.Array, start: int) -> np.ndarray[Any, Any]:
    if column.null_count:
        if name not in DEFAULTS:
            at = start + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(f"no {name} in access {at}", allowed="a value in each row")
        if name == "timestamp":  # the value for "none" needs a sign
            column = column.cast(pa.int64())
        column = column.fill_null(DEFAULTS[name])
    values: np.ndarray[Any, Any] = column.to_numpy(zero_copy_only=False)
    return values
