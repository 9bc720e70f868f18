"""A resource of a system: how much of it is in use, and where on the way of a request it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

FULL = 0.97
"""The share from which a resource is full."""


class Stage(IntEnum):
    """The way of a request, from who makes it to the media that answer."""

    REQUESTER = 0
    REGISTERS = 1
    """Misses of its cache."""
    WAY = 2
    """Links and switches."""
    PLACES = 3
    """In the controller of a memory."""
    MEDIA = 4


@dataclass(frozen=True)
class Resource:
    """Something that requests take and others wait for."""

    kind: str
    """What it is: "the slots of"."""
    owner: str
    """Its owner: "cxl"."""
    stage: Stage
    """Where on the way of a request."""
    busy: float
    """Share in use, over time: 1 is full."""
    level: str
    """`busy` as people read it: "48 of 48"."""
    relief: Mapping[str, Any] = field(default_factory=dict)
    """What gives twice as much of it: values by path; empty if that is not known."""
    twice: str = ""
    """What that is, for people: "96 slots"."""
    full_at: float = FULL
    place: int = 0
    """Where a link stands in the spec."""
    occupied: bool = True
    """`busy` is a share of something that is used up; otherwise it tells of waiting, which grows in no proportion."""
    beside: float | None = 0.0
    """The part of `busy` that does not grow with requests; None where it is not known."""
    wait: str = ""
    """The segment that requests are charged with while they wait for it; empty: none is."""
    counts: str = "requests"
    """What takes it: requests, reads, writes, lines, messages or bytes."""
    way: tuple[str, str] | None = None
    """The link of a wire and its direction, as a summary has them."""

    @property
    def name(self) -> str:
        """Its name in a sentence: "the slots of cxl"."""
        return f"{self.kind} {self.owner}".rstrip()

    @property
    def full(self) -> bool:
        """No more of it can be had."""
        return self.busy >= self.full_at

    def bound(self, throughput: float) -> float | None:
        """The throughput of the whole system with all of it in use by requests: the utilisation law.

        Both in gigabytes per second. None where they use little, or `busy` does not say how much they use.
        """
        if not self.occupied or self.beside is None or throughput <= 0:
            return None
        own = min(1.0, self.busy) - self.beside
        return throughput / own if own > 1e-6 else None
