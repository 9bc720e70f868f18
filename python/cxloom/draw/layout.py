"""Where everything goes: each connected part of a system by its shape, and the parts side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cxloom.draw import layout_levels as levels_of
from cxloom.draw import layout_shapes as placing
from cxloom.draw import shapes
from cxloom.draw.graph import Graph, Role
from cxloom.draw.layout_shapes import SIZE, Part, Places
from cxloom.draw.routes import Way, room_of, ways

_LARGEST_STRAINED = 700
"""More nodes without a shape are put in rows: the time for anything better grows with the cube."""
_WITHIN = 0.2
"""Rows by rank are legible up to this share of links within a row."""
_BETWEEN_PARTS = 2.0
_SCALES = (1.0, 1.25, 1.6, 2.0)
"""How far a picture is stretched, until there is room for links between the nodes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of the nodes of a graph, by their order, and the way of each edge. Nodes are `places.SIZE` large."""

    places: np.ndarray
    ways: Sequence[Way]


def laid_out(graph: Graph) -> Layout:
    """Places for the nodes and ways for the edges. It depends on the graph and its order alone."""
    neighbours = graph.neighbours()
    found: Places = {}
    given: dict[tuple[int, int], Way] = {}
    upright: set[tuple[int, int]] = set()
    corner, row_height, row_width = [0.0, 0.0], 0.0, 0.0
    parts = shapes.components(neighbours)
    widest = 0.0
    laid: list[tuple[Part, Places, bool]] = []
    for nodes in parts:
        part = _part(graph, nodes, neighbours)
        placed, in_rows = _placed(graph, part)
        laid.append((part, placed, in_rows))
        widest = max(widest, _extent(placed)[0])
    row_width = max(
        widest, sum(_extent(placed)[0] + _BETWEEN_PARTS for _, placed, _ in laid) / max(1, len(laid)) ** 0.5
    )
    for part, placed, in_rows in laid:
        width, height = _extent(placed)
        if corner[0] and corner[0] + width > row_width:
            corner, row_height = [0.0, corner[1] + row_height + _BETWEEN_PARTS], 0.0
        shift = np.array(corner) - np.array(
            [min(x for x, _ in placed.values()), min(y for _, y in placed.values())]
        )
        found |= {node: (x + shift[0], y + shift[1]) for node, (x, y) in placed.items()}
        for (a, b), points in part.ways.items():
            given[a, b] = Way(np.array(points) + shift)
            given[b, a] = given[a, b].reversed()
        if in_rows:
            core = set(part.core)
            upright |= {(edge.a, edge.b) for edge in graph.edges if edge.a in core and edge.b in core}
        corner[0] += width + _BETWEEN_PARTS
        row_height = max(row_height, height)
    at = np.array([found[node] for node in range(len(graph.nodes))]).reshape(-1, 2)
    ends = [(edge.a, edge.b) for edge in graph.edges]
    for scale in _SCALES:
        stretched = {pair: way.moved(scale, np.zeros(2)) for pair, way in given.items()}
        drawn = ways(at * scale, ends, stretched, upright)
        bent = [(way, pair) for way, pair in zip(drawn, ends, strict=True) if way.is_curve]
        if all(room_of(way, at * scale, pair) >= SIZE for way, pair in bent):
            break
    return Layout(at * scale, drawn)


def _extent(placed: Places) -> tuple[float, float]:
    xs, ys = [x for x, _ in placed.values()], [y for _, y in placed.values()]
    return max(xs) - min(xs), max(ys) - min(ys)


def _part(graph: Graph, nodes: Sequence[int], neighbours: Sequence[Sequence[int]]) -> Part:
    """A connected part, its core apart from what hangs on it."""
    core = [i for i in nodes if len(neighbours[i]) > 1 or graph.nodes[i].role is Role.FABRIC] or list(
        nodes[:1]
    )
    local = {node: index for index, node in enumerate(core)}
    above: list[list[int]] = [[] for _ in core]
    below: list[list[int]] = [[] for _ in core]
    for node in nodes:
        if node not in local:
            side = above if graph.nodes[node].role is Role.REQUESTER else below
            side[local[neighbours[node][0]]].append(node)
    return Part(core, [[local[j] for j in neighbours[i] if j in local] for i in core], above, below)


def _placed(graph: Graph, part: Part) -> tuple[Places, bool]:
    """The places of a part, and whether links go between its rows."""
    count = len(part.core)
    bearing = [bool(part.hanging(node)) for node in range(count)]
    shape = shapes.recognised(part.adjacency, bearing)
    match shape:
        case shapes.Row():
            return placing.row(part, shape), False
        case shapes.Circle():
            return placing.circle(part, shape), False
        case shapes.Grid():
            return placing.grid(part, shape), False
        case shapes.Cube():
            return placing.cube(part, shape), False
        case shapes.Groups():
            return placing.groups(part, shape), False
        case shapes.Levels(levels):
            if sum(map(len, part.adjacency)) > 2 * (count - 1):
                return levels_of.rows(part, levels), True
            placed = levels_of.tree(part, levels)
            return (levels_of.radial(part, levels), False) if placed is None else (placed, True)
    ranks = _ranks(graph, part)
    within = sum(ranks[i] == ranks[j] for i, near in enumerate(part.adjacency) for j in near)
    links = sum(map(len, part.adjacency))
    if within <= _WITHIN * links or count > _LARGEST_STRAINED:
        return levels_of.ranked(part, ranks), True
    return placing.strained(part), False


def _ranks(graph: Graph, part: Part) -> list[int]:
    """How far each node is from the nearest requester, counted from the nearest of all; memories come last."""
    roles = [graph.nodes[node].role for node in part.core]
    starts = [i for i, role in enumerate(roles) if role is Role.REQUESTER or part.above[i]]
    found = shapes.distances(part.adjacency, starts or [0])
    last = (
        max((rank for rank, role in zip(found, roles, strict=True) if role is not Role.MEMORY), default=0) + 1
    )
    return [last if role is Role.MEMORY else rank for rank, role in zip(found, roles, strict=True)]
