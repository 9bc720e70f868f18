"""The file of a study: a system, what is varied, and what should come out."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxloom.errors import InputError
from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node, Origin, Plain, described
from cxloom.spec.reader import read_file
from cxloom.spec.resolve import Override, Resolved, resolve

CASE = "case"
"""What the axis of `cases` is called in a point."""

_KEYS = {
    "title": "What the study is.",
    "source": "Where it was published.",
    "about": "What it shows, and what it had to choose.",
    "system": "A spec: its file, or written here; `preset:` inside starts from a shipped one.",
    "set": "Values by path, for all points.",
    "cases": "Named variants, each with values by path.",
    "sweep": "Paths, each with the list of its values: every combination is a point.",
    "zip": "True: the n-th values of all paths make the n-th point, instead of every combination.",
    "defaults": "What all of `expect` have in common, such as a tolerance.",
    "expect": "What should come out.",
    "table": "Columns by name, each an axis or a measure: a row for each point.",
    "plot": "A picture of the table: its columns `x` and `y`, a line for each value of `lines`, if there is one; "
    "or, with `stack`, bars over `x` of the columns in it, a panel for each value of `panels`, if there is one.",
}
_EXPECTATION_KEYS = ("at", "relative_to", "measure", "value", "tolerance", "source", "derived")
_TOLERANCE = re.compile(r"([0-9]*\.?[0-9]+)\s*(%|[A-Za-z/]*)")
_UNITS = {"_ns": "ns", "_gb_per_s": "GB/s"}

MOST_POINTS = 10_000
"""More points are refused unless they are asked for: a list too many in a sweep is easily written."""

DEFAULT_COLUMNS = {
    "requests": "requests",
    "gb_per_s": "bandwidth_gb_per_s",
    "mean_ns": "latency_ns.mean",
    "p99_ns": "latency_ns.p99",
}
"""What a study shows that asks for nothing, besides its axes."""

_PLOT_KEYS = ("x", "y", "lines")
_STACK_KEYS = ("x", "stack", "panels")
_SPLIT_KEYS = ("lines", "panels")
"""Of these, what may be left out."""

Point = Mapping[str, Any]
"""The value of each axis: a path of `sweep`, or ``case``."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A value that should come out at some points."""

    at: Point
    relative_to: Point | None
    """The value is that of the measure divided by its value at this point."""
    measure: str
    """A dotted path into the summary."""
    value: float
    tolerance: float
    relative: bool
    """The tolerance is a fraction of the value, not in its unit."""
    source: str
    derived: str
    """How the value follows, where it is not printed in the source itself."""
    place: Origin
    """Where the measure is written."""

    def accepts(self, simulated: float) -> bool:
        """True if the value is as near as it should be."""
        limit = self.tolerance * abs(self.value) if self.relative else self.tolerance
        return abs(simulated - self.value) <= limit


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture of a table, by the names of its columns."""

    x: str
    y: str
    lines: str | None
    """A line for each value of this column; one line of all points if None."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A picture of a table, by the names of its columns: bars over `x`, piled up from several columns."""

    x: str
    stack: tuple[str, ...]
    panels: str | None
    """A panel for each value of this column; one panel of all points if None."""


@dataclass(frozen=True, slots=True)
class Study:
    """A system, the points at which it is run, and what should come out."""

    title: str
    source: str
    about: str
    points: list[dict[str, Any]]
    specs: list[Resolved]
    """The resolved spec of each point."""
    expectations: list[Expectation]
    columns: dict[str, str]
    """Of the table: each an axis or a measure, by its name in the table."""
    places: dict[str, Origin]
    """Where each column is written; of none that is not."""
    plot: Plot | Stack | None


