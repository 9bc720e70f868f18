"""Demand that is drawn: arrivals that swing with the day, lives, sizes that come in runs."""

from __future__ import annotations

import math

import numpy as np

from cxloom.base.errors import InputError
from cxloom.planning.demand import ANY, Counts, Demand, Floats, in_order
from cxloom.planning.inputs import Generate, Lifetime, Servers

MOST_VMS = 5_000_000
"""More are refused: their rate was hardly meant."""


def generated(
    given: Generate,
    servers: Servers,
    seed: int,
    *,
    pool_share: float | None,
    warmup: float,
    until: float | None,
) -> Demand:
    """The VMs of one draw. Raises InputError, with the path in the file, for what has no meaning."""
    rng = np.random.default_rng(seed)
    rate = arrival_rate(given, servers)
    if rate * given.duration > MOST_VMS:
        raise InputError(
            "too many VMs",
            found=f"{rate * given.duration:,.0f}",
            allowed=f"at most {MOST_VMS:,}: a lower rate, or a shorter duration",
            path="demand.generate",
        )
    start = _arrivals(rng, rate, given)
    count = len(start)
    end = start + _lives(rng, given.lifetime, count)
    kind = _sizes(rng, given, count)
    shares = [size.pool_share if size.pool_share is not None else pool_share for size in given.sizes]
    if None in shares:
        raise InputError(
            "'pool_share' is missing",
            allowed="the part of memory that may lie in the pool, such as 50%, here or of each size",
            path="demand",
        )
    return in_order(
        start,
        end,
        np.array([size.cores for size in given.sizes], dtype=np.int64)[kind],
        np.array([size.memory for size in given.sizes], dtype=float)[kind],
        np.array(shares, dtype=float)[kind],
        np.full(count, ANY, dtype=np.int64),
        begin=warmup,
        finish=given.duration if until is None else min(until, given.duration),
    )


def arrival_rate(given: Generate, servers: Servers) -> float:
    """VMs that arrive in a second, mean over time: by Little's law where the share of cores in use is given."""
    if (given.rate is None) == (given.cores_sold is None):
        raise InputError(
            "how many VMs arrive is not said, or said twice",
            allowed="one of rate and cores_sold",
            path="demand.generate",
        )
    if given.rate is not None:
        return given.rate
    assert given.cores_sold is not None
    if given.cores_sold == 0:
        raise InputError(
            "no VMs arrive", found="0", allowed="more than 0%", path="demand.generate.cores_sold"
        )
    weights = sum(size.weight for size in given.sizes)
    cores = sum(size.weight * size.cores for size in given.sizes) / weights
    return given.cores_sold * servers.count * servers.cores / (cores * given.lifetime.mean)


def _arrivals(rng: np.random.Generator, rate: float, given: Generate) -> Floats:
    """A Poisson process whose rate is a sine around its mean: drawn at the highest rate, and thinned."""
    highest = rate * (1 + given.swing)
    count = rng.poisson(highest * given.duration)
    times = np.sort(rng.uniform(0.0, given.duration, count))
    share = (1 + given.swing * np.sin(2 * math.pi * times / given.period)) / (1 + given.swing)
    return times[rng.uniform(size=count) < share]


def _lives(rng: np.random.Generator, given: Lifetime, count: int) -> Floats:
    if given.distribution == "fixed":
        return np.full(count, given.mean)
    if given.distribution == "exponential":
        drawn = rng.exponential(given.mean, count)
    else:
        drawn = rng.lognormal(math.log(given.mean) - given.sigma**2 / 2, given.sigma, count)
    return np.maximum(drawn, 1.0)  # a VM of less than a second is none


def _sizes(rng: np.random.Generator, given: Generate, count: int) -> Counts:
    """The size of each VM: that of the one before it, or a new draw. How often each is drawn does not depend on it."""
    weights = np.array([size.weight for size in given.sizes])
    drawn = rng.choice(len(weights), size=count, p=weights / weights.sum())
    fresh = rng.uniform(size=count) >= given.correlation
    if count:
        fresh[0] = True
    last = np.maximum.accumulate(np.where(fresh, np.arange(count), 0))
    return drawn[last].astype(np.int64)
