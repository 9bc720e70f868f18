"""Writing a trace, in Parquet or in text form as the name of the file says."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cxloom.base.errors import InputError
from cxloom.base.temporary import check_folder
from cxloom.trace.files import atomic_path, errors_of
from cxloom.trace.format import NO_TIMESTAMP, ROW_GROUP, Checker, TraceBatch, rebatched
from cxloom.trace.reader import TraceReader, open_trace
from cxloom.trace.text import TextWriter

if TYPE_CHECKING:
    from cxloom.trace.parquet import ParquetWriter

SUFFIXES = {".parquet": "parquet", ".txt": "text", ".trace": "text"}
"""The form that each suffix of a file's name asks for."""


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises InputError if a trace cannot be written under this name, before work has gone into it."""
    _writer_of(path)
    target = Path(path)
    with errors_of(path):
        if target.is_dir():
            raise InputError("a directory, not a file to write")
        check_folder(target)


def write_trace(
    path: str | os.PathLike[str], batches: Iterable[TraceBatch], metadata: Mapping[str, str] | None = None
) -> int:
    """Writes the accesses under a name that ends in ``.parquet`` (Parquet), ``.txt`` or ``.trace`` (text), and gives
    their number. The file appears when it is whole; until then, and after an error, what had the name keeps it.

    Raises InputError for another suffix, a name that cannot be written, accesses that break the rules of the format,
    and a trace without any.
    """
    with trace_writer(path, metadata) as writer:
        for batch in batches:
            writer.write(batch)
    return writer.accesses


class BatchWriter:
    """A writer of a trace, batch by batch."""

    def __init__(self, writer: ParquetWriter | TextWriter) -> None:
        self._writer = writer
        self._checker = Checker()
        self._held: list[TraceBatch] = []
        self._count = 0

    @property
    def accesses(self) -> int:
        """The accesses that were written."""
        return self._checker.accesses

    def write(self, batch: TraceBatch) -> None:
        """Appends the batch. Raises InputError for accesses that break the rules of the format."""
        self._held.append(batch)
        self._count += len(batch)
        if self._count >= ROW_GROUP:
            self._put()

    def finish(self) -> None:
        """Appends what is held back."""
        self._put(to_its_end=True)

    def _put(self, to_its_end: bool = False) -> None:
        batches = list(rebatched(iter(self._held), ROW_GROUP))
        cut = batches and len(batches[-1]) < ROW_GROUP and not to_its_end
        self._held = [batches.pop()] if cut else []
        self._count = sum(map(len, self._held))
        for batch in batches:
            self._writer.write(self._checker.check(batch))


@contextlib.contextmanager
def trace_writer(
    path: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> Iterator[BatchWriter]:
    """Writes a trace as it comes; the file appears when this is left without an error. What is added to ``metadata``
    until then is written, too. Raises InputError as :func:`write_trace` does.
    """
    writer_of = _writer_of(path)
    check_writable(path)
    about = {} if metadata is None else metadata
    if "version" in about:
        raise InputError("metadata cannot be called 'version'", allowed="another name", file=path)
    with atomic_path(path) as temporary:
        with writer_of(temporary, about) as file:
            writer = BatchWriter(file)
            yield writer
            writer.finish()
        if writer.accesses == 0:
            raise InputError("the trace has no accesses")


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    tick: str | None = None,
    format: str | None = None,
    levels: Sequence[int] = (),
    watch: Callable[[TraceReader, Iterator[TraceBatch]], Iterator[TraceBatch]] | None = None,
) -> int:
    """Writes the trace ``source`` again, in the form that the name of ``target`` asks for; gives the number of
    accesses. ``tick``, ``format`` and ``levels`` are as in :func:`open_trace`, and a trace that counts ticks needs its
    ``tick``; ``watch`` may look at the batches on their way.

    Raises InputError as :func:`open_trace` and :func:`write_trace` do.
    """
    check_writable(target)
    reader = open_trace(source, tick=tick, format=format, levels=levels)
    batches = _with_known_times(reader) if reader.unknown_tick else iter(reader)
    return write_trace(target, watch(reader, batches) if watch else batches, reader.metadata)


def _with_known_times(reader: TraceReader) -> Iterator[TraceBatch]:
    """Refuses records whose ticks have no length, with an InputError: what is written has picoseconds."""
    for batch in reader:
        if (batch.timestamp != NO_TIMESTAMP).any():
            raise InputError(
                "the trace counts ticks or cycles, and does not say how long one takes",
                found=f"a trace in the form {reader.format}",
                allowed="a tick such as 625ps or 2.4GHz, or whatever one takes",
                file=reader.path,
                path="tick",
            )
        yield batch


def _writer_of(path: str | os.PathLike[str]) -> type[ParquetWriter] | type[TextWriter]:
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        problem = "the file name has no known trace suffix"
        raise InputError(problem, found=repr(suffix), allowed=", ".join(SUFFIXES), file=path)
    if SUFFIXES[suffix] == "text":
        return TextWriter
    from cxloom.trace.parquet import ParquetWriter  # which loads Arrow

    return ParquetWriter
