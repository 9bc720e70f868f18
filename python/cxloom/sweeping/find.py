"""Where on an axis a condition stops holding: by halving, on points that are stored as those of a sweep."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.display.numbers import significant
from cxloom.display.shown import Shown, ShowsItself
from cxloom.spec.resolve import Override
from cxloom.sweeping import space
from cxloom.sweeping.condition import Condition
from cxloom.sweeping.random_points import Draws
from cxloom.sweeping.result import SweepResult
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.space import node_of
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.sweep import engine_of
from cxloom.sweeping.work import Sweep
from cxloom.system.system import System

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

_FIRST = 5
"""Points to begin with, evenly over the range: a condition that changes more than once between them is seen."""
_FINEST = 1 / 256
"""The part of a range, or of its logarithm, to which values are told apart that are not whole numbers."""
Watch = Callable[[Schedule], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """A value of the axis, and what a run with it measured."""

    share: float
    """Where in the range it lies, from 0 to 1."""
    value: Any
    measured: float
    """The value of the condition's measure; NaN where there is no result, or no request that has one."""
    holds: bool
    error: str | None


@dataclass(frozen=True, slots=True)
class Found(ShowsItself):
    """What was tried, in the order of the axis, and where the condition changes."""

    path: str
    condition: Condition
    tried: tuple[Tried, ...]

    @property
    def changes(self) -> tuple[int, ...]:
        """Those of `tried` behind which the condition changes; the first was looked at closely."""
        pairs = enumerate(itertools.pairwise(self.tried))
        return tuple(at for at, (before, behind) in pairs if before.holds != behind.holds)

    @property
    def last(self) -> Tried | None:
        """The value next to the first change with which the condition holds; None if it changes nowhere."""
        if not self.changes:
            return None
        before, behind = self.tried[self.changes[0]], self.tried[self.changes[0] + 1]
        return before if before.holds else behind

    @property
    def sentence(self) -> str:
        """Where the condition changes, or that it does not."""
        first, final = self.tried[0], self.tried[-1]
        extent = f"from {first.value} to {final.value}"
        if not self.changes:
            every = "holds with every" if first.holds else "holds with no"
            return f"{self.condition.text} {every} value of {self.path} that was tried {extent}."
        before, behind = self.tried[self.changes[0]], self.tried[self.changes[0] + 1]
        good, bad = (before, behind) if before.holds else (behind, before)
        which = "largest" if before.holds else "smallest"
        return (
            f"{self.path}={good.value} is the {which} {extent} with {self.condition.text}: "
            f"{self.said(good)} there, {self.said(bad)} with {bad.value}."
        )

    def said(self, tried: Tried) -> str:
        """What was measured with a value, as people read it."""
        if math.isnan(tried.measured):
            return "no result" if tried.error is not None else "unknown"
        return f"{significant(tried.measured)} {self.condition.unit}".rstrip()

    @property
    def notes(self) -> list[str]:
        """What the reader has to know of it."""
        notes = []
        if len(self.changes) > 1:
            places = ", ".join(str(self.tried[at].value) for at in self.changes)
            notes.append(
                f"the condition changes more than once, behind {places}: only the first was looked at closely"
            )
        unfinished = [tried for tried in self.tried if tried.error is not None]
        if unfinished:
            which, why = unfinished[0].value, unfinished[0].error
            notes.append(f"with {which} there is no result, so that the condition does not hold: {why}")
        return notes

    def frame(self) -> pl.DataFrame:
        """A row for each value that was tried, in the order of the range: the value, under its path; the measure of the
        condition, under its own and in its unit (ns, GB/s, B), null where it is unknown; `holds`; and `error`."""
        import polars as pl

        columns = {
            self.path: [each.value for each in self.tried],
            self.condition.path: [
                None if math.isnan(each.measured) else each.measured for each in self.tried
            ],
            "holds": [each.holds for each in self.tried],
            "error": [each.error for each in self.tried],
        }
        return pl.DataFrame(columns, schema_overrides={self.condition.path: pl.Float64, "error": pl.String})

    def table(self) -> Table:
        """What was tried, for people; of Rich."""
        from rich.text import Text

        from cxloom.display.plain_table import plain_table

        table = plain_table()
        table.add_column(Text(self.path))
        table.add_column(Text(self.condition.path), justify="right")
        table.add_column(Text(self.condition.text))
        for tried in self.tried:
            table.add_row(Text(str(tried.value)), self.said(tried), "holds" if tried.holds else "-")
        return table

    def shown(self) -> Shown:
        """The sentence, the table and the notes, as ``cxloom find`` prints them."""
        return Shown([self.sentence], [self.table()], self.notes)

    def to_json(self) -> dict[str, Any]:
        """All as plain data, as ``cxloom find --json`` prints it."""
        return {
            "path": self.path,
            "condition": self.condition.text,
            "value": self.last.value if self.last is not None else None,
            "sentence": self.sentence,
            "notes": self.notes,
            "tried": [
                {
                    "value": each.value,
                    "measured": None if math.isnan(each.measured) else each.measured,
                    "holds": each.holds,
                    "error": each.error,
                }
                for each in self.tried
            ],
        }


