"""How sure a quantile of a trace's demand is: batches of its time, drawn again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from cxloom.planning.allocation import Played
from cxloom.planning.levels import level_of
from cxloom.planning.plan_file import Plan
from cxloom.planning.sizing import Pools
from cxloom.planning.stranding import unit_steps

_DRAWS = 200
_INSTANTS = 2000
"""Instants at which the demand is looked at."""


def interval_of(pools: Pools, played: Played, plan: Plan, piece: float, seed: int) -> dict[str, Any]:
    """The quantile over time of what the most used unit is asked for, times the number of units, and its 95 % interval
    by drawing as many batches of the trace again with replacement, 200 times. Nothing for demand that is drawn: its
    seeds say how sure it is."""
    if plan.trace is None or not len(pools.asks):
        return {}
    demand = pools.demand
    batches = plan.sizing.batches
    instants = np.linspace(
        demand.begin, demand.finish, _INSTANTS // batches * batches or batches, endpoint=False
    )
    levels = np.array(
        [
            level_of(times, steps, demand.begin, demand.finish).at(instants)
            for times, steps in unit_steps(pools.asks, played, pools.units)
        ]
    )
    share = plan.sizing.probability
    parts = levels.reshape(pools.units, batches, -1)
    rng = np.random.default_rng(seed)
    drawn = [
        _most(parts[:, rng.integers(batches, size=batches)].reshape(pools.units, -1), share)
        for _ in range(_DRAWS)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    scale = pools.units * piece
    ends = [float(low) * scale, float(high) * scale]
    return {"demand": {"bytes": _most(levels, share) * scale, "ci95": ends}}


def _most(levels: np.ndarray, share: float) -> float:
    return float(np.quantile(levels, share, axis=1, method="inverted_cdf").max())
