"""Where the nodes of each shape go. The unit is the distance of neighbours; x grows to the right, y downwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cxloom.draw.shapes import Adjacency, Circle, Cube, Grid, Groups, Row, distances

Point = tuple[float, float]
Places = dict[int, Point]

SIZE = 0.2
"""Radius of a node."""
STEP = 1.2
"""The distance from a switch to what hangs on it."""
APART = 0.8
"""The distance between two devices of one switch."""
GAP = 0.6
"""The further distance between devices of two switches."""
_LONGEST_ROW = 40


@dataclass(frozen=True, slots=True)
class Part:
    """A connected part of a system: nodes with a shape of their own, and the devices that hang on one of them each."""

    core: Sequence[int]
    adjacency: Adjacency
    """The neighbours of each node of the core, by places in `core`."""
    above: Sequence[Sequence[int]]
    """The requesters that hang on each node of the core."""
    below: Sequence[Sequence[int]]
    """The other devices that hang on each."""
    ways: dict[tuple[int, int], list[Point]] = field(default_factory=dict)
    """Where a link goes that is not straight, by its ends."""

    def hanging(self, node: int) -> list[int]:
        """All that hangs on a node of the core."""
        return [*self.above[node], *self.below[node]]


def row(part: Part, shape: Row) -> Places:
    """A line with requesters above and memories below; a long one goes on in the next row, back and forth."""
    most = max(max(len(part.above[i]), len(part.below[i])) for i in shape.order)
    step = step_of(most)
    widths = [max(1.3, APART * max(len(part.above[i]), len(part.below[i])) + 0.5 * GAP) for i in shape.order]
    total = sum(widths)
    limit = total + 1
    if total > _LONGEST_ROW:
        limit = max(_LONGEST_ROW, math.sqrt(total * 3 * (2 * step + 1.5)))
    places: Places = {}
    x, y, way = 0.0, 0.0, 1
    for node, width in zip(shape.order, widths, strict=True):
        if (x + width if way > 0 else limit - x + width) > limit and x not in (0.0, limit):
            x, y, way = (limit, y + 2 * step + 1.5, -1) if way > 0 else (0.0, y + 2 * step + 1.5, 1)
        here = x + way * width / 2
        places[part.core[node]] = (here, y)
        places |= side_by_side(part.above[node], here, y - step)
        places |= side_by_side(part.below[node], here, y + step)
        x += way * width
    return places


def circle(part: Part, shape: Circle) -> Places:
    """A circle with the devices outside; larger where all are linked to all, so that links keep off nodes."""
    hanging = [part.hanging(node) for node in shape.order]
    step = step_of(max(map(len, hanging)))
    widths = [max(1.0, APART * len(kids) + 0.3) for kids in hanging]
    radius = max(sum(widths) / (2 * math.pi), 1.0)
    count = len(shape.order)
    if count > 3 and len(part.adjacency[0]) > 2:
        radius = max(radius, min(0.35 / (1 - math.cos(2 * math.pi / count)), 2 * radius))
    places: Places = {}
    turn = -math.pi / 2 - math.pi * widths[0] / sum(widths)
    for node, kids, width in zip(shape.order, hanging, widths, strict=True):
        share = 2 * math.pi * width / sum(widths)
        angle = turn + share / 2
        places[part.core[node]] = polar((0, 0), radius, angle)
        places |= _fan(kids, (0, 0), radius + step, angle)
        turn += share
    return places


def grid(part: Part, shape: Grid) -> Places:
    """A grid; its depth goes up to the right. Links around its ends run beside their rows."""
    points = shape.points
    extents = [max(point[axis] for point in points) + 1 for axis in range(3)]
    hangs = any(map(part.hanging, range(len(points))))
    cell = extents[2] + 1 if extents[2] > 1 else 1.8 if hangs else 1.3
    most = max(max(map(len, part.above)), max(map(len, part.below)), 1)
    scale = 1.0 if most == 1 else 0.8 * most + 0.4
    aside = 0.55 if extents[2] == 1 else 0.5
    places: Places = {}
    for node, (along, across, deep) in enumerate(points):
        here = (scale * (along * cell + deep), scale * (across * cell - deep))
        places[part.core[node]] = here
        places |= _diagonal(part.above[node], here, -aside * scale)
        places |= _diagonal(part.below[node], here, aside * scale)
    for node, near in enumerate(part.adjacency):
        for other in near:
            for axis, (out, beside) in enumerate(_AROUND):
                if points[other][axis] - points[node][axis] == extents[axis] - 1 > 1:
                    ends = part.core[node], part.core[other]
                    part.ways[ends] = _around(places[ends[0]], places[ends[1]], out, beside, scale)
    return places


_AROUND = (((0.4, 0.0), (0.0, -0.25)), ((0.0, 0.4), (-0.25, 0.0)), ((0.25, -0.25), (0.25, 0.25)))
"""How far a link around the end of a row (along, across, deep) goes out, and how far beside the row it is."""


def _around(first: Point, last: Point, out: Point, aside: Point, scale: float) -> list[Point]:
    """The way around the ends of a row: out at one end, along the row, in at the other."""
    (ox, oy), (ax, ay) = (scale * out[0], scale * out[1]), (scale * aside[0], scale * aside[1])
    (x, y), (u, v) = first, last
    return [
        first,
        (x - ox, y - oy),
        (x - ox + ax, y - oy + ay),
        (u + ox + ax, v + oy + ay),
        (u + ox, v + oy),
        last,
    ]


def cube(part: Part, shape: Cube) -> Places:
    """Cubes of three dimensions in oblique view, twice as many side by side for every further dimension.

    A link between cubes rises or leans a little, so that it passes beside the nodes of its row.
    """
    vectors = [(3.0, 0.0), (0.0, 3.0), (1.0, -1.0)]
    for further in range(shape.dimensions - 3):
        length = 6.5 * 2 ** (further // 2) + further // 2
        vectors.append((length, 0.6) if further % 2 == 0 else (0.6, length))
    places: Places = {}
    for node, bits in enumerate(shape.bits):
        chosen = [vector for bit, vector in enumerate(vectors) if bits >> bit & 1]
        here = (sum(x for x, _ in chosen), sum(y for _, y in chosen))
        places[part.core[node]] = here
        places |= _diagonal(part.above[node], here, -0.55)
        places |= _diagonal(part.below[node], here, 0.55)
    return places


def groups(part: Part, shape: Groups) -> Places:
    """The groups in a circle, each a circle of its own, with its devices around it."""
    size = len(shape.groups[0])
    most = max(len(part.hanging(node)) for group in shape.groups for node in group)
    step = step_of(most)
    width = max(1.2, APART * most + 0.2)
    inner = max(0.9, size * width / (2 * math.pi) - (step if most > 1 else 0)) if size > 2 else 0.8
    outer = inner + step + 1
    count = len(shape.groups)
    radius = outer * 1.05 / math.sin(math.pi / count)
    places: Places = {}
    for number, group in enumerate(shape.groups):
        turn = -math.pi / 2 + 2 * math.pi * number / count
        middle = polar((0, 0), radius, turn)
        for index, node in enumerate(group):
            angle = turn + math.pi + 2 * math.pi * (index + 0.5) / size
            places[part.core[node]] = polar(middle, inner, angle)
            places |= _fan(part.hanging(node), middle, inner + step, angle)
    return places


def side_by_side(nodes: Sequence[int], x: float, y: float) -> Places:
    return {node: (x + APART * (i - (len(nodes) - 1) / 2), y) for i, node in enumerate(nodes)}


def _diagonal(nodes: Sequence[int], here: Point, away: float) -> Places:
    """Nodes beside another on the diagonal from the upper left to the lower right, one after the other across it."""
    found: Places = {}
    for index, node in enumerate(nodes):
        aside = 0.55 * (index - (len(nodes) - 1) / 2)
        found[node] = (here[0] + away + aside, here[1] + away - aside)
    return found


def _fan(nodes: Sequence[int], middle: Point, radius: float, angle: float) -> Places:
    """Nodes on an arc around a middle."""
    return {
        node: polar(middle, radius, angle + (i - (len(nodes) - 1) / 2) * APART / radius)
        for i, node in enumerate(nodes)
    }


def polar(middle: Point, radius: float, angle: float) -> Point:
    return (middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle))


def step_of(count: int) -> float:
    """How far from a switch so many devices hang side by side, so that the outermost link misses the others."""
    return max(STEP, 0.36 * APART * count / 2)


# --- no shape --------------------------------------------------------------------------------------------------------


def strained(part: Part) -> Places:
    """Distances in the picture as near as can be to those in links, by majorization of their stress.

    E. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", Graph Drawing 2004; it starts from classical
    scaling, so that there is nothing random in it.
    """
    nodes = list(part.core)
    adjacency = [list(near) for near in part.adjacency]
    for node in range(len(part.core)):
        for kid in part.hanging(node):
            adjacency[node].append(len(nodes))
            adjacency.append([node])
            nodes.append(kid)
    wanted = np.array([distances(adjacency, [i]) for i in range(len(nodes))], dtype=float)
    at = _classical(wanted)
    off = ~np.eye(len(nodes), dtype=bool)
    weights = np.zeros_like(wanted)
    weights[off] = wanted[off] ** -2.0
    pull = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(pull)
    for _ in range(60):
        apart = np.linalg.norm(at[:, None] - at[None, :], axis=2)
        ratio = np.zeros_like(wanted)
        ratio[off] = weights[off] * wanted[off] / np.maximum(apart[off], 1e-9)
        at = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ at)
    apart = np.linalg.norm(at[:, None] - at[None, :], axis=2)[off]
    at *= max(1.4, 0.8 / max(float(apart.min(initial=1.0)), 0.2))
    at = _pushed_apart(at, 0.8)
    return {node: (float(x), float(y)) for node, (x, y) in zip(nodes, at, strict=True)}


def _classical(wanted: np.ndarray) -> np.ndarray:
    """Coordinates whose distances are nearly those wanted (classical scaling), nodes of one place a little apart."""
    squared = wanted**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    axes = vectors[:, -1:-3:-1] * np.sqrt(np.maximum(values[-1:-3:-1], 1e-12))
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), range(axes.shape[1])] < 0, -1, 1)
    at = np.zeros((len(wanted), 2))
    at[:, : axes.shape[1]] = axes
    turn = 2.399963 * np.arange(len(wanted))  # the golden angle: no two of a few thousand agree
    return at + 0.05 * np.column_stack([np.cos(turn), np.sin(turn)])


def _pushed_apart(at: np.ndarray, least: float) -> np.ndarray:
    """The places, with nodes that are too near each other moved apart."""
    for _ in range(200):
        vectors = at[:, None] - at[None, :]
        apart = np.linalg.norm(vectors, axis=2)
        np.fill_diagonal(apart, np.inf)
        short = np.maximum(least - apart, 0)
        if not short.any():
            break
        moved: np.ndarray = (vectors / np.maximum(apart, 1e-6)[:, :, None] * short[:, :, None]).sum(axis=1)
        at = at + 0.55 * moved
    return at
