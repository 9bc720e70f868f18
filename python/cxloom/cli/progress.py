"""The progress of the command, on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import math
import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.display.console import messages
from cxloom.display.numbers import duration
from cxloom.running.run import Progress as RunProgress

if TYPE_CHECKING:
    from rich.progress import Progress

    from cxloom.crash.power_failures import Progress as CrashProgress
    from cxloom.sweeping.schedule import Schedule


FIRST_SECONDS = 2.0
"""Wall time after which the first line of progress is written (own choice: what is over sooner needs none)."""
SECONDS_BETWEEN = 5.0
"""Wall time between lines of progress (own choice: a file or a log is not to be full of them)."""

_PARTS = 1_000_000
"""Parts of a whole whose size is found out as it goes: a bar forgets the time left when its whole changes."""


_PAST = "playing what the flash has been through before the run"

_TOLD = 16
"""The bar hears of one in so many instants of a crash: they may be short."""


def _wanted() -> bool:
    """Whether the environment lets progress be shown. Raises InputError for a word that it does not know."""
    word = os.environ.get("CXLOOM_PROGRESS", "")
    if word not in ("", "none"):
        raise InputError("CXLOOM_PROGRESS in the environment", found=repr(word), allowed="'none', or unset")
    return not word


class Lines:
    """Lines of progress: where nobody looks at a bar, or where one would get into the output of a program."""

    def __init__(self, quiet: bool = False) -> None:
        self._next = time.monotonic() + FIRST_SECONDS if _wanted() and not quiet else math.inf

    @property
    def due(self) -> bool:
        """Whether it is time for another line."""
        return time.monotonic() >= self._next

    def show(self, text: str, completed: int | None = None, total: int | None = None) -> None:
        """Writes this text, and how much of the total is done where that is known, if it is time for it."""
        if not self.due:
            return
        self._next = time.monotonic() + SECONDS_BETWEEN
        share = f" ({completed / total:.0%})" if completed is not None and total else ""
        messages().print(f"cxloom: {text}{share}", style="dim")


class ProgramLines(Lines):
    """Says how far a program is whose output shares the terminal."""

    def update(self, instructions: int, accesses: int) -> None:
        """So many instructions were run, and so many accesses made."""
        if self.due:
            self.show(f"{instructions / 1e6:,.0f} million instructions, {counted(accesses, 'access')}")

    def past(self, done: int, whole: int) -> None:
        """So many steps were played of what media have been through before."""
        self.show(_PAST, done, whole)


class _Bar:
    """A bar with a text on a terminal, where nothing is shown for the first half second; lines elsewhere."""

    def __init__(self, shown: bool) -> None:
        terminal = sys.stderr.isatty()
        self._bar = _bar() if shown and terminal and _wanted() else None
        self._lines = Lines() if shown and not terminal else None

    @property
    def due(self) -> bool:
        """Whether what would be shown now is."""
        return self._bar is not None or (self._lines is not None and self._lines.due)

    def show(self, text: str, completed: int | None = None, total: int | None = None) -> None:
        """Shows this text, and how much of the total is done where that is known."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=completed, total=total, description=text)
        elif self._lines is not None:
            self._lines.show(text, completed, total)

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
        super().__init__(not quiet)

    def update(self, progress: RunProgress) -> None:
        """Shows how far the run is."""
        if not self.due:
            return
        if progress.past is not None:
            self.show(_PAST, *progress.past)
            return
        text = f"{counted(progress.completed, 'request')}, {duration(progress.time_ns)} simulated"
        self.show(text, progress.completed, progress.expected)


class FitBar(_Bar):
    """Shows how many systems of a fit have been played, of about so many."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(not quiet)

    def update(self, played: int, most: int) -> None:
        """Shows how far the fit is."""
        if self.due:
            self.show(f"fit: {played} of about {counted(most, 'system')}", min(played, most), most)


class SweepBar(_Bar):
    """Shows how many points of a sweep are done, and the time left: what the points are known or expected to take."""

    def __init__(self, quiet: bool, name: str = "") -> None:
        super().__init__(not quiet)
        self._name = f"{name}: " if name else ""

    def update(self, schedule: Schedule) -> None:
        """Shows how far the sweep is."""
        if not self.due:
            return
        done, whole = schedule.cost()
        lost = f", {len(schedule.lost):,} lost" if schedule.lost else ""
        stored, whole_count = (schedule.already + count for count in (schedule.stored, schedule.total))
        text = f"{self._name}{stored:,} of {counted(whole_count, 'point')}{lost}"
        if schedule.guesses:
            self.show(text)
        else:
            self.show(text, round(_PARTS * done / whole) if whole else 0, _PARTS)


class CrashBar(_Bar):
    """Shows at how many instants the power has failed."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(not quiet)

    def update(self, progress: CrashProgress) -> None:
        """Shows how far it is."""
        if self.due and (self._bar is None or progress.done % _TOLD == 0):
            self.show(counted(progress.done, progress.doing), progress.done, progress.total)


class EpochBar(_Bar):
    """Shows how much time a study has simulated."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(not quiet)

    def update(self, time_ns: float) -> None:
        """Shows how far it is."""
        if self.due:
            self.show(f"{duration(time_ns)} simulated")


class BootBar(_Bar):
    """Shows what is being done to set up or boot a machine."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(not quiet)

    def update(self, doing: str, share: float | None = None) -> None:
        """Shows what, and which share of it is done where that is known."""
        if self.due:
            self.show(
                doing, None if share is None else round(_PARTS * share), None if share is None else _PARTS
            )

    def stop(self) -> None:
        """Leaves the terminal to a program."""
        self.__exit__()


class ServingBar(_Bar):
    """Shows how many requests to a language model are answered."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(not quiet)

    def update(self, done: int, requests: int, seconds: float) -> None:
        """Shows how far the run is."""
        if self.due:
            text = f"{counted(done, 'request')}, {duration(seconds * 1e9)} simulated"
            self.show(text, done, requests)


class ReadingBar(_Bar):
    """Shows how many accesses of traces were read, out of `total` where that is known."""

    def __init__(self, doing: str = "reading traces", total: int | None = None) -> None:
        super().__init__(True)
        self._doing = doing
        self._accesses = 0
        self._total = total

    def update(self, accesses: int) -> None:
        """So many more were read."""
        self._accesses += accesses
        if self.due:
            text = f"{self._doing}: {counted(self._accesses, 'access')}"
            self.show(text, self._accesses if self._total else None, self._total)


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()]
    bar = Progress(
        *columns, TimeRemainingColumn(compact=True), console=messages(soft_wrap=False), transient=True
    )
    bar.add_task("starting", total=None)
    return bar
