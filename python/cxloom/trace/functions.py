"""Where a function is that is called by its name: in a program, or in a library that it is linked with."""

from __future__ import annotations

import ctypes
import re
import struct
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.trace.symbols import CHOSEN, FUNCTIONS, first_code, has_all, image, interpreter_of, symbols

_IN_LIBRARY = re.compile(r"([^:]*(?:/[^:]*|\.so(?:\.[^:]*)?)):(?!:)(.+)")
_SHOWN = 4  # signatures in a message
_PATIENCE = 60.0  # seconds that the loader gets to list libraries


@dataclass(frozen=True)
class FunctionPlace:
    """A function, as the plug-in of the emulator finds it where its file is loaded."""

    file: str
    in_library: bool
    distance: int
    """Bytes from where it begins to what is loaded first of the code of the program; in a library, its place in the
    file."""

    def option(self) -> str:
        """The option of the plug-in."""
        if not self.in_library:
            return f"region={self.distance}"
        status = Path(self.file).stat()
        return f"region={status.st_dev}:{status.st_ino}:{self.distance}"


def find_function(
    program: str, name: str, libraries: Callable[[], Sequence[str]] = lambda: ()
) -> FunctionPlace:
    """The function of a program, or of the first of its ``libraries`` that has it: by its symbol, or by its name in a
    C++ source, with its parameters or without. ``FILE.so:NAME`` is in that library, be it loaded by `dlopen`.

    Raises InputError if there is none, or several.
    """
    if found := _IN_LIBRARY.fullmatch(name):
        file, symbol = found.groups()
        paths = [file] if "/" in file else [path for path in libraries() if Path(path).name == file]
        if not paths or not Path(paths[0]).is_file():
            raise InputError(
                f"no library '{file}'", allowed="its path, or the name of one that the program is linked with"
            )
        files = [_File(paths[0], paths[0] != program)]
        place = files[0].find(symbol)
    else:
        symbol = name
        files = [_File(program, False)]
        place = files[0].find(symbol)
        if place is None:
            for path in libraries():
                files.append(_File(path, True))
                if (place := files[-1].find(symbol)) is not None:
                    break
    return place if place is not None else _refuse(symbol, files)


def libraries_of(program: str, emulator: Sequence[str]) -> tuple[str, ...]:
    """The libraries that a program is linked with, in the order of search, as its loader lists them under the
    emulator; none if it is linked statically."""
    loader = interpreter_of(program)
    if loader is None:
        return ()
    try:
        listed = subprocess.run(
            [*emulator, loader, "--list", program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.findall(r"(?:=> |^\s*)(/.*) \(0x[0-9a-f]+\)$", listed.stdout, re.MULTILINE)
    return tuple(dict.fromkeys(found))


class _File:
    """The functions of one file."""

    def __init__(self, path: str, in_library: bool) -> None:
        self.path = path
        self._in_library = in_library
        try:
            data = Path(path).read_bytes()
            self.places: dict[str, set[int]] = {}
            for symbol, address, _ in symbols(data, FUNCTIONS):
                self.places.setdefault(symbol, set()).add(address)
            self._chosen = {address for _, address, _ in symbols(data, CHOSEN)}
            self._first_code = first_code(data)
            self.is_stripped = not has_all(data)
        except OSError as error:
            raise InputError(f"the program cannot be read: {reason_of(error)}", file=path) from error
        except (struct.error, ValueError, IndexError) as error:
            raise InputError("a damaged program", file=path) from error

    def find(self, name: str) -> FunctionPlace | None:
        """Where the function is; None if it is not here. Raises InputError if there are several."""
        addresses = self.places.get(name, set())
        if not addresses:
            signatures = self._signatures(name)
            if len(signatures) > 1 and name not in signatures:
                shown = ", ".join(f"'{each}'" for each in sorted(signatures)[:_SHOWN])
                raise InputError(
                    f"several functions are called '{name}'", allowed=f"one of {shown}", file=self.path
                )
            addresses = signatures.get(name) or set().union(*signatures.values())
        if addresses & self._chosen:
            raise InputError(
                f"'{name}' only chooses a function for this processor when it is loaded",
                allowed="the name of the one that it chooses, or of one that calls it",
                file=self.path,
            )
        if len(addresses) > 1:
            raise InputError(
                f"several functions are called '{name}'", allowed="the name of one", file=self.path
            )
        return next(
            (FunctionPlace(self.path, self._in_library, self._distance(each)) for each in addresses), None
        )

    def _distance(self, address: int) -> int:
        if not self._in_library:
            return address - self._first_code
        for at, begin, stored, _ in image(self.path).segments:
            if begin <= address < begin + stored:
                return address - begin + at
        raise InputError("a damaged program", file=self.path)

    def _signatures(self, name: str) -> dict[str, set[int]]:
        """The functions that sources call so: their names with parameters, and where they are."""
        result: dict[str, set[int]] = {}
        last = name.partition("(")[0].split("::")[-1].strip()
        for symbol, addresses in self.places.items():
            if (
                last in symbol
                and (said := demangled(symbol))
                and (said == name or said.startswith(f"{name}("))
            ):
                result.setdefault(said, set()).update(addresses)
        return result

    def near(self, name: str) -> str:
        """The function that was meant, perhaps; empty if nobody knows."""
        names = {said.partition("(")[0] if (said := demangled(each)) else each: None for each in self.places}
        ends = [each for each in names if each.endswith(f"::{name}")]
        return next(iter(ends or get_close_matches(name, names, 1)), "")


def _refuse(name: str, files: Iterable[_File]) -> FunctionPlace:
    program, *libraries = files
    near = next((found for each in (program, *libraries) if (found := each.near(name))), "")
    if program.is_stripped:
        what = "the program is stripped: it names no functions" + (" of its own" if program.places else "")
        problem = f"{what}, and no library has '{name}'" if libraries else what
        allowed = "a program that is not stripped, or marks"
    else:
        where = " in the program or its libraries" if libraries else ""
        problem = f"no function is called '{name}'{where}"
        allowed = "a name that nm prints, or marks"
    raise InputError(problem, allowed=allowed, suggestion=near, file=program.path)


def demangled(symbol: str) -> str:
    """The name of a function of C++, with its parameters; empty of another, or where it is not known."""
    if not symbol.startswith("_Z") or _DEMANGLE is None:
        return ""
    status = ctypes.c_int()
    text = _DEMANGLE(symbol.encode(), None, None, ctypes.byref(status))
    if not text:
        return ""
    name = ctypes.string_at(text).decode(errors="replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return "" if " [clone" in name else name  # a part of a function


def _demangler() -> ctypes._FuncPointer | None:
    try:
        found = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return None
    found.restype = ctypes.c_void_p
    found.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return found


_DEMANGLE = _demangler()
