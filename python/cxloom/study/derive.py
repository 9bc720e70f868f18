"""Measures made of others and of axes: a ratio, the greatest of many, also with the value of another point."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from cxloom.spec.names import listed
from cxloom.spec.node import Node, Origin
from cxloom.study.points import Point, refuse_unknown, selection


def _ratio(values: Sequence[float]) -> float:
    return values[0] / values[1] if values[1] else math.nan


OPERATIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "difference": lambda values: values[0] - values[1],
    "product": math.prod,
    "ratio": _ratio,
    "greatest": max,
    "smallest": min,
    "mean": statistics.fmean,
}
"""The operations on operands, by the key of an entry of `derive`."""

_OF_TWO = ("difference", "ratio")


@dataclass(frozen=True, slots=True)
class Operand:
    """A number, a measure, or the value of an axis, at the point itself or at another."""

    number: float | None
    measure: str
    """A dotted path into the summary, the name of a measure derived before, or an axis whose values are numbers. With
    ``*`` in steps of the path the operand is all that there are."""
    at: Point
    """Values of axes in which the point differs that the measure is taken at."""
    place: Origin


@dataclass(frozen=True, slots=True)
class Derived:
    """A measure made of others."""

    operation: str
    operands: tuple[Operand, ...]


def derived(node: Node, points: list[dict[str, Any]]) -> Derived:
    """An entry of `derive`. Raises SpecError for what is none."""
    entries = node.map()
    if len(entries) != 1:
        raise node.place.error("not one operation", found=listed(entries), allowed=listed(OPERATIONS))
    refuse_unknown(node, list(OPERATIONS))
    [(operation, operands)] = entries.items()
    items = operands.list()
    made = tuple(_operand(item, points) for item in items)
    many = any("*" in operand.measure for operand in made)
    if operation in _OF_TWO and (many or len(made) != 2):
        raise operands.place.error(f"no {operation} of these", allowed="two operands, neither with a '*'")
    if not made:
        raise operands.place.error(f"a {operation} of nothing", allowed="a list of operands")
    return Derived(operation, made)


def expanded(summary: Mapping[str, Any], path: str) -> list[str]:
    """The paths of a summary that a path with ``*`` in its steps stands for, in their order."""
    found: list[tuple[str, Any]] = [("", summary)]
    for step in path.split("."):
        found = [
            (f"{before}.{key}" if before else key, inner)
            for before, here in found
            if isinstance(here, dict)
            for key, inner in here.items()
            if fnmatchcase(key, step)
        ]
    return [name for name, _ in found]


def _operand(node: Node, points: list[dict[str, Any]]) -> Operand:
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return Operand(float(node.value), "", {}, node.place)
    if not isinstance(node.value, dict):
        return Operand(None, node.text(), {}, node.place)
    refuse_unknown(node, ["measure", "at"])
    measure = node.get("measure")
    if measure is None:
        raise node.place.error(
            "'measure' of an operand is missing", allowed="{measure: ..., at: {axis: value}}"
        )
    return Operand(None, measure.text(), selection(node.get("at"), points), measure.place)
