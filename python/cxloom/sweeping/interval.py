"""The results of several seeds together: the mean of each measure, and how well it is known.

Runs with different seeds are independent draws of one number. The mean of n of them, whose deviation is s, is within
t s / sqrt(n) of the true mean in 95 of 100 sweeps, where t is the quantile of Student's distribution with n - 1 degrees
of freedom (W. S. Gosset, "The probable error of a mean", Biometrika 6, 1908).
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence

from cxloom.sweeping.space import SEED
from cxloom.sweeping.table import STATUS, Columns

AGGREGATE = "aggregate.parquet"
CONFIDENCE = 0.95
_NO_MEASURES = ("seed",)


def aggregated(columns: Columns) -> Columns:
    """The table with one row for all seeds of a point.

    ``seeds`` says how many finished, each once however often it is in the table. A measure has its mean, and the ends
    of the interval of that mean in ``NAME:low`` and ``NAME:high``, empty for a single seed.
    """
    axes = list(columns)[: list(columns).index(STATUS[0])]
    others = [axis for axis in axes if axis != SEED]
    groups: dict[str, list[int]] = {}
    for row in range(len(columns["key"])):
        at = json.dumps([columns[axis][row] for axis in others])
        groups.setdefault(at, []).append(row)
    rows = list(groups.values())
    finished = [_independent(columns, group) for group in rows]
    table: Columns = {axis: [columns[axis][group[0]] for group in rows] for axis in others}
    table["seeds"] = [len(group) for group in finished]
    for name in list(columns)[len(axes) + len(STATUS) :]:
        if name in _NO_MEASURES or "ci95." in name or not _is_number(columns[name]):
            continue
        values = [
            [columns[name][row] for row in group if columns[name][row] is not None] for group in finished
        ]
        means = [interval(each) for each in values]
        table[name] = [mean for mean, _ in means]
        table[f"{name}:low"] = [None if half is None or mean is None else mean - half for mean, half in means]
        table[f"{name}:high"] = [
            None if half is None or mean is None else mean + half for mean, half in means
        ]
    return table


def _independent(columns: Columns, group: Sequence[int]) -> list[int]:
    """The rows that finished, one for each key: a point that is there twice was run once, and says nothing new."""
    runs = {columns["key"][row]: row for row in group if columns["status"][row] == "finished"}
    return list(runs.values())


def interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The mean of independent values and half of its 95 % interval; None where there are too few to decide."""
    count = len(values)
    if count == 0:
        return None, None
    mean = math.fsum(values) / count
    if count == 1:
        return mean, None
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return mean, student_t(count - 1) * deviation / math.sqrt(count)


@functools.cache
def student_t(degrees: int) -> float:
    """The t that 95 % of Student's distribution lie within."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < CONFIDENCE else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _within(angle: float, degrees: int) -> float:
    """The probability of |t| < sqrt(degrees) tan(angle): Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(3 if odd else 2, degrees - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _is_number(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in known
    )
