"""The purpose of a program's memory: objects with names, to which pages belong.

======================  ==========================================================================================
``data:SYMBOL``         static data that has half of a page or more, such as an array
``data:FILE``           other static data, and code, of a program or library
``heap:FUNCTION``       memory by which the heap grew (``brk``) when that function wanted some
``map:FUNCTION``        memory that was mapped for that function (``mmap``): large pieces of ``malloc`` are
``file:PATH``           a file that was mapped
``tables``              page tables of a process, as the kernel keeps them; with a TLB only
``stack``, ``stacks``   of the first thread, and of the others
``other``               of which nothing is known
======================  ==========================================================================================

A function is the innermost one on the way to the call that is in no library of the system, and whose name does not
tell that it allocates (``malloc``, ``xrealloc``, ``operator new``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cxloom.base.granules import PAGE
from cxloom.trace.symbols import image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cxloom import _core

METADATA = "objects"
"""The metadata of a trace that says to which object each frame belongs."""
_MOST_RUNS = 500_000
_PROCESS = 48  # bits of an address below the number of the process
_ALLOCATES = re.compile(
    r"alloc|memalign|morecore|^_Zn[wa]|^_*(mmap|mmap64|brk|sbrk|mremap|strn?dup)$", re.IGNORECASE
)
_CLONED = re.compile(r"\.(constprop|isra|part|cold)\b.*$")  # what GCC adds to names of variants of a function
_MANGLED = re.compile(r"_ZN?[KVr]*(?=\d)")
_LENGTH = re.compile(r"\d+")
_OF_THE_SYSTEM = re.compile(r"^(libc|ld-linux.*|libstdc\+\+|libm|libpthread)[.-]")


def plain_name(symbol: str) -> str:
    """A function as its source calls it: without what GCC adds to variants of it; of C++ the names without arguments.

    >>> plain_name("make.constprop.0"), plain_name("_Z9init_treev"), plain_name("_ZN4tree5Index3addEi")
    ('make', 'init_tree', 'tree::Index::add')
    """
    name = _CLONED.sub("", symbol)
    found = _MANGLED.match(name)
    if found is None:
        return name
    parts, rest = [], name[found.end() :]
    while length := _LENGTH.match(rest):
        rest = rest[length.end() :]
        parts.append(rest[: int(length[0])])
        rest = rest[int(length[0]) :]
    return "::".join(parts) or name


class Directory(Protocol):
    """Tells which object a frame belongs to."""

    names: list[str]

    def of_frames(self) -> NDArray[np.int64]:
        """The number of each frame's object, by its name, for all frames that there are so far."""


class Objects:
    """The names of a program's pages, found as they get their frames."""

    def __init__(self, sieve: _core.ProgramCapture) -> None:
        self._sieve = sieve
        self.names: list[str] = []
        """The names in the order in which they were found."""
        self._numbers: dict[str, int] = {}
        self._origins: list[tuple[str, int, str, list[int]]] = []
        self._named: dict[int, int] = {}  # numbers of names, by origins that have one for all pages
        self._of_frame: NDArray[np.int64] | None = None
        self._frames = 0
        self._files: dict[int, list[tuple[int, int, int, str]]] = {}
        self._known_files = 0

    def of_frames(self) -> NDArray[np.int64]:
        """The number of each frame's page name, for all frames that there are so far."""
        import numpy as np

        addresses, origins = self._sieve.pages_from(self._frames)
        if self._of_frame is None:
            self._of_frame = np.zeros(1024, dtype=np.int64)
        if len(addresses):
            self._origins += self._sieve.origins_from(len(self._origins))
            files = self._sieve.files
            for process, begin, end, offset, path in files[self._known_files :]:
                self._files.setdefault(process, []).append((begin, end, offset, path))
            self._known_files = len(files)
            names = list(map(self._name_of, addresses.tolist(), origins.tolist()))
            end = self._frames + len(names)
            if end > len(self._of_frame):
                self._of_frame = np.concatenate([self._of_frame, np.zeros(end, dtype=np.int64)])
            self._of_frame[self._frames : end] = names
            self._frames = end
        return self._of_frame[: self._frames]

    def _name_of(self, address: int, origin: int) -> int:
        known = self._named.get(origin)
        if known is not None:
            return known
        kind, process, file, callers = self._origins[origin]
        if kind == "file":
            return self._number(self._in_file(process, address & ((1 << _PROCESS) - 1), file))
        name = kind
        if kind in ("heap", "map"):
            name = f"{kind}:{self._function(process, callers)}"
        number = self._number(name)
        self._named[origin] = number
        return number

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def _in_file(self, process: int, address: int, path: str) -> str:
        of = image(path)
        if not of.segments:
            return f"file:{path}"
        base = self._base(process, path)
        page = (address - base) & ~(PAGE - 1) if base is not None else None
        symbol = of.data.most_of(page, page + PAGE) if page is not None else None
        return f"data:{symbol or Path(path).name}"

    def _base(self, process: int, path: str) -> int | None:
        """The offset from the addresses of an ELF file to addresses of a process that has it."""
        for begin, _, offset, name in self._files.get(process, ()):
            if name == path and (address := image(path).address_of(offset)) is not None:
                return begin - (address & ~(PAGE - 1))
        return None

    def _function(self, process: int, callers: Sequence[int]) -> str:
        """The function that wanted memory."""
        name = "unknown"
        for caller in callers:
            if caller == 0:
                break
            found = self._called(process, caller)
            if found is None:
                continue
            path, name = found
            if not _OF_THE_SYSTEM.match(Path(path).name) and not _ALLOCATES.search(name):
                return name
        return name

    def _called(self, process: int, caller: int) -> tuple[str, str] | None:
        """The file and the function in which an instruction is."""
        for begin, end, _, path in self._files.get(process, ()):
            if begin <= caller < end:
                base = self._base(process, path)
                address = caller - 1 - (base or 0)
                name = image(path).functions.at(address) if base is not None else None
                return path, plain_name(name or "") or f"{Path(path).name}+{address:#x}"
        return None


def recorded(directory: Directory, path: str | os.PathLike[str]) -> dict[str, str]:
    """What a trace of that name says of them: in Parquet, as text has its metadata in front of what they are known
    from; and nothing if that would be more than the trace is."""
    if not os.fspath(path).endswith(".parquet"):
        return {}
    runs = [(name, len(list(group))) for name, group in groupby(directory.of_frames().tolist())]
    if not runs or len(runs) > _MOST_RUNS:
        return {}
    return {METADATA: json.dumps({"names": directory.names, "runs": runs}, separators=(",", ":"))}
