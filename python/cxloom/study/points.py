"""The points of a study: every combination of its cases and of the values that it sweeps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node, Plain
from cxloom.spec.override import Override

CASE = "case"
"""The name of the axis of `cases` in a point, where they are named."""

Point = Mapping[str, Any]
"""The value of each axis: a path of `sweep`, ``case``, or what the cases of a list call it."""


def points_of(top: Node, most: int) -> list[tuple[dict[str, Any], list[Override]]]:
    """The value of each axis at each point, and the overrides that make it. Raises SpecError for more than `most`."""
    entries = top.map()
    cases = _cases(entries.get("cases"))
    sweep = {path: node.list() for path, node in map_of(entries.get("sweep")).items()}
    for path, node in map_of(entries.get("sweep")).items():
        if not sweep[path]:
            raise node.place.error("no values to sweep", allowed="a list of at least one")
    zipped = entries.get("zip")
    is_zipped = zipped is not None and zipped.value is True
    lengths = {path: len(values) for path, values in sweep.items()}
    if zipped is not None and is_zipped and len(set(lengths.values())) > 1:
        found = ", ".join(f"{path}: {length}" for path, length in lengths.items())
        raise zipped.place.error("zip needs lists of one length", found=found)
    each = max(lengths.values(), default=1) if is_zipped else math.prod(lengths.values())
    count = each * len(cases)
    if count > most:
        place = entries["sweep"].place if "sweep" in entries else top.origin
        raise place.error(
            "the study has too many points",
            found=f"{count:,}",
            allowed=f"at most {most:,}; to run them all: --max-points {count}",
        )
    combine = zip if is_zipped and sweep else itertools.product
    combinations = list(combine(*sweep.values()))
    points = []
    for labels, case in cases:
        for combination in combinations:
            values = dict(zip(sweep, combination, strict=True))
            point = labels | {path: node.plain() for path, node in values.items()}
            settings = case | values
            points.append((point, [Override(path, node) for path, node in settings.items()]))
    return points


def _cases(node: Node | None) -> list[tuple[dict[str, Any], dict[str, Node]]]:
    """The name of each case on its axes, and its values by path; one without either if there are none."""
    if node is None or not node.value:
        return [({}, {})]
    if isinstance(node.value, dict):
        return [({CASE: name}, case.map()) for name, case in node.value.items()]
    cases: list[tuple[dict[str, Any], dict[str, Node]]] = []
    for item in node.list():
        refuse_unknown(item, ["at", "set"])
        labels = {axis: label.plain() for axis, label in map_of(item.get("at")).items()}
        if not labels:
            raise item.place.error(
                "'at' of a case is missing", allowed="its value on each axis: {shape: ring}"
            )
        if cases and list(labels) != list(cases[0][0]):
            raise item.place.error(
                "the case has other axes than the first", found=listed(labels), allowed=listed(cases[0][0])
            )
        cases.append((labels, map_of(item.get("set"))))
    return cases


def kept(node: Node | None, points: list[dict[str, Any]]) -> dict[str, list[Plain]]:
    """The values of some axes that stay in the quick form of a study. Raises SpecError for one that no point has."""
    axes = list(points[0])
    keep: dict[str, list[Plain]] = {}
    for axis, item in map_of(node).items():
        known_axis(axis, item, axes)
        keep[axis] = [value.plain() for value in item.list()]
        for value in item.list():
            selection(Node({axis: value}, item.origin), points)
    if node is not None and not any(stays(point, keep) for point in points):
        raise node.place.error("no point is left")
    return keep


def stays(point: Point, keep: Mapping[str, list[Plain]]) -> bool:
    """True if a point has one of the kept values on each of these axes."""
    return all(point[axis] in values for axis, values in keep.items())


def selection(node: Node | None, points: list[dict[str, Any]]) -> dict[str, Plain]:
    """The values of some axes, which at least one point must have."""
    axes = list(points[0])
    wanted: dict[str, Plain] = {}
    for axis, item in map_of(node).items():
        known_axis(axis, item, axes)
        wanted[axis] = item.plain()
        if not any(point[axis] == wanted[axis] for point in points):
            values = dict.fromkeys(str(point[axis]) for point in points)
            raise item.place.error(f"no point has {axis} = {item.value}", allowed=listed(values))
    if node is not None and not any(matches(point, wanted) for point in points):
        raise node.place.error("no point has all of these values")
    return wanted


def known_axis(axis: str, node: Node, axes: list[str]) -> None:
    """Raises SpecError for an axis that there is not."""
    if axis not in axes:
        place = node.key or node.origin
        raise place.error(f"unknown axis '{axis}'", allowed=listed(axes), suggestion=nearest(axis, axes))


def matches(point: Point, wanted: Point) -> bool:
    """True if a point has the wanted values."""
    return all(point[axis] == value for axis, value in wanted.items())


def described_point(point: Point) -> str:
    """A point as one reads it: the last words of its paths are enough."""
    return (
        ", ".join(f"{axis.rpartition('.')[2]} {value}" for axis, value in point.items()) or "the only point"
    )


def map_of(node: Node | None) -> dict[str, Node]:
    """The entries of a map, none of what is not there."""
    return {} if node is None else node.map()


def refuse_unknown(node: Node, known: list[str]) -> None:
    """Raises SpecError for a key that is none of these."""
    for key, item in node.map().items():
        if key not in known:
            place = item.key or item.origin
            raise place.error(f"unknown key '{key}'", allowed=listed(known), suggestion=nearest(key, known))
