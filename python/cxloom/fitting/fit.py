"""Parameters fitted to a measured curve, and what the curve says of each: its interval, or that it says nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.curves.points import Point
from cxloom.curves.read import read_curve
from cxloom.display.numbers import significant
from cxloom.fitting.curve import SHORT, Errors, Parts, errors_at, parted
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
from cxloom.spec.resolve import Override
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


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that was fitted."""

    path: str
    value: Any
    """The best value, as a spec has it."""
    low: Any
    high: Any
    """The ends of the 95 % interval, cut off at those of the range."""
    is_told: bool
    """Whether the curve tells it: if not, other values fit as well."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A point of the curve beside the system as it was given, and as it was fitted."""

    point: Point
    before_ns: float
    after_ns: float
    after_gb_per_s: float
    """At most what was asked for."""
    held_back: bool
    """Whether it was predicted, and not fitted."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The end of a curve, where the memory gives the most, beside the most that the system gives."""

    point: Point
    before_gb_per_s: float
    after_gb_per_s: float


@dataclass(frozen=True)
class Fit:
    """Fitted parameters, and how well the system agrees with the curve then."""

    parameters: tuple[Parameter, ...]
    points: tuple[Compared, ...]
    peaks: tuple[Peak, ...]
    together: tuple[tuple[str, ...], ...]
    """Groups of parameters of which the curve tells one number alone, such as a sum."""
    noise: float
    """The relative deviation of a latency from one seed of the workload to another."""
    evaluations: int

    @property
    def settings(self) -> dict[str, Any]:
        """The fitted values by their paths, as `System.set` and ``--set`` take them."""
        return {each.path: each.value for each in self.parameters}

    def error(self, *, held_back: bool, before: bool = False) -> float:
        """The mean relative error of the latency, of the points that were fitted or held back; NaN without any."""
        errors = [
            abs((each.before_ns if before else each.after_ns) / each.point.latency_ns - 1)
            for each in self.points
            if each.held_back == held_back
        ]
        return math.nan if not errors else sum(errors) / len(errors)

    @property
    def sentence(self) -> str:
        """How far the system is from the curve, before and after."""
        fitted = len([each for each in self.points if not each.held_back])
        said = (
            f"Latency is {_percent(self.error(held_back=False))} off on average at the {fitted} points that were fitted"
            f" ({_percent(self.error(held_back=False, before=True))} before)"
        )
        held = self.error(held_back=True)
        return said + ("." if math.isnan(held) else f", and {_percent(held)} at those that were held back.")

    @property
    def notes(self) -> list[str]:
        """What the curve does not tell, and where the system gives less bandwidth than was measured."""
        notes = [
            f"the curve tells only one number of {' and '.join(group)}: other values of them fit as well"
            for group in self.together
        ]
        grouped = {path for group in self.together for path in group}
        notes += [
            f"the curve does not tell {each.path}: any value from {each.low} to {each.high} fits as well"
            for each in self.parameters
            if not each.is_told and each.path not in grouped
        ]
        short = [
            each for each in self.points if each.after_gb_per_s < (1 - SHORT) * each.point.bandwidth_gb_per_s
        ]
        if short:
            most = min(short, key=lambda each: each.after_gb_per_s / each.point.bandwidth_gb_per_s)
            notes.append(
                f"the fitted system gives {significant(most.after_gb_per_s)} GB/s where "
                f"{significant(most.point.bandwidth_gb_per_s)} were measured"
            )
        return notes

    def to_json(self) -> dict[str, Any]:
        """All as plain data, as ``cxloom fit --json`` prints it."""
        held = self.error(held_back=True)
        return {
            "settings": self.settings,
            "sentence": self.sentence,
            "notes": self.notes,
            "parameters": [
                {"path": each.path, "value": each.value, "ci95": [each.low, each.high], "told": each.is_told}
                for each in self.parameters
            ],
            "error": self.error(held_back=False),
            "error_before": self.error(held_back=False, before=True),
            "error_held_back": None if math.isnan(held) else held,
            "points": [
                {
                    "reads": each.point.reads,
                    "bandwidth_gb_per_s": each.point.bandwidth_gb_per_s,
                    "measured_ns": each.point.latency_ns,
                    "before_ns": each.before_ns,
                    "after_ns": each.after_ns,
                    "after_gb_per_s": each.after_gb_per_s,
                    "held_back": each.held_back,
                }
                for each in self.points
            ],
            "peaks": [
                {
                    "reads": each.point.reads,
                    "measured_gb_per_s": each.point.bandwidth_gb_per_s,
                    "before_gb_per_s": each.before_gb_per_s,
                    "after_gb_per_s": each.after_gb_per_s,
                }
                for each in self.peaks
            ],
            "noise": self.noise,
            "systems_played": self.evaluations,
        }


