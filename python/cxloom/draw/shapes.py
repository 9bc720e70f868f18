"""The shape of a graph of switches: a row, a circle, a grid, levels, groups, a hypercube, or nothing of the kind.

It is found from the links alone, so that a topology that is written by hand is drawn like one that is generated. The
order in which the devices are declared decides where links leave a choice. A shape is taken only if every link is one
that it must have, and none is missing.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Adjacency = Sequence[Sequence[int]]
"""The neighbours of each node, by their numbers."""


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes in a line, in this order."""

    order: Sequence[int]


@dataclass(frozen=True, slots=True)
class Circle:
    """Nodes in a circle, in this order; a ring, or all linked to all."""

    order: Sequence[int]


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes at the points of a grid of two or three dimensions."""

    points: Sequence[tuple[int, int, int]]
    """The place of each node: along, across, deep."""


@dataclass(frozen=True, slots=True)
class Cube:
    """The nodes of a hypercube, each with its bits."""

    bits: Sequence[int]
    dimensions: int


@dataclass(frozen=True, slots=True)
class Levels:
    """Nodes in rows, level 0 at the bottom; every link joins neighbouring levels."""

    levels: Sequence[int]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of nodes that are all linked to each other, as in a dragonfly."""

    groups: Sequence[Sequence[int]]


Shape = Row | Circle | Grid | Cube | Levels | Groups


def recognised(adjacency: Adjacency, bearing: Sequence[bool]) -> Shape | None:
    """The shape of a connected graph, None if it has none; `bearing` says which nodes have devices."""
    count = len(adjacency)
    links = sum(map(len, adjacency)) // 2
    degrees = Counter(map(len, adjacency))
    if links == count - 1:
        if max(degrees) > 2:
            return Levels(_from_the_middle(adjacency))
        order = _walk(adjacency, next((i for i, near in enumerate(adjacency) if len(near) < 2)))
        bare_top = count == 3 and not bearing[order[1]] and bearing[order[0]] and bearing[order[2]]
        return Levels(_above(adjacency, bearing)) if bare_top else Row(order)
    levels = _above(adjacency, bearing)
    if all(abs(levels[i] - levels[j]) == 1 for i, near in enumerate(adjacency) for j in near):
        return Levels(levels)
    if degrees.keys() == {2}:
        return Circle(_walk(adjacency, 0))
    if links == count * (count - 1) // 2:
        return Circle(range(count))
    return _grid(adjacency, links) or _cube(adjacency) or _groups(adjacency)


def distances(adjacency: Adjacency, starts: Iterable[int]) -> list[int]:
    """Links from the nearest of `starts` to each node; -1 where no way leads."""
    found = [-1] * len(adjacency)
    queue = deque(starts)
    for start in queue:
        found[start] = 0
    while queue:
        here = queue.popleft()
        for near in adjacency[here]:
            if found[near] < 0:
                found[near] = found[here] + 1
                queue.append(near)
    return found


def _walk(adjacency: Adjacency, start: int) -> list[int]:
    """The nodes of a path or a circle, from one on."""
    order, seen = [start], {start}
    while (step := next((near for near in adjacency[order[-1]] if near not in seen), None)) is not None:
        order.append(step)
        seen.add(step)
    return order


def _above(adjacency: Adjacency, bearing: Sequence[bool]) -> list[int]:
    """How far each node is above those with devices."""
    return distances(adjacency, [i for i, bears in enumerate(bearing) if bears] or [0])


def _from_the_middle(adjacency: Adjacency) -> list[int]:
    """The levels of a tree with its middle on top: the middle of its longest path, the first of two."""
    end = _farthest(distances(adjacency, [0]))
    there = distances(adjacency, [end])
    other = _farthest(there)
    back = distances(adjacency, [other])
    longest = there[other]
    middle = next(
        i for i in range(len(adjacency)) if there[i] + back[i] == longest and there[i] == longest // 2
    )
    depths = distances(adjacency, [middle])
    return [max(depths) - depth for depth in depths]


def _farthest(found: Sequence[int]) -> int:
    return max(range(len(found)), key=lambda node: found[node])


# --- grids -----------------------------------------------------------------------------------------------------------


def _grid(adjacency: Adjacency, links: int) -> Grid | None:
    """A mesh or a torus, row by row as declared; a mesh also in any order."""
    edges = {(i, j) for i, near in enumerate(adjacency) for j in near if i < j}
    for extents in _extents(len(adjacency)):
        for closed in (False, True):
            if _grid_links(extents, closed) != links:
                continue
            points = list(itertools.product(*map(range, extents)))
            if _grid_edges(points, extents, closed) == edges:
                return Grid([_flat(point) for point in points])
    return _mesh_by_its_corners(adjacency, edges)


