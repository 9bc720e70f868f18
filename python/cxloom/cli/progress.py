"""The progress bar of a run, on standard error and only on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from cxloom.report.numbers import duration
from cxloom.running import Progress as RunProgress

if TYPE_CHECKING:
    from rich.progress import Progress


class ProgressBar:
    """Shows completed requests, simulated time and the time left. Nothing is shown for the first half second."""

    def __init__(self, quiet: bool) -> None:
        self._bar = None if quiet or not sys.stderr.isatty() else _bar()

    def update(self, progress: RunProgress) -> None:
        """Shows how far the run is."""
        if self._bar is None:
            return
        text = f"{progress.completed:,} requests, {duration(progress.time_ns)} simulated"
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=progress.completed, total=progress.expected, description=text)

    def __enter__(self) -> ProgressBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


class ReadingBar:
    """Shows how many accesses of traces were read."""

    def __init__(self) -> None:
        self._bar = _bar() if sys.stderr.isatty() else None
        self._accesses = 0

    def update(self, accesses: int) -> None:
        """So many more were read."""
        self._accesses += accesses
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0], description=f"reading traces: {self._accesses:,} accesses"
            )

    def __enter__(self) -> ReadingBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
    bar = Progress(*columns, TimeRemainingColumn(compact=True), console=Console(stderr=True), transient=True)
    bar.add_task("starting", total=None)
    return bar
