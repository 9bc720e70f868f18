"""The least that any allocator needs: one that knew all and could move slices at any time, by maximum flows.

At one instant devices of so many slices are enough if, and only if, the slices that servers ask for can flow over
their links to devices (Hall's condition: no set of servers asks for more than the devices that it is linked to have).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from cxloom.base.errors import InputError
from cxloom.planning.allocation import Asks, Played
from cxloom.planning.demand import Counts, Demand, slices_of
from cxloom.planning.designs import Design, Sparse
from cxloom.planning.levels import level_of
from cxloom.planning.sizing import Pools

MOST_FLOWS = 400
"""So many flows are computed at most (own choice: some seconds). An instant that is left out may lower the bound."""
MOST_SLICES = int(np.iinfo(np.int32).max)
"""The most that the flows of SciPy count to."""


def fits(slices: Counts, units_of: Sequence[Sequence[int]], units: int, room: int) -> bool:
    """Whether servers that ask for these slices have them all from units of so much room.

    Raises InputError, at `slice`, for more slices than flows are computed with.
    """
    if max(int(slices.sum()), room) > MOST_SLICES:
        raise _too_many(float(slices.sum()))
    servers = len(slices)
    asked = np.flatnonzero(slices)
    tails, heads, capacity = [], [], []
    for server in asked.tolist():
        tails.append(0)
        heads.append(1 + server)
        capacity.append(int(slices[server]))
        for unit in units_of[server]:
            tails.append(1 + server)
            heads.append(1 + servers + unit)
            capacity.append(min(int(slices[server]), room))
    sink = 1 + servers + units
    tails += range(1 + servers, sink)
    heads += [sink] * units
    capacity += [room] * units
    graph = csr_matrix((np.array(capacity, dtype=np.int32), (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink).flow_value) == int(slices.sum())


def check_slices(design: Design, demand: Demand) -> None:
    """Raises InputError, at `slice`, for a design of which flows would be too large in this demand."""
    if not isinstance(design, Sparse):
        return
    slices = slices_of(demand, design.slice).astype(float)
    times = np.concatenate([demand.start, demand.end])
    most = level_of(times, np.concatenate([slices, -slices]), demand.begin, demand.finish).peak()
    if most > MOST_SLICES:
        raise _too_many(most)


def _too_many(slices: float) -> InputError:
    return InputError(
        "more slices than the bound is computed with",
        found=f"{slices:,.0f} in use at once",
        allowed=f"at most {MOST_SLICES:,}: a larger slice",
        path="slice",
    )


def least_room(slices: Counts, units_of: Sequence[Sequence[int]], units: int, low: int = 0) -> int:
    """The smallest room from `low` on with which they fit."""
    high = max(low, int(slices.sum()))
    while low < high:
        middle = (low + high) // 2
        if fits(slices, units_of, units, middle):
            high = middle
        else:
            low = middle + 1
    return low


def bound(pools: Pools, played: Played) -> tuple[int, bool]:
    """A room of a unit below which no allocator serves all of these asks, and whether just that room is enough for one.

    `played` serves all: where its most used unit has no more than the bound, the instant says nothing new. Instants are
    looked at from the one on at which that unit has the most.
    """
    asks, units_of, units = pools.asks, pools.units_of, pools.units
    if not len(asks):
        return 0, True
    if all(len(each) == 1 for each in units_of):
        return _of_single(asks, units_of, units), True
    instants = _instants(asks, played, units)
    found = 0
    demands = _demands(asks, len(units_of), [event for event, _ in instants[:MOST_FLOWS]])
    for (_, most), slices in zip(instants, demands, strict=False):
        if most <= found:
            return found, True
        if not fits(slices, units_of, units, found):
            found = least_room(slices, units_of, units, found + 1)
    return found, len(instants) <= MOST_FLOWS or instants[MOST_FLOWS][1] <= found


def _of_single(asks: Asks, units_of: Sequence[Sequence[int]], units: int) -> int:
    used, most = [0] * units, 0
    unit_of = [units_of[server][0] for server in asks.server.tolist()]
    slices = asks.slices.tolist()
    for event in asks.events:
        if event >= 0:
            used[unit_of[event]] += slices[event]
            most = max(most, used[unit_of[event]])
        else:
            used[unit_of[~event]] -= slices[~event]
    return most


def _instants(asks: Asks, played: Played, units: int) -> list[tuple[int, int]]:
    """The places among the events after which nothing more is taken at first, each with what the most used unit has
    then, from the most on."""
    used = [0] * units
    found: list[tuple[int, int]] = []
    for place, event in enumerate(asks.events):
        ask, sign = (event, 1) if event >= 0 else (~event, -1)
        if sign < 0 and place and asks.events[place - 1] >= 0:
            found.append((place, max(used)))
        for unit, count in played.pieces[ask]:
            used[unit] += sign * count
    return sorted(found, key=lambda each: -each[1])


def _demands(asks: Asks, servers: int, places: Sequence[int]) -> list[Counts]:
    """The slices of each server before the event at each of these places."""
    slices, server = asks.slices.tolist(), asks.server.tolist()
    wanted = set(places)
    now = np.zeros(servers, dtype=np.int64)
    found = {}
    for place, event in enumerate(asks.events):
        if place in wanted:
            found[place] = now.copy()
        ask = event if event >= 0 else ~event
        now[server[ask]] += slices[ask] if event >= 0 else -slices[ask]
    return [found[place] for place in places]
