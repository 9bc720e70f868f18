"""Opening a trace of any form, and reading it in memory that does not depend on its length."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.spec.names import nearest
from cxloom.trace.files import BYTE_ORDER_MARK, COMPRESSED_SUFFIXES, Source, errors_of
from cxloom.trace.format import Checker, TraceBatch
from cxloom.trace.text import Parser, has_header, looks_binary, parsed, text_formats, text_metadata

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
    """The words of the trace's writer about it, by name."""
    unknown_tick: bool
    """Whether its timestamps count ticks or cycles and nobody said how long one takes: they are those numbers."""
    remarks: list[str]
    """Changes on the way that a user should know, of what was read; usually none."""
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
        parts = iter(self) if self.format == "parquet" else self._parts()

        def next_part() -> _core.Accesses | dict[str, NDArray[Any]] | None:
            with errors_of(self.path):
                part = next(parts, None)
            return part.columns() if isinstance(part, TraceBatch) else part

        return next_part


FORMATS = ("parquet", "text", "lackey", *_core.TRACE_FORMATS)
"""The forms of a trace: ours in Parquet and text, valgrind's lackey, and other tools' forms."""

_PARQUET = b"PAR1"
_WORDS = {"text": "text", "Parquet": "a Parquet file", "binary": "binary data"}

_OURS = {"parquet": "a Parquet file", "text": "text of ours", "lackey": "valgrind's lackey"}


def open_trace(
    path: str | os.PathLike[str],
    *,
    tick: object = None,
    format: str | None = None,
    levels: object = (),
) -> TraceReader:
    """Opens a trace in any of `FORMATS`; its content says which of them, or ``format``, which must where it could be of
    several. It may be compressed (gzip, zstd, bzip2, xz), and text may come through a pipe; ``-`` is standard input.

    ``tick`` is how long one tick takes where timestamps count ticks or cycles: in a text trace without a header and in
    some forms of other tools. It is a time or a frequency, such as ``"625ps"``, ``"416.667ps"`` or ``"2.4GHz"``.
    ``levels`` are the numbers of channels, ranks, ... and columns that the coordinates of a ``ramulator2-read-write``
    count. Either is refused with a trace that has no use for it.

    Raises InputError if the file cannot be read, is empty, is a directory or is no trace; if ``tick``, ``format`` or
    ``levels`` are wrong or missing, its `path` says which.
    """
    if format is not None and format not in FORMATS:
        near = nearest(format, FORMATS)
        raise InputError(
            f"unknown format '{format}'", allowed=", ".join(FORMATS), suggestion=near, path="format"
        )
    with errors_of(path):
        source = Source(path)
        try:
            found = _format_of(source, format)
            head = source.head.removeprefix(BYTE_ORDER_MARK)
            _refuse_useless(found, head, tick, levels)
        except InputError:
            source.close()
            raise
        if found == "parquet":
            from cxloom.trace.parquet import ParquetFile  # which loads Arrow

            file = ParquetFile(path)
            return TraceReader(source.path, "parquet", file.length, file.metadata, False, [], file.batches)

        length = "1ps" if tick is None else tick

        def parser() -> Parser:
            if found == "lackey":
                return _core.LackeyParser()
            if found == "text":
                return _core.TextTraceParser(length)
            return _core.ForeignTraceParser(found, length, levels)

        parser()  # a bad tick is an error now, not when the first batch is read
        metadata = text_metadata(head) if found == "text" else {}
        unknown = tick is None and _counts_ticks(found, head)
        remarks = _Remarks()
        taken_for = "" if format is not None or found in _OURS else found

        def parts() -> Iterator[_core.Accesses]:
            return _stream(source, _is_binary(found), parser(), taken_for, remarks)

        return TraceReader(source.path, found, None, metadata, unknown, remarks.said, parts)


