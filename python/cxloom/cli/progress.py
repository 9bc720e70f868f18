"""The progress bar of a run, on standard error and only on a terminal."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from cxloom.report.numbers import duration
from cxloom.run import Progress as RunProgress


class ProgressBar:
    """Shows completed requests, simulated time and the time left. Nothing is shown for the first half second."""

    def __init__(self, quiet: bool) -> None:
        out = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True),
            console=out,
            transient=True,
            disable=quiet or not out.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None)

    def update(self, progress: RunProgress) -> None:
        """Shows how far the run is."""
        text = f"{progress.completed:,} requests, {duration(progress.time_ns)} simulated"
        self._bar.update(self._task, completed=progress.completed, total=progress.expected, description=text)

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._bar.stop()
