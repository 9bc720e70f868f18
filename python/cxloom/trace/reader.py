"""Opening a trace of any form, and reading it in memory that does not depend on its length."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxloom import _core
from cxloom.errors import InputError
from cxloom.spec.names import listed, nearest
from cxloom.trace.files import Source, errors_of
from cxloom.trace.format import Checker, TraceBatch
from cxloom.trace.text import Parser, has_header, looks_binary, parsed, text_format, text_metadata
from cxloom.words import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TraceReader:
    """A trace that was found to be one. Iterate it for its batches; a file may be iterated again, a pipe only once.

    Iterating raises InputError, with the line or the number of the access, where the trace turns out to be wrong.
    """

    path: str
    format: str
    """One of `FORMATS`."""
    length: int | None
    """Number of records, where the format knows it beforehand."""
    metadata: Mapping[str, str]
    """What whoever wrote the trace says about it, by name."""
    unknown_cycle: bool
    """Whether its timestamps are cycles and nobody said how long one takes: they are taken for picoseconds."""
    _parts: Callable[[], Iterator[TraceBatch | _core.Accesses]] = field(repr=False)

    def __iter__(self) -> Iterator[TraceBatch]:
        checker = Checker()
        with errors_of(self.path):
            for part in self._parts():
                batch = part if isinstance(part, TraceBatch) else TraceBatch(*part.columns())
                yield checker.check(batch)
            if self.length is not None and checker.count != self.length:
                raise InputError(
                    "the trace is cut off",
                    found=counted(checker.count, "access"),
                    allowed=counted(self.length, "access"),
                )
            if checker.accesses == 0:
                raise InputError("the trace has no accesses")

    def feed(self) -> Callable[[], _core.Accesses | dict[str, NDArray[Any]] | None]:
        """What gives the core the next accesses whenever it is called, and None at the end.

        Accesses of a text go to the core as they were parsed, without NumPy, which takes longer to load than most
        traces take to play.
        """
        parts = self._parts() if self.length is None else iter(self)

        def next_part() -> _core.Accesses | dict[str, NDArray[Any]] | None:
            with errors_of(self.path):
                part = next(parts, None)
            return part.columns() if isinstance(part, TraceBatch) else part

        return next_part


FORMATS = ("parquet", "text", "lackey", *_core.FOREIGN_TRACE_FORMS)
"""The forms of a trace: ours in Parquet and text, valgrind's lackey, DRAMsim3, and the three of Ramulator 2."""


def open_trace(
    path: str | os.PathLike[str],
    *,
    tick: object = None,
    format: str | None = None,
    levels: object = (),
) -> TraceReader:
    """Opens a trace in any of `FORMATS`; its first bytes say which of them, or ``format``.
    Text may be compressed (gzip, zstd, bzip2) and may come through a pipe; ``-`` is standard input.

    ``tick`` is the length of one tick of the timestamps in a text trace without a header, or of a cycle of DRAMsim3,
    such as ``"625ps"``; a picosecond if nothing is said. ``levels`` are the numbers of channels, ranks, ... and columns
    that the coordinates of a ``ramulator2-read-write`` count. Either is refused with a trace that has no use for it.

    Raises InputError if the file cannot be read, is empty, is a directory or is no trace; if ``tick``, ``format`` or
    ``levels`` are wrong, its `path` says which.
    """
    if format is not None and format not in FORMATS:
        near = nearest(format, FORMATS)
        raise InputError(
            f"unknown format '{format}'", allowed=listed(FORMATS), suggestion=near, path="format"
        )
    with errors_of(path):
        source = Source(path)
        if source.head.startswith(b"PAR1") and format in (None, "parquet"):
            if not source.is_file:
                source.close()
                raise InputError("Parquet through a pipe", allowed="a Parquet file, or text through a pipe")
            from cxloom.trace.parquet import ParquetFile  # which loads Arrow

            _refuse_useless("parquet", b"", tick, levels)
            file = ParquetFile(path)
            return TraceReader(source.path, "parquet", file.length, file.metadata, False, file.batches)
        if looks_binary(source.head):
            source.close()
            raise InputError(
                "neither Parquet nor text: binary data", found=repr(source.head[:16]), allowed="a trace"
            )
        found = format or text_format(source.head)
        if found == "parquet":
            raise InputError("not a Parquet file", allowed="a format that the file has", path="format")

        _refuse_useless(found, source.head, tick, levels)
        picosecond = "1ps" if tick is None else tick

        def parser() -> Parser:
            if found == "lackey":
                return _core.LackeyParser()
            if found == "text":
                return _core.TextTraceParser(picosecond)
            return _core.ForeignTraceParser(found, picosecond, levels)

        parser()  # a bad tick is an error now, not when the first batch is read
        metadata = text_metadata(source.head) if found == "text" else {}
        unknown = found == "dramsim3" and tick is None
        return TraceReader(source.path, found, None, metadata, unknown, lambda: _stream(source, parser()))


def _refuse_useless(form: str, head: bytes, tick: object, levels: object) -> None:
    """Raises InputError for a tick or levels that a trace of this form has no use for."""
    if levels and form != "ramulator2-read-write":
        raise InputError(
            "levels of a trace that has addresses",
            found=f"a trace in the form {form}",
            allowed="levels with ramulator2-read-write",
            path="levels",
        )
    if tick is None or form == "dramsim3" or (form == "text" and not has_header(head)):
        return
    reason = "whose times are picoseconds" if form in ("parquet", "text") else "that has no times"
    raise InputError(
        f"a tick of a trace {reason}",
        found=f"a trace in the form {form}",
        allowed="a tick with dramsim3, and with a text that has no header",
        path="tick",
    )


def _stream(source: Source, parser: Parser) -> Iterator[_core.Accesses]:
    with source.open() as stream:
        yield from parsed(stream, parser)
