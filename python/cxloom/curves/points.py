"""What tools measure of a loaded memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """The latency of a probe at a load."""

    reads: float
    """Share of reads of the load, from 0 to 1."""
    bandwidth_gb_per_s: float
    latency_ns: float
    line: int
    """Where it stands in its file."""