def _extents(count: int) -> Iterator[tuple[int, ...]]:
    """The sides of a grid of so many nodes: two dimensions, then three; nearly square ones first."""
    pairs = [(a, count // a) for a in range(2, count // 2 + 1) if count % a == 0]
    yield from sorted(pairs, key=lambda pair: abs(pair[0] - pair[1]))
    for a, rest in pairs:
        yield from ((a, b, rest // b) for b in range(2, rest // 2 + 1) if rest % b == 0)


def _grid_links(extents: Sequence[int], closed: bool) -> int:
    count = 1
    for extent in extents:
        count *= extent
    return sum(count // extent * (extent - (not closed or extent < 3)) for extent in extents)


def _grid_edges(
    points: Sequence[tuple[int, ...]], extents: Sequence[int], closed: bool
) -> set[tuple[int, int]]:
    number = {point: index for index, point in enumerate(points)}
    edges = set()
    for point, index in number.items():
        for axis, extent in enumerate(extents):
            further = point[axis] + 1
            if further == extent and not (closed and extent > 2):
                continue
            other = number[*point[:axis], further % extent, *point[axis + 1 :]]
            edges.add((min(index, other), max(index, other)))
    return edges


def _flat(point: Sequence[int]) -> tuple[int, int, int]:
    """A point of two or three dimensions, the first of which goes down: along, across, deep."""
    return (point[1], point[0], 0) if len(point) == 2 else (point[2], point[1], point[0])


def _mesh_by_its_corners(adjacency: Adjacency, edges: set[tuple[int, int]]) -> Grid | None:
    """Distances in a mesh are sums over its axes: a corner and those next to it along the edges say where a node is."""
    degree = min(map(len, adjacency))
    corners = [i for i, near in enumerate(adjacency) if len(near) == degree]
    if degree not in (2, 3) or len(corners) != 2**degree:
        return None
    first, *others = corners
    origin = distances(adjacency, [first])
    along = {corner: distances(adjacency, [corner]) for corner in others}
    for chosen in itertools.combinations(others, degree):
        lengths = [origin[corner] for corner in chosen]
        points = [
            tuple(
                (origin[i] - along[corner][i] + length) // 2
                for corner, length in zip(chosen, lengths, strict=True)
            )
            for i in range(len(adjacency))
        ]
        extents = [length + 1 for length in lengths]
        fill = set(points) == set(itertools.product(*map(range, extents)))
        if fill and _grid_edges(points, extents, False) == edges:
            return Grid([_flat(point) for point in points])
    return None


# --- hypercubes and groups -------------------------------------------------------------------------------------------


def _cube(adjacency: Adjacency) -> Cube | None:
    """A hypercube: node 0 is all zeros, its neighbours have a bit each, farther ones all bits that lead there."""
    dimensions = len(adjacency[0])
    if len(adjacency) != 2**dimensions:
        return None
    away = distances(adjacency, [0])
    bits = [0] * len(adjacency)
    for bit, near in enumerate(sorted(adjacency[0])):
        bits[near] = 1 << bit
    for node in sorted(range(len(adjacency)), key=lambda node: away[node]):
        if away[node] > 1:
            for near in adjacency[node]:
                if away[near] < away[node]:
                    bits[node] |= bits[near]
    differ_by_one = all(
        (bits[i] ^ bits[j]).bit_count() == 1 for i, near in enumerate(adjacency) for j in near
    )
    return Cube(bits, dimensions) if differ_by_one and len(set(bits)) == len(bits) else None


def _groups(adjacency: Adjacency) -> Groups | None:
    """Groups of one size, all linked within: two of a group share all others of it, two of different groups few."""
    near = [set(neighbours) for neighbours in adjacency]
    for shared in range(1, max(map(len, near))):
        inside = [
            [j for j in neighbours if len(near[i] & near[j]) >= shared]
            for i, neighbours in enumerate(adjacency)
        ]
        found = components(inside)
        sizes = set(map(len, found))
        if len(found) > 1 and len(sizes) == 1 and max(sizes) > 1:
            if all(len(near[i] & set(group)) == len(group) - 1 for group in found for i in group):
                return Groups(found)
    return None


def components(adjacency: Adjacency) -> list[list[int]]:
    """The connected parts of a graph, each in the order of its nodes."""
    parts, seen = [], [False] * len(adjacency)
    for start in range(len(adjacency)):
        if seen[start]:
            continue
        reached = [i for i, away in enumerate(distances(adjacency, [start])) if away >= 0]
        for node in reached:
            seen[node] = True
        parts.append(reached)
    return parts
