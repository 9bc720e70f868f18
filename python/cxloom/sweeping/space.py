"""The points of a sweep: what is set at each, as a grid, as rows of a table, drawn at random, and under several seeds.

All of it multiplies: every combination of the grid, with every row, with every sample, under every seed. The first path
varies slowest, the seed fastest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxloom.base.errors import InputError, shown
from cxloom.base.filenames import file_name
from cxloom.base.words import counted
from cxloom.spec.node import Node, Origin, described, from_plain
from cxloom.spec.override import Override
from cxloom.spec.reader import read_value

SEED = "run.seed"
"""The path of the seed: points that differ in nothing else are seen together, with an interval."""

MOST_POINTS = 10_000
"""More points are refused unless they are asked for: a list too many is easily written."""

_RANGE = re.compile(r"[+-]?[0-9]*[.]?[0-9]+[A-Za-z%/]*[.][.][+-]?[0-9]*[.]?[0-9]+[A-Za-z%/]*(:log)?")
_NO_RANGE = (
    "values separated by commas, such as 1,2,4; --draw PATH=LOW..HIGH --samples N draws from a range, and "
    "cxloom find --vary PATH=LOW..HIGH searches it"
)

Setting = Mapping[str, Node]
"""The settings of a point: values by path, in the order in which they are set."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A path, and the values that it takes one after the other."""

    path: str
    values: Sequence[Node]

    @classmethod
    def parse(cls, text: str) -> Axis:
        """The axis ``PATH=VALUE,VALUE,...``: values as between the brackets of a YAML list. Raises InputError.

        A comma separates values unless it stands in quotes, brackets or braces: ``a=[1,2],[3,4]`` are two lists.
        """
        path, equals, values = text.partition("=")
        path = path.strip()
        origin = Origin(note=f"from --set {shown(text)}")
        if not equals or not path:
            allowed = "--set PATH=VALUE,VALUE,..."
            raise Origin().error("not an axis of a sweep", found=f"--set {text}", allowed=allowed)
        listed = read_value(f"[{values}]", origin.within(path))
        if not isinstance(listed.value, list) or not listed.value:
            raise origin.within(path).error("no values to sweep", allowed="at least one, separated by commas")
        for item in listed.value:
            if isinstance(item.value, str) and _RANGE.fullmatch(item.value):
                raise origin.within(path).error("a range", found=repr(item.value), allowed=_NO_RANGE)
        return cls.of(path, [item.plain() for item in listed.value], "--set ")

    @classmethod
    def of(cls, path: object, values: Iterable[object], way: str = "") -> Axis:
        """The axis of values of Python; `way` is how they were given. Raises InputError."""
        if not isinstance(path, str):
            allowed = "the path of a value, such as devices.host.queue"
            raise InputError("not a text", found=described(path), allowed=allowed)
        nodes = [node_of(path, value, f"from {way}{path}={_written(value)}") for value in values]
        if not nodes:
            raise InputError("no values to sweep", allowed="a list of at least one", path=path)
        seen: set[str] = set()
        for value in (node.plain() for node in nodes):
            if repr(value) in seen:
                raise InputError("a value that is there twice", found=_written(value), path=path)
            seen.add(repr(value))
        return cls(path, nodes)


def node_of(path: str, value: object, note: str) -> Node:
    """A value of Python as one that is set at a path. Raises InputError if it is none for a spec."""
    return from_plain(value, Origin(path=path, note=shown(note)))


def grid_of(given: object) -> list[Axis]:
    """The axes of a map from paths to lists of values. Raises InputError."""
    if not isinstance(given, Mapping):
        allowed = 'a map such as {"devices.host.queue": [1, 2, 4]}'
        raise InputError("not a grid", found=described(given), allowed=allowed)
    axes = []
    for path, values in given.items():
        if hasattr(values, "tolist"):
            values = values.tolist()
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise InputError(
                "not a list of values", found=described(values), allowed="[1, 2, 4]", path=str(path)
            )
        axes.append(Axis.of(path, values))
    return axes


def seeds(count: int, first: object) -> Axis:
    """So many seeds from the first one on, which is the seed of the spec, or 1."""
    start = first if isinstance(first, int) and not isinstance(first, bool) else 1
    return Axis.of(SEED, range(start, start + count))


def check_points(count: int, most: int) -> None:
    """Raises InputError if there are too many points."""
    if count > most:
        allowed = f"at most {most:,}; to run them all: --max-points {count}"
        raise InputError("the sweep has too many points", found=f"{count:,}", allowed=allowed)


def product(parts: Sequence[Sequence[Setting]]) -> list[Setting]:
    """Every combination of one setting of each part. Raises InputError if a path is set twice."""
    given: list[str] = []
    for part in parts:
        given += dict.fromkeys(path for setting in part for path in setting)
    for path in given:
        if given.count(path) > 1:
            raise InputError("the path is set twice in one sweep", allowed="each path once", path=path)
    points: list[Setting] = []
    for settings in itertools.product(*parts):
        merged: dict[str, Node] = {}
        for setting in settings:
            merged |= setting
        points.append(merged)
    return points


def along(axis: Axis) -> list[Setting]:
    """The settings of one axis."""
    return [{axis.path: value} for value in axis.values]


def paths_of(points: Sequence[Setting]) -> list[str]:
    """The paths that any of the points sets, in the order of their first appearance."""
    return list(dict.fromkeys(path for point in points for path in point))


def overrides_of(setting: Setting) -> list[Override]:
    """A setting as what `Template.resolve` takes."""
    return [Override(path, node) for path, node in setting.items()]


def plain_of(setting: Setting) -> dict[str, Any]:
    """A setting as plain data."""
    return {path: node.plain() for path, node in setting.items()}


def described_setting(setting: Mapping[str, Any]) -> str:
    """A point as one reads it: the last words of its paths are enough."""
    words = (f"{path.rpartition('.')[2]} {_written(value)}" for path, value in setting.items())
    return ", ".join(words) or "the only point"


def check_count(value: object, name: str, least: int = 1) -> int:
    """A number of Python that counts something. Raises InputError for any other."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        allowed = f"a whole number from {least} on"
        raise InputError("not a count", found=described(value), allowed=allowed, path=name)
    return value


def folder_name(given: object) -> str:
    """The name of a directory of Python. Raises InputError for what is none."""
    name = file_name(given, "a directory", "out")
    if not name:
        raise InputError("the name of the directory is empty", allowed="a directory", path="out")
    return name


def count_of(points: Sequence[object]) -> str:
    """How many points there are, in words."""
    return counted(len(points), "point")


def _written(value: object) -> str:
    """A value as it is written in YAML's short form."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
