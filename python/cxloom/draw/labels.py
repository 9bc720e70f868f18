"""Where names are written: beside their nodes, as many as there is room for, none over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cxloom.draw.graph import Graph, Role
from cxloom.draw.routes import Way

WIDTH = 0.56
"""Width of a letter / height of the letters: a little more than the mean of sans-serif letters."""
_LINE = 1.15
_FIRST = {Role.FABRIC: 1, Role.REQUESTER: 0, Role.MEMORY: 0, Role.OTHER: 2}
_MOST_COMPARED = 3_000_000


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
    graph: Graph, places: np.ndarray, ways: Sequence[Way], height: float, radii: np.ndarray
) -> list[Label]:
    """Labels of so high letters that overlap neither nodes, which have these radii, nor each other.

    A name goes below, above or beside its node, where few links are. Those that find no room are left out; requesters
    and memories are served first, and of many every n-th before those between.
    """
    if not len(places):
        return []
    lines = np.concatenate([way.samples(12) for way in ways]) if ways else np.zeros((0, 2))
    if len(lines) * len(places) > _MOST_COMPARED:
        lines = lines[:0]
    taken = np.column_stack([places - radii[:, None], places + radii[:, None]])
    found: list[Label] = []
    boxes: list[np.ndarray] = []
    for index in _order(graph):
        text = graph.nodes[index].label
        size = np.array([WIDTH * height * len(text), _LINE * height])
        best: tuple[int, np.ndarray] | None = None
        for middle in _candidates(places[index], size, float(radii[index])):
            box = np.concatenate([middle - size / 2, middle + size / 2])
            if _hits(box, taken) or (boxes and _hits(box, np.array(boxes))):
                continue
            inside = int(((lines > box[:2]) & (lines < box[2:])).all(axis=1).sum())
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


def _candidates(place: np.ndarray, size: np.ndarray, radius: float) -> list[np.ndarray]:
    down, aside = radius + 0.06 + size[1] / 2, radius + 0.08 + size[0] / 2
    corner = 0.75 * radius
    offsets = [(0, down), (0, -down), (aside, 0), (-aside, 0)]
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
