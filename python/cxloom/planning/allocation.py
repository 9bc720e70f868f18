"""A pool of some size, played: VMs take slices when they start and give them back after they end.

As a real allocator does, it decides when a VM starts, knows nothing of what comes, and moves nothing afterwards: each
slice goes to the device with the fewest in use of those that the server is linked to and that have room. A VM has all
of its slices or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cxloom.planning.demand import Counts, Flags, Floats

Units = Sequence[Sequence[int]]
UNLIMITED = 1 << 60
"""Slices of a unit without an end."""
_NONE: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Asks:
    """What VMs ask of units, in the order of its instants. VMs that ask for nothing are not among them."""

    vms: Counts
    """Which VM each is, as its row in the demand."""
    start: Floats
    leave: Floats
    """The end of each VM."""
    end: Floats
    """When its slices are free again."""
    slices: Counts
    server: Counts
    delay: float
    """Seconds from the end of a VM until then."""
    events: list[int] = field(repr=False)
    """The asks by their instants: i takes slices, ~i gives them back; what is given back at an instant is so before
    others take it."""

    def __len__(self) -> int:
        return len(self.vms)

    @classmethod
    def of(cls, start: Floats, leave: Floats, slices: Counts, server: Counts, delay: float = 0.0) -> Asks:
        """The asks of all VMs that ask for a slice and run; what they give back is free after `delay` seconds."""
        vms = np.flatnonzero((slices > 0) & (server >= 0))
        start, leave = start[vms], leave[vms]
        end = leave + delay
        count = len(vms)
        times = np.concatenate([end, start])
        kinds = np.concatenate([np.zeros(count), np.ones(count)])
        order = np.lexsort((kinds, times))
        codes = np.concatenate([~np.arange(count), np.arange(count)])[order]
        return cls(vms, start, leave, end, slices[vms], server[vms], delay, codes.tolist())


@dataclass(frozen=True)
class Played:
    """What came of a pool."""

    served: Flags
    """The asks that got all of their slices."""
    since: Floats
    """From when on they had them; that of others says nothing."""
    pieces: list[Sequence[tuple[int, int]]]
    """The slices of each ask, as pairs of a unit and a count."""


def play(asks: Asks, units_of: Units, units: int, room: int, *, wait: bool = False) -> Played:
    """Plays units of so many slices each.

    Args:
        asks: what VMs ask.
        units_of: the units of each server.
        units: how many there are.
        room: slices of each unit.
        wait: who does not fit waits for room until its end, and of those who wait the first has it for whom it is
            enough; otherwise it is refused.
    """
    pool = _Pool(asks, units_of, units, room)
    if wait:
        pool.play_waiting()
    elif all(len(each) == 1 for each in units_of):
        pool.play_single()
    else:
        pool.play_linked()
    return Played(np.array(pool.served, dtype=bool), np.array(pool.since, dtype=float), pool.pieces)


class _Pool:
    def __init__(self, asks: Asks, units_of: Units, units: int, room: int) -> None:
        self._asks = asks
        self._slices = asks.slices.tolist()
        self._links = [units_of[server] for server in asks.server.tolist()]
        self._room = room
        self._used = [0] * units
        self.served = [False] * len(asks)
        self.since = asks.start.tolist()
        self.pieces: list[Sequence[tuple[int, int]]] = [_NONE] * len(asks)

    def play_single(self) -> None:
        """Plays servers that are linked to one unit each: there is nothing to choose."""
        used, room, slices, served, pieces = self._used, self._room, self._slices, self.served, self.pieces
        unit_of = [links[0] for links in self._links]
        for event in self._asks.events:
            if event >= 0:
                unit, count = unit_of[event], slices[event]
                if used[unit] + count <= room:
                    used[unit] += count
                    served[event] = True
                    pieces[event] = ((unit, count),)
            elif served[~event]:
                used[unit_of[~event]] -= slices[~event]

    def play_linked(self) -> None:
        """Plays servers that are linked to several."""
        for event in self._asks.events:
            if event >= 0:
                self._take(event)
            else:
                self._give_back(~event)

    def play_waiting(self) -> None:
        """Plays VMs that wait: each is tried again whenever something is given back."""
        waiting: list[int] = []
        for event in self._asks.events:
            if event >= 0:
                if not self._take(event):
                    waiting.append(event)
                continue
            ended = ~event
            if not self.served[ended]:
                if ended in waiting:
                    waiting.remove(ended)
                continue
            self._give_back(ended)
            now = float(self._asks.end[ended])
            for ask in list(waiting):
                if self._asks.leave[ask] > now and self._take(ask):
                    self.since[ask] = now
                    waiting.remove(ask)

    def _take(self, ask: int) -> bool:
        pieces = spread_over(self._links[ask], self._slices[ask], self._used, self._room)
        if pieces is None:
            return False
        for unit, count in pieces:
            self._used[unit] += count
        self.served[ask] = True
        self.pieces[ask] = pieces
        return True

    def _give_back(self, ask: int) -> None:
        if self.served[ask]:
            for unit, count in self.pieces[ask]:
                self._used[unit] -= count


def spread_over(
    links: Sequence[int], slices: int, used: Sequence[int], room: int
) -> list[tuple[int, int]] | None:
    """So many slices, one after the other on the least used of these units; None if they have no room for all.

    One after the other fills the lowest up to the next lowest, and so on: the level that comes of it is worked out. Of
    equally used ones that is first which is first in `links`.
    """
    order = sorted(links, key=used.__getitem__)
    levels = [used[unit] for unit in order]
    count, filled = 1, 0  # how many are filled up to one level, and with how much
    while count < len(order):
        step = (levels[count] - levels[count - 1]) * count
        if filled + step >= slices:
            break
        filled += step
        count += 1
    whole, rest = divmod(slices - filled, count)
    level = levels[count - 1] + whole
    if level + (rest > 0) > room:
        return None
    return [
        (unit, added)
        for at, unit in enumerate(order[:count])
        if (added := level + (at < rest) - levels[at]) > 0
    ]
