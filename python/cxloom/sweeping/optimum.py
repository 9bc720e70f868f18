"""The best of many values at once, under conditions: chosen by Optuna, on points that are stored as those of a sweep.

The points of a round are chosen together, before any of them is run, so that the same seed tries the same values
however many are run at a time; and so that who runs it again finds them stored, and goes on from there.
"""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.display.numbers import significant
from cxloom.display.shown import Shown, ShowsItself
from cxloom.spec.names import listed
from cxloom.spec.parts import quantity
from cxloom.sweeping.condition import Condition, Measure
from cxloom.sweeping.random_points import Draws
from cxloom.sweeping.runs import Run, Runs

if TYPE_CHECKING:
    import optuna
    import polars as pl
    from rich.table import Table

TRIALS = 64
"""Points that are tried, unless it is said."""
_AT_ONCE = 8
"""Points of a round, whatever the machine: what comes out must not depend on it."""
_RANDOM = 2 * _AT_ONCE
"""Points that are drawn before what they gave chooses others."""
_CORNERS = 3
"""The corners of so many ranges are tried first: most measures rise or fall all along a range."""
_SHOWN = 10
"""Trials that people are shown."""
_QUANTITY = re.compile(r"([+-]?[0-9.]+)\s*(\D*)")


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be greatest or least: a measure of the run, or one of the values that are varied."""

    text: str
    """As it was written."""
    greatest: bool
    measure: Measure | None
    """None of a value that is varied, whose path `text` is."""

    @classmethod
    def of(cls, maximise: str | None, minimise: str | None, paths: Sequence[str]) -> Goal:
        """The goal of one of them. Raises InputError for both, and for what is no measure."""
        if maximise is not None and minimise is not None:
            raise InputError("two goals", found="--maximise and --minimise", allowed="one of them")
        text = (maximise if maximise is not None else minimise) or ""
        measure = None if text.strip() in paths else Measure.parse(text)
        return cls(text.strip(), maximise is not None, measure)

    @property
    def name(self) -> str:
        """The path of its measure, or of the value."""
        return self.text if self.measure is None else self.measure.path

    def value(self, settings: Mapping[str, Any], summary: Mapping[str, Any]) -> float:
        """Its value at a point; NaN where it is unknown. Raises InputError if there is no such measure."""
        return number_of(settings[self.text]) if self.measure is None else self.measure.of(summary)

    def better(self, one: float, other: float) -> bool:
        """Whether one value is better than another."""
        return one > other if self.greatest else one < other


def number_of(value: Any) -> float:
    """A value that is varied as a number: of a time ns, else bytes, bytes a second or events a second.

    Of all else, such as a share, it is the number before its unit. Raises InputError if it is none.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    for kind in ("time", "bytes", "bandwidth", "frequency"):
        try:
            number = quantity(kind, value)
        except InputError:
            continue  # of another kind
        if math.isfinite(number):
            return number
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        raise InputError(
            "values without an order cannot be greatest or least", found=str(value), allowed="a range"
        )
    return float(match[1])


@dataclass(frozen=True, slots=True)
class Trial:
    """A point that was tried."""

    settings: Mapping[str, Any]
    """Values by path."""
    value: float
    """That of the goal; NaN where there is no result."""
    measured: tuple[float, ...]
    """The measure of each condition; NaN where it is unknown."""
    holds: bool
    """Whether all conditions do."""
    error: str | None
    unsteady: bool = False
    """Whether its run was not stationary."""


