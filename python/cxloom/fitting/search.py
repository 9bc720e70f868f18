"""Least squares over a few bounded parameters, of a function that is slow, and rough at small steps.

A simulation answers steps of a parameter with steps of its own: whole numbers, clocks, the draws of a workload. So
derivatives are taken over a twentieth of a range, and the search begins where a look over the whole range says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Residuals = Callable[[Vector], Vector]
"""From parameters, each from 0 to 1 in its range, to relative errors."""

_STEP = 0.05
"""The part of a range over which a derivative is taken."""
_ENOUGH = 0.003
"""A step of the search that is smaller, in parts of a range, ends it."""
_GAIN = 0.003
"""An improvement that is smaller, as a share of the sum of squares, ends the search."""
_EDGE = 1 / 64
"""How near, in parts of a range, the value is found from which on a parameter changes nothing."""
_FLAT = 0.5
"""A sum of squares that is more by less than this share is that of a parameter that changes little but noise."""
_BETTER = 0.1
"""A value from which on a parameter changes nothing has to be better by this share: others would be as good."""
_NOTHING = 1e-9
"""What is less is rounding."""
_WEAK = 0.05
"""A direction is weak if residuals change by less than this share of what they change in the strongest one."""
_DOUBTFUL = 0.3
"""A direction may be weak if residuals change by less than this share of what they change in the strongest one."""
_WIDE = 0.25
"""The part of a range over which derivatives are taken again then."""


@dataclass(frozen=True)
class Solution:
    """The best parameters, the residuals there, and their derivatives."""

    at: Vector
    residuals: Vector
    jacobian: Vector
    """By residual and parameter, over parts of the ranges."""
    evaluations: int
    settled: bool = True
    """No step led further down; otherwise the function might not be called more often."""


@dataclass(frozen=True)
class Uncertainty:
    """What the residuals say of the best parameters."""

    deviations: Vector
    """The standard deviation of each parameter, in parts of its range; inf where residuals do not depend on it."""
    weak: tuple[Vector, ...]
    """Directions, of length 1, in which the parameters can move together with almost no change of the residuals."""


def search(residuals: Residuals, starts: Sequence[Vector], evaluations: int) -> Solution:
    """The parameters with the least sum of squares, by a damped Gauss-Newton method within the bounds.

    Args:
        residuals: the function; it is asked for no point twice.
        starts: where to look first.
        evaluations: how often the function may be called, about; at least once for each start and parameter.
    """
    known: dict[tuple[float, ...], Vector] = {}

    def at(point: Vector) -> Vector:
        key = tuple(np.round(point, 9))
        if key not in known:
            known[key] = residuals(np.asarray(key))
        return known[key]

    best = min(starts, key=lambda point: _squares(at(point)))
    while True:
        best, jacobian = _descended(at, known, best, evaluations)
        better = _at_an_edge(at, known, best, jacobian, evaluations)
        if better is None:
            settled = len(known) + len(best) < evaluations
            return Solution(best, at(best), jacobian, len(known), settled)
        best = better


def _descended(at: Residuals, known: Sized, best: Vector, evaluations: int) -> tuple[Vector, Vector]:
    """Where steps downhill from a point end, and the derivatives there."""
    damping = 0.01
    jacobian = _jacobian(at, best)
    while len(known) + 1 < evaluations:
        step = _step(jacobian, at(best), damping, best)
        if np.abs(step).max(initial=0) < _ENOUGH:
            break
        before, after = _squares(at(best)), _squares(at(best + step))
        if after >= before * (1 - _GAIN):
            if after < before:
                best = best + step
            if damping > 1:
                break
            damping *= 10
            continue
        best, damping = best + step, max(damping / 10, 1e-4)
        if len(known) + len(best) >= evaluations:
            break
        jacobian = _jacobian(at, best)
    return best, _jacobian(at, best)


def _at_an_edge(
    at: Residuals, known: Sized, best: Vector, jacobian: Vector, evaluations: int
) -> Vector | None:
    """A better point in the direction of a parameter that has no slope; None if none is found.

    A bandwidth that is more than enough changes nothing: no slope leads down from there to the one that just limits.
    So each end of the part of its range that changes nothing is looked for by halving.
    """
    least = _squares(at(best))
    sizes = np.linalg.norm(jacobian, axis=0)
    for parameter in np.flatnonzero(sizes <= _WEAK * sizes.max(initial=0)):
        for far in (0.0, 1.0):
            flat, point = float(best[parameter]), best.copy()
            end = far
            while abs(end - flat) > _EDGE and len(known) + 1 < evaluations:
                point[parameter] = (flat + end) / 2
                squares = _squares(at(point))
                if squares < least * (1 - _BETTER):
                    return point
                flat, end = (
                    (float(point[parameter]), end)
                    if squares <= least * (1 + _FLAT)
                    else (flat, float(point[parameter]))
                )
    return None


def uncertainty(
    solution: Solution, noise: float, measured: int, residuals: Residuals | None = None
) -> Uncertainty:
    """How well the parameters are known.

    Args:
        solution: the best ones.
        noise: the deviation of a residual from one draw of the workload to another.
        measured: how many numbers were measured. Residuals may be more: those that only bound something, and are 0
            where it holds, have no scatter.
        residuals: the function. With it parameters are moved a longer way, where the derivatives leave it in doubt
            whether they act alike.
    """
    rows, columns = solution.jacobian.shape
    _, sizes, directions = np.linalg.svd(solution.jacobian, full_matrices=False)
    # A derivative is of the difference of two residuals: less than their noise is no change.
    unseen = math.sqrt(2 * rows) * noise / _STEP
    weakest = max(_WEAK * sizes.max(initial=0), unseen, _NOTHING)
    variance = max(_squares(solution.residuals) / max(1, measured - columns), noise**2)
    deviations = np.full(columns, np.inf)
    for index in range(columns):
        parts = directions[:, index]
        seen = sizes > _NOTHING
        if np.abs(parts[~seen]).max(initial=0) < _NOTHING**0.5:
            deviations[index] = math.sqrt(variance * float(((parts[seen] / sizes[seen]) ** 2).sum()))
    weak = [direction for size, direction in zip(sizes, directions, strict=True) if size < weakest]
    if residuals is not None and columns > 1 and not weak and sizes.min() < _DOUBTFUL * sizes.max():
        weak = _weak_over_a_long_way(residuals, solution)
    return Uncertainty(deviations, tuple(weak))


def _weak_over_a_long_way(residuals: Residuals, solution: Solution) -> list[Vector]:
    """Directions in which residuals hardly change over half of the way to the farther end of the ranges.

    Of a function that is rough, or that changes otherwise upwards than downwards, derivatives over little of the ranges
    tell parameters apart that act alike.
    """
    wide = _jacobian(residuals, solution.at, _WIDE, solution.residuals)
    changes, sizes, directions = np.linalg.svd(wide, full_matrices=False)
    strong = changes[:, sizes >= _DOUBTFUL * sizes.max()]
    weak = []
    for size, direction in zip(sizes, directions, strict=True):
        if size >= _DOUBTFUL * sizes.max():
            continue
        far = max(along(solution.at, direction), key=lambda end: float(np.abs(end - solution.at).max()))
        there = (solution.at + far) / 2
        change = residuals(there) - solution.residuals
        change = change - strong @ (strong.T @ change)  # what a step in the strong directions makes good
        if np.linalg.norm(change) < _WEAK * sizes.max() * np.linalg.norm(there - solution.at):
            weak.append(direction)
    return weak


def softened(values: Vector, scale: float) -> Vector:
    """Errors whose squares grow as the errors themselves beyond a scale: "soft L1".

    Near the bandwidth at which a memory is full, a latency changes manifold with a thousandth of the load: such an
    error is not to outweigh the rest of a curve.
    """
    softer: Vector = np.sign(values) * scale * np.sqrt(2 * (np.sqrt(1 + (values / scale) ** 2) - 1))
    return softer


def as_good(residuals: Residuals, solution: Solution, parameter: int, allowed: float) -> tuple[float, float]:
    """The ends of the values of one parameter, in parts of its range, whose sum of squares is at most `allowed`.

    The other parameters stay as they are. Each end is found to a 32nd of the range by halving, which takes the sum for
    one that only rises towards the ends.
    """

    def is_good(share: float) -> bool:
        point = solution.at.copy()
        point[parameter] = share
        return _squares(residuals(point)) <= allowed

    ends = []
    for far in (0.0, 1.0):
        good, bad = float(solution.at[parameter]), far
        if is_good(far):
            ends.append(far)
            continue
        while abs(good - bad) > 1 / 32:
            middle = (good + bad) / 2
            good, bad = (middle, bad) if is_good(middle) else (good, middle)
        ends.append(good)
    return ends[0], ends[1]


def along(point: Vector, direction: Vector) -> tuple[Vector, Vector]:
    """The two ends of the line through a point in a direction, where it leaves the ranges."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low = np.where(np.abs(direction) > _NOTHING, (0 - point) / direction, np.nan)
        to_high = np.where(np.abs(direction) > _NOTHING, (1 - point) / direction, np.nan)
    back = np.nanmax(np.fmin(to_low, to_high))
    forth = np.nanmin(np.fmax(to_low, to_high))
    return point + back * direction, point + forth * direction


