"""The figures of a study: each number of its table and its expectations, as a file, and beside those of another run."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.report.study_table import measure_text
from cxloom.results.comparison_rows import relative_half_width
from cxloom.spec.reader import file_text
from cxloom.study.compare import rows_of
from cxloom.study.points import described_point
from cxloom.study.runner import Outcome

_COLUMNS = ("figure", "point", "value", "half_interval", "state")
_DIGITS = 1e-12
"""Relative differences up to this are those of writing a number down."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a study."""

    name: str
    """The column of the table, or the measure of an expectation."""
    point: str
    """Where it was taken, as people read it."""
    value: float | str | None
    half: float
    """Half of its 95 % interval, as far as that of the mean latency tells; 0 where there is none."""
    state: str = ""
    """How the expectation stands; nothing for a column of the table."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from the others of its study."""
        return self.name, self.point


class Verdict(StrEnum):
    """How a figure stands beside that of another run."""

    SAME = "same"
    WITHIN = "within"
    """Not the same, and not further away than is allowed."""
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Beside:
    """A figure of an artifact beside that of a run of it; None where one of them lacks it."""

    packaged: Figure | None
    here: Figure | None
    allowed: float
    """The greatest difference that says nothing."""

    @property
    def figure(self) -> Figure:
        """Either of them."""
        found = self.packaged or self.here
        assert found is not None
        return found

    @property
    def difference(self) -> float:
        """What is here less what was packaged; NaN where one is no number."""
        values = [each.value if each is not None else None for each in (self.packaged, self.here)]
        if not all(isinstance(value, float) for value in values):
            return math.nan
        packaged, here = values
        assert isinstance(packaged, float)
        assert isinstance(here, float)
        return here - packaged

    @property
    def verdict(self) -> Verdict:
        """Whether the two agree."""
        if self.packaged is None or self.here is None or self.packaged.state != self.here.state:
            return Verdict.DIFFERENT
        if self.packaged.value == self.here.value:
            return Verdict.SAME
        difference, size = abs(self.difference), self.packaged.value
        if isinstance(size, float) and difference <= _DIGITS * abs(size):
            return Verdict.SAME
        return Verdict.WITHIN if difference <= self.allowed else Verdict.DIFFERENT


def figures_of(outcome: Outcome) -> list[Figure]:
    """The figures of a study's outcome: of each row of its table, and of each expectation.

    The interval is that of the mean latency at the point, as a share: bandwidth of a closed loop follows it. What an
    expectation takes from several points, or from a measure made of others, has the widest of all.
    """
    shares = [relative_half_width(summary) for summary in outcome.summaries]
    widest = max(shares, default=0.0)
    figures = list(_of_table(outcome, shares)) if outcome.study.columns else []
    for comparison in outcome.comparisons:
        value = float(comparison.simulated)
        expected, point = comparison.expectation, described_point(comparison.point)
        is_own = expected.relative_to is None and expected.along is None
        if is_own and expected.measure not in outcome.study.derived:
            share = shares[outcome.study.points.index(dict(comparison.point))]
        else:
            share = widest
        figures.append(Figure(measure_text(comparison), point, value, share * abs(value), comparison.state))
    return list(_told_apart(figures))


def _of_table(outcome: Outcome, shares: Sequence[float]) -> Iterator[Figure]:
    study = outcome.study
    for index, row in rows_of(study, outcome.summaries):
        own = {name for name, what in study.columns.items() if what in study.points[index] or what == "*"}
        entry = [f"{name} {row[name]}" for name, what in study.columns.items() if what == "*"]
        point = ", ".join([described_point(study.points[index]), *entry])
        for name, value in row.items():
            if name not in own:
                plain = _plain(value)
                half = shares[index] * abs(plain) if isinstance(plain, float) else 0.0
                yield Figure(name, point, plain, half)


def _told_apart(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Figures of which no two have one name and one point: later ones are numbered."""
    seen: dict[tuple[str, str], int] = {}
    for each in figures:
        seen[each.key] = count = seen.get(each.key, 0) + 1
        again = f"{each.name} ({count})" if count > 1 else each.name
        yield Figure(again, each.point, each.value, each.half, each.state)


def _plain(value: Any) -> float | str | None:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return str(value)


def to_csv(figures: Sequence[Figure]) -> str:
    """The figures as a table, each number with all of its digits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for each in figures:
        value = (
            "" if each.value is None else repr(each.value) if isinstance(each.value, float) else each.value
        )
        writer.writerow([each.name, each.point, value, repr(each.half), each.state])
    return file.getvalue()


def read_csv(path: Path) -> list[Figure]:
    """The figures of a table that `to_csv` wrote. Raises InputError, with its line, for what is none."""
    rows = csv.DictReader(io.StringIO(file_text(path, "a table of figures")))
    if tuple(rows.fieldnames or ()) != _COLUMNS:
        raise InputError(
            "not a table of figures", allowed=f"columns {', '.join(_COLUMNS)}", file=path, line=1
        )
    return [_read(row, path, rows.line_num) for row in rows]


def _read(row: Mapping[str, str | None], path: Path, line: int) -> Figure:
    name, point, value, half, state = (row[column] for column in _COLUMNS)
    if name is None or point is None or value is None or half is None or state is None:
        raise InputError("a row that is cut off", file=path, line=line)
    try:
        return Figure(name, point, _number(value), float(half), state)
    except ValueError:
        raise InputError("not a half of an interval", found=f"'{half}'", file=path, line=line) from None


def _number(text: str) -> float | str | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def beside(
    packaged: Sequence[Figure], here: Sequence[Figure], tolerance: float | None = None
) -> list[Beside]:
    """The figures of an artifact beside those of a run of it, in the order of the artifact.

    Args:
        packaged: those of the artifact.
        here: those of the run.
        tolerance: the relative difference that is allowed; by default that of both intervals, which takes the runs for
            independent: the root of the sum of the squares of both halves.
    """
    found = {each.key: each for each in here}
    known = {each.key for each in packaged}
    pairs: list[tuple[Figure | None, Figure | None]] = [(each, found.get(each.key)) for each in packaged]
    pairs += [(None, each) for each in here if each.key not in known]
    return [Beside(one, other, _allowed(one, other, tolerance)) for one, other in pairs]


def _allowed(one: Figure | None, other: Figure | None, tolerance: float | None) -> float:
    if one is None or other is None or not isinstance(one.value, float):
        return 0.0
    return math.hypot(one.half, other.half) if tolerance is None else tolerance * abs(one.value)
