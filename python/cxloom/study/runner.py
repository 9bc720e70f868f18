"""Has the points of a study run, and holds them against what is expected."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from cxloom.building import build
from cxloom.errors import NOWHERE, Gathered, InputError, is_nowhere
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Origin
from cxloom.study.carried import Watch, carried_out
from cxloom.study.file import Expectation, Point, Study, matches

Summary = dict[str, Any]
_GROWING = re.compile("_by_|_wait")
"""Measures whose keys are those of what has happened: more come while a system runs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expected value beside the simulated one, at one point."""

    expectation: Expectation
    point: Point
    simulated: float

    @property
    def passed(self) -> bool:
        """True if the two agree within the tolerance."""
        return self.expectation.accepts(self.simulated)

    @property
    def deviation(self) -> float:
        """Simulated over expected, less one; the difference itself where zero is expected."""
        expected = self.expectation.value
        return self.simulated / expected - 1 if expected else self.simulated


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a study gave."""

    study: Study
    summaries: list[Summary]
    """The summary of each point, in the order of `study.points`."""
    comparisons: list[Comparison]

    @property
    def table(self) -> list[dict[str, Any]]:
        """The columns that the study asks for, a row for each point."""
        rows = []
        for point, summary in zip(self.study.points, self.summaries, strict=True):
            cells = self.study.columns.items()
            rows.append(
                {name: point[what] if what in point else measured(summary, what) for name, what in cells}
            )
        return rows

    @property
    def passed(self) -> bool:
        """True if every expectation is met."""
        return all(comparison.passed for comparison in self.comparisons)


def run_study(
    study: Study,
    *,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    begun: Watch = lambda _schedule: None,
    watch: Watch = lambda _schedule: None,
) -> Outcome:
    """Runs all points, several at once, and holds them against what is expected.

    Args:
        study: what to run.
        jobs: points at the same time; by default one a processor.
        out: a directory to keep the points in, so that those that are there are not run again; None keeps nothing.
        begun: is told what there is to do.
        watch: is told now and then how far it is.

    Raises InputError for a working directory that is gone, a point that cannot be built or a measure that there is not,
    before any is run; SimulationError, when all others are done, for a point that cannot finish.
    """
    if is_nowhere():
        raise InputError(NOWHERE, allowed="one that exists: the processes of a study begin in it")
    _check(study)
    summaries = carried_out(study, out, jobs=jobs, begun=begun, watch=watch)
    comparisons = [
        Comparison(expectation, point, _value(study, summaries, expectation, index))
        for expectation in study.expectations
        for index, point in enumerate(study.points)
        if matches(point, expectation.at)
    ]
    return Outcome(study, summaries, comparisons)


def described_point(point: Point) -> str:
    """A point as one reads it: the last words of its paths are enough."""
    return (
        ", ".join(f"{axis.rpartition('.')[2]} {value}" for axis, value in point.items()) or "the only point"
    )


def _check(study: Study) -> None:
    """Builds every point, and looks for every measure in what each would tell if it ended before it began."""
    errors = Gathered()
    for point, spec in zip(study.points, study.specs, strict=True):
        summary = build(spec).summary() | dict.fromkeys(("spec_hash", "version", "cost"))
        wanted = [(each.measure, each.place) for each in study.expectations if matches(point, each.at)]
        wanted += [(what, study.places[name]) for name, what in study.columns.items() if name in study.places]
        for measure, place in wanted:
            if measure not in point:
                with errors.one():
                    _look_for(summary, measure, place, point)
    errors.raise_any()


def _look_for(summary: Summary, measure: str, place: Origin, point: Point) -> None:
    """Raises InputError if a summary can have no such measure."""
    here: Any = summary
    for step in measure.split("."):
        if isinstance(here, dict) and not here:
            return  # filled as the run goes on
        if not isinstance(here, dict) or (step not in here and not _GROWING.search(measure)):
            known = list(here if isinstance(here, dict) else point)
            raise place.error(
                f"no measure '{measure}': no '{step}'", allowed=listed(known), suggestion=nearest(step, known)
            )
        here = here.get(step, {})
    if isinstance(here, (str, bool, dict, list)):
        below = listed([f"{measure}.{step}" for step in here] if isinstance(here, dict) else [])
        raise place.error(f"the measure '{measure}' is no number", allowed=below or "a number")


def _value(study: Study, summaries: list[Summary], expectation: Expectation, index: int) -> float:
    value = _number(summaries[index], expectation)
    if expectation.relative_to is None:
        return value
    reference = {**study.points[index], **expectation.relative_to}
    at = next((i for i, point in enumerate(study.points) if matches(point, reference)), None)
    if at is None:
        raise InputError(f"no point to relate to: {described_point(reference)}", path="relative_to")
    return value / _number(summaries[at], expectation)


def _number(summary: Summary, expectation: Expectation) -> float:
    value = measured(summary, expectation.measure)
    if value is None:
        raise expectation.place.error(
            f"the measure '{expectation.measure}' has no value: nothing of it happened at one of its points"
        )
    return value


def measured(summary: Summary, path: str) -> float | None:
    """The number at a dotted path of a summary, None where nothing happened. Raises InputError if there is none."""
    here: Any = summary
    for step in path.split("."):
        if not isinstance(here, dict) or step not in here:
            known = ", ".join(here) if isinstance(here, dict) else "nothing below it"
            raise InputError(f"no measure '{path}': no '{step}'", allowed=known, path="measure")
        here = here[step]
    if here is None:
        return None
    if not isinstance(here, (int, float)):
        raise InputError(f"the measure '{path}' is no number", path="measure")
    return float(here)