def fit(
    system: System | str | os.PathLike[str],
    to: str | os.PathLike[str],
    vary: Sequence[str],
    *,
    reads: float | None = None,
    memory: str | None = None,
    requester: str | None = None,
    evaluations: int = 60,
    jobs: int | None = None,
    overrides: Sequence[Override] = (),
    watch: Watch = lambda _played, _most: None,
) -> Fit:
    """Fits parameters of a system to a curve that was measured on a machine.

    ::

        cx.fit("card.yaml", "loaded.txt", ["devices.cxl.controller_time=20ns..200ns"]).sentence

    Args:
        system: a `System`, the path of a spec, or the name of a preset.
        to: the curve: a table, or the output of Intel's Memory Latency Checker (docs/fit.md).
        vary: what is fitted, each ``PATH=LOW..HIGH``, or with ``:log`` evenly in the logarithm.
        reads: share of reads of the load, where the file does not say it.
        memory: the memory that was measured; by default the first.
        requester: whose probe it is; by default the first.
        evaluations: how many systems the search may play; intervals may take some more.
        jobs: points at a time; by default one for each processor.
        overrides: values to set besides, as ``--set`` does.
        watch: is told how far it is.

    Every fourth point between the ends of a curve is held back: not fitted, it shows how well the system predicts.
    Raises InputError for what is no curve, no range, more parameters than points, or a path that matches nothing.
    """
    check_count(evaluations, "evaluations")
    draws = [_ranged(each) for each in vary]
    if not draws:
        raise InputError("nothing to fit", allowed="a PATH=LOW..HIGH", path="--vary")
    paths = [each.path for each in draws]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError("the path is fitted twice", allowed="each path once", path=path)
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    curve = read_curve(os.fspath(to), reads).points
    parts = parted(curve)
    if len(parts.fitted) + len(parts.peaks) <= len(draws):
        raise InputError(
            "more parameters than the curve tells",
            found=f"{len(draws)} for {len(parts.fitted) + len(parts.peaks)} points",
            allowed="fewer than there are points",
            file=os.fspath(to),
        )
    played = 0

    def errors(settings: Mapping[str, Any], points: Sequence[Point]) -> Errors:
        nonlocal played
        found = errors_at(
            system,
            settings,
            points,
            parts.peaks,
            memory=memory,
            requester=requester,
            jobs=jobs,
            overrides=overrides,
        )
        played += 1
        watch(played, evaluations)
        return found

    def settings_at(shares: Vector) -> dict[str, Any]:
        return {each.path: each.at(float(share)) for each, share in zip(draws, shares, strict=True)}

    def residuals(shares: Vector) -> Vector:
        found = errors(settings_at(shares), parts.fitted)
        short = np.minimum(0, found.bandwidths + SHORT)
        return softened(np.concatenate([found.latencies, short, found.peaks]), _SCALE)

    every = [*parts.fitted, *parts.held_back]
    before = errors({}, every)
    solution = search(residuals, _starts(len(draws)), evaluations - 3)
    best = settings_at(solution.at)
    after = errors(best, every)
    again = errors({**best, "run.seed": _OTHER_SEED}, every)
    noise = float(np.std(again.latencies - after.latencies) / math.sqrt(2))
    measured = len(parts.fitted) + len(parts.peaks)
    known = uncertainty(solution, noise, measured, residuals)
    return Fit(
        tuple(_parameters(draws, solution, known, noise, measured, residuals)),
        tuple(_compared(parts, before, after)),
        tuple(_peaks(parts, before, after)),
        tuple(_groups(draws, known)),
        noise,
        played,
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
            float(point.bandwidth_gb_per_s * np.exp(after.bandwidths[at])),
            at >= len(parts.fitted),
        )
        for at, point in enumerate((*parts.fitted, *parts.held_back))
    ]
    return sorted(made, key=lambda each: (-each.point.reads, each.point.bandwidth_gb_per_s))


def _peaks(parts: Parts, before: Errors, after: Errors) -> list[Peak]:
    return [
        Peak(point, *(float(point.bandwidth_gb_per_s * np.exp(each.peaks[at])) for each in (before, after)))
        for at, point in enumerate(parts.peaks)
    ]


def _ranged(text: str) -> Draws:
    if ".." not in text.partition("=")[2]:
        raise InputError(
            "not what to fit",
            found=f"'{text}'",
            allowed="PATH=LOW..HIGH or PATH=LOW..HIGH:log",
            path="--vary",
        )
    return Draws.parse(text)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
