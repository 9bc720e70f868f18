"""The results of a study's points, held against what is expected; and, before it runs, whether they can be."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cxloom.base.errors import Gathered, InputError
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Origin, described
from cxloom.spec.resolved import Resolved
from cxloom.study.derive import OPERATIONS, Operand, expanded
from cxloom.study.expect import Expectation
from cxloom.study.file import Study
from cxloom.study.points import Point, described_point, matches
from cxloom.study.state import State, state_of
from cxloom.system.simulation import build

Summary = dict[str, Any]
_GROWING = re.compile("_by_|_wait")
"""Measures whose keys are events that have happened: more come while a system runs."""
_TIMES_OF_A_TASK = ("start_ns", "end_ns")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expectation beside what was simulated, at one point; of a direction, at the first of its points."""

    expectation: Expectation
    point: Point
    simulated: float

    @property
    def passed(self) -> bool:
        """True if the two agree within the tolerance."""
        return self.expectation.accepts(self.simulated)

    @property
    def state(self) -> State:
        """The conclusion that a reader may draw."""
        return state_of(self.expectation, self.simulated)

    @property
    def reason(self) -> str:
        """Why it is fitted or open, in the study's words; nothing for the others."""
        reasons = {State.FITTED: self.expectation.fitted, State.OPEN: self.expectation.open}
        return reasons.get(self.state, "")

    @property
    def deviation(self) -> float:
        """How far it is from what is expected: see `Expectation.deviation`."""
        return self.expectation.deviation(self.simulated)


def compare(study: Study, summaries: list[Summary]) -> list[Comparison]:
    """Every expectation at every point that it is about, without those of which a quick form lacks points.

    Raises InputError where the measure has no value, because nothing of it happened.
    """
    values = _Values(study, summaries)
    comparisons = []
    for expectation in study.expectations:
        for index in _indices(study, expectation):
            simulated = values.expected(expectation, index)
            if simulated is not None:
                comparisons.append(Comparison(expectation, study.points[index], simulated))
    return comparisons


def table(study: Study, summaries: list[Summary]) -> list[dict[str, Any]]:
    """The columns that the study asks for; None where there is no value.

    A row for each point, or for each entry that there is of the map `each` of the summary at each point.
    """
    return [row for _, row in rows_of(study, summaries)]


