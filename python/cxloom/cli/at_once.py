"""Ctrl-C while there is nothing to put away: the process says so and is gone, from the first instant on.

Nothing here imports what takes time.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def ended_at_once(afterwards: Any = signal.default_int_handler) -> Iterator[None]:
    """While it is entered, Ctrl-C ends the process: an exception could come out of an import as anything.

    Afterwards its handler is that one.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # so already, or ignored, as of a job in the background, or somebody else's
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, afterwards)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within `ended_at_once`: while this is entered, Ctrl-C raises KeyboardInterrupt: what is half-written goes."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def _end(_number: int, _frame: object) -> None:
    with suppress(OSError):
        os.write(2, b"error: interrupted\n")
    os._exit(1)
