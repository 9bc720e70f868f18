"""A system at the loads of a measured curve: how far its latencies and bandwidths are from those that were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxloom.base.errors import InputError
from cxloom.curves.points import Point
from cxloom.fitting.search import Vector
from cxloom.measure import chosen
from cxloom.measure.bench import Bench
from cxloom.measure.loaded_latency import at_loads
from cxloom.spec.resolve import Override
from cxloom.system.system import System

HELD_BACK = 4
"""One of so many points between the ends of a curve is not fitted, but predicted."""
PEAK = 1.5
"""A curve whose last latency is so many times its least one ends at the peak of the memory (own choice)."""
SHORT = 0.02
"""Less bandwidth than was measured, by this share, is none that the system lacks: when a load is done, the probe of a
system with another latency may read on alone, or end before it (own choice)."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The points of a curve by what they are for."""

    fitted: tuple[Point, ...]
    """Their latency is fitted."""
    held_back: tuple[Point, ...]
    """Their latency is predicted."""
    peaks: tuple[Point, ...]
    """Their bandwidth is fitted as the most that the memory gives: of the latency there, the queues of the machine that
    measured decide."""


def parted(points: Sequence[Point]) -> Parts:
    """The points of a curve, by share of reads: the last one a peak, where it is one, and every fourth held back."""
    fitted: list[Point] = []
    held: list[Point] = []
    peaks: list[Point] = []
    for share in dict.fromkeys(point.reads for point in points):
        curve = [point for point in points if point.reads == share]
        if len(curve) > 2 and curve[-1].latency_ns > PEAK * min(point.latency_ns for point in curve):
            peaks.append(curve.pop())
        for at, point in enumerate(curve):
            (held if 0 < at < len(curve) - 1 and at % HELD_BACK == 2 else fitted).append(point)
    return Parts(tuple(fitted), tuple(held), tuple(peaks))


@dataclass(frozen=True, slots=True)
class Errors:
    """Logarithms of what was simulated over what was measured."""

    latencies: Vector
    """The latency of each point."""
    bandwidths: Vector
    """The bandwidth at each point, as far as it is less than was measured and asked for."""
    peaks: Vector
    """The bandwidth of each peak."""


def errors_at(
    system: System,
    settings: Mapping[str, Any],
    points: Sequence[Point],
    peaks: Sequence[Point],
    *,
    memory: str | None = None,
    requester: str | None = None,
    jobs: int | None = None,
    overrides: Sequence[Override] = (),
) -> Errors:
    """How far a system with these settings is from points of a curve, and from peaks.

    Raises InputError for a system that cannot be measured so, or answers a load with errors alone.
    """
    given = [Override.of(path, value, f"fitted: {path}") for path, value in settings.items()]
    bench = Bench(system, memories=[memory] if memory else [], jobs=jobs, overrides=[*overrides, *given])
    loads = [(point.reads, point.bandwidth_gb_per_s, point.latency_ns) for point in points]
    loads += [(point.reads, math.inf, point.latency_ns) for point in peaks]
    found = at_loads(bench, loads, chosen(bench, requester))
    pairs = []
    for point, pair in zip([*points, *peaks], found, strict=True):
        if pair is None:
            raise InputError(
                f"no latency is known at {point.bandwidth_gb_per_s:.4g} GB/s: requests are answered with errors",
                allowed="a memory that answers with data",
            )
        pairs.append((math.log(pair[0] / point.bandwidth_gb_per_s), math.log(pair[1] / point.latency_ns)))
    of_points, of_peaks = pairs[: len(points)], pairs[len(points) :]
    return Errors(
        np.asarray([latency for _, latency in of_points]),
        np.asarray([min(0.0, bandwidth) for bandwidth, _ in of_points]),
        np.asarray([bandwidth for bandwidth, _ in of_peaks]),
    )
