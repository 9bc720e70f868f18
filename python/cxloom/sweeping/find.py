"""Where on an axis a condition stops holding: by halving; or, with a goal, the best of many values at once."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.display.numbers import significant
from cxloom.display.shown import Shown, ShowsItself
from cxloom.spec.override import Override
from cxloom.sweeping import space
from cxloom.sweeping.condition import Condition
from cxloom.sweeping.optimum import TRIALS, Goal, Optimum, optimum
from cxloom.sweeping.random_points import Draws
from cxloom.sweeping.runs import Runs, Watch, runs_of
from cxloom.system.system import System

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

_FIRST = 5
"""Points to begin with, evenly over the range: a condition that changes more than once between them is seen."""
_FINEST = 1 / 256
"""The part of a range, or of its logarithm, to which values are told apart that are not whole numbers."""


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
    of_runs: tuple[str, ...] = ()
    """What the runs say of themselves."""
    unsteady: frozenset[Any] = frozenset()
    """The values whose run was not stationary."""

    @property
    def changes(self) -> tuple[int, ...]:
        """The places in `tried` behind which the condition changes; the first was looked at closely."""
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
            return (
                f"{self.condition.text} {every} value of {self.path} that was tried {extent}{self._nearest}."
            )
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
    def _nearest(self) -> str:
        """The value that is the nearest to the bound; or why there is none."""
        measured = [each for each in self.tried if not math.isnan(each.measured)]
        if not measured:
            return f": {self._verdict(self.tried[0]).removeprefix('fails: ')} with {self.tried[0].value}"
        near = min(measured, key=lambda each: abs(each.measured - self.condition.bound))
        return f": the nearest to the bound is {self.said(near)} with {near.value}"

    def _verdict(self, tried: Tried) -> str:
        """Whether the condition holds with a value, by how much; or why there is no result."""
        if tried.error is not None:
            return f"fails: {tried.error}"
        return self.condition.verdict(tried.measured)

    @property
    def notes(self) -> list[str]:
        """What the reader has to know of it."""
        notes = []
        if len(self.changes) > 1:
            places = ", ".join(str(self.tried[at].value) for at in self.changes)
            notes.append(
                f"the condition changes more than once, behind {places}: only the first was looked at closely"
            )
        notes += self._moves_with_length
        unfinished = [tried for tried in self.tried if tried.error is not None]
        if unfinished:
            which, why = unfinished[0].value, unfinished[0].error
            notes.append(f"with {which} there is no result, so that the condition does not hold: {why}")
        return [*notes, *self.of_runs]

    @property
    def _moves_with_length(self) -> list[str]:
        """A note where the limit is one of runs that were not stationary: in an overloaded system latencies and queues
        grow for as long as requests come, rates do not."""
        if not self.changes or self.condition.measure.is_rate:
            return []
        beside = (each.value for each in self.tried[self.changes[0] :][:2])
        if not (unsteady := [str(value) for value in beside if value in self.unsteady]):
            return []
        return [
            f"with {' and '.join(unsteady)} the run was not stationary: if the system is overloaded there, "
            f"{self.condition.path} grows for as long as it runs, and the limit is one of this number of requests"
        ]

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
            table.add_row(Text(str(tried.value)), self.said(tried), Text(self._verdict(tried)))
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


@overload
def find(
    system: System | str | os.PathLike[str],
    vary: str | Sequence[str],
    such_that: str | Sequence[str],
    *,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = ...,
) -> Found: ...
@overload
def find(
    system: System | str | os.PathLike[str],
    vary: str | Sequence[str],
    such_that: str | Sequence[str] = (),
    *,
    maximise: str,
    trials: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = ...,
) -> Optimum: ...
@overload
def find(
    system: System | str | os.PathLike[str],
    vary: str | Sequence[str],
    such_that: str | Sequence[str] = (),
    *,
    minimise: str,
    trials: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = ...,
) -> Optimum: ...
@overload
def find(
    system: System | str | os.PathLike[str],
    vary: str | Sequence[str],
    such_that: str | Sequence[str] = (),
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    trials: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = ...,
) -> Found | Optimum: ...
def find(
    system: System | str | os.PathLike[str],
    vary: str | Sequence[str],
    such_that: str | Sequence[str] = (),
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    trials: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = lambda _schedule: None,
) -> Found | Optimum:
    """Where on a range of values a condition stops holding; or, with a goal, the best of many values under conditions.

    ::

        cx.find("system.yaml", "devices.host.queue=1..256", "latency.p99 < 500ns").sentence
        cx.find(
            "system.yaml",
            ["devices.host.queue=1..256", "devices.mem.media.latency=10ns..90ns"],
            "latency.p99 < 500ns",
            maximise="bandwidth",
        ).settings

    Args:
        system: a `System`, the path of a spec, or the name of a preset.
        vary: what is varied, ``PATH=LOW..HIGH``, or with ``:log`` evenly in the logarithm; with a goal one or several,
            also ``PATH=VALUE,VALUE,...``.
        such_that: a measure of the summary and its bound; `latency`, `bandwidth` and quantities with units are known.
            With a goal none, one or several.
        maximise: what is to be greatest: a measure, such as "bandwidth", or one of the paths that are varied.
        minimise: what is to be least, in its place.
        trials: with a goal, how many points are tried; 64 by default.
        seed: with a goal, another one tries other points; 1 by default.
        jobs: points at a time; by default one for each processor.
        out: a directory to keep the points in: those that are there are not run again.
        overrides: values to set besides, as ``--set`` does.
        watch: is told how far each round of points is.

    Without a goal five points are run to begin with, then the part in which the condition changes is divided until its
    ends are neighbours, or a 256th of the range apart: gives `Found`. With one, Optuna chooses the points (the extra
    ``cxloom[optuna]``): gives `Optimum`.

    Raises InputError before anything is run for what is no condition, no range, or a path that matches nothing; for a
    measure that the runs have not; and if Optuna is needed and not installed.
    """
    varied = [vary] if isinstance(vary, str) else list(vary)
    conditions = [
        Condition.parse(each) for each in ([such_that] if isinstance(such_that, str) else such_that)
    ]
    if maximise is None and minimise is None:
        draws, condition = _one_of_each(varied, conditions, trials, seed)
        with runs_of(system, jobs=jobs, out=out, overrides=overrides, watch=watch) as runs:
            return replace(_divided(runs, draws, condition), of_runs=runs.remarks())
    several = [Draws.parse(each, "--vary") for each in varied]
    goal = Goal.of(maximise, minimise, _paths(several))
    count = TRIALS if trials is None else space.check_count(trials, "trials")
    chosen = 1 if seed is None else space.check_count(seed, "seed", 0)
    with runs_of(system, jobs=jobs, out=out, overrides=overrides, watch=watch) as runs:
        found = optimum(runs, several, goal, conditions, trials=count, seed=chosen)
        return replace(found, of_runs=runs.remarks())


def _one_of_each(
    varied: Sequence[str], conditions: Sequence[Condition], trials: int | None, seed: int | None
) -> tuple[Draws, Condition]:
    """The range and the condition of a search without a goal. Raises InputError for more than one, or for none."""
    if len(varied) != 1 or len(conditions) != 1:
        ranges, held = counted(len(varied), "range"), counted(len(conditions), "condition")
        raise InputError(
            "nothing is to be the best",
            found=f"{ranges}, {held}",
            allowed="one --vary and one --such-that; or --maximise MEASURE or --minimise MEASURE with several",
        )
    for option, value in (("--trials", trials), ("--seed", seed)):
        if value is not None:
            raise InputError(f"{option} without a goal", allowed="with --maximise or --minimise", path=option)
    return _ranged(varied[0]), conditions[0]


def _paths(draws: Sequence[Draws]) -> list[str]:
    paths = [each.path for each in draws]
    if not paths or len(set(paths)) < len(paths):
        problem = "a path is varied twice" if paths else "nothing is varied"
        raise InputError(problem, allowed="one --vary for each path", path="--vary")
    return paths


def _divided(runs: Runs, draws: Draws, condition: Condition) -> Found:
    """Where the condition changes on the range, by runs."""
    rounds = itertools.count()
    unsteady: set[Any] = set()

    def outcomes(values: Sequence[Any]) -> list[Outcome]:
        found = runs.at([{draws.path: value} for value in values], is_first=next(rounds) == 0)
        unsteady.update(
            value
            for value, run in zip(values, found, strict=True)
            if run.summary is not None and run.summary["stationary"] is False
        )
        return [
            (math.nan, run.error) if run.summary is None else (condition.measured(run.summary), None)
            for run in found
        ]

    found = search(draws, condition, outcomes, at_once=max(2, runs.runner.at_once))
    return replace(found, unsteady=frozenset(unsteady))


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


def _ranged(vary: str) -> Draws:
    if ".." not in vary.partition("=")[2]:
        raise InputError(
            "not what to vary", found=f"'{vary}'", allowed="PATH=LOW..HIGH or PATH=LOW..HIGH:log"
        )
    return Draws.parse(vary)
