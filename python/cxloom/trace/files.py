"""Opening what may be any file, and writing so that a file is whole or not there."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from cxloom.base.errors import InputError
from cxloom.base.filenames import opened, other_kind
from cxloom.base.temporary import written_whole

HEAD_BYTES = 1 << 17
"""How much of a file is looked at to find out what it is: more than its longest line."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The mark before a text in UTF-8, which says nothing."""

_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
}
COMPRESSED_SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
"""The endings of the names of compressed files, behind the suffix that they would have otherwise."""


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
        # A number has a word; what pyarrow makes of it is longer.
        said = os.strerror(error.errno) if error.errno else error.strerror or str(error)
        reason = said.strip().splitlines()[0]
        raise InputError(reason[:1].lower() + reason[1:], file=path) from error


class Source:
    """The bytes of a trace: a file, a pipe, or ``-`` for standard input; compressed ones come out as they were."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises InputError if there is no such file, it is no file or empty, or it cannot be read."""
        self.path = os.fspath(path)
        self._pipe: BinaryIO | None = None
        with errors_of(path):
            self.is_file, raw = self._start()
            if not raw:
                raise InputError("the file is empty", allowed="a trace")
            self._compression = next(
                (name for magic, name in _COMPRESSIONS.items() if raw.startswith(magic)), None
            )
            self.head = raw
            if self._compression is None:
                return
            if not self.is_file:
                self.close()
                raise InputError(
                    "a compressed pipe", found=self._compression, allowed="a file, or text as it is"
                )
            with self.open() as stream:
                self.head = _read_whole(stream, HEAD_BYTES)
            if not self.head:
                raise InputError(
                    "the file is empty", found=f"{self._compression} of nothing", allowed="a trace"
                )

    @property
    def head_is_whole(self) -> bool:
        """Whether the head is all that there is, as far as is known."""
        return len(self.head) < HEAD_BYTES and self.is_file

    def _start(self) -> tuple[bool, bytes]:
        """Whether it is a file, and its first bytes, which a pipe still has."""
        if self.path == "-" and sys.stdin is None:
            raise InputError("standard input is closed")
        pipe: Any = sys.stdin.buffer if self.path == "-" else None
        if pipe is None:
            pipe, is_pipe = opened(self.path, "a trace")
            if not is_pipe:
                with pipe as file:
                    return True, bytes(file.read(HEAD_BYTES))
        self._pipe = pipe
        return False, bytes(pipe.peek(HEAD_BYTES)[:HEAD_BYTES])

    def open_text(self) -> BinaryIO:
        """`open`, behind the mark that some editors put before a text."""
        stream = self.open()
        if self.head.startswith(BYTE_ORDER_MARK):
            _read_whole(stream, len(BYTE_ORDER_MARK))
        return stream

    def open(self) -> BinaryIO:
        """The bytes from their start; a pipe has them once only."""
        if self.is_file and self._compression:
            reader = _DecompressedXz if self._compression == "xz" else _Decompressed
            return cast(BinaryIO, reader(self.path, self._compression))
        if self.is_file:
            return Path(self.path).open("rb")
        if self._pipe is None:
            raise InputError("a pipe can be read only once", file=self.path)
        pipe, self._pipe = self._pipe, None
        return pipe

    def close(self) -> None:
        """Lets go of a pipe that will not be read."""
        if self._pipe is not None and self.path != "-":
            self._pipe.close()
        self._pipe = None


class _Decompressed(io.RawIOBase):
    """A stream that Arrow decompresses, as any other stream of bytes: a damaged file is an OSError."""

    def __init__(self, path: str, compression: str) -> None:
        import pyarrow as pa

        self._errors = pa.ArrowException
        self._stream = pa.input_stream(path, compression=compression)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return bytes(self._stream.read(None if size < 0 else size))
        except self._errors as error:
            raise OSError(str(error).strip().splitlines()[0]) from error

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class _DecompressedXz(io.RawIOBase):
    """A stream that Arrow does not decompress. More memory than `xz -9` makes a reader need is refused."""

    _MOST_MEMORY = 1 << 28

    def __init__(self, path: str, _compression: str) -> None:
        import lzma

        self._errors = lzma.LZMAError
        self._file = Path(path).open("rb")
        self._decompressor_of = partial(lzma.LZMADecompressor, memlimit=self._MOST_MEMORY)
        self._decompressor = self._decompressor_of()
        self._between = False  # one stream has ended, and another may follow

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return b"".join(iter(lambda: self.read(HEAD_BYTES), b""))
        try:
            while size:
                if self._decompressor.eof:
                    rest = (self._decompressor.unused_data or self._file.read(HEAD_BYTES)).lstrip(b"\0")
                    self._decompressor, self._between = self._decompressor_of(), True
                    if not rest:
                        return b""
                else:
                    rest = self._file.read(HEAD_BYTES) if self._decompressor.needs_input else b""
                    if not rest and self._decompressor.needs_input:
                        if self._between:
                            return b""
                        raise OSError("the compressed data are cut off")
                self._between = False
                if found := self._decompressor.decompress(rest, size):
                    return found
        except self._errors as error:
            raise OSError(str(error)) from error
        return b""

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _read_whole(stream: BinaryIO, size: int) -> bytes:
    """So many bytes, or all that there are: what decompresses gives less at a time."""
    parts: list[bytes] = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def refuse_no_file(path: str | os.PathLike[str]) -> None:
    """Raises InputError for what is there and is no file: a run is of something that may be read again."""
    other = "standard input" if os.fspath(path) == "-" else None
    if other is None:
        with errors_of(path):
            other = other_kind(os.stat(path).st_mode)
    if other is not None:
        allowed = "a file; `cxloom trace convert` makes one of a pipe"
        raise InputError(f"{other}, not a file", allowed=allowed, file=path)


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path in the same folder that takes the name ``path`` if all goes well, and vanishes if not."""
    target = Path(path)
    with errors_of(path):
        if target.is_dir():
            raise InputError("a directory, not a file to write")
        if target.exists() and not target.is_file():
            raise InputError("not a regular file", allowed="the name of a file to write")
        with written_whole(target) as temporary:
            yield temporary
