"""Parameters fitted to what was measured, and what that says of each: its interval, or that it says nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.curves.points import Point
from cxloom.fitting.fitted import Compared, Parameter, Peak
from cxloom.fitting.measured import SHORT, Errors, Kernels, Measured, Parts, SizeCurve, Timed, measured_in
from cxloom.fitting.result import Fit
from cxloom.fitting.search import (
    Residuals,
    Solution,
    Uncertainty,
    Vector,
    along,
    as_good,
    search,
    softened,
    uncertainty,
)
from cxloom.measure.bench import Bench
from cxloom.spec.override import Override
from cxloom.sweeping.random_points import Draws
from cxloom.sweeping.space import check_count
from cxloom.system.system import System

_KNOWN = 0.5
"""A parameter is told by the curve if its interval is less than this part of its range."""
_TOGETHER = 0.3
"""Parameters move together in a weak direction if each has this part of it."""
_FIRST = 4
"""Points of a low-discrepancy sequence to look at first, for each parameter."""
_SEED = 1
_OTHER_SEED = 7919
"""With it the best system is played once more: what differs is noise."""
_SCALE = 0.05
"""Relative errors beyond this count less and less (own choice)."""

Watch = Callable[[int, int], None]
"""Is told how many systems have been played, and how many may be."""


def fit(
    system: System | str | os.PathLike[str],
    to: str | os.PathLike[str],
    vary: Sequence[str],
    *,
    reads: float | None = None,
    memory: str | None = None,
    requester: str | None = None,
    stores: str | None = None,
    threads: int | None = None,
    evaluations: int = 60,
    jobs: int | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = lambda _played, _most: None,
) -> Fit:
    """Fits parameters of a system to what was measured on a machine.

    ::

        cx.fit("card.yaml", "loaded.txt", ["devices.cxl.controller_time=20ns..200ns"]).sentence

    Args:
        system: a `System`, the path of a spec, or the name of a preset.
        to: the file of what was measured: a table of a curve, or the output of Intel's Memory Latency Checker, of
            LMbench's lat_mem_rd, or of STREAM (docs/fit.md).
        vary: what is fitted, each ``PATH=LOW..HIGH``, or with ``:log`` evenly in the logarithm.
        reads: share of reads of the load, where the file does not say it.
        memory: the memory that was measured; by default the first.
        requester: who reads, or whose probe it is; by default the first.
        stores: of STREAM: "allocate", the line of a store is read and written back, or "streaming", it is written.
        threads: of each requester with cores that loads the memory; by default one for each core.
        evaluations: how many systems the search may play; intervals may take some more.
        jobs: points at a time; by default one for each processor.
        overrides: values to set besides, as ``--set`` does.
        watch: is told how far it is.

    Every fourth point between the ends of a curve is held back: not fitted, it shows how well the system predicts.
    Raises InputError for what was not measured, no range, more parameters than points, or a path that matches nothing.
    """
    check_count(evaluations, "evaluations")
    draws = _ranges(vary)
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    measured = measured_in(os.fspath(to), reads, stores)
    _refuse_options(measured, requester, threads)
    parts = measured.parts
    count = len(parts.fitted) + len(parts.peaks)
    if count <= len(draws):
        raise InputError(
            "more parameters than the curve tells",
            found=f"{len(draws)} for {count} points",
            allowed="fewer than there are points",
            file=os.fspath(to),
        )
    played = 0

    def errors(settings: Mapping[str, Any], points: Sequence[Timed]) -> Errors:
        nonlocal played
        given = [Override.of(path, value, f"fitted: {path}") for path, value in settings.items()]
        bench = Bench(
            system,
            memories=[memory] if memory else [],
            jobs=jobs,
            threads=threads,
            overrides=[*overrides, *given],
        )
        found = measured.errors(bench, requester, points)
        played += 1
        watch(played, evaluations)
        return found

    def settings_at(shares: Vector) -> dict[str, Any]:
        return {each.path: each.at(float(share)) for each, share in zip(draws, shares, strict=True)}

    def residuals(shares: Vector) -> Vector:
        found = errors(settings_at(shares), parts.fitted)
        short = np.minimum(0, found.bandwidths + SHORT)
        return softened(np.concatenate([found.latencies, short, found.peaks]), _SCALE)

    _refuse_paths(system, overrides, settings_at(_starts(len(draws))[0]))
    every = [*parts.fitted, *parts.held_back]
    before = errors({}, every)
    solution = search(residuals, _starts(len(draws)), evaluations - 3)
    best = settings_at(solution.at)
    after = errors(best, every)
    again = errors({**best, "run.seed": _OTHER_SEED}, every)
    noise = float(np.std(again.of_noise - after.of_noise) / math.sqrt(2))
    known = uncertainty(solution, noise, count, residuals)
    return Fit(
        tuple(_parameters(draws, solution, known, noise, count, residuals)),
        tuple(_compared(parts, before, after)),
        tuple(_peaks(parts, before, after)),
        tuple(_groups(draws, known)),
        noise,
        played,
        solution.settled,
    )


def _refuse_options(measured: Measured, requester: str | None, threads: int | None) -> None:
    """Raises InputError for an option that has no effect on what was measured."""
    if requester is not None and isinstance(measured, Kernels):
        raise InputError(
            "STREAM is run by all requesters", found=f"--from {requester}", allowed="no --from", path="--from"
        )
    if threads is not None and isinstance(measured, SizeCurve):
        raise InputError(
            "latency over size is read by one",
            found=f"{threads} threads",
            allowed="no --threads",
            path="--threads",
        )


def _refuse_paths(
    system: System | str | os.PathLike[str], overrides: Sequence[Override], settings: Mapping[str, Any]
) -> None:
    """Raises InputError for a path that matches nothing, before anything is played."""
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    system.resolve(
        [*overrides, *(Override.of(path, value, f"--vary {path}") for path, value in settings.items())]
    )


def _starts(count: int) -> list[Vector]:
    """The middle of the ranges, and points all over them."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(count, seed=_SEED).random_base2(math.ceil(math.log2(_FIRST * count)))
    return [np.full(count, 0.5), *sequence]


