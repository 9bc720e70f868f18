"""What of measured points can be a curve: in the order of bandwidth, without those of a machine that is overloaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cxloom.base.errors import InputError
from cxloom.curves.points import Point

NOISE = 0.05
"""A latency that is higher by less than this share, at less bandwidth, is noise; more is a curve that bends back."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """Points of a curve, and those that are none."""

    points: tuple[Point, ...]
    """By share of reads, and then with bandwidths that rise."""
    bent_back: tuple[Point, ...]
    """Points with less bandwidth at more latency than another has: more is offered there than the machine can do."""
    repeated: tuple[Point, ...]
    """Points of a bandwidth that another one has, with a lower latency."""


def in_order(points: Iterable[Point], file: str = "") -> Ordered:
    """The points in the order of a curve. Raises InputError if fewer than two of a share of reads are left."""
    kept: list[Point] = []
    bent_back: list[Point] = []
    repeated: list[Point] = []
    shares: dict[float, list[Point]] = {}
    for point in points:
        shares.setdefault(point.reads, []).append(point)
    for share in sorted(shares, reverse=True):
        curve = sorted(shares[share], key=lambda point: (point.bandwidth_gb_per_s, point.latency_ns))
        least = float("inf")  # the least latency at any higher bandwidth
        of_share: list[Point] = []
        for at in range(len(curve) - 1, -1, -1):
            point = curve[at]
            if at and curve[at - 1].bandwidth_gb_per_s == point.bandwidth_gb_per_s:
                repeated.append(point)
            elif point.latency_ns > (1 + NOISE) * least:
                bent_back.append(point)
            else:
                of_share.append(point)
                least = min(least, point.latency_ns)
        if len(of_share) < 2:
            raise InputError(
                f"{len(of_share)} point is no curve, at {100 * share:.0f} % reads",
                allowed="two loads or more",
                file=file or None,
            )
        kept += reversed(of_share)
    return Ordered(tuple(kept), _by_line(bent_back), _by_line(repeated))


def _by_line(points: Sequence[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.line))
