"""Results of several systems side by side: what differs, by how much, and which part of the latency changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.display.numbers import significant
from cxloom.display.shown import Shown, ShowsItself
from cxloom.results.result import Measures
from cxloom.spec import declared

if TYPE_CHECKING:
    import polars as pl

_NOTABLE = 0.01
"""A part of the latency has a row if it changes by this share of the largest mean."""
_SMALL = 0.0005
"""A relative change that is smaller is called none, where there is no interval."""
_SAID = {
    "time of the tasks": ("the tasks take", "as long", "longer", "shorter"),
    "mean latency": ("the mean latency is", "the same", "higher", "lower"),
    "bandwidth": ("the bandwidth is", "the same", "higher", "lower"),
    "requests answered": ("requests are answered", "as fast", "faster", "slower"),
}
"""The rows that the sentence is about, and its words: without a change, for more, and for less."""
_ANSWERED = "requests answered"
_NAMED = 3
"""How many parts of the latency the sentence names."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value beside that of the first system."""

    difference: float
    relative: float | None
    """The difference as a share of the first system's value; None where that is nothing."""
    doubt: float
    """A relative change up to this is none, where there is no interval."""
    interval: tuple[float, float] | None
    """The 95 % interval of the difference, from those of both means, which it takes for independent: runs of one seed
    meet the same accesses, and their difference is known better than that. None where a mean has no interval."""

    @property
    def is_clear(self) -> bool:
        """Whether it is more than what chance, or rounding, explains."""
        if self.interval is not None:
            return not self.interval[0] <= 0 <= self.interval[1]
        return abs(self.relative if self.relative is not None else self.difference) > self.doubt


@dataclass(frozen=True, slots=True)
class Row:
    """One measure of all systems."""

    name: str
    unit: str
    values: tuple[float, ...]
    """NaN where a system has no such measure."""
    intervals: tuple[tuple[float, float] | None, ...]
    doubt: float = _SMALL
    """The relative change that says nothing, of measures without an interval: that of the mean latency."""
    is_part: bool = False
    """Whether it is a part of the mean latency."""

    def change(self, at: int) -> Change:
        """The value of a system beside that of the first."""
        first, value = self.values[0], self.values[at]
        ends = self.intervals[0], self.intervals[at]
        interval = None
        if ends[0] is not None and ends[1] is not None:
            half = math.hypot((ends[0][1] - ends[0][0]) / 2, (ends[1][1] - ends[1][0]) / 2)
            interval = (value - first - half, value - first + half)
        return Change(value - first, (value - first) / first if first else None, self.doubt, interval)


