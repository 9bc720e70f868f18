"""Stranded memory: memory that nobody can use because all cores that could are sold.

DRAM of a server is stranded while the server is sold out, as far as no VM has it. Memory of a device is stranded while
all servers that are linked to it are sold out, as far as no VM has it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cxloom.planning.allocation import Asks, Played
from cxloom.planning.demand import Counts, Flags, Floats
from cxloom.planning.levels import Level, by_place, level_of
from cxloom.planning.placement import Placed
from cxloom.planning.reach import Reach


@dataclass(frozen=True)
class InUse:
    """VMs that run with all that they asked for."""

    placed: Placed
    runs: Flags
    since: Floats
    """When each starts."""

    @property
    def ends(self) -> Floats:
        """When each ends."""
        return self.placed.demand.end

    def steps(self, amounts: Floats) -> tuple[Floats, Floats, Counts]:
        """Times, steps and servers of what VMs take and give back."""
        at = np.flatnonzero(self.runs)
        times = np.concatenate([self.since[at], self.ends[at]])
        steps = np.concatenate([amounts[at], -amounts[at]])
        return times, steps, np.tile(self.placed.server[at], 2)

    def level(self, times: Floats, steps: Floats) -> Level:
        """The level of such steps as far as it is counted."""
        demand = self.placed.demand
        return level_of(times, steps, demand.begin, demand.finish)


def sold_out(in_use: InUse, servers: int, cores: int, spare: int) -> list[tuple[Floats, Floats]]:
    """For each server the times at which it becomes sold out (+1), and no longer is (-1)."""
    times, steps, places = in_use.steps(in_use.placed.demand.cores.astype(float))
    found = []
    for of_time, of_step in by_place(times, steps, places, servers):
        instants, last = _instants(of_time)
        out = (cores - np.cumsum(of_step)[last] <= spare).astype(float)
        changes = np.diff(out, prepend=0.0)
        found.append((instants[changes != 0], changes[changes != 0]))
    return found


def stranded_dram(in_use: InUse, sold: list[tuple[Floats, Floats]], local: Floats, dram: float) -> Level:
    """Bytes of DRAM that are stranded on all servers, of which each has so much and VMs take `local`."""
    times, steps, places = in_use.steps(local)
    parts = by_place(times, steps, places, len(sold))
    return _summed(
        in_use,
        [_free_while(out, 1, taken, dram) for out, taken in zip(sold, parts, strict=True)],
    )


def stranded_pool(
    in_use: InUse,
    sold: list[tuple[Floats, Floats]],
    reach: Reach,
    asks: Asks,
    played: Played,
    unit: float,
    piece: float,
) -> Level:
    """Bytes of devices that are stranded, of units of `unit` bytes each in slices of `piece` bytes."""
    parts = unit_steps(asks, played, reach.units)
    found = []
    for servers, (times, steps) in zip(reach.servers_of(), parts, strict=True):
        out = [sold[server] for server in servers]
        both = (np.concatenate([each[0] for each in out]), np.concatenate([each[1] for each in out]))
        found.append(_free_while(both, len(servers), (times, steps * piece), unit))
    return _summed(in_use, found)


def unit_steps(asks: Asks, played: Played, units: int) -> list[tuple[Floats, Floats]]:
    """For each unit the times at which slices are taken and given back."""
    served = np.flatnonzero(played.served).tolist()
    flat = np.array(
        [(ask, unit, count) for ask in served for unit, count in played.pieces[ask]], dtype=np.int64
    ).reshape(-1, 3)
    ask, unit, count = flat[:, 0], flat[:, 1], flat[:, 2].astype(float)
    times = np.concatenate([played.since[ask], asks.end[ask]])
    return by_place(times, np.concatenate([count, -count]), np.tile(unit, 2), units)


def _free_while(
    out: tuple[Floats, Floats], servers: int, taken: tuple[Floats, Floats], whole: float
) -> tuple[Floats, Floats]:
    """The steps of what is free of `whole` while all of so many servers are sold out."""
    times = np.concatenate([out[0], taken[0]])
    order = np.argsort(times, kind="stable")
    sold = np.cumsum(np.concatenate([out[1], np.zeros(len(taken[0]))])[order])
    used = np.cumsum(np.concatenate([np.zeros(len(out[0])), taken[1]])[order])
    instants, last = _instants(times[order])
    free = np.where(sold[last] >= servers, whole - used[last], 0.0)
    return instants, np.diff(free, prepend=0.0)


def _instants(times: Floats) -> tuple[Floats, Flags]:
    """The instants of sorted times, and which of them is the last of its instant."""
    last = np.append(times[1:] != times[:-1], True) if len(times) else np.zeros(0, dtype=bool)
    return times[last], last


def _summed(in_use: InUse, parts: list[tuple[Floats, Floats]]) -> Level:
    times = np.concatenate([each[0] for each in parts]) if parts else np.zeros(0)
    steps = np.concatenate([each[1] for each in parts]) if parts else np.zeros(0)
    return in_use.level(times, steps)
