"""The common part of the sources of a capture: a program that runs, and how it came to its end."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from cxloom import _core
from cxloom.trace.format import TraceBatch

_PATIENCE = 10.0  # seconds that a program gets to end when asked to


@dataclass(frozen=True)
class Ended:
    """How a captured program came to its end."""

    exit_code: int | None = None
    """The program's own; negative: the signal that ended it; None if it was ended from here."""
    limit: bool = False
    """The program was ended because as many accesses were recorded as were asked for."""
    interrupted: bool = False
    """The program was ended because somebody interrupted the capture."""

    @property
    def command_code(self) -> int:
        """The exit code of a command that ran it: the program's own, as far as it has one."""
        if self.interrupted:
            return 1
        code = self.exit_code or 0
        return code if code >= 0 else 128 - code

    def to_metadata(self) -> dict[str, str]:
        """The words of a trace on its end: none, if the program ended of its own will."""
        unwilling = self.interrupted or (self.exit_code or 0) < 0
        return {"ended": str(self)} if unwilling else {}

    def __str__(self) -> str:
        if self.interrupted:
            return "interrupted"
        if self.limit or self.exit_code is None:
            return "ended at the limit"
        if self.exit_code >= 0:
            return f"exit code {self.exit_code}"
        try:
            return f"signal {-self.exit_code} ({signal.Signals(-self.exit_code).name})"
        except ValueError:
            return f"signal {-self.exit_code}"


class Source(Protocol):
    """A program and who reports what it does."""

    name: str
    """The name as the trace says where it is from."""
    ended: Ended
    """Once there are no more batches."""

    @property
    def sieve(self) -> _core.LackeyCapture | _core.ProgramCapture:
        """The recorder, once the program runs."""

    def batches(self, step: Callable[[], bool]) -> Iterator[TraceBatch]:
        """Runs the program; gives its records. ``step`` is asked now and then whether to go on."""


def is_over(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended."""
    return process.poll() is not None


def ended(process: subprocess.Popen[bytes]) -> None:
    """Ends a process, in good order if it can be."""
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
