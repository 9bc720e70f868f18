"""What requesters find of a node of memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class NodeProfile:
    """A node as requesters find it."""

    name: str
    bytes: int
    bandwidth: float
    """Gigabytes per second, at its peak under this mix."""
    latency: Mapping[str, float]
    """Nanoseconds of an idle read, by requester; who is not there has none of it."""
