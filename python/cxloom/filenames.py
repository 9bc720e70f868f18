"""The names of files and directories that somebody gives in Python."""

from __future__ import annotations

import os

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
