"""Opening what may be any file, and writing so that a file is whole or not there."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from cxloom.errors import InputError

HEAD_BYTES = 1 << 16
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}


@contextlib.contextmanager
def errors_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """Says in an InputError from within which file it is about, and turns an OSError into one."""
    try:
        yield
    except InputError as error:
        if error.file is None:
            error.file = os.fspath(path)
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).strip().splitlines()[0]
        raise InputError(reason[:1].lower() + reason[1:], file=path) from error


class Source:
    """The bytes of a trace: a file, a pipe, or ``-`` for standard input; compressed ones come out as they were."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises InputError if there is no such file, it cannot be read, it is a directory or it is empty."""
        self.path = os.fspath(path)
        with errors_of(path):
            if self.path == "-":
                self._handle: BinaryIO | None = sys.stdin.buffer
                self.is_file = False
            else:
                mode = Path(path).stat().st_mode
                if stat.S_ISDIR(mode):
                    raise InputError("a directory, not a trace")
                self.is_file = stat.S_ISREG(mode)
                self._handle = Path(path).open("rb", buffering=HEAD_BYTES)
            raw = self._peek(self._handle)
            if not raw:
                raise InputError("the file is empty", allowed="a trace")
            self._compression = next(
                (name for magic, name in _COMPRESSIONS.items() if raw.startswith(magic)), None
            )
            if self._compression and self.is_file:
                with self.open() as stream:
                    self.head = stream.read(HEAD_BYTES)
            elif self._compression:
                raise InputError(
                    "a compressed pipe", found=self._compression, allowed="a file, or text as it is"
                )
            else:
                self.head = raw

    @staticmethod
    def _peek(handle: BinaryIO) -> bytes:
        return cast(bytes, handle.peek(HEAD_BYTES)[:HEAD_BYTES])  # type: ignore[attr-defined]

    def open(self) -> BinaryIO:
        """The bytes from their start; a pipe has them once only."""
        if self.is_file:
            self.close()
            if self._compression:
                return cast(BinaryIO, pa.input_stream(self.path, compression=self._compression))
            return Path(self.path).open("rb")
        if self._handle is None:
            raise InputError("a pipe can be read only once", file=self.path)
        handle, self._handle = self._handle, None
        return handle

    def close(self) -> None:
        """Lets go of what was opened to look at the head."""
        if self._handle is not None and self.path != "-":
            self._handle.close()
            self._handle = None


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path in the same folder that takes the name ``path`` if all goes well, and vanishes if not."""
    target = Path(path)
    if target.is_dir():
        raise InputError("a directory, not a file to write", file=path)
    if target.exists() and not target.is_file():
        raise InputError("not a regular file", allowed="the name of a file to write", file=path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with errors_of(path):
            yield temporary
            temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
