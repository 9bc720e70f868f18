"""The records of what runs under an emulator, as its plug-in reports it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Protocol

from cxloom import _core
from cxloom.base.errors import SimulationError
from cxloom.trace.source import Ended

_WORDS = 1 << 20  # of a turn
WORDS_OF_ONE = 1 << 15
"""Words of a turn of one thread."""
_REST = (0.0002, 0.01)
"""Seconds to wait when nothing has been reported for a short or a long time."""


class Running(Protocol):
    """What runs under the emulator."""

    wanted: int
    """The thread whose records are waited for: they come first. 0: all threads take turns."""

    at_once: int
    """How many of its words are taken at once."""

    def over(self) -> Ended | None:
        """How it has ended; None while it runs."""


def told(
    running: Running, sieve: _core.ProgramCapture, step: Callable[[], bool]
) -> Generator[_core.Accesses, None, Ended]:
    """The records as they come, up to the end, which it returns. ``step`` is asked now and then whether to go on.

    Raises SimulationError if the plug-in fails.
    """
    rest = _REST[0]
    while True:
        over = running.over()  # before the last look at what was reported
        words = sieve.words
        batch = sieve.read(running.at_once if running.wanted else _WORDS, running.wanted)
        if len(batch):
            yield batch
        if sieve.failure:
            raise SimulationError(f"the program cannot be followed: {sieve.failure}")
        if sieve.complete:
            return Ended(limit=True)
        if not step():
            ended = Ended(interrupted=True)
            break
        if sieve.words != words or len(batch):
            rest = _REST[0]
        elif over is not None:
            ended = over
            break
        else:
            time.sleep(rest)
            rest = min(rest * 1.2, _REST[1])
    last = sieve.finish()
    if len(last):
        yield last
    return ended
