"""The names of files and directories that somebody gives, and the contents of those that have to be files."""

from __future__ import annotations

import io
import os
import stat
import time
from typing import TYPE_CHECKING, BinaryIO

from cxloom.base.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER = 1 << 17
WRITERS_SECONDS = 1.0
"""Wall time within which somebody has to open the other end of a pipe (own choice: a command starts within it)."""


def file_name(given: object, allowed: str, path: str = "") -> str:
    """The name as text. Raises InputError for what is no name; `allowed` says what is, `path` where it was given."""
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(name, str):
        found = "nothing" if given is None else f"{given!r} of type {type(given).__name__}"
        raise InputError("not a text or a path", found=found, allowed=allowed, path=path)
    if "\0" in name:
        raise InputError("a name with a null character", found=f"'{name}'", allowed=allowed, path=path)
    return name


def other_kind(mode: int) -> str | None:
    """The kind of file that has this mode, if it is no regular file."""
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISDIR(mode):
        return "a directory"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def opened(path: str | os.PathLike[str], allowed: str) -> tuple[BinaryIO, bool]:
    """A file to read from its start, and whether it is a pipe. `allowed` says what it should be.

    A regular file, or a pipe that somebody writes to, who may take their time: a shell makes one of ``<(command)``.
    Raises InputError for anything else, OSError if it cannot be opened.
    """
    mode = os.stat(path).st_mode
    if (other := other_kind(mode)) is not None and not stat.S_ISFIFO(mode):
        raise InputError(f"{other}, not a file", allowed=allowed)
    # Without waiting for somebody at the other end.
    raw = _Pipe(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    file = io.BufferedReader(raw, _BUFFER)
    if stat.S_ISREG(mode):
        return file, False
    if not _written_to(raw, file):
        file.close()
        raise InputError("a pipe that nobody writes to", allowed=allowed)
    os.set_blocking(file.fileno(), True)
    return file, True


def _written_to(raw: _Pipe, file: io.BufferedReader[_Pipe]) -> bool:
    """Whether somebody has the other end of a pipe, or opens it soon: who starts both may have begun with us."""
    last = time.monotonic() + WRITERS_SECONDS
    while True:
        file.peek(1)
        if not raw.ended:
            return True
        if time.monotonic() > last:
            return False
        time.sleep(0.01)


class _Pipe(io.FileIO):
    """Tells the end of a pipe from one in which nothing is yet."""

    ended = False

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Reads like FileIO: None if nothing is there yet, 0 at the end."""
        count = super().readinto(buffer)
        self.ended = count == 0
        return count


def content_of(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file. Raises OSError, also for what is none: nobody waits for a pipe or a terminal."""
    if (other := other_kind(os.stat(path).st_mode)) is not None:  # a socket cannot be opened
        raise OSError(f"{other}, not a file")
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        return file.read()


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a regular file in UTF-8. Raises OSError and UnicodeDecodeError."""
    return content_of(path).decode("utf-8")
