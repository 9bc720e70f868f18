"""How large units have to be so that it is enough: the smallest room with which enough is served, by playing pools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cxloom.planning.allocation import UNLIMITED, Asks, Played, Units, play
from cxloom.planning.demand import Demand
from cxloom.planning.levels import time_covered

_CURVE = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Shares of the room that is always enough, at which pools are played besides, for the curve."""


@dataclass(frozen=True)
class Sized:
    """Rooms of a device in slices, and what share of VMs or of the time each serves."""

    enough: int
    """With the probability that is asked for."""
    always: int
    """With which nobody goes without: found by halving, no smaller one was tried that serves all."""
    curve: tuple[tuple[int, float], ...]
    """Rooms that were tried, with the share that each serves."""


@dataclass(frozen=True)
class Pools:
    """The units of a design, what is asked of them, and what counts."""

    asks: Asks
    units_of: Units
    units: int
    devices: int
    """Devices of a unit: its room is so many times that of a device."""
    demand: Demand
    of: str
    """What shares are of: `vms` or `time`."""

    def within(self) -> Pools:
        """The pools for the asks of VMs that are counted, as if they began with what is counted."""
        demand, asks = self.demand, self.asks
        inside = (asks.leave > demand.begin) & (asks.start < demand.finish)
        clipped = Asks.of(
            np.maximum(asks.start, demand.begin),
            asks.leave,
            np.where(inside, asks.slices, 0),
            asks.server,
            asks.delay,
        )
        return replace(self, asks=clipped)

    def played(self, room: int, *, wait: bool = False) -> Played:
        """Devices of so many slices."""
        return play(self.asks, self.units_of, self.units, room * self.devices, wait=wait)

    def served(self, played: Played) -> float:
        """The share of VMs that ask and got all of their slices, or of the time in which nobody was without."""
        demand = self.demand
        if self.of == "vms":
            counted = demand.counted[
                self.asks.vms
            ]  # a VM that runs nowhere, or asks for nothing, is not served by size
            whole = int(counted.sum())
            missed = int((counted & ~played.served).sum())
            return 1.0 - missed / whole if whole else 1.0
        missed_ones = ~played.served
        without = time_covered(
            self.asks.start[missed_ones], self.asks.leave[missed_ones], demand.begin, demand.finish
        )
        return 1.0 - without / (demand.finish - demand.begin)

    def peak(self, played: Played) -> int:
        """The most slices that a device had in use, units being shared out evenly among their devices."""
        if not len(self.asks):
            return 0
        used = [0] * self.units
        most = 0
        for event in self.asks.events:
            ask, sign = (event, 1) if event >= 0 else (~event, -1)
            for unit, count in played.pieces[ask]:
                used[unit] += sign * count
                if sign > 0 and used[unit] > most:
                    most = used[unit]
        return -(-most // self.devices)


def sized(pools: Pools, probability: float, least: int = 0) -> Sized:
    """The rooms of a design.

    Args:
        pools: what is played.
        probability: the share that has to be served.
        least: a room below which nobody can serve all.
    """
    tried: dict[int, float] = {}

    def share(room: int) -> float:
        if room not in tried:
            tried[room] = pools.served(pools.played(room))
        return tried[room]

    most = pools.peak(pools.played(UNLIMITED))
    tried[most] = 1.0
    always = _least(share, 1.0, max(0, least - 1), most)
    enough = always if probability >= 1 else _least(share, probability, 0, always)
    for part in _CURVE:
        share(round(part * always))
    return Sized(enough, always, tuple(sorted(tried.items())))


def _least(share: Callable[[int], float], wanted: float, low: int, high: int) -> int:
    """A room from `low` on that serves the share, found by halving, of which `high` is known to serve it."""
    while high - low > 1:
        middle = (low + high) // 2
        if share(middle) >= wanted:
            high = middle
        else:
            low = middle
    if high > low and low >= 0 and share(low) >= wanted:
        return low
    return high


def sum_of_peaks(asks: Asks) -> int:
    """The sum over the servers of the most slices that each asks for at one time."""
    now: dict[int, int] = {}
    most: dict[int, int] = {}
    slices, servers = asks.slices.tolist(), asks.server.tolist()
    for event in asks.events:
        ask = event if event >= 0 else ~event
        server = servers[ask]
        now[server] = now.get(server, 0) + (slices[ask] if event >= 0 else -slices[ask])
        most[server] = max(most.get(server, 0), now[server])
    return sum(most.values())
