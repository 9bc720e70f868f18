"""The contents of the ELF files of x86-64 programs: their segments and symbols."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

HEAD = struct.Struct("<16s2xHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ALL, _DYNAMIC = 2, 11
_LOADED, _INTERPRETER = 1, 3
_EXECUTED = 1
DATA = (1,)
CHOSEN = (10,)
FUNCTIONS = (2, *CHOSEN)
"""Types of symbols; functions may choose themselves when they are loaded, too."""


def symbols(data: bytes, kinds: tuple[int, ...]) -> Iterator[tuple[str, int, int]]:
    """Name, address and size of the symbols defined in the file. Raises struct.error if it is damaged."""
    headers = _sections(data)
    for _, kind, _, _, offset, length, link, _, _, _ in headers:
        if kind not in (_ALL, _DYNAMIC):
            continue
        names = headers[link][4]
        for name, info, _, section, value, extent in _SYMBOL.iter_unpack(data[offset : offset + length]):
            if info & 15 in kinds and section != 0:
                at = names + name
                yield data[at : data.index(b"\0", at)].decode(errors="replace"), value, extent


def _sections(data: bytes) -> list[tuple[int, ...]]:
    _, _, _, _, _, sections, _, _, _, _, size, count, _ = HEAD.unpack_from(data)
    return [_SECTION.unpack_from(data, sections + size * number) for number in range(count)]


def _segments(data: bytes) -> list[tuple[int, ...]]:
    head = HEAD.unpack_from(data)
    at, size, count = head[4], head[8], head[9]
    return [_SEGMENT.unpack_from(data, at + size * number) for number in range(count)]


def has_all(data: bytes) -> bool:
    """Whether a file names its own functions, and not only exported ones. Raises struct.error if it is
    damaged."""
    return any(kind == _ALL for _, kind, *_ in _sections(data))


def first_code(data: bytes) -> int:
    """The lowest address of what is loaded of a file to be executed; 0 if nothing is. Raises struct.error if it is
    damaged."""
    found = _segments(data)
    return min((each[3] for each in found if each[0] == _LOADED and each[1] & _EXECUTED), default=0)


def interpreter_of(path: str) -> str | None:
    """The loader of a program and its libraries; None if it needs none, or is damaged."""
    try:
        data = Path(path).read_bytes()
        for kind, _, offset, _, _, stored, *_ in _segments(data):
            if kind == _INTERPRETER:
                return data[offset : offset + stored].rstrip(b"\0").decode(errors="replace")
    except (OSError, struct.error):
        pass
    return None


@dataclass(frozen=True)
class Image:
    """An ELF file, as far as it says what is where in memory."""

    segments: tuple[tuple[int, int, int, int], ...] = ()
    """The offset of each in the file, its address, and how many bytes it has in the file and in memory."""
    functions: Table = field(default_factory=lambda: Table(()))
    data: Table = field(default_factory=lambda: Table(()))

    def address_of(self, offset: int) -> int | None:
        """Where a place in the file is in memory, by the addresses of the file itself."""
        for at, address, stored, _ in self.segments:
            page = at & ~4095
            if page <= offset < at + stored:
                return address - at + offset
        return None


class Table:
    """Symbols by their addresses."""

    def __init__(self, symbols: tuple[tuple[str, int, int], ...]) -> None:
        self._symbols = sorted(set(symbols), key=lambda each: (each[1], each[2]))
        self._addresses = [address for _, address, _ in self._symbols]

    def __len__(self) -> int:
        return len(self._symbols)

    def at(self, address: int) -> str | None:
        """The symbol in which an address is; of one without a size, what follows it is taken to be in it."""
        place = bisect_right(self._addresses, address) - 1
        if place < 0:
            return None
        name, begin, size = self._symbols[place]
        return name if size == 0 or address < begin + size else None

    def most_of(self, begin: int, end: int) -> str | None:
        """The symbol that has the most of a piece of memory, if that is half of it or more."""
        best, most = None, (end - begin) // 2 - 1
        place = max(0, bisect_right(self._addresses, begin) - 1)
        while place < len(self._symbols) and self._symbols[place][1] < end:
            name, at, size = self._symbols[place]
            share = min(end, at + size) - max(begin, at)
            if share > most:
                best, most = name, share
            place += 1
        return best


@lru_cache(maxsize=256)
def image(path: str) -> Image:
    """The image of a file; it says nothing if the file is no ELF file, or cannot be read."""
    try:
        data = Path(path).read_bytes()
        if not data.startswith(b"\x7fELF"):
            return Image()
        every = _segments(data)
        segments = tuple((each[2], each[3], each[5], each[6]) for each in every if each[0] == _LOADED)
        return Image(segments, Table(tuple(symbols(data, FUNCTIONS))), Table(tuple(symbols(data, DATA))))
    except (OSError, struct.error, ValueError, IndexError):
        return Image()
