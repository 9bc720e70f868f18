"""The worst minute: when the traffic to one device is the highest, and who has how much of which device then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cxloom.planning.allocation import Asks, Played
from cxloom.planning.demand import Floats
from cxloom.planning.inputs import Traffic
from cxloom.planning.levels import by_place, level_of
from cxloom.planning.reach import Reach
from cxloom.planning.units import GIB

MINUTE = 60.0
Use = Mapping[tuple[int, int], float]
"""An amount for pairs of a server and a unit."""


@dataclass(frozen=True)
class Worst:
    """The worst minute of a design."""

    at: float
    """Seconds at which the minute begins; what is in use is that of its worst instant."""
    unit: int
    """The unit with the busiest devices."""
    slices: Use
    """Slices of servers of units that their VMs have."""
    traffic: Use
    """Bytes a second of servers to units."""


def worst_minute(
    asks: Asks, played: Played, reach: Reach, traffic: Traffic, piece: float, begin: float, finish: float
) -> Worst | None:
    """The worst minute of what is counted; None if no device has traffic."""
    served = np.flatnonzero(played.served).tolist()
    rows = [(ask, unit, count) for ask in served for unit, count in played.pieces[ask]]
    if not rows:
        return None
    flat = np.array(rows, dtype=np.int64)
    ask, unit, count = flat[:, 0], flat[:, 1], flat[:, 2].astype(float)
    share = count / asks.slices[ask]
    load = count * piece / GIB * (traffic.per_gib or 0.0) + share * (traffic.per_vm or 0.0)
    start, end = played.since[ask], asks.leave[ask]  # an ended VM has no traffic, whatever is not free yet
    steps = by_place(
        np.concatenate([start, end]), np.concatenate([load, -load]), np.tile(unit, 2), reach.units
    )
    levels = [level_of(times, changes, begin, finish) for times, changes in steps]
    peaks = [level.peak() for level in levels]
    worst = int(np.argmax(peaks))
    if peaks[worst] <= 0:
        return None
    at = levels[worst].peak_time()
    there = (start <= at) & (at < end)
    server = asks.server[ask]
    return Worst(
        math.floor(at / MINUTE) * MINUTE,
        worst,
        _summed(server[there], unit[there], count[there]),
        _summed(server[there], unit[there], load[there]),
    )


def _summed(server: np.ndarray, unit: np.ndarray, values: Floats) -> Use:
    found: dict[tuple[int, int], float] = {}
    for each, of, value in zip(server.tolist(), unit.tolist(), values.tolist(), strict=True):
        found[each, of] = found.get((each, of), 0.0) + value
    return dict(sorted(found.items()))