@dataclass(frozen=True, slots=True)
class Comparison(ShowsItself):
    """Systems by their names, and what was measured of each."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    unfinished: tuple[str, ...] = ()
    """Systems whose run was stopped before its end: what was measured until then is compared."""

    @property
    def sentences(self) -> list[str]:
        """What is to be said of each system but the first."""
        return [self._sentence(at) for at in range(1, len(self.names))]

    @property
    def notes(self) -> list[str]:
        """What the reader has to know of it."""
        return [
            f"{name} was stopped before its end: its numbers are of the work until then"
            for name in self.unfinished
        ]

    def row(self, name: str) -> Row:
        """A measure by its name. Raises KeyError if there is none."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """All as plain data, as ``cxloom compare --json`` prints it: values that are unknown are None."""
        return {
            "systems": list(self.names),
            "sentences": self.sentences,
            "unfinished": list(self.unfinished),
            "rows": [
                {
                    "name": row.name,
                    "unit": row.unit,
                    "part_of_latency": row.is_part,
                    "values": [_plain(value) for value in row.values],
                    "ci95": [interval and list(interval) for interval in row.intervals],
                    "differences": [
                        {
                            "difference": _plain(change.difference),
                            "relative": _plain(change.relative),
                            "ci95": change.interval and list(change.interval),
                        }
                        for change in (row.change(at) for at in range(1, len(self.names)))
                    ],
                }
                for row in self.rows
            ],
        }

    def frame(self) -> pl.DataFrame:
        """A table with a row for each measure: `measure`, `unit`, a column for each system, and for each but the first
        `NAME: change`, relative to the first."""
        import polars as pl

        columns: dict[str, list[Any]] = {
            "measure": [row.name for row in self.rows],
            "unit": [row.unit for row in self.rows],
        }
        for at, name in enumerate(self.names):
            columns[name] = [_plain(row.values[at]) for row in self.rows]
        for at, name in enumerate(self.names[1:], start=1):
            columns[f"{name}: change"] = [_plain(row.change(at).relative) for row in self.rows]
        return pl.DataFrame(columns, strict=False)

    def shown(self) -> Shown:
        """The sentences, tables and notes of ``cxloom compare``."""
        from cxloom.results.comparison_table import shown

        return shown(self)

    def _sentence(self, at: int) -> str:
        said = []
        for row in self.rows:
            if row.name not in _SAID or (row.name == _ANSWERED and self._goes_by_bytes(row, at)):
                continue
            said.append(_more(row, at, *_SAID[row.name]))
            if row.name == "mean latency" and row.change(at).is_clear:
                said[-1] += self._parts(at, row.change(at).difference)
        return f"{self.names[at]} beside {self.names[0]}: " + "; ".join(said) + "."

    def _goes_by_bytes(self, answered: Row, at: int) -> bool:
        """Whether requests are answered faster as there is more bandwidth. Not so where lines are moved that no request
        asked for: written back, or fetched ahead."""
        moved = next((row for row in self.rows if row.name == "bandwidth"), None)
        if moved is None:
            return True
        one, other = answered.change(at).relative, moved.change(at).relative
        return one is None or other is None or abs(one - other) <= max(answered.doubt, moved.doubt)

    def _parts(self, at: int, difference: float) -> str:
        """The parts of the latency that changed most in the direction of the whole."""
        changes = sorted(
            ((row.change(at).difference, row.name) for row in self.rows if row.is_part),
            key=lambda part: -part[0] * math.copysign(1, difference),
        )
        named = [
            f"{name} {significant(part)} ns"
            for part, name in changes[:_NAMED]
            if part * difference > 0 and abs(part) >= _NOTABLE * abs(difference)
        ]
        return f" ({', '.join(named)})" if named else ""


def compare(results: Mapping[str, Measures]) -> Comparison:
    """Results by names, the first of which the others are compared with.

    Args:
        results: two or more, of runs, or parts of them (``result.read``).

    Raises InputError for fewer than two, and where one completed no request.
    """
    names = tuple(results)
    if len(names) < 2:
        raise InputError("nothing to compare with", found="one system", allowed="two or more")
    for name, result in results.items():
        if not result.values.get("requests") and "tasks" not in result:
            raise InputError(f"'{name}' has no request in its measured window", allowed="a run with requests")
    every = tuple(result.values for result in results.values())
    doubt = max(_SMALL, *(relative_half_width(each) for each in every))
    rows = [
        *_rows(every, "time of the tasks", "ns", ("tasks", "time_ns")),
        *_rows(every, "bandwidth", "GB/s", ("bandwidth_gb_per_s",)),
        *_answered(every),
        *_rows(every, "bandwidth of reads", "GB/s", ("read", "bandwidth_gb_per_s")),
        *_rows(every, "bandwidth of writes", "GB/s", ("write", "bandwidth_gb_per_s")),
        *_rows(every, "mean latency", "ns", ("latency_ns", "mean"), ("latency_ns", "ci95")),
        *_rows(
            every,
            "mean latency of reads",
            "ns",
            ("read", "latency_ns", "mean"),
            ("read", "latency_ns", "ci95"),
        ),
        *(
            row
            for key, name in (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"))
            for row in _rows(every, f"{name} latency", "ns", ("latency_ns", key))
        ),
        *_rows(every, "error answers", "", ("errors", "requests")),
        *_parts_of(every),
    ]
    return Comparison(
        names,
        tuple(replace(row, doubt=doubt) if row.unit and not row.is_part else row for row in rows),
        tuple(name for name, values in zip(names, every, strict=True) if values.get("truncated")),
    )


def _answered(every: tuple[Mapping[str, Any], ...]) -> list[Row]:
    """How many requests were answered in a time, in millions a second; none where no system has a time."""
    rates = tuple(
        1e3 * values["requests"] / values["simulated_time_ns"]
        if values.get("requests") and values.get("simulated_time_ns")
        else math.nan
        for values in every
    )
    if all(map(math.isnan, rates)):
        return []
    return [Row(_ANSWERED, "M/s", rates, (None,) * len(every))]


def _rows(
    every: tuple[Mapping[str, Any], ...],
    name: str,
    unit: str,
    path: tuple[str, ...],
    interval: tuple[str, ...] | None = None,
) -> list[Row]:
    """The row of a measure; none where no system has it, or nothing but zeros."""
    values = tuple(_number(_at(values, path)) for values in every)
    if all(math.isnan(value) or value == 0 for value in values):
        return []
    ends = tuple(_at(each, interval) if interval else None for each in every)
    return [Row(name, unit, values, tuple((float(end[0]), float(end[1])) if end else None for end in ends))]


def _parts_of(every: tuple[Mapping[str, Any], ...]) -> list[Row]:
    """The segments of the mean latency that change, along a request's way."""
    least = _NOTABLE * max((_number(_at(each, ("latency_ns", "mean"))) for each in every), default=0)
    rows = []
    for segment in declared.segments():
        values = tuple(_number(_at(each, ("breakdown_ns", segment)), absent=0.0) for each in every)
        if max(values) - min(values) > max(least, 0):
            rows.append(Row(segment.replace("_", " "), "ns", values, (None,) * len(every), is_part=True))
    return rows


def relative_half_width(values: Mapping[str, Any]) -> float:
    """Half the interval of the mean latency, as a share. Bandwidth in closed loop follows it; percentiles vary more."""
    ends, mean = _at(values, ("latency_ns", "ci95")), _number(_at(values, ("latency_ns", "mean")))
    return (ends[1] - ends[0]) / 2 / mean if ends and mean > 0 else 0.0


def _at(values: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = values
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _number(value: Any, absent: float = math.nan) -> float:
    return absent if value is None else float(value)


def _plain(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _more(row: Row, at: int, noun: str, same: str, more: str, less: str) -> str:
    """That a value is higher or lower, and by how much."""
    change = row.change(at)
    if math.isnan(change.difference):
        return f"{noun} unknown in one of them"
    if not change.is_clear:
        return f"{noun} {same}, as far as the runs tell"
    word = more if change.difference > 0 else less
    share = f" ({100 * abs(change.relative):.1f} %)" if change.relative is not None else ""
    return f"{noun} {significant(abs(change.difference))} {row.unit} {word}{share}"
