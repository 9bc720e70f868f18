"""What is in use over time: a level that steps up and down, and shares of time that it is below something."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from cxloom.planning.demand import Counts, Floats


@dataclass(frozen=True)
class Level:
    """A level over time: `values[i]` from `times[i]` on until `times[i + 1]`, and the last until `finish`."""

    times: Floats
    """Seconds, each later than the one before; the first is the beginning of what is counted."""
    values: Floats
    finish: float

    @property
    def lengths(self) -> Floats:
        """How long each value lasts."""
        return np.diff(self.times, append=self.finish)

    def mean(self) -> float:
        """The mean over time."""
        return float(np.average(self.values, weights=self.lengths))

    def peak(self) -> float:
        """The highest value."""
        return float(self.values.max())

    def peak_time(self) -> float:
        """The instant from which on it is the highest, for the first time."""
        return float(self.times[int(self.values.argmax())])

    def quantile(self, share: float) -> float:
        """The lowest value that it does not exceed for this share of the time."""
        order = np.argsort(self.values, kind="stable")
        passed = np.cumsum(self.lengths[order])
        at = int(np.searchsorted(passed, share * passed[-1] * (1 - 1e-12)))
        return float(self.values[order][min(at, len(order) - 1)])

    def at(self, instants: Floats) -> Floats:
        """The values at instants that are counted."""
        return self.values[np.searchsorted(self.times, instants, side="right") - 1]


def level_of(times: Floats, steps: Floats, begin: float, finish: float) -> Level:
    """The level that starts at 0 and makes these steps, in any order, as far as it is counted.

    Steps of one instant are one step, so that what is given and taken at the same time makes no peak.
    """
    order = np.argsort(times, kind="stable")
    times, sums = times[order], np.cumsum(steps[order])
    last = np.append(times[1:] != times[:-1], True) if len(times) else np.zeros(0, dtype=bool)
    times, sums = times[last], sums[last]
    before = int(np.searchsorted(times, begin, side="right"))
    after = max(before, int(np.searchsorted(times, finish, side="left")))
    first = sums[before - 1] if before else 0.0
    return Level(
        np.concatenate([[begin], times[before:after]]),
        np.concatenate([[first], sums[before:after]]),
        finish,
    )


def by_place(times: Floats, steps: Floats, places: Counts, count: int) -> list[tuple[Floats, Floats]]:
    """The times and steps of each of so many places."""
    order = np.lexsort((times, places))
    borders = np.searchsorted(places[order], np.arange(count + 1))
    return [
        (times[order[first:last]], steps[order[first:last]])
        for first, last in itertools.pairwise(borders.tolist())
    ]


def time_covered(start: Floats, end: Floats, begin: float, finish: float) -> float:
    """Seconds of what is counted in which at least one of these intervals is open."""
    start, end = np.clip(start, begin, finish), np.clip(end, begin, finish)
    if not len(start):
        return 0.0
    order = np.argsort(start)
    start, end = start[order], np.maximum.accumulate(end[order])
    gaps = np.maximum(0.0, start[1:] - end[:-1])
    return float(end[-1] - start[0] - gaps.sum())