def read(
    path: str | os.PathLike[str], overrides: Sequence[Override] = (), *, most_points: int = MOST_POINTS
) -> Study:
    """The study in a file, all its points resolved, with values set from outside for all of them.

    A study that shows nothing, neither what it expects nor a table, has a table of a few measures.

    Raises InputError, with file and line, for what is wrong in it.
    """
    top = read_file(path)
    entries = top.map()
    _refuse_unknown(top, list(_KEYS))
    system = _system(top)
    common = [Override(key, node) for key, node in _map(entries.get("set")).items()]
    points, specs = [], []
    for point, own in _points(top, most_points):
        points.append(point)
        specs.append(resolve(system, [*common, *overrides, *own]))
    expect = entries.get("expect")
    defaults = _map(entries.get("defaults"))
    expectations = [
        _expectation(node.with_entries({**defaults, **node.map()}), points)
        for node in (expect.list() if expect is not None else [])
    ]
    text = {
        key: entries[key].text().strip() if key in entries else "" for key in ("title", "source", "about")
    }
    table = _map(entries.get("table"))
    columns = {name: column.text() for name, column in table.items()}
    if not columns and not expectations:
        columns = {name: axis for axis, name in _short(list(points[0])).items()} | DEFAULT_COLUMNS
    plot = _plot(entries["plot"], columns) if "plot" in entries else None
    title = text["title"] or os.fspath(path)
    places = {name: column.place for name, column in table.items()}
    return Study(title, text["source"], text["about"], points, specs, expectations, columns, places, plot)


def _short(axes: list[str]) -> dict[str, str]:
    """The last word of each path, where no other has the same."""
    short = {axis: axis.rpartition(".")[2] for axis in axes}
    taken = [*short.values(), *DEFAULT_COLUMNS]
    return {axis: name if taken.count(name) == 1 else axis for axis, name in short.items()}


def _plot(node: Node, columns: Mapping[str, str]) -> Plot | Stack:
    keys = _STACK_KEYS if node.get("stack") is not None else _PLOT_KEYS
    _refuse_unknown(node, list(keys))
    chosen: dict[str, list[str]] = {}
    for key in keys:
        column = node.get(key)
        if column is not None:
            chosen[key] = [_column(each, columns) for each in (column.list() if key == "stack" else [column])]
        elif key not in _SPLIT_KEYS:
            raise node.place.error(f"'{key}' of the plot is missing", allowed=listed(keys))
    if keys is _STACK_KEYS:
        return Stack(chosen["x"][0], tuple(chosen["stack"]), chosen.get("panels", [None])[0])
    return Plot(chosen["x"][0], chosen["y"][0], chosen.get("lines", [None])[0])


def _column(node: Node, columns: Mapping[str, str]) -> str:
    name = node.text()
    if name not in columns:
        known = list(columns)
        raise node.place.error(
            f"the table has no column '{name}'", allowed=listed(known), suggestion=nearest(name, known)
        )
    return name


def _system(top: Node) -> Node:
    system = top.get("system")
    if system is None or system.value is None:
        raise top.origin.error("'system' is missing", allowed="a spec, or the file of one")
    if isinstance(system.value, str):
        name = os.path.join(system.origin.folder, system.value)
        try:
            return read_file(name)
        except InputError as error:
            if error.line is not None:  # it is one, and something is wrong in it
                raise
            raise system.place.error(
                f"the file of the system, '{name}': {error.problem}",
                found=error.found,
                allowed=error.allowed,
                suggestion=error.suggestion,
            ) from None
    system.map()
    return system


