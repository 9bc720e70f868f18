"""A design with the memory that was bought for it: who is refused, what is in use, and what is stranded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cxloom.planning.allocation import Asks, Played
from cxloom.planning.demand import Flags, Floats
from cxloom.planning.inputs import Servers
from cxloom.planning.levels import Level
from cxloom.planning.reach import Reach
from cxloom.planning.stranding import InUse, sold_out, stranded_dram, stranded_pool, unit_steps

_POINTS = 240
"""Instants of the course over time that are kept for the picture."""


@dataclass(frozen=True)
class Bought:
    """A design that is played with its memory."""

    in_use: InUse
    servers: Servers
    reach: Reach
    local: Floats
    """Bytes of DRAM of each VM."""
    asks: Asks
    """What VMs that have their DRAM ask of devices."""
    played: Played
    piece: float
    """Bytes of a slice."""
    dram: float
    """Bytes of each server."""
    device: float
    """Bytes of each device."""
    refused_by_dram: Flags
    refused_by_pool: Flags

    @property
    def all_bytes(self) -> float:
        """All memory that is bought."""
        return self.servers.count * self.dram + self.reach.device_count * self.device

    @cached_property
    def _pool_level(self) -> Level:
        steps = unit_steps(self.asks, self.played, self.reach.units)
        times = np.concatenate([each[0] for each in steps]) if steps else np.zeros(0)
        counts = np.concatenate([each[1] for each in steps]) if steps else np.zeros(0)
        return self.in_use.level(times, counts * self.piece)

    @cached_property
    def _stranded_levels(self) -> tuple[Level, Level]:
        """The levels of DRAM and of devices."""
        of = self.servers
        sold = sold_out(self.in_use, of.count, of.cores, of.spare_cores)
        unit = self.device * self.reach.devices
        return (
            stranded_dram(self.in_use, sold, self.local, self.dram),
            stranded_pool(self.in_use, sold, self.reach, self.asks, self.played, unit, self.piece),
        )

    def use(self) -> dict[str, Any]:
        """How much of the devices is in use."""
        level, whole = self._pool_level, self.reach.device_count * self.device
        return {
            "used_mean_bytes": level.mean(),
            "used_peak_bytes": level.peak(),
            "used_mean_share": level.mean() / whole if whole else None,
        }

    def stranded(self) -> dict[str, Any]:
        """What nobody can use."""
        local, shared = self._stranded_levels
        whole = self.all_bytes
        return {
            "dram_mean_bytes": local.mean(),
            "dram_p95_bytes": local.quantile(0.95),
            "pool_mean_bytes": shared.mean(),
            "mean_share": (local.mean() + shared.mean()) / whole if whole else None,
        }

    def vms(self) -> dict[str, Any]:
        """What became of the VMs that are counted."""
        placed = self.in_use.placed
        demand = placed.demand
        counted = demand.counted
        waited = self.in_use.runs & counted & (self.in_use.since > demand.start)
        waits = (self.in_use.since - demand.start)[waited]
        return {
            "asked": int(counted.sum()),
            "refused": int((counted & ~self.in_use.runs).sum()),
            "refused_by_servers": int((counted & ~placed.runs).sum()),
            "too_large": int((counted & self._too_large).sum()),
            "refused_by_dram": int((counted & self.refused_by_dram).sum()),
            "refused_by_pool": int((counted & self.refused_by_pool).sum()),
            "waited": int(waited.sum()),
            "wait_mean_s": float(waits.mean()) if len(waits) else None,
        }

    @property
    def _too_large(self) -> Flags:
        """The VMs that no server takes, empty as it may be."""
        demand, servers = self.in_use.placed.demand, self.servers
        of_dram = demand.memory > servers.dram if servers.dram is not None else False
        return np.asarray((demand.cores > servers.cores) | of_dram)

    def course(self) -> dict[str, list[float]]:
        """What is in use and stranded at instants from the beginning to the end of what is counted."""
        demand = self.in_use.placed.demand
        instants = np.linspace(demand.begin, demand.finish, _POINTS, endpoint=False)
        times, steps, _ = self.in_use.steps(self.local)
        local, shared = self._stranded_levels
        return {
            "at_s": instants.tolist(),
            "pool_used_bytes": self._pool_level.at(instants).tolist(),
            "dram_used_bytes": self.in_use.level(times, steps).at(instants).tolist(),
            "stranded_bytes": (local.at(instants) + shared.at(instants)).tolist(),
        }
