"""The names of files and directories that somebody gives, and what is in those that have to be files."""

from __future__ import annotations

import os
import stat

from cxloom.errors import InputError


def file_name(given: object, allowed: str, path: str = "") -> str:
    """The name as text. Raises InputError for what is no name; `allowed` says what is, `path` where it was given."""
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(name, str):
        found = "nothing" if given is None else f"{given!r} of type {type(given).__name__}"
        raise InputError("not a text or a path", found=found, allowed=allowed, path=path)
    if "\0" in name:
        raise InputError("a name with a null character", found=f"'{name}'", allowed=allowed, path=path)
    return name


def content_of(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file. Raises OSError, also for what is none: nobody waits for a pipe or a terminal."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("not a regular file")
        return file.read()


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a regular file in UTF-8. Raises OSError and UnicodeDecodeError."""
    return content_of(path).decode("utf-8")
