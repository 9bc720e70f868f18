"""Ctrl-C during a run: the first one ends it in good order, the second one kills."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from cxloom.cli.at_once import raise_if_interrupted
from cxloom.display.console import messages

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


class Interrupt:
    """While it is entered, SIGINT, SIGTERM and SIGHUP set `reason` instead of raising; a SIGHUP that is ignored, as
    nohup has it, still is."""

    def __init__(self, what: str = "the run") -> None:
        """``what`` is ended."""
        self.reason: str | None = None
        self._what = what
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        raise_if_interrupted()
        self._before = {
            number: signal.signal(number, self._first)
            for number in _SIGNALS
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        }
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _first(self, number: int, _frame: FrameType | None) -> None:
        self.reason = _NAMES[signal.Signals(number)]
        for each in self._before:
            signal.signal(each, _second)
        messages().print(f"\n{self.reason}: ending {self._what}; once more to kill it")


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """While it is entered, SIGTERM raises KeyboardInterrupt, as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _second(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
