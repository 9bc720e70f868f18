"""Weights that fit: shares have room in their nodes, but rounded to pages of a round some may not.

What has no room in its node spills over, and which object that meets depends on the order of their pages: it may be the
one with the most accesses. So the objects with the fewest accesses for their bytes leave a node that is too full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cxloom.advising.objects import PlacedObject

MOST = 100
"""The most pages of a round of weights (own choice; Linux takes weights up to 255)."""
ROUNDS = 4
"""Rounds of weights that an object has at least (own choice)."""


def fitted(
    objects: Sequence[PlacedObject],
    weights: Sequence[Mapping[str, int]],
    rooms: Mapping[str, int],
    near: Mapping[str, Sequence[str]],
) -> dict[int, dict[str, int]]:
    """Other weights, by the number of the object, with which no node has more than its room.

    Where they are too coarse for that, something still spills over: the room that is left, in all, may be less than a
    page of a round.

    Args:
        weights: of each object, pages of a round by node.
        rooms: bytes of each node.
        near: the nodes of each requester, the nearest first.
    """
    now = [dict(each) for each in weights]
    order = sorted(range(len(objects)), key=lambda index: objects[index].total / max(1, objects[index].bytes))
    room = {
        name: size - sum(_bytes(each, mine, name) for each, mine in zip(objects, now, strict=True))
        for name, size in rooms.items()
    }
    for full in rooms:
        for index in order:
            each, mine = objects[index], now[index]
            if room[full] >= 0:
                break
            others = {name: mine[name] for name in mine if name != full}
            if not others:
                others = dict.fromkeys([n for n in near[each.requester] if n != full and room[n] > 0][:1], 1)
            if full not in mine or not others:
                continue
            most = _bytes(each, mine, full) + room[full]
            less = _with_less(each, full, others, max(0, most))
            after = {name: room[name] + _bytes(each, mine, name) - _bytes(each, less, name) for name in room}
            if _spilled(after) < _spilled(room):
                room, now[index] = after, less
    return {index: mine for index, mine in enumerate(now) if mine != weights[index]}


def _spilled(room: Mapping[str, int]) -> int:
    """Bytes that have no room in their nodes."""
    return sum(max(0, -left) for left in room.values())


def _bytes(each: PlacedObject, weights: Mapping[str, int], node: str) -> int:
    """Bytes of an object in a node at most, wherever in a round it begins."""
    whole, mine = sum(weights.values()), weights.get(node, 0)
    rounds, rest = divmod(each.pages, whole)
    return (rounds * mine + min(rest, mine)) * each.page


def _with_less(each: PlacedObject, full: str, others: Mapping[str, int], most: int) -> dict[str, int]:
    """The weights with the most bytes in a full node that are no more than `most`; the rest as in the `others`."""
    best, found = 0, dict(others)
    for whole in range(2, min(each.pages // ROUNDS, MOST) + 1):
        for count in range(whole - 1, 0, -1):
            weights = {full: count, **_split(whole - count, others)}
            taken = _bytes(each, weights, full)
            if taken <= most:
                if taken > best:
                    best, found = taken, weights
                break
    return found


def _split(count: int, others: Mapping[str, int]) -> dict[str, int]:
    """So many pages in the proportions of weights."""
    whole = sum(others.values())
    split: dict[str, int] = {}
    before = 0
    for name, weight in others.items():  # what is rounded away goes to the next
        before += weight
        split[name] = count * before // whole - sum(split.values())
    return {name: pages for name, pages in split.items() if pages}
