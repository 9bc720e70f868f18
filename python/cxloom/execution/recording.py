"""The trace that is kept of a program while it is played. A disk that is full does not end the play."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import TracebackType

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.execution.feed import Part
from cxloom.trace.format import TraceBatch
from cxloom.trace.writer import BatchWriter, trace_writer


class Recording:
    """A context manager: the trace appears when it is left without an error, and no trace if one cannot be written.

    After an error of the disk the accesses still come by, so that what took minutes to play is not lost with the
    trace: ``problem`` says what was wrong.
    """

    problem: InputError | None = None
    """Why there is no trace, once this is left."""

    def __init__(self, path: str | os.PathLike[str] | None, metadata: dict[str, str]) -> None:
        """``path`` None: nothing is kept. What is added to ``metadata`` until this is left is written, too."""
        self._path = path
        self._metadata = metadata
        self._open = contextlib.ExitStack()
        self._writer: BatchWriter | None = None

    def __enter__(self) -> Recording:
        if self._path is not None:
            self._writer = self._open.enter_context(trace_writer(self._path, self._metadata))
        return self

    def kept(self, parts: Iterator[_core.Accesses]) -> Iterator[Part]:
        """The accesses as they come, written into the trace, too."""
        for part in parts:
            if self._writer is not None:
                try:
                    self._writer.write(TraceBatch(*part.columns()))
                except OSError as error:
                    self._give_up(error)
            yield part

    def _give_up(self, error: OSError) -> None:
        self._writer = None
        try:
            self._open.__exit__(type(error), error, error.__traceback__)
        except InputError as problem:  # it names the file
            self.problem = problem

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._open.__exit__(kind, error, trace)
        except InputError as problem:
            if error is not None:
                raise
            self.problem = problem
