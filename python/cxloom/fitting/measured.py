"""What was measured on a machine, as a system is held against it: a curve of loads, latencies over sizes, kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cxloom.base.errors import InputError
from cxloom.curves.order import Ordered
from cxloom.curves.points import KernelRate, Point, SizePoint
from cxloom.curves.read import read_measured
from cxloom.display.numbers import size
from cxloom.fitting.search import Vector
from cxloom.measure import chosen, one_of
from cxloom.measure.bench import Bench
from cxloom.measure.loaded_latency import at_loads
from cxloom.measure.peak import STORES, stream
from cxloom.measure.size_sweep import largest_of, latencies

HELD_BACK = 4
"""One of so many points between the ends of a curve is not fitted, but predicted."""
SIZES = 16
"""So many sizes are played at most, evenly over their list: large ones take long."""
PEAK = 1.5
"""A curve whose last latency is so many times its least one ends at the peak of the memory (own choice)."""
NEAR = 0.95
"""Points with this share of the bandwidth of a peak are at the same peak, if their latency has risen as well (own
choice): MLC writes several of them, of delays from 0 to 15."""
SHORT = 0.02
"""Less bandwidth than was measured, by this share, is none that the system lacks: when a load is done, the probe of a
system with another latency may read on alone, or end before it (own choice)."""


Timed = Point | SizePoint
"""What has a latency."""
Rated = Point | KernelRate
"""What has a bandwidth, of as much as there is."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The points of a curve by what they are for."""

    fitted: tuple[Timed, ...]
    """Their latency is fitted."""
    held_back: tuple[Timed, ...]
    """Their latency is predicted."""
    peaks: tuple[Rated, ...]
    """Their bandwidth is fitted as the most that the memory gives: of the latency there, the queues of the machine that
    measured decide."""


def parted(points: Sequence[Point], bent_back: Sequence[Point] = ()) -> Parts:
    """The points of a curve, by share of reads: those at its peak, where it has one, and every fourth of the others
    held back.

    Points that are `bent_back` are none of the curve, but those near its most bandwidth tell that it ends at its peak:
    without a limit of the load the last digits of a bandwidth may be less.
    """
    fitted: list[Point] = []
    held: list[Point] = []
    peaks: list[Point] = []
    for share in dict.fromkeys(point.reads for point in points):
        curve = [point for point in points if point.reads == share]
        risen = PEAK * min(point.latency_ns for point in curve)
        full = NEAR * max(point.bandwidth_gb_per_s for point in curve)
        behind = [each for each in bent_back if each.reads == share and each.bandwidth_gb_per_s >= full]
        if len(curve) > 2 and any(each.latency_ns > risen for each in (curve[-1], *behind)):
            at_peak = [each for each in curve if each.latency_ns > risen and each.bandwidth_gb_per_s >= full]
            # The last one is a peak even where others, below it, have more bandwidth.
            peaks += [each for each in curve if each in at_peak or each is curve[-1]]
            curve = [each for each in curve[:-1] if each not in at_peak]
        for at, point in enumerate(curve):
            (held if _is_held_back(at, len(curve)) else fitted).append(point)
    return Parts(tuple(fitted), tuple(held), tuple(peaks))


def parted_sizes(points: Sequence[SizePoint]) -> Parts:
    """Latencies over sizes: as many as are played, every fourth of them held back."""
    kept = list(points)
    if len(kept) > SIZES:
        kept = [points[round(at * (len(points) - 1) / (SIZES - 1))] for at in range(SIZES)]
    held = tuple(each for at, each in enumerate(kept) if _is_held_back(at, len(kept)))
    return Parts(tuple(each for each in kept if each not in held), held, ())


def _is_held_back(at: int, count: int) -> bool:
    return 0 < at < count - 1 and at % HELD_BACK == 2


@dataclass(frozen=True, slots=True)
class Errors:
    """Logarithms of what was simulated over what was measured."""

    latencies: Vector
    """The latency of each point."""
    bandwidths: Vector
    """The bandwidth at each point, as far as it is less than was measured and asked for."""
    peaks: Vector
    """The bandwidth of each peak."""

    @property
    def of_noise(self) -> Vector:
        """What tells the noise from one seed to another: latencies, or rates where no latency was measured."""
        return self.latencies if self.latencies.size else self.peaks


class Measured(Protocol):
    """What was measured, and how a system is played to be held against it."""

    @property
    def parts(self) -> Parts:
        """Its points by what they are for."""

    def errors(self, bench: Bench, requester: str | None, points: Sequence[Timed]) -> Errors:
        """How far a system is from these of its points, and from its peaks.

        Raises InputError for a system that cannot be measured so, or answers with errors alone.
        """