def _squares(values: Vector) -> float:
    return float(values @ values)


def _jacobian(at: Residuals, point: Vector, size: float = _STEP, known: Vector | None = None) -> Vector:
    """Differences over a part of the ranges, towards the side with more room; `known`: the residuals here."""
    here, columns = at(point) if known is None else known, []
    for parameter in range(len(point)):
        step = size if point[parameter] < 0.5 else -size
        moved = point.copy()
        moved[parameter] += step
        columns.append((at(moved) - here) / step)
    return np.column_stack(columns)


def _step(jacobian: Vector, values: Vector, damping: float, point: Vector) -> Vector:
    """A step within the bounds; a parameter that a step would take out of them stays, and the others step anew."""
    step = np.zeros(len(point))
    free = list(range(len(point)))
    while free:
        part = jacobian[:, free]
        normal = part.T @ part
        scale = np.diag(normal) + 1e-12
        tried = -np.linalg.solve(normal + damping * np.diag(scale), part.T @ (values + jacobian @ step))
        wanted = point[free] + tried
        held = [at for at in range(len(free)) if not 0 <= wanted[at] <= 1]
        if not held:
            step[free] = tried
            return step
        for index in held:
            step[free[index]] = np.clip(wanted[index], 0, 1) - point[free[index]]
        free = [each for at, each in enumerate(free) if at not in held]
    return step