def _points(top: Node, most: int) -> list[tuple[dict[str, Any], list[Override]]]:
    """The value of each axis at each point, and the overrides that make it."""
    entries = top.map()
    cases = _map(entries.get("cases"))
    sweep = {path: node.list() for path, node in _map(entries.get("sweep")).items()}
    for path, node in _map(entries.get("sweep")).items():
        if not sweep[path]:
            raise node.place.error("no values to sweep", allowed="a list of at least one")
    zipped = entries.get("zip")
    is_zipped = zipped is not None and zipped.value is True
    lengths = {path: len(values) for path, values in sweep.items()}
    if zipped is not None and is_zipped and len(set(lengths.values())) > 1:
        found = ", ".join(f"{path}: {length}" for path, length in lengths.items())
        raise zipped.place.error("zip needs lists of one length", found=found)
    each = max(lengths.values(), default=1) if is_zipped else math.prod(lengths.values())
    count = each * max(1, len(cases))
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
    for name, case in cases.items() or {"": None}.items():
        for combination in combinations:
            values = dict(zip(sweep, combination, strict=True))
            point: dict[str, Any] = {CASE: name} if case is not None else {}
            point |= {path: node.plain() for path, node in values.items()}
            settings = (case.map() if case is not None else {}) | values
            points.append((point, [Override(path, node) for path, node in settings.items()]))
    return points


def _expectation(node: Node, points: list[dict[str, Any]]) -> Expectation:
    entries = node.map()
    _refuse_unknown(node, list(_EXPECTATION_KEYS))
    for key in ("measure", "value", "tolerance"):
        if key not in entries:
            raise node.place.error(f"'{key}' of an expectation is missing", allowed=listed(_EXPECTATION_KEYS))
    value = entries["value"]
    if not isinstance(value.value, (int, float)) or isinstance(value.value, bool):
        raise value.place.error(
            "not a number", found=described(value.value), allowed="a number, in the measure's unit"
        )
    measure = entries["measure"].text()
    reference = entries.get("relative_to")
    units = (
        unit for suffix, unit in _UNITS.items() if suffix in measure and reference is None
    )  # a ratio has none
    tolerance, relative = _tolerance(entries["tolerance"], next(units, ""))
    return Expectation(
        at=_selection(entries.get("at"), points),
        relative_to=None if reference is None else _selection(reference, points),
        measure=measure,
        value=float(value.value),
        tolerance=tolerance,
        relative=relative,
        source=entries["source"].text() if "source" in entries else "",
        derived=str(entries["derived"].value) if "derived" in entries else "",
        place=entries["measure"].place,
    )


def _tolerance(node: Node, unit: str) -> tuple[float, bool]:
    match = _TOLERANCE.fullmatch(str(node.value))
    if match is None or match[2] not in ("%", unit) or isinstance(node.value, bool):
        allowed = f"a percentage such as 2%, or a number{' of ' + unit if unit else ''} such as 0.5{unit}"
        raise node.place.error("not a tolerance", found=described(node.value), allowed=allowed)
    return (float(match[1]) / 100, True) if match[2] == "%" else (float(match[1]), False)


def _selection(node: Node | None, points: list[dict[str, Any]]) -> dict[str, Plain]:
    """The values of some axes, which at least one point must have."""
    axes = list(points[0])
    wanted: dict[str, Plain] = {}
    for axis, item in _map(node).items():
        if axis not in axes:
            place = item.key or item.origin
            raise place.error(f"unknown axis '{axis}'", allowed=listed(axes), suggestion=nearest(axis, axes))
        wanted[axis] = item.plain()
        if not any(point[axis] == wanted[axis] for point in points):
            values = dict.fromkeys(str(point[axis]) for point in points)
            raise item.place.error(f"no point has {axis} = {item.value}", allowed=listed(values))
    if node is not None and not any(matches(point, wanted) for point in points):
        raise node.place.error("no point has all of these values")
    return wanted


def matches(point: Point, wanted: Point) -> bool:
    """True if a point has the wanted values."""
    return all(point[axis] == value for axis, value in wanted.items())


def _map(node: Node | None) -> dict[str, Node]:
    return {} if node is None else node.map()


def _refuse_unknown(node: Node, known: list[str]) -> None:
    for key, item in node.map().items():
        if key not in known:
            place = item.key or item.origin
            raise place.error(f"unknown key '{key}'", allowed=listed(known), suggestion=nearest(key, known))