def find(
    system: System | str | os.PathLike[str],
    vary: str,
    such_that: str,
    *,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = lambda _schedule: None,
) -> Found:
    """Where on a range of values a condition stops holding, or begins to.

    ::

        cx.find("system.yaml", "devices.host.queue=1..256", "latency.p99 < 500ns").sentence

    Args:
        system: a `System`, the path of a spec, or the name of a preset.
        vary: what is varied, ``PATH=LOW..HIGH``, or with ``:log`` evenly in the logarithm.
        such_that: a measure of the summary and its bound; `latency`, `bandwidth` and quantities with units are known.
        jobs: points at a time; by default one for each processor.
        out: a directory to keep the points in: those that are there are not run again.
        overrides: values to set besides, as ``--set`` does.
        watch: is told how far each round of points is.

    Five points are run to begin with, then the part in which the condition changes is divided until its ends are
    neighbours, or a 256th of the range apart. Raises InputError before anything is run for what is no condition, no
    range, or a path that matches nothing; and for a measure that the runs have not.
    """
    condition = Condition.parse(such_that)
    draws = _ranged(vary)
    if jobs is not None:
        space.check_count(jobs, "jobs")
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    template, runner = system.template(overrides), Supervisor(jobs)

    def outcomes(values: Sequence[Any]) -> list[Outcome]:
        settings = [
            {draws.path: node_of(draws.path, value, f"--vary {draws.path}={value}")} for value in values
        ]
        engine = engine_of(template, settings, folder, "find")
        engine.carry_out(Sweep(template), runner, watch=watch)
        result = SweepResult(engine)
        return [
            _outcome(condition, result.summary(at), result.errors[at], result.statuses[at])
            for at in range(len(values))
        ]

    with _folder(out) as folder:
        return search(draws, condition, outcomes, at_once=max(2, runner.at_once))


Outcome = tuple[float, str | None]
"""The measure of a run, or NaN and why there is none."""


def search(
    draws: Draws, condition: Condition, outcomes: Callable[[Sequence[Any]], list[Outcome]], at_once: int
) -> Found:
    """Where on a range a condition changes.

    Args:
        draws: the range.
        condition: what has to hold.
        outcomes: runs these values.
        at_once: the most values that it is given after the first ones.
    """
    tried: dict[Any, Tried] = {}

    def try_shares(shares: Sequence[float]) -> None:
        new = {value: share for share in shares if (value := draws.at(share)) not in tried}
        for (value, share), (measured, error) in zip(new.items(), outcomes(list(new)), strict=True):
            holds = error is None and condition.holds(measured)
            tried[value] = Tried(share, value, measured, holds, error)

    try_shares([number / (_FIRST - 1) for number in range(_FIRST)])
    while True:
        found = Found(draws.path, condition, tuple(sorted(tried.values(), key=lambda each: each.share)))
        shares = _between(draws, found, at_once)
        if not shares:
            return found
        try_shares(shares)


def _between(draws: Draws, found: Found, count: int) -> list[float]:
    """So many parts of the range that divide where the condition changes first; none if its ends are neighbours."""
    if not found.changes:
        return []
    low, high = (found.tried[found.changes[0] + step] for step in (0, 1))
    if high.share - low.share <= _FINEST and not isinstance(low.value, int):
        return []
    known = {each.value for each in found.tried}
    for finer in (1, 8, 64):  # whole numbers may be unevenly far apart
        parts = (count + 1) * finer
        shares = [low.share + (high.share - low.share) * step / parts for step in range(1, parts)]
        new = {value: share for share in shares if (value := draws.at(share)) not in known}
        if new:
            return list(new.values())[:count]
    return []


def _outcome(
    condition: Condition, summary: Mapping[str, Any] | None, error: str | None, status: str
) -> Outcome:
    if error is None and summary is not None:
        return condition.measured(summary), None
    return math.nan, error or status


@contextlib.contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    if out is not None:
        yield Path(space.folder_name(out))
        return
    with tempfile.TemporaryDirectory(prefix="cxloom-find-") as folder:
        yield Path(folder)


def _ranged(vary: str) -> Draws:
    if ".." not in vary.partition("=")[2]:
        raise InputError(
            "not what to vary", found=f"'{vary}'", allowed="PATH=LOW..HIGH or PATH=LOW..HIGH:log"
        )
    return Draws.parse(vary)
