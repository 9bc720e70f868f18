"""What a page of a sweep opens with: its best and worst points, where more gains little, and what changes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from cxloom.display.numbers import significant
from cxloom.report.sweep_axes import longest, names_of, quantities, varied
from cxloom.results.comparison_rows import SMALL, Row
from cxloom.spec import declared
from cxloom.sweeping.table import Columns

BANDWIDTH, MEAN = "bandwidth_gb_per_s", "latency_ns.mean"
_MEASURES = (
    ("tasks.time_ns", "The time of the tasks", "ns", ("lowest", "highest")),
    (BANDWIDTH, "Bandwidth", "GB/s", ("highest", "lowest")),
    (MEAN, "Mean latency", "ns", ("lowest", "highest")),
)
"""What is said of a sweep: its column, its name, its unit, and first the better end."""
_INTERVALS = {BANDWIDTH: "bandwidth_ci95", MEAN: "latency_ns.ci95"}
"""The interval of a measure in one run."""
_ENOUGH = 0.95
"""The share of the highest bandwidth from which on more of the axis gains little."""


def sweep_answer(columns: Columns) -> str:
    """Sentences on the points that finished; nothing where there are fewer than two.

    Args:
        columns: the table of the sweep, with one row for all seeds of a point.
    """
    names = names_of(columns, varied(columns))
    said = []
    for key, noun, unit, words in _MEASURES:
        rows = measured(columns, key)
        if len(rows) < 2:
            continue
        at = extremes(columns, key)
        value = {word: f"{significant(columns[key][row])} {unit}" for word, row in at.items()}
        if not differs(columns, key):
            said.append(
                f"{noun} is the same at all points, as far as the runs tell: {span(columns, key)} {unit}."
            )
            continue
        ends = (f"{word} at {names[at[word]]} ({value[word]})" for word in words)
        said.append(f"{noun} is {' and '.join(ends)}.")
        if key == BANDWIDTH:
            said += _knee(columns, rows)
        if key == MEAN:
            said += _part(columns, at["lowest"], at["highest"])
    return " ".join(said)


def measured(columns: Columns, key: str) -> list[int]:
    """The rows with a value."""
    return [row for row, value in enumerate(columns.get(key, ())) if value is not None]


def extremes(columns: Columns, key: str) -> dict[str, int]:
    """The rows with the lowest and the highest value of a measure, of several the first."""
    rows, values = measured(columns, key), columns[key]
    return {"lowest": min(rows, key=values.__getitem__), "highest": max(rows, key=values.__getitem__)}


def span(columns: Columns, key: str) -> str:
    """From the lowest to the highest value of a measure."""
    values = [significant(columns[key][row]) for row in extremes(columns, key).values()]
    return " to ".join(dict.fromkeys(values))


def differs(columns: Columns, key: str) -> bool:
    """Whether the extremes differ by more than chance explains, as `cxloom compare` decides it, and as the lowest and
    the highest of so many points do that are the same."""
    rows = tuple(extremes(columns, key).values())
    values = tuple(columns[key][row] for row in rows)
    intervals = tuple(_interval(columns, key, row) for row in rows)
    doubt = max(_doubt(columns, row) for row in rows)

    def is_clear(wider: float) -> bool:
        ends = tuple(
            each and (value - wider * (value - each[0]), value + wider * (each[1] - value))
            for value, each in zip(values, intervals, strict=True)
        )
        return Row("", "", values, ends, max(SMALL, wider * doubt)).change(1).is_clear

    points = len(measured(columns, key))
    return is_clear(1.0) and (points == len(rows) or is_clear(_of_many(points)))


@functools.cache
def _of_many(points: int) -> float:
    """By how much an interval of 95 % is wider for the extremes of so many points: the studentized range (J. W. Tukey),
    beside that of two."""
    from scipy.stats import studentized_range  # which takes longer to load than a page to make

    many, two = (float(studentized_range.ppf(0.95, count, math.inf)) for count in (points, 2))
    return many / two


def _interval(columns: Columns, key: str, row: int) -> tuple[float, float] | None:
    """The 95 % interval: over the seeds, or that of one run; None where there is none."""
    own = _INTERVALS.get(key)
    for ends in ((f"{key}:low", f"{key}:high"), own and (f"{own}.low", f"{own}.high")):
        if ends and ends[0] in columns:
            low, high = (columns[end][row] for end in ends)
            return None if low is None or high is None else (low, high)
    return None


def _doubt(columns: Columns, row: int) -> float:
    """The relative half width of the mean latency, which bandwidth follows in closed loop."""
    ends, mean = _interval(columns, MEAN, row), columns[MEAN][row] if MEAN in columns else None
    return (ends[1] - ends[0]) / 2 / mean if ends and mean else 0.0


def _knee(columns: Columns, rows: Sequence[int]) -> list[str]:
    """From which value of the only axis, of numbers, bandwidth is near its highest; nothing if it keeps rising."""
    axis = longest(columns)
    if axis is None or varied(columns) != [axis]:
        return []
    numbers = quantities([columns[axis][row] for row in rows])
    if numbers is None:
        return []
    way = sorted(zip(numbers[0], rows, strict=True))
    high = max(columns[BANDWIDTH][row] for row in rows)
    enough = [columns[BANDWIDTH][row] >= _ENOUGH * high for _, row in way]
    first = enough.index(True)
    if first in (0, len(way) - 1) or not all(enough[first:]):
        return []
    return [f"From {names_of(columns, [axis])[way[first][1]]} on it is within 5 % of the highest."]


def _part(columns: Columns, low: int, high: int) -> list[str]:
    """The part of the latency that makes most of the difference between two points."""
    whole = columns[MEAN][high] - columns[MEAN][low]
    parts = []
    for segment in declared.segments():
        values = columns.get(f"breakdown_ns.{segment}")
        if values is not None:
            parts.append(((values[high] or 0.0) - (values[low] or 0.0), segment.replace("_", " ")))
    most, name = max(parts, default=(0.0, ""))
    if most <= 0:
        return []
    return [f"Of the {significant(whole)} ns between them, {significant(most)} ns are {name}."]
