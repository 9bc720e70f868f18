"""Files of text that commands write: whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.base.temporary import check_folder, written_whole


def write_text(path: Path, text: str) -> Path:
    """Writes a text and gives the path, whose folders are made if need be. Raises InputError if it cannot."""
    write_texts({path: text})
    return path


def write_texts(texts: Mapping[Path, str]) -> None:
    """Writes the text of each path, or none: what cannot be written raises InputError before any has its name."""
    path = Path()
    try:
        with ExitStack() as written:
            for path, text in texts.items():
                _refuse_other_kinds(path)
                written.enter_context(written_whole(path)).write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(path, error) from None


def check_forms(paths: Iterable[Path], what: str, forms: Sequence[str], option: str = "--out") -> None:
    """Raises InputError if the name of a file does not end with one of the forms that there are of something."""
    for path in paths:
        if path.suffix not in forms:
            raise InputError(
                f"unsupported {what} format", found=f"'{path}'", allowed=", ".join(forms), path=option
            )


def refuse_empty(directory: str | None, option: str) -> None:
    """Raises InputError for a directory that is named by nothing at all."""
    if directory == "":
        raise InputError("the name of the directory is empty", allowed="a directory", path=option)


def check_writable(paths: Iterable[Path]) -> None:
    """Raises InputError if a text cannot be written there, before work has gone into it."""
    for path in paths:
        try:
            if path.exists():
                _refuse_other_kinds(path)
            check_folder(path)
        except OSError as error:
            raise _unwritable(path, error) from None


def _refuse_other_kinds(path: Path) -> None:
    """Raises OSError for a folder, and InputError for a device, a pipe or a descriptor such as /dev/stdout: the whole
    file would take their name."""
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    is_descriptor = path.is_symlink() and os.readlink(path).startswith("/proc/")
    if path.exists() and (is_descriptor or not path.is_file()):
        raise InputError("not a regular file", allowed="the name of a file to write", file=path)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot be written: {reason_of(error)}", file=path)