def rows_of(study: Study, summaries: list[Summary]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of the table, each with the number of its point."""
    values = _Values(study, summaries)
    for index, point in enumerate(study.points):
        entries = [None] if study.each is None else [*_map_at(summaries[index], study.each)]
        for entry in entries:
            yield (
                index,
                {name: _cell(values, index, what, point, entry) for name, what in study.columns.items()},
            )


def _cell(values: _Values, index: int, what: str, point: Point, entry: str | None) -> Any:
    if what in point:
        return point[what]
    if entry is None:
        return values.number(what, index)
    if what == "*":
        return int(entry) if entry.isdecimal() else entry
    return values.number(what.replace("*", entry), index)


def _map_at(summary: Summary, path: str) -> Summary:
    here: Any = summary
    for step in path.split("."):
        here = here.get(step, {})
    return here if isinstance(here, dict) else {}


def _is_empty(summary: Summary, path: str) -> bool:
    """Whether there is a map without entries."""
    here: Any = summary
    for step in path.split("."):
        here = here[step]
    return isinstance(here, dict) and not here


def check(study: Study) -> None:
    """Builds every point, and looks for every measure in what each would report if it ended before it began.

    Raises InputError for a measure that there is not, and for a point that is referred to and is not there.
    """
    errors = Gathered()
    beside = dict.fromkeys(("spec_hash", "version", "cost"))
    summaries: list[Summary] = [
        (build(spec).summary() if isinstance(spec, Resolved) else spec.checked()) | beside
        for spec in study.specs
    ]
    wanted = [
        (index, each.measure, each.place)
        for each in study.expectations
        for start in _indices(study, each)
        for index in (_chain(study, each, start) or [start])
    ]
    if study.each is not None and study.each not in expanded(summaries[0], study.each):
        raise study.places[study.each].error(
            f"no map '{study.each}'", allowed="one of the summary, as by_hops"
        )
    wanted += [
        (index, what, study.places[name])
        for name, what in study.columns.items()
        for index in range(len(study.points))
        if name in study.places and what not in study.points[index] and what != "*"
    ]
    seen = set()
    for index, measure, place in wanted:
        with errors.one():
            for at, path, written in _leaves(study, index, measure, place):
                if (at, path) not in seen:
                    seen.add((at, path))
                    _look_for(summaries[at], path, written, study, at)
    if not study.quick:
        for each in study.expectations:
            with errors.one():
                for index in _indices(study, each):
                    if each.relative_to is not None and _at(study, index, each.relative_to) is None:
                        raise _no_point(study, index, each.relative_to, each.place)
    errors.raise_any()


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


class _Values:
    """Numbers at the points of a study that has run."""

    def __init__(self, study: Study, summaries: list[Summary]) -> None:
        self._study = study
        self._summaries = summaries

    def expected(self, expectation: Expectation, index: int) -> float | None:
        """The points that an expectation is about; None if the quick form lacks one of them."""
        chain: list[int | None] = [index]
        if expectation.along is not None:
            chain = [*_chain(self._study, expectation, index)]
        elif expectation.relative_to is not None:
            chain = [_at(self._study, index, expectation.relative_to), index]
        found = [None if at is None else self.number(expectation.measure, at) for at in chain]
        known = [value for value in found if value is not None]
        if len(known) < len(found):
            if self._study.quick:
                return None
            problem = f"the measure '{expectation.measure}' has no value"
            raise expectation.place.error(f"{problem}: nothing of it happened at one of its points")
        if 0 in known[:-1]:
            problem = f"the measure '{expectation.measure}' is 0 at one of its points"
            raise expectation.place.error(f"{problem}: nothing is a ratio to that")
        steps = [after / before for before, after in itertools.pairwise(known)]
        if expectation.along is not None:
            return (min if expectation.rises else max)(steps, default=None)
        return steps[0] if steps else known[0]

    def number(self, what: str, index: int) -> float | None:
        """A measure, a derived one, or the value of an axis; None where it has no value."""
        made = self._study.derived.get(what)
        if made is None:
            point = self._study.points[index]
            return float(point[what]) if what in point else measured(self._summaries[index], what)
        numbers = [number for operand in made.operands for number in self._operand(operand, index)]
        known = [number for number in numbers if number is not None]
        value = OPERATIONS[made.operation](known) if len(known) == len(numbers) else None
        return None if value is None or value != value else value

    def _operand(self, operand: Operand, index: int) -> list[float | None]:
        if operand.number is not None:
            return [operand.number]
        at = _at(self._study, index, operand.at)
        if at is None:
            return [None]
        if "*" in operand.measure:
            return [self.number(path, at) for path in expanded(self._summaries[at], operand.measure)] or [
                None
            ]
        return [self.number(operand.measure, at)]


def _indices(study: Study, expectation: Expectation) -> list[int]:
    """The points that an expectation is about; of a direction, the first along its axis, once for all of them."""
    chosen = [index for index, point in enumerate(study.points) if matches(point, expectation.at)]
    if expectation.along is None:
        return chosen
    first: dict[str, int] = {}
    for index in chosen:
        others = {axis: value for axis, value in study.points[index].items() if axis != expectation.along}
        first.setdefault(repr(others), index)
    return [index for index in first.values() if len(_chain(study, expectation, index)) > 1]


def _chain(study: Study, expectation: Expectation, start: int) -> list[int]:
    """The points along the axis of a direction, in the order of the file, from one of them."""
    if expectation.along is None:
        return []
    others = {axis: value for axis, value in study.points[start].items() if axis != expectation.along}
    return [
        index
        for index, point in enumerate(study.points)
        if matches(point, others) and matches(point, expectation.at)
    ]


def _at(study: Study, index: int, other: Point) -> int | None:
    """The first point that differs from one in some axes only."""
    wanted = {**study.points[index], **other}
    return next((at for at, point in enumerate(study.points) if matches(point, wanted)), None)


def _leaves(study: Study, index: int, what: str, place: Origin) -> Iterator[tuple[int, str, Origin]]:
    """The measures of summaries that a measure is made of, each with its point and where it is written."""
    made = study.derived.get(what)
    if made is None:
        if what in study.points[index]:
            _refuse_words(what, study.points[index][what], place)
        else:
            yield index, what, place
        return
    known = list(study.derived)
    for operand in made.operands:
        if operand.number is not None:
            continue
        if operand.measure in known[known.index(what) :]:
            raise operand.place.error(
                f"'{operand.measure}' is derived later", allowed="measures of a summary, or derived before"
            )
        at = _at(study, index, operand.at)
        if at is not None:
            yield from _leaves(study, at, operand.measure, operand.place)
        elif not study.quick:
            raise _no_point(study, index, operand.at, operand.place)


def _refuse_words(axis: str, value: Any, place: Origin) -> None:
    """Raises InputError for the value of an axis that one cannot reckon with."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise place.error(
            f"the axis '{axis}' is no number", found=described(value), allowed="numbers, without a unit"
        )


def _no_point(study: Study, index: int, other: Point, place: Origin) -> InputError:
    reference = described_point({**study.points[index], **other})
    return place.error(f"no point to relate to: {reference}")


def _look_for(summary: Summary, measure: str, place: Origin, study: Study, index: int) -> None:
    """Raises InputError if a summary can have no such measure."""
    if "*" in measure:
        steps = measure.split(".")
        ways = (".".join(steps[:end]) for end in range(1, len(steps)))
        if any(_is_empty(summary, path) for way in ways for path in expanded(summary, way)):
            return  # filled as the run goes on
        some = next(iter(expanded(summary, measure)), None)
        if some is None:
            raise place.error(
                f"no measure is like '{measure}'", allowed="a path in which * stands for any name"
            )
        measure = some
    here: Any = summary
    for step in measure.split("."):
        if isinstance(here, dict) and not here:
            return  # filled as the run goes on
        if isinstance(here, dict) and step in _TIMES_OF_A_TASK and "lane" in here:
            return  # known once the task has run
        if not isinstance(here, dict) or (step not in here and not _GROWING.search(measure)):
            known = [*(here if isinstance(here, dict) else study.points[index])]
            known += study.derived if here is summary else ()
            raise place.error(
                f"no measure '{measure}': no '{step}'", allowed=listed(known), suggestion=nearest(step, known)
            )
        here = here.get(step, {})
    if isinstance(here, (str, bool, dict, list)):
        below = listed([f"{measure}.{step}" for step in here] if isinstance(here, dict) else [])
        raise place.error(f"the measure '{measure}' is no number", allowed=below or "a number")