@dataclass(frozen=True)
class Optimum(ShowsItself):
    """The points that were tried, in that order, and the best of them."""

    goal: Goal
    conditions: tuple[Condition, ...]
    draws: tuple[Draws, ...]
    tried: tuple[Trial, ...]
    of_runs: tuple[str, ...] = ()
    """What the runs say of themselves."""

    @property
    def best(self) -> Trial | None:
        """The best with which all conditions hold; None if they hold nowhere."""
        found: Trial | None = None
        for each in self.tried:
            if each.holds and (found is None or self.goal.better(each.value, found.value)):
                found = each
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """The values of the best by their paths, as `System.set` takes them; none if there is no best."""
        return {} if self.best is None else dict(self.best.settings)

    @property
    def sentence(self) -> str:
        """The best, and of how many."""
        best = self.best
        conditions = " and ".join(each.text for each in self.conditions)
        of = f"of {counted(len(self.tried), 'point')} that were tried"
        if best is None:
            without = f"with {conditions}" if conditions else "with a result"
            return f"None {of} is one {without}{self._nearest}."
        values = ", ".join(f"{path}={value}" for path, value in best.settings.items())
        word = "greatest" if self.goal.greatest else "least"
        where = f" with {conditions}" if conditions else ""
        if self.goal.measure is None:
            return f"{values} is the {word} {self.goal.text} {of}{where}."
        return f"{values} has the {word} {self.goal.text} {of}{where}: {self._said(best.value)}."

    @property
    def _nearest(self) -> str:
        """The point that fails by the least share of a bound, and by how much; empty if nothing was measured."""
        judged = [each for each in self.tried if each.measured and not any(map(math.isnan, each.measured))]
        if not judged:
            return ""
        near = min(
            judged,
            key=lambda each: max(c.excess(m) for c, m in zip(self.conditions, each.measured, strict=True)),
        )
        values = ", ".join(f"{path}={value}" for path, value in near.settings.items())
        return f"; the nearest to that is {values}: {self._verdict(near)}"

    @property
    def notes(self) -> list[str]:
        """What the reader has to know of it."""
        notes = []
        if (best := self.best) is not None:
            ends = [
                f"{draws.path}={best.settings[draws.path]}"
                for draws in self.draws
                if not draws.among and best.settings[draws.path] in (draws.at(0.0), draws.at(1.0))
            ]
            if ends:
                notes.append(
                    f"{' and '.join(ends)} is the end of its range: a wider one may have better values"
                )
            if best.unsteady and (grow := [each.path for each in self._measures if not each.is_rate]):
                notes.append(
                    "the run of the best was not stationary: if the system is overloaded there, "
                    f"{listed(dict.fromkeys(grow), word='and')} would be greater with more requests"
                )
        if (count := len(self._ranked())) > _SHOWN:
            notes.append(f"the table has the best {_SHOWN} of {count} points with a result; --json has all")
        failed = [each for each in self.tried if each.error is not None]
        if failed:
            notes.append(f"{counted(len(failed), 'point')} without a result, the first: {failed[0].error}")
        return [*notes, *self.of_runs]

    @property
    def _measures(self) -> list[Measure]:
        """What is measured of each point."""
        return [
            *([self.goal.measure] if self.goal.measure is not None else []),
            *(each.measure for each in self.conditions),
        ]

    def frame(self) -> pl.DataFrame:
        """A row for each point, in the order in which they were tried: the values, under their paths; the goal and the
        measures of the conditions, under theirs and in their units (ns, GB/s, B), null where unknown; whether all
        conditions hold; and `error`."""
        import polars as pl

        columns: dict[str, list[Any]] = {
            draws.path: [each.settings[draws.path] for each in self.tried] for draws in self.draws
        }
        measures = {self.goal.name: [_known(each.value) for each in self.tried]}
        for at, condition in enumerate(self.conditions):
            measures[condition.path] = [_known(each.measured[at]) for each in self.tried]
        if self.goal.measure is None:
            del measures[self.goal.name]  # it is among the values
        columns |= measures
        columns["holds"] = [each.holds for each in self.tried]
        columns["error"] = [each.error for each in self.tried]
        schema: dict[str, Any] = {**dict.fromkeys(measures, pl.Float64), "error": pl.String}
        return pl.DataFrame(columns, schema_overrides=schema, strict=False)

    def table(self) -> Table:
        """The best points, each values once, for people; of Rich."""
        from rich.text import Text

        from cxloom.display.plain_table import plain_table

        table = plain_table()
        for draws in self.draws:
            table.add_column(Text(draws.path), no_wrap=True)
        table.add_column(Text(self.goal.name), justify="right", no_wrap=True)
        others = [at for at, each in enumerate(self.conditions) if each.path != self.goal.name]
        for at in others:
            table.add_column(Text(self.conditions[at].path), justify="right", no_wrap=True)
        ranked = self._ranked()[:_SHOWN]
        judged = bool(self.conditions) or any(math.isnan(each.value) for each in ranked)
        if judged:
            table.add_column("conditions" if self.conditions else "", no_wrap=True)
        for each in ranked:
            table.add_row(
                *(Text(str(value)) for value in each.settings.values()),
                self._said(each.value),
                *(_said(each.measured[at], self.conditions[at].unit) for at in others),
                *([Text(self._verdict(each))] if judged else []),
            )
        return table

    def shown(self) -> Shown:
        """The sentence, the table and the notes, as ``cxloom find`` prints them."""
        return Shown([self.sentence], [self.table()], self.notes)

    def to_json(self) -> dict[str, Any]:
        """All as plain data, as ``cxloom find --json`` prints it."""
        best = self.best
        return {
            "goal": self.goal.name,
            "greatest": self.goal.greatest,
            "conditions": [each.text for each in self.conditions],
            "settings": self.settings,
            "value": None if best is None else best.value,
            "sentence": self.sentence,
            "notes": self.notes,
            "tried": [
                {
                    "settings": dict(each.settings),
                    "value": _known(each.value),
                    "measured": [_known(value) for value in each.measured],
                    "holds": each.holds,
                    "error": each.error,
                }
                for each in self.tried
            ],
        }

    def _ranked(self) -> list[Trial]:
        """Each settings once: those with which all conditions hold first, the better first."""
        once = {tuple(map(str, each.settings.values())): each for each in self.tried if each.error is None}
        sign = -1 if self.goal.greatest else 1
        return sorted(once.values(), key=lambda each: (not each.holds, sign * each.value))

    def _verdict(self, trial: Trial) -> str:
        """Whether all conditions hold at a point, or which do not, and by how much; or that nothing was measured."""
        failing = [
            f"{condition.text} {condition.verdict(value)}"
            for condition, value in zip(self.conditions, trial.measured, strict=True)
            if not condition.holds(value)
        ]
        if failing:
            return "; ".join(failing)
        if math.isnan(trial.value):
            return "nothing was measured"
        return ("all hold" if len(self.conditions) > 1 else "holds") if self.conditions else ""

    def _said(self, value: float) -> str:
        if self.goal.measure is not None:
            return _said(value, self.goal.measure.unit)
        return next(
            (str(each.settings[self.goal.text]) for each in self.tried if each.value == value), "unknown"
        )


