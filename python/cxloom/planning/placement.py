"""The scheduler: which server each VM runs on, by the cores that are free, and the DRAM where that is limited."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cxloom.planning.demand import ANY, Counts, Demand, Flags, Floats
from cxloom.planning.inputs import Servers

REFUSED = -1
"""The server of a VM that runs nowhere."""


@dataclass(frozen=True)
class Placed:
    """Where VMs run, and from when on. No design changes it: all are compared for the same VMs on the same servers."""

    demand: Demand
    server: Counts
    """The server of each VM; `REFUSED`: none."""
    start: Floats
    """When it starts; later than it was asked for if it waited."""

    @property
    def runs(self) -> Flags:
        """The VMs that run."""
        return np.asarray(self.server != REFUSED)


def placed(demand: Demand, servers: Servers) -> Placed:
    """Plays the scheduler: a core is sold once, and a VM stays where it is."""
    scheduler = _Scheduler(demand, servers)
    scheduler.play()
    return Placed(demand, scheduler.server, scheduler.start)


class _Scheduler:
    """VMs come in the order of their starts; of those that end at the same instant all are gone before."""

    def __init__(self, demand: Demand, servers: Servers) -> None:
        self._demand = demand
        self._rule = servers.placement
        self._waits = servers.when_full == "wait"
        self._cores = np.full(servers.count, servers.cores, dtype=np.int64)
        self._dram = None if servers.dram is None else np.full(servers.count, float(servers.dram))
        self._queue: deque[int] = deque()
        self._ends: list[tuple[float, int]] = []
        self.server = np.full(len(demand), REFUSED, dtype=np.int64)
        self.start = demand.start.copy()

    def play(self) -> None:
        """Places all VMs."""
        for vm, now in enumerate(self._demand.start.tolist()):
            self._end_until(now)
            if self._waits:
                heapq.heappush(self._ends, (float(self._demand.end[vm]), vm))  # it ends, wherever it is then
                self._queue.append(vm)
                self._let_in(now)
            elif self._put(vm, now):
                heapq.heappush(self._ends, (float(self._demand.end[vm]), vm))
        while self._queue and self._ends:
            self._end_until(self._ends[0][0])

    def _end_until(self, now: float) -> None:
        """VMs end, whether they run or wait, and others come in."""
        ends = self._ends
        while ends and ends[0][0] <= now:
            at = ends[0][0]
            for vm in self._ended(at):
                where = self.server[vm]
                if where == REFUSED:
                    continue
                self._cores[where] += self._demand.cores[vm]
                if self._dram is not None:
                    self._dram[where] += self._demand.memory[vm]
            self._let_in(at)

    def _let_in(self, now: float) -> None:
        """VMs that wait come in, first come first served: nobody passes who came before."""
        while self._queue:
            head = self._queue[0]
            if self._demand.end[head] > now and not self._put(head, now):
                break
            self._queue.popleft()  # it runs now, or its time is over

    def _ended(self, at: float) -> Iterator[int]:
        while self._ends and self._ends[0][0] == at:
            yield heapq.heappop(self._ends)[1]

    def _put(self, vm: int, now: float) -> bool:
        """Whether the VM has a server now."""
        where = self._where(vm)
        if where == REFUSED:
            return False
        self.server[vm], self.start[vm] = where, now
        self._cores[where] -= self._demand.cores[vm]
        if self._dram is not None:
            self._dram[where] -= self._demand.memory[vm]
        return True

    def _where(self, vm: int) -> int:
        wanted, cores = self._demand.cores[vm], self._cores
        room = cores >= wanted
        if self._dram is not None:
            room &= self._dram >= self._demand.memory[vm]
        own = int(self._demand.server[vm])
        if own != ANY:
            return own if room[own] else REFUSED
        if self._rule == "first-fit":
            best = int(room.argmax())
        elif self._rule == "best-fit":
            best = int(np.where(room, cores, np.iinfo(np.int64).max).argmin())
        else:
            best = int(np.where(room, cores, -1).argmax())
        return best if room[best] else REFUSED
