"""The links that an I/O engine's packets take to their target, as far as the links alone say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

Ends = tuple[str, str]
Links = Mapping[str, Ends]
"""The two devices of each link, by its name in a summary."""


def between(links: Links, passing: Collection[str], start: str, end: str) -> Links:
    """Links that some way without a turn back may take; `passing` is what passes on messages for others.

    There may be too many: links of a circle that hangs on the way are among them.
    """
    left = {
        name: ends
        for name, ends in links.items()
        if all(each in passing or each in (start, end) for each in ends)
    }
    while True:
        degree = Counter(each for ends in left.values() for each in ends)
        dead = [
            name
            for name, ends in left.items()
            if any(degree[each] == 1 and each not in (start, end) for each in ends)
        ]
        if not dead:
            return left
        for name in dead:
            del left[name]


def certain(links: Links, start: str, end: str) -> Links:
    """The links that every way takes, with their devices in the order in which it passes them."""
    found: dict[str, Ends] = {}
    came = _reached(links, start)
    at = end
    while at in came and at != start:  # what every way takes, any one takes
        name = came[at]
        before = next(each for each in links[name] if each != at)
        if end not in _reached({other: ends for other, ends in links.items() if other != name}, start):
            found[name] = (before, at)
        at = before
    return found


def _reached(links: Links, start: str) -> Mapping[str, str]:
    """The devices that can be reached, each with the link by which; the start with none."""
    came, ahead = {start: ""}, [start]
    near: dict[str, list[tuple[str, str]]] = {}
    for name, (one, other) in links.items():
        near.setdefault(one, []).append((name, other))
        near.setdefault(other, []).append((name, one))
    while ahead:
        for name, each in near.get(ahead.pop(), ()):
            if each not in came:
                came[each] = name
                ahead.append(each)
    return came
