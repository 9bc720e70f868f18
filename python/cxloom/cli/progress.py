"""The progress bars of the command, on standard error and only on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cxloom.report.console import messages
from cxloom.report.numbers import duration
from cxloom.running import Progress as RunProgress
from cxloom.words import counted, plural

if TYPE_CHECKING:
    from rich.progress import Progress

    from cxloom.crashing import Progress as CrashProgress
    from cxloom.sweeping.schedule import Schedule


_PARTS = 1_000_000
"""Of a whole that is found out as it goes: the time left is forgotten each time that the whole is another."""


_TOLD = 16
"""The bar hears of one in so many instants of a crash: they may be short."""


class _Bar:
    """A bar with a text, if somebody looks at it. Nothing is shown for the first half second."""

    def __init__(self, shown: bool) -> None:
        self._bar = _bar() if shown else None

    def show(self, text: str, completed: int | None = None, total: int | None = None) -> None:
        """Shows this text, and how much of the total is done where that is known."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=completed, total=total, description=text)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


class ProgressBar(_Bar):
    """Shows completed requests, simulated time and the time left."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(not quiet and sys.stderr.isatty())

    def update(self, progress: RunProgress) -> None:
        """Shows how far the run is."""
        if progress.past is not None:
            self.show("playing what the flash has been through before the run", *progress.past)
            return
        text = f"{counted(progress.completed, 'request')}, {duration(progress.time_ns)} simulated"
        self.show(text, progress.completed, progress.expected)


class SweepBar(_Bar):
    """Shows how many points of a sweep are done, and the time left: what the points are known or expected to take."""

    def __init__(self, quiet: bool, name: str = "") -> None:
        super().__init__(not quiet and sys.stderr.isatty())
        self._name = f"{name}: " if name else ""

    def update(self, schedule: Schedule) -> None:
        """Shows how far the sweep is."""
        if self._bar is None:
            return
        done, whole = schedule.cost()
        lost = f", {len(schedule.lost):,} lost" if schedule.lost else ""
        stored, whole_count = (schedule.already + count for count in (schedule.stored, schedule.total))
        text = f"{self._name}{stored:,} of {counted(whole_count, 'point')}{lost}"
        self.show(text, round(_PARTS * done / whole) if whole else 0, _PARTS)


class CrashBar(_Bar):
    """Shows at how many instants the power has failed."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(not quiet and sys.stderr.isatty())

    def update(self, progress: CrashProgress) -> None:
        """Shows how far it is."""
        if self._bar is not None and progress.done % _TOLD == 0:
            self.show(f"{progress.done:,} {plural(progress.doing)}", progress.done, progress.total)


class ReadingBar(_Bar):
    """Shows how many accesses of traces were read."""

    def __init__(self) -> None:
        super().__init__(sys.stderr.isatty())
        self._accesses = 0

    def update(self, accesses: int) -> None:
        """So many more were read."""
        self._accesses += accesses
        self.show(f"reading traces: {counted(self._accesses, 'access')}")


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
    bar = Progress(
        *columns, TimeRemainingColumn(compact=True), console=messages(soft_wrap=False), transient=True
    )
    bar.add_task("starting", total=None)
    return bar
