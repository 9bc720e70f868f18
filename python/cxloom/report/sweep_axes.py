"""The axes of a sweep: what is set at its points, as plots, tables and sentences name it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from cxloom.sweeping.labels import headings, labels
from cxloom.sweeping.table import STATUS, Columns


def axes_of(columns: Columns) -> list[str]:
    """The columns that are set at the points."""
    names = list(columns)
    end = names.index(STATUS[0]) if STATUS[0] in names else names.index("seeds")
    return names[:end]


def varied(columns: Columns) -> list[str]:
    """The axes with several values."""
    return [axis for axis in axes_of(columns) if len(set(map(repr, columns[axis]))) > 1]


def longest(columns: Columns) -> str | None:
    """The axis with the most values; None without axes."""
    return max(axes_of(columns), key=lambda axis: len(set(map(repr, columns[axis]))), default=None)


def names_of(columns: Columns, axes: Sequence[str]) -> list[str]:
    """Each point by what is set on these axes: `queue 8, reads 70%`."""
    named, short = {axis: labels(columns[axis]) for axis in axes}, headings(axes)
    count = len(next(iter(columns.values()), ()))
    return [", ".join(f"{short[axis]} {named[axis][row]}" for axis in axes) for row in range(count)]


def quantities(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Numbers with the unit that all have in common; None if they are no numbers, or of several units."""
    found = [re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([A-Za-z/%]*)", str(value)) for value in values]
    units = {match[2] for match in found if match}
    if None in found or len(units) != 1:
        return None
    numbers = [float(match[1]) for match in found if match]
    return (numbers, units.pop()) if all(map(math.isfinite, numbers)) else None
