"""Ctrl-C while there is nothing to put away: the process says so and is gone, from the first instant on.

Nothing here imports what takes time.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from cxloom.base.interrupted import end_at_once


@contextmanager
def ended_at_once() -> Iterator[None]:
    """While it is entered, Ctrl-C ends the process: an exception could come out of an import as anything.

    Afterwards its handler is what it was.
    """
    before = signal.getsignal(signal.SIGINT)
    if before not in (signal.default_int_handler, _interrupt):
        yield  # so already, or ignored, as of a job in the background, or somebody else's
        return
    signal.signal(signal.SIGINT, end_at_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within `ended_at_once`: while this is entered, Ctrl-C raises KeyboardInterrupt: what is half-written goes.

    It is raised at the end, too, if a library caught it meanwhile, as ruamel.yaml does while it is loaded, or if it
    came where Python cannot raise it.
    """
    if signal.getsignal(signal.SIGINT) is not end_at_once:
        yield
        return
    global _interrupted
    _interrupted = False
    signal.signal(signal.SIGINT, _interrupt)
    unraisable, sys.unraisablehook = sys.unraisablehook, _unraisable
    try:
        yield
        raise_if_interrupted()
    finally:
        sys.unraisablehook = unraisable
        signal.signal(signal.SIGINT, end_at_once)


def raise_if_interrupted() -> None:
    """Raises KeyboardInterrupt if Ctrl-C came within `interruptible`, and nobody who heard of it ended the command."""
    if _interrupted:
        raise KeyboardInterrupt


_interrupted = False


def _interrupt(_number: int, _frame: object) -> None:
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def _unraisable(args: sys.UnraisableHookArgs) -> None:
    if args.exc_type is not KeyboardInterrupt:  # which is remembered
        sys.__unraisablehook__(args)
