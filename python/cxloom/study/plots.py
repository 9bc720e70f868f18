"""The pictures that a study asks for, by the names of the columns of its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxloom.spec.names import listed, nearest
from cxloom.spec.node import Node
from cxloom.study.points import Point, refuse_unknown, selection

_PLOT_KEYS = ("x", "y", "lines")
_STACK_KEYS = ("x", "stack", "panels")
_SPLIT_KEYS = ("lines", "panels")
"""Keys that may be left out."""
_COMMON_KEYS = ("title", "at")


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture of a table, by the names of its columns."""

    x: str
    y: str
    lines: str | None
    """A line for each value of this column; one line of all points if None."""
    title: str = ""
    """The title of the study, if it is empty."""
    at: Point | None = None
    """The values of some columns: only rows that have them are drawn."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A picture of a table, by the names of its columns: bars over `x`, piled up from several columns."""

    x: str
    stack: tuple[str, ...]
    panels: str | None
    """A panel for each value of this column; one panel of all points if None."""
    title: str = ""
    at: Point | None = None


def plot(node: Node, columns: Mapping[str, str], points: list[dict[str, Any]]) -> Plot | Stack:
    """An entry of plots. Raises SpecError for a column that there is not, or a key that is missing."""
    keys = _STACK_KEYS if node.get("stack") is not None else _PLOT_KEYS
    refuse_unknown(node, [*keys, *_COMMON_KEYS])
    chosen: dict[str, list[str]] = {}
    for key in keys:
        column = node.get(key)
        if column is not None:
            chosen[key] = [_column(each, columns) for each in (column.list() if key == "stack" else [column])]
        elif key not in _SPLIT_KEYS:
            raise node.place.error(f"'{key}' of the plot is missing", allowed=listed(keys))
    title = node.get("title")
    where = node.get("at")
    text = "" if title is None else title.text()
    at = None if where is None else _rows(where, columns, points)
    if keys is _STACK_KEYS:
        return Stack(chosen["x"][0], tuple(chosen["stack"]), chosen.get("panels", [None])[0], text, at)
    return Plot(chosen["x"][0], chosen["y"][0], chosen.get("lines", [None])[0], text, at)


def _rows(node: Node, columns: Mapping[str, str], points: list[dict[str, Any]]) -> Point:
    entries = node.map()
    for name, item in entries.items():
        _column(Node(name, item.key or item.origin), columns)
    selection(node.with_entries({columns[name]: item for name, item in entries.items()}), points)
    return {name: item.plain() for name, item in entries.items()}


def _column(node: Node, columns: Mapping[str, str]) -> str:
    name = node.text()
    if name not in columns:
        known = list(columns)
        raise node.place.error(
            f"the table has no column '{name}'", allowed=listed(known), suggestion=nearest(name, known)
        )
    return name