def _format_of(source: Source, format: str | None) -> str:
    """The form of a trace by its content, or the one that is asked for if it can be. Raises InputError."""
    head = source.head
    _refuse_other(source, format)
    if head.startswith(_PARQUET):
        if not source.is_file:
            raise InputError("Parquet through a pipe", allowed="a Parquet file, or text through a pipe")
        return "parquet"
    if format is not None:
        return format
    if looks_binary(head):
        found = _core.trace_formats_of_records(head, source.head_is_whole)
        if not found:
            raise InputError(
                "neither Parquet nor text: binary data, nor records that are known",
                found=repr(head[:16]),
                allowed="a trace; a format, if it is one with records, such as champsim",
            )
    else:
        head = head.removeprefix(BYTE_ORDER_MARK)
        found = text_formats(head, source.head_is_whole)
    if len(found) > 1:
        named = [name for name in found if _name_of(source.path).endswith(_suffix(name))]
        found = named if len(named) == 1 else found
    if len(found) == 1:
        return found[0]
    first = next((line for line in head.splitlines() if line.strip()), b"")
    shown = repr(first[:60].decode(errors="replace"))
    if not found:
        raise InputError(
            "not a line of a trace in any form that is known", found=shown, allowed=", ".join(FORMATS), line=1
        )
    raise InputError(
        "the content fits several forms of traces",
        found=shown if not looks_binary(head) else "records",
        allowed=" or ".join(f"{name} ({_core.TRACE_FORMATS[name]['about']})" for name in found),
        path="format",
    )


def _refuse_other(source: Source, format: str | None) -> None:
    """Raises InputError for a file that cannot be of the form that is asked for."""
    if format is None:
        return
    has = "text"
    if source.head.startswith(_PARQUET):
        has = "Parquet"
    elif looks_binary(source.head):
        has = "binary"
    if has != (asked := "Parquet" if format == "parquet" else "binary" if _is_binary(format) else "text"):
        form = f"trace in the form {format}, which is {_WORDS[asked]}"
        raise InputError(
            "not a Parquet file" if asked == "Parquet" else f"not a {form}",
            found=_WORDS[has],
            allowed="the form that the file has, or none: most are recognised",
            path="format",
        )


def _is_binary(form: str) -> bool:
    """Whether a trace of this form has records of bytes."""
    return form in _core.TRACE_FORMATS and bool(_core.TRACE_FORMATS[form]["binary"])


def _name_of(path: str) -> str:
    """The name of a file without what says that it is compressed."""
    return next((path.removesuffix(end) for end in COMPRESSED_SUFFIXES if path.endswith(end)), path)


def _suffix(name: str) -> str:
    """The ending of the names of a form's files; most forms have none."""
    return str(_core.TRACE_FORMATS[name]["suffix"]) or "\0"


def _counts_ticks(form: str, head: bytes) -> bool:
    """Whether the timestamps of a trace count units whose length only its maker knows."""
    if form in _OURS:
        return form == "text" and not has_header(head)
    return bool(_core.TRACE_FORMATS[form]["times"] == "ticks")


def _refuse_useless(form: str, head: bytes, tick: object, levels: object) -> None:
    """Raises InputError for a tick or levels that a trace of this form has no use for."""
    if levels and form != "ramulator2-read-write":
        raise InputError(
            "levels of a trace that has addresses",
            found=f"a trace in the form {form}",
            allowed="levels with ramulator2-read-write",
            path="levels",
        )
    if tick is None or _counts_ticks(form, head):
        return
    if form in ("parquet", "text"):
        reason = "whose times are picoseconds"
    else:
        known = form not in _OURS and _core.TRACE_FORMATS[form]["times"] == "standard"
        reason = "whose times have a length of their own" if known else "that has no times"
    raise InputError(
        f"a tick of a trace {reason}",
        found=f"a trace in the form {form}",
        allowed="a tick with a text that has no header, and with forms that count ticks or cycles",
        path="tick",
    )


class _Remarks:
    """A parser's remarks, of the pass that came farthest: one that begins anew has seen less, or as much."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._farthest = 0  # accesses of a pass

    def add(self, read: int, remark: str) -> None:
        """Adds a remark (nothing if empty) from a pass that has read so many accesses."""
        if read > self._farthest:
            self._farthest = read
            self.said[:] = [remark] if remark else []


def _stream(
    source: Source, binary: bool, parser: Parser, taken_for: str, remarks: _Remarks
) -> Iterator[_core.Accesses]:
    """The accesses; ``taken_for`` is the form that the content said, if errors should say it."""
    read = 0
    foreign = parser if isinstance(parser, _core.ForeignTraceParser) else None
    try:
        with source.open() if binary else source.open_text() as stream:
            for accesses in parsed(stream, parser):
                read += len(accesses)
                if foreign is not None:
                    remarks.add(read, foreign.remark)  # of a trace that is not read to its end, too
                yield accesses
    except InputError as error:
        if taken_for:
            about = _core.TRACE_FORMATS[taken_for]["about"]
            error.allowed = (
                f"{error.allowed or 'a whole trace'} (the file was taken for {taken_for}: {about})"
            )
        raise
