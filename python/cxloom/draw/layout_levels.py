"""Where the nodes of levels go: trees, rows of switches over each other, and rows by the distance from requesters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from cxloom.draw.layout_shapes import APART, GAP, STEP, Part, Places, polar, side_by_side, step_of
from cxloom.draw.shapes import Adjacency

_WIDEST_TREE = 60
_AS_NAMED = 2.0
"""Nodes stand in the order of their names if that takes at most so many times the crossings of the best order."""
_CLOSE = 24
"""So many switches in a row stand closer."""
_WIDE = 4.0
"""Nodes that are so far apart keep from the ends of what they are above."""
_HEIGHT = 0.42
"""The height of a picture of rows, as a share of its width."""


def tree(part: Part, levels: Sequence[int]) -> Places | None:
    """A tree with its top on top: every node above the middle of what hangs on it. None if it is too wide for that."""
    xs = _columns(part, levels)
    return None if _across(xs) > _WIDEST_TREE else _stretched(xs)


def radial(part: Part, levels: Sequence[int]) -> Places:
    """A tree around its top, a circle for each level."""
    xs = _columns(part, levels)
    first, across = min(x for x, _ in xs.values()), _across(xs) + 1
    highest, lowest = max(y for _, y in xs.values()), min(y for _, y in xs.values())
    ring = max(1.5, across / (2 * math.pi) / (highest - lowest))
    return {
        node: polar((0, 0), ring * (highest - level), 2 * math.pi * (x - first) / across)
        for node, (x, level) in xs.items()
    }


def _across(places: Places) -> float:
    return max(x for x, _ in places.values()) - min(x for x, _ in places.values())


def _columns(part: Part, levels: Sequence[int]) -> Places:
    """The place across, and the level, of each node of a tree."""
    top = max(range(len(levels)), key=lambda node: levels[node])
    children = [[j for j in part.adjacency[i] if levels[j] < levels[i]] for i in range(len(levels))]
    xs: Places = {}
    x, stack = 0.0, [top]
    while stack:  # the leaves, from left to right
        node = stack.pop()
        kids = part.hanging(node)
        for kid in kids:
            xs[kid] = (x, levels[node] - 1)
            x += APART
        if kids:
            x += GAP
        elif not children[node]:
            xs[part.core[node]] = (x, levels[node])
            x += 1
        stack += reversed(children[node])
    for node in sorted(range(len(levels)), key=lambda node: levels[node]):
        under = [xs[part.core[child]][0] for child in children[node]]
        under += [xs[kid][0] for kid in part.hanging(node)]
        if under:
            xs[part.core[node]] = ((min(under) + max(under)) / 2, levels[node])
    return xs


def rows(part: Part, levels: Sequence[int]) -> Places:
    """Levels as rows, the devices below the lowest one; in the order of their names, or with fewer crossings.

    Switches above the same ones stand evenly above them, as the pods of a fat tree and its top are drawn.
    """
    by_level: list[list[int]] = [[] for _ in range(max(levels) + 1)]
    for node, level in enumerate(levels):
        by_level[level].append(node)
    orders = [
        by_level,
        _sorted_by(part.adjacency, by_level, True),
        _sorted_by(part.adjacency, by_level, False),
    ]
    crossings = [_crossings(part.adjacency, order) for order in orders]
    least = crossings.index(min(crossings))
    order = orders[0 if crossings[0] <= _AS_NAMED * crossings[least] else least]
    xs = _lowest(part, order[0])
    across = _across(xs)
    for level, nodes in enumerate(order[1:], 1):
        below = set(order[level - 1])
        under = [[xs[part.core[near]][0] for near in part.adjacency[node] if near in below] for node in nodes]
        for node, at in zip(nodes, _above(under, across), strict=True):
            xs[part.core[node]] = (at, level)
    return _stretched(xs)


def _lowest(part: Part, nodes: Sequence[int]) -> Places:
    """The lowest switches and their devices, side by side; further apart where they have no switch above in common."""
    xs: Places = {}
    x = 0.0
    gap = GAP if len(nodes) < _CLOSE else 0.1
    for index, node in enumerate(nodes):
        kids = part.hanging(node)
        if index and set(part.adjacency[node]).isdisjoint(part.adjacency[nodes[index - 1]]):
            x += GAP
        width = max(1.0, APART * len(kids))
        xs[part.core[node]] = (x + width / 2, 0)
        for number, kid in enumerate(kids):
            xs[kid] = (x + width / 2 + APART * (number - (len(kids) - 1) / 2), -1)
        x += width + (0.1 if len(kids) < 2 else gap)
    return xs


def _above(under: Sequence[Sequence[float]], across: float) -> list[float]:
    """Places for nodes above others: evenly over groups that stand apart or over all, otherwise above the means."""
    spans = [(min(each), max(each)) for each in under]
    groups = [list(group) for _, group in itertools.groupby(range(len(spans)), key=spans.__getitem__)]
    ends = [spans[group[0]] for group in groups]
    if all(low > high for (_, high), (low, _) in itertools.pairwise(ends)):
        found = [at for group, end in zip(groups, ends, strict=True) for at in _even(len(group), *end)]
    elif max(low for low, _ in spans) < min(high for _, high in spans):
        found = _even(len(spans), min(low for low, _ in spans), max(high for _, high in spans))
    else:
        found = [sum(each) / len(each) for each in under]
    if all(after - before >= 1.0 for before, after in itertools.pairwise(found)):
        return found
    return _spread(found, max(1.0, 0.55 * across / len(under)))


def _even(count: int, low: float, high: float) -> list[float]:
    """Places over a span: at its ends, but for a wide one, where they keep towards its middle."""
    inset = (high - low) / (2 * count) if count == 1 or (high - low) / count > _WIDE else 0.0
    step = (high - low - 2 * inset) / max(1, count - 1)
    return [low + inset + step * index for index in range(count)]


def _stretched(xs: Places) -> Places:
    """Places whose y is a level, with levels so far apart that the picture is half as high as wide."""
    count = len({level for _, level in xs.values()})
    height = min(max(1.5, _HEIGHT * _across(xs) / max(1, count - 2)), 60.0)
    lowest = min(level for _, level in xs.values())

    def down(level: float) -> float:  # devices are near their switch
        return -(height * (level - lowest - 1) + STEP if level > lowest else 0.0)

    return {node: (x, down(level)) for node, (x, level) in xs.items()}


def _spread(wanted: Sequence[float], apart: float) -> list[float]:
    """The places nearest to those wanted, in the same order and so far apart (pooled adjacent violators)."""
    blocks: list[tuple[float, int]] = []  # mean of what is wanted less what comes before, and how many
    for index, at in enumerate(wanted):
        mean, count = at - index * apart, 1
        while blocks and blocks[-1][0] >= mean:
            before, more = blocks.pop()
            mean, count = (before * more + mean * count) / (more + count), more + count
        blocks.append((mean, count))
    level = [mean for mean, count in blocks for _ in range(count)]
    return [at + index * apart for index, at in enumerate(level)]


def _sorted_by(adjacency: Adjacency, by_level: Sequence[Sequence[int]], down: bool) -> list[list[int]]:
    """Each level by the middle of the neighbours in the level before, from the top down or from the bottom up."""
    order = [list(level) for level in by_level]
    steps = range(len(order) - 2, -1, -1) if down else range(1, len(order))
    for level in steps:
        place = {node: index for index, node in enumerate(order[level + 1 if down else level - 1])}

        def middle(node: int, place: dict[int, int] = place) -> float:
            near = [place[other] for other in adjacency[node] if other in place]
            return sum(near) / len(near) if near else 0.0

        order[level].sort(key=middle)
    return order


def _crossings(adjacency: Adjacency, order: Sequence[Sequence[int]]) -> int:
    """How often links between neighbouring levels cross."""
    crossings = 0
    for lower, upper in itertools.pairwise(order):
        place = {node: index for index, node in enumerate(upper)}
        ends = [sorted(place[near] for near in adjacency[node] if near in place) for node in lower]
        taken = np.zeros(len(upper), dtype=int)
        for near in ends:
            behind = np.cumsum(taken[::-1])[::-1]
            crossings += sum(int(behind[end + 1]) for end in near if end + 1 < len(upper))
            for end in near:
                taken[end] += 1
    return crossings


def ranked(part: Part, ranks: Sequence[int]) -> Places:
    """Rows by rank, rank 0 on top, devices above and below."""
    by_rank: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for node, rank in enumerate(ranks):
        by_rank[rank].append(node)
    order = min(
        (_sorted_by(part.adjacency, by_rank, down) for down in (False, True)),
        key=lambda order: _crossings(part.adjacency, order),
    )
    order = [level for level in order if level]
    step = step_of(max(max(len(part.above[i]), len(part.below[i])) for i in range(len(ranks))))
    height = 1.8 + step * (any(part.above) + any(part.below))
    widest = 0.0
    widths = [
        [max(1.4, APART * max(len(part.above[i]), len(part.below[i])) + 0.5) for i in nodes]
        for nodes in order
    ]
    widest = max(map(sum, widths))
    places: Places = {}
    for index, nodes in enumerate(order):
        slack = (widest - sum(widths[index])) / len(nodes)
        x, y = 0.0, index * max(height, 0.2 * widest)
        for node, width in zip(nodes, widths[index], strict=True):
            here = x + (width + slack) / 2
            places[part.core[node]] = (here, y)
            places |= side_by_side(part.above[node], here, y - step)
            places |= side_by_side(part.below[node], here, y + step)
            x += width + slack
    return places
