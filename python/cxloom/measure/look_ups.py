"""The levels of a requester's cache, and how long all of them take to be looked up: an access that misses has that."""

from __future__ import annotations

from cxloom.spec import declared
from cxloom.spec.parts import Part, quantity


def levels(cache: Part | None) -> list[Part]:
    """The levels, the nearest first."""
    if cache is None:
        return []
    below = declared.fields(cache.fields["levels"])
    return [cache, *(Part(cache.at, each, below) for each in cache.get("levels") or [])]


def look_ups_ns(requester: Part) -> float:
    """The time of the look-ups of an access that misses in all levels; 0 without a cache."""
    return sum(quantity("time", level.text("access_time")) for level in levels(requester.below("cache")))


def process_time(requester: Part, look_ups: float) -> str:
    """The time of an access at the requester, with that of look-ups."""
    return f"{round(1000 * (quantity('time', requester.text('process_time')) + look_ups))}ps"
