"""The text form of a trace, the output of valgrind's lackey and the traces of others: parsed in C++, block by block."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, TypeAlias

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.trace.format import TraceBatch

BLOCK = 1 << 16
"""Bytes of text that are parsed at a time (own choice: what is made of them fits in a cache)."""
LONGEST_LINE = 1 << 16
_METADATA = b"# metadata: "
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\r")
_LACKEY = (b"==", b"--", b"I  ", b" L ", b" S ", b" M ")


Parser: TypeAlias = "_core.TextTraceParser | _core.LackeyParser | _core.ForeignTraceParser"
"""The parser of text, which keeps each access to the rules of the format."""


def parsed(stream: BinaryIO, parser: Parser) -> Iterator[_core.Accesses]:
    """The accesses in a stream of bytes, as they come; raises InputError with the line."""
    try:
        while block := stream.read(BLOCK):
            yield from _all_of(parser.feed(block), parser)
    except OSError as error:  # a compressed file that is cut off
        raise InputError(f"cannot be read: {str(error).strip().splitlines()[0]}") from error
    yield from _all_of(parser.finish(), parser)


def _all_of(accesses: _core.Accesses, parser: Parser) -> Iterator[_core.Accesses]:
    """These, and the others that the parser has of the same bytes: one large access may be millions of lines."""
    while len(accesses):
        yield accesses
        accesses = parser.more()


def looks_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are not text."""
    start = head[:4096]
    return b"\0" in head or any(byte in start for byte in _CONTROL)


def text_formats(head: bytes, whole: bool) -> list[str]:
    """The forms of text that a trace with these first bytes can have; none: it is no trace. ``whole``: they are all."""
    first = next((line for line in io.BytesIO(head) if line.strip()), b"")
    if has_header(head) or not first:
        return ["text"]
    if first.startswith(_LACKEY):
        return ["lackey"]
    if found := _core.trace_formats_of_text(head, whole):
        return list(found)
    # Ours: its addresses have an 0x.
    line = next((line for line in io.BytesIO(head) if line.strip() and not line.startswith(b"#")), b"0x")
    return ["text"] if line.lstrip().startswith((b"0x", b"0X")) else []


def has_header(head: bytes) -> bool:
    """Whether a text trace names its columns: then its timestamps are picoseconds."""
    return head.startswith(b"# cxloom-trace ")


def text_metadata(head: bytes) -> dict[str, str]:
    """The metadata in the second line of a text trace; empty if there are none."""
    if not has_header(head):
        return {}
    lines = head.splitlines()
    if len(lines) < 2 or not lines[1].startswith(_METADATA):
        return {}
    try:
        found = json.loads(lines[1][len(_METADATA) :])
    except (ValueError, RecursionError) as error:
        found_text = repr(lines[1][:60].decode(errors="replace"))
        raise InputError("the metadata are not JSON", found=found_text, line=2) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InputError("the metadata are not texts by name", allowed='{"name": "text"}', line=2)
    return found


class TextWriter:
    """Writes batches as lines of text; a context manager."""

    def __init__(self, path: str | os.PathLike[str], metadata: Mapping[str, str]) -> None:
        about = _METADATA + json.dumps(dict(metadata), sort_keys=True).encode() + b"\n" if metadata else b""
        if len(about) > LONGEST_LINE:
            raise InputError(
                "the metadata are too long", found=counted(len(about), "byte"), allowed=f"{LONGEST_LINE}"
            )
        self._file = Path(path).open("wb", buffering=BLOCK)
        self._metadata = metadata
        self._said = dict(metadata)
        self._file.write(_core.trace_text_header().encode() + about)

    def write(self, batch: TraceBatch) -> None:
        """Writes a line for each access."""
        self._file.write(_core.trace_text(batch.columns()))

    def __enter__(self) -> TextWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A recorded program may add to its metadata until its end: each is a comment, as the head is written.
        for key, value in sorted(self._metadata.items()):
            if key not in self._said:
                self._file.write(f"# {key}: {value}\n".encode())
        self._file.close()
