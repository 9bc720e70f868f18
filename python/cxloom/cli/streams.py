"""The streams of the command: what becomes of output that cannot be written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from cxloom.base.errors import reason_of


class UnwritableError(Exception):
    """Standard output does not take what is written to it."""

    def __init__(self, name: str, reason: str, number: int) -> None:
        super().__init__(f"{name} cannot be written: {reason}")
        self.reader_left = number == errno.EPIPE
        """The reader has seen enough, as `head` has: nothing to complain about."""


class Output:
    """A text stream that says in an UnwritableError that it is full, closed, or not read any more."""

    def __init__(self, stream: TextIO | None, name: str) -> None:
        self._stream = stream  # None if it was closed when the process began
        self._name = name
        self._failure: UnwritableError | None = None
        self.encoding = "utf-8" if stream is None else stream.encoding

    def write(self, text: str) -> int:
        """Writes text."""
        with self._told():
            if self._stream is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return self._stream.write(text)

    def writelines(self, texts: Iterable[str]) -> None:
        """Writes texts one behind the other."""
        for text in texts:
            self.write(text)

    def flush(self) -> None:
        """Writes what waits."""
        with self._told():
            if self._stream is not None:
                self._stream.flush()

    def isatty(self) -> bool:
        """True on a terminal."""
        return self._stream is not None and self._stream.isatty()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tells of a failure each time, as a library may keep the first one to itself."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except OSError as error:
            reason = "it is closed" if self._stream is None else reason_of(error)
            self._failure = UnwritableError(self._name, reason, error.errno or 0)
            _to_nowhere(self._stream)
            raise self._failure from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Messages(Output):
    """Standard error, which is written where it can be: nobody could be told that it cannot."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__(stream, "standard error")

    def write(self, text: str) -> int:
        """Writes text, or forgets it."""
        try:
            return super().write(text)
        except UnwritableError:
            return len(text)

    def flush(self) -> None:
        """Writes what waits, or forgets it."""
        try:
            super().flush()
        except UnwritableError:
            return


def _to_nowhere(stream: TextIO | None) -> None:
    """Lets what a stream still holds go where it does no harm when the process ends."""
    if stream is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
