"""Where names are written: beside their nodes, as many as there is room for, none over another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cxloom.draw.graph import Graph, Role
from cxloom.draw.routes import Way

_NARROW, _WIDE = frozenset("fijlrt[](){}|!.,:;'- "), frozenset("mwMW>@%")
_WIDTHS = (0.41, 0.64, 0.78, 0.98)
"""Widths of narrow, other, upper-case and wide letters / their height, in a wide sans-serif such as DejaVu Sans."""
_LINE = 1.15
_FIRST = {Role.FABRIC: 1, Role.REQUESTER: 0, Role.MEMORY: 0, Role.OTHER: 2}
_MOST_COMPARED = 3_000_000
_ROW = 4
"""Devices in a row of more have their names in two rows, if they need them."""


@dataclass(frozen=True, slots=True)
class Label:
    """A name beside a node; the middle of the text is at `x` and `y`."""

    node: int
    text: str
    x: float
    y: float
    width: float
    height: float


def labels(
    graph: Graph,
    places: np.ndarray,
    ways: Sequence[Way],
    height: float,
    radii: np.ndarray,
    beside: bool = False,
) -> list[Label]:
    """Labels of so high letters that overlap neither nodes, which have these radii, nor each other.

    A name goes below, above or beside its node, or with `beside` rather there, where few links are. Those that find no
    room are left out; requesters and memories are served first, and of many every n-th before those between.
    """
    if not len(places):
        return []
    lines = np.concatenate([_segments(way) for way in ways]) if ways else np.zeros((0, 2, 2))
    if len(lines) * len(places) > _MOST_COMPARED:
        lines = lines[:0]
    taken = np.column_stack([places - radii[:, None], places + radii[:, None]])
    in_rows = Counter(round(float(y), 6) for y in places[:, 1])
    found: list[Label] = []
    boxes: list[np.ndarray] = []
    for index in _order(graph):
        text = graph.nodes[index].label
        size = np.array([width_of(text) * height, _LINE * height])
        in_row = in_rows[round(float(places[index][1]), 6)] > _ROW
        rather = None if beside else graph.nodes[index].role is not Role.FABRIC and in_row
        best: tuple[int, np.ndarray] | None = None
        for middle in _candidates(places[index], size, float(radii[index]), rather):
            box = np.concatenate([middle - size / 2, middle + size / 2])
            if _hits(box, taken) or (boxes and _hits(box, np.array(boxes))):
                continue
            inside = _crossed(box, lines)
            if best is None or inside < best[0]:
                best = inside, box
            if not inside:
                break
        if best is not None:
            boxes.append(best[1])
            x, y = (best[1][:2] + best[1][2:]) / 2
            found.append(Label(index, text, float(x), float(y), float(size[0]), float(size[1])))
    return found


def _order(graph: Graph) -> list[int]:
    """The nodes by role, and of each role every 2^n-th first, so that those left out are between others."""
    order: list[int] = []
    for first in range(3):
        of_role = [i for i, node in enumerate(graph.nodes) if _FIRST[node.role] == first]
        order += sorted(of_role, key=lambda i: -_steps(of_role.index(i)) if len(of_role) < 2000 else 0)
    return order


def _steps(index: int) -> int:
    """How often a number can be halved."""
    return 64 if index == 0 else (index & -index).bit_length()


def width_of(text: str) -> float:
    """About the width of a text, in heights of its letters."""
    narrow, other, upper, wide = _WIDTHS
    return sum(
        narrow if each in _NARROW else wide if each in _WIDE else upper if each.isupper() else other
        for each in text
    )


def _segments(way: Way) -> np.ndarray:
    """The lines that a way is made of, or nearly: their two ends."""
    points = way.samples(12) if way.is_curve else way.points
    return np.stack([points[:-1], points[1:]], axis=1)


def _crossed(box: np.ndarray, lines: np.ndarray) -> int:
    """How many lines go through a box: clipped by its sides, something is left of them."""
    start, step = lines[:, 0], lines[:, 1] - lines[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = np.stack([(box[:2] - start) / step, (box[2:] - start) / step])
    flat = step == 0  # along a side: inside or beside it all the way
    within = (start > box[:2]) & (start < box[2:])
    enter = np.where(flat, np.where(within, -np.inf, np.inf), sides.min(axis=0)).max(axis=1)
    leave = np.where(flat, np.where(within, np.inf, -np.inf), sides.max(axis=0)).min(axis=1)
    return int((np.maximum(enter, 0) < np.minimum(leave, 1)).sum())


def _candidates(
    place: np.ndarray, size: np.ndarray, radius: float, in_two_rows: bool | None
) -> list[np.ndarray]:
    """Middles of a label: below, perhaps in two rows, above, beside, at corners; None: beside first."""
    down, aside = radius + 0.06 + size[1] / 2, radius + 0.08 + size[0] / 2
    corner = 0.75 * radius
    offsets = [(0, down), (0, -down), (aside, 0), (-aside, 0)]
    if in_two_rows is None:
        offsets = offsets[2:] + offsets[:2]
    elif in_two_rows:
        offsets = [(0, down), (0, down + size[1]), (0, -down), (0, -down - size[1]), *offsets[2:]]
    offsets += [
        (across * (corner + size[0] / 2), up * (corner + size[1] / 2)) for up in (1, -1) for across in (1, -1)
    ]
    return [place + np.array(offset) for offset in offsets]


def _hits(box: np.ndarray, others: np.ndarray) -> bool:
    """Whether a box overlaps any of several."""
    apart = (
        (box[2] <= others[:, 0])
        | (box[0] >= others[:, 2])
        | (box[3] <= others[:, 1])
        | (box[1] >= others[:, 3])
    )
    return not bool(apart.all())
