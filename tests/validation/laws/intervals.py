"""What holds of the ends of intervals, and of when there are any."""

from __future__ import annotations

import math
from typing import Any

from validation.laws.look import Array, Look
from validation.systems import Spec

FEWEST = 1000
"""Requests below which nothing is said of how well their mean is known, nor of whether they were steady."""
BATCH = 16
"""Only whole batches count; at a thousand requests they are of this many at most."""


def told(look: Look, value: Any, of: Array) -> None:
    """There is a value if there are enough requests, and only then."""
    count = int(of.sum())
    if not FEWEST <= count < FEWEST + BATCH:
        look.equal(value is not None, count >= FEWEST)


def around_mean(look: Look, value: list[float] | None, of: Array) -> None:
    """The ends of the interval are as many times less and more than the mean."""
    told(look, value, of)
    if value is not None:
        low, high = value
        mean = float(look.latency[of].mean())
        look.within(low, 0, mean)
        look.equal(low * high, mean * mean)


def around_percentile(look: Look, value: list[float | None] | None, of: Array, percentile: float) -> None:
    """The ends are on both sides of it, the upper one without a limit where the window does not tell it."""
    told(look, value, of)
    if value is not None:
        low, high = value
        assert low is not None
        look.within(percentile, low, math.inf if high is None else high)


def around_bandwidth(look: Look, value: list[float] | None, of: Array, measures: Spec) -> None:
    """The ends are as many times less and more; there are none where batches take no time."""
    if int(of.sum()) < FEWEST:
        look.equal(value, None)
    if value is not None:
        low, high = value
        look.within(low, 0, high)
        look.equal(low * high, measures["bandwidth_gb_per_s"] ** 2)