def _parameters(
    draws: Sequence[Draws],
    solution: Solution,
    known: Uncertainty,
    noise: float,
    measured: int,
    residuals: Residuals,
) -> list[Parameter]:
    """The parameters with their intervals.

    Those of the derivatives; of parameters that the curve tells only together, how far these can move so; and of one
    whose derivatives say little, the values that are as good when they are tried.
    """
    from scipy.stats import t

    freedom = max(1, measured - len(draws))
    factor = float(t.ppf(0.975, freedom))
    squares = float(solution.residuals @ solution.residuals) + measured * noise**2
    together = {index: line for line in known.weak for index in _moving(line)}
    made = []
    for index, each in enumerate(draws):
        at = float(solution.at[index])
        half = factor * float(known.deviations[index])
        low, high = max(0.0, at - half), min(1.0, at + half)
        if index in together:
            low, high = sorted(float(end[index]) for end in along(solution.at, together[index]))
        elif high - low >= _KNOWN:
            low, high = as_good(residuals, solution, index, squares * (1 + factor**2 / freedom))
        is_told = high - low < _KNOWN and index not in together
        made.append(Parameter(each.path, each.at(at), each.at(low), each.at(high), is_told))
    return made


def _moving(line: Vector) -> list[int]:
    """The parameters that move together along a weak direction; none if it is that of one alone."""
    moving = [index for index, part in enumerate(line) if abs(part) > _TOGETHER]
    return moving if len(moving) > 1 else []


def _groups(draws: Sequence[Draws], known: Uncertainty) -> list[tuple[str, ...]]:
    """Parameters that a weak direction moves together."""
    groups = (_moving(line) for line in known.weak)
    return [tuple(draws[index].path for index in group) for group in groups if group]


def _compared(parts: Parts, before: Errors, after: Errors) -> list[Compared]:
    made = [
        Compared(
            point,
            float(point.latency_ns * np.exp(before.latencies[at])),
            float(point.latency_ns * np.exp(after.latencies[at])),
            float(point.bandwidth_gb_per_s * np.exp(after.bandwidths[at]))
            if isinstance(point, Point)
            else math.nan,
            at >= len(parts.fitted),
        )
        for at, point in enumerate((*parts.fitted, *parts.held_back))
    ]
    return sorted(made, key=lambda each: _order(each.point))


def _order(point: Timed) -> tuple[float, float]:
    if isinstance(point, Point):
        return -point.reads, point.bandwidth_gb_per_s
    return 0.0, point.bytes


def _peaks(parts: Parts, before: Errors, after: Errors) -> list[Peak]:
    return [
        Peak(point, *(float(point.bandwidth_gb_per_s * np.exp(each.peaks[at])) for each in (before, after)))
        for at, point in enumerate(parts.peaks)
    ]


def _ranges(vary: Sequence[str]) -> list[Draws]:
    """What is fitted. Raises InputError for nothing, for a path that is there twice, and for what is no range."""
    draws = [_ranged(each) for each in vary]
    if not draws:
        raise InputError("nothing to fit", allowed="a PATH=LOW..HIGH", path="--vary")
    paths = [each.path for each in draws]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError("the path is fitted twice", allowed="each path once", path=path)
    return draws


def _ranged(text: str) -> Draws:
    if ".." not in text.partition("=")[2]:
        raise InputError(
            "not what to fit",
            found=f"'{text}'",
            allowed="PATH=LOW..HIGH or PATH=LOW..HIGH:log",
            path="--vary",
        )
    return Draws.parse(text)