@dataclass(frozen=True, slots=True)
class LoadCurve:
    """Latency by bandwidth, as MLC has it: a probe beside loads."""

    parts: Parts

    def errors(self, bench: Bench, requester: str | None, points: Sequence[Timed]) -> Errors:
        """See `Measured`: the probe is that of the requester."""
        given = [point for point in points if isinstance(point, Point)]
        peaks = [point for point in self.parts.peaks if isinstance(point, Point)]
        full = {peak.reads: peak for peak in peaks}  # points of one peak are one load
        loads = [(point.reads, point.bandwidth_gb_per_s, point.latency_ns) for point in given]
        loads += [(share, math.inf, peak.latency_ns) for share, peak in full.items()]
        played = list(at_loads(bench, loads, chosen(bench, requester)))
        at_peak = dict(zip(full, played[len(given) :], strict=True))
        pairs = []
        for point, pair in zip(
            (*given, *peaks),
            (*played[: len(given)], *(at_peak[peak.reads] for peak in peaks)),
            strict=True,
        ):
            if pair is None:
                raise _no_number(f"no latency is known at {point.bandwidth_gb_per_s:.4g} GB/s")
            pairs.append((math.log(pair[0] / point.bandwidth_gb_per_s), math.log(pair[1] / point.latency_ns)))
        of_points, of_peaks = pairs[: len(given)], pairs[len(given) :]
        return Errors(
            np.asarray([latency for _, latency in of_points]),
            np.asarray([min(0.0, bandwidth) for bandwidth, _ in of_points]),
            np.asarray([bandwidth for bandwidth, _ in of_peaks]),
        )


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """Latency over the size of what is read, as lat_mem_rd has it: one dependent read after the other."""

    parts: Parts

    def errors(self, bench: Bench, requester: str | None, points: Sequence[Timed]) -> Errors:
        """See `Measured`: the requester reads, through its caches. Sizes beyond four times these are played as that."""
        name = chosen(bench, requester)
        most = largest_of(bench, name)
        wanted = [min(each.bytes, most) for each in points if isinstance(each, SizePoint)]
        steps = list(dict.fromkeys(wanted))
        found = dict(zip(steps, latencies(bench, name, steps), strict=True))
        logarithms = []
        for point, step in zip(points, wanted, strict=True):
            if (latency := found[step]) is None:
                raise _no_number(f"no latency is known at {size(step)}")
            logarithms.append(math.log(latency / point.latency_ns))
        return Errors(np.asarray(logarithms), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Kernels:
    """The rates of STREAM's kernels: all requesters at once."""

    parts: Parts
    stores: str

    def errors(self, bench: Bench, _requester: str | None, _points: Sequence[Timed]) -> Errors:
        """See `Measured`: on the first of the memories."""
        rows = stream(bench, self.stores).rows
        found = {
            row["kernel"]: row["bandwidth_gb_per_s"] for row in rows if row["memory"] == rows[0]["memory"]
        }
        logarithms = []
        for each in self.parts.peaks:
            rate = found[each.kernel] if isinstance(each, KernelRate) else None
            if rate is None:
                raise _no_number("no bandwidth of a kernel is known")
            logarithms.append(math.log(rate / each.bandwidth_gb_per_s))
        return Errors(np.zeros(0), np.zeros(0), np.asarray(logarithms))


def measured_in(path: str, reads: float | None, stores: str | None) -> Measured:
    """What a file says was measured. Raises InputError for a file that says nothing, or options of another one."""
    found = read_measured(path, reads)
    if isinstance(found, Ordered):
        _refuse_stores(stores)
        return LoadCurve(parted(found.points, found.bent_back))
    sizes = [each for each in found if isinstance(each, SizePoint)]
    if sizes:
        _refuse_stores(stores)
        return SizeCurve(parted_sizes(sizes))
    kernels = tuple(each for each in found if isinstance(each, KernelRate))
    return Kernels(Parts((), (), kernels), one_of(stores or STORES[0], STORES, "--stores"))


def _refuse_stores(stores: str | None) -> None:
    if stores is not None:
        raise InputError("stores are those of STREAM's kernels", allowed="beside its output", path="--stores")


def _no_number(problem: str) -> InputError:
    return InputError(
        f"{problem}: requests are answered with errors", allowed="a memory that answers with data"
    )