def optimum(
    runs: Runs,
    draws: Sequence[Draws],
    goal: Goal,
    conditions: Sequence[Condition],
    *,
    trials: int = TRIALS,
    seed: int = 1,
) -> Optimum:
    """Tries points, and gives the best.

    Args:
        runs: the runs of a system.
        draws: what is varied.
        goal: what is to be greatest or least.
        conditions: what has to hold besides.
        trials: how many points.
        seed: another one tries others.

    Raises InputError if Optuna is not installed, for a path that matches nothing, and for a measure that runs have not.
    """
    study = _study(goal, seed)
    ranges = [each.path for each in draws if not each.among]
    if len(ranges) <= _CORNERS:
        for corner in itertools.product((0.0, 1.0), repeat=len(ranges)):
            study.enqueue_trial(dict(zip(ranges, corner, strict=True)))
    tried: list[Trial] = []
    known: dict[tuple[str, ...], Run] = {}
    while len(tried) < trials:
        asked = [study.ask() for _ in range(min(_AT_ONCE, trials - len(tried)))]
        settings = [{each.path: _suggested(trial, each) for each in draws} for trial in asked]
        keys = [tuple(map(str, each.values())) for each in settings]
        new = {key: each for key, each in zip(keys, settings, strict=True) if key not in known}
        if new:
            known |= dict(zip(new, runs.at(list(new.values()), is_first=not tried), strict=True))
        for trial, each, key in zip(asked, settings, keys, strict=True):
            tried.append(_told(study, trial, goal, conditions, each, known[key]))
    return Optimum(goal, tuple(conditions), tuple(draws), tuple(tried))


def _study(goal: Goal, seed: int) -> optuna.Study:
    try:
        import optuna
    except ImportError:
        raise InputError(
            "Optuna is not installed, which chooses the points",
            allowed="pip install 'cxloom[optuna]'; one --vary with one --such-that needs none",
            path="--maximise" if goal.greatest else "--minimise",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_RANDOM)
    return optuna.create_study(direction="maximize" if goal.greatest else "minimize", sampler=sampler)


def _suggested(trial: optuna.Trial, draws: Draws) -> Any:
    if draws.among:
        return draws.among[trial.suggest_categorical(draws.path, list(range(len(draws.among))))]
    return draws.at(trial.suggest_float(draws.path, 0.0, 1.0))


def _told(
    study: optuna.Study,
    asked: optuna.Trial,
    goal: Goal,
    conditions: Sequence[Condition],
    settings: Mapping[str, Any],
    run: Run,
) -> Trial:
    """Tells Optuna what came out, and gives it."""
    import optuna

    if run.summary is None:
        study.tell(asked, state=optuna.trial.TrialState.FAIL)
        return Trial(settings, math.nan, (math.nan,) * len(conditions), False, run.error)
    value = goal.value(settings, run.summary)
    measured = tuple(each.measured(run.summary) for each in conditions)
    if math.isnan(value) or any(map(math.isnan, measured)):
        study.tell(asked, state=optuna.trial.TrialState.FAIL)
        return Trial(settings, value, measured, False, None)
    for at, (condition, each) in enumerate(zip(conditions, measured, strict=True)):
        asked.set_constraint(str(at), condition.excess(each))
    study.tell(asked, value)
    holds = all(condition.holds(each) for condition, each in zip(conditions, measured, strict=True))
    return Trial(settings, value, measured, holds, None, run.summary.get("stationary") is False)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _said(value: float, unit: str) -> str:
    return "unknown" if math.isnan(value) else f"{significant(value)} {unit}".rstrip()
