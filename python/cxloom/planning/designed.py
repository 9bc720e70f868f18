"""What a design comes to for VMs that are placed: sizes, what is stranded, who is refused, latency and cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cxloom.base.errors import SimulationError
from cxloom.planning.allocation import UNLIMITED, Asks
from cxloom.planning.batches import interval_of
from cxloom.planning.bought import Bought
from cxloom.planning.bound import bound
from cxloom.planning.demand import Counts, Flags, Floats, slices_of
from cxloom.planning.designs import Design, NoPool
from cxloom.planning.latency import latency_of
from cxloom.planning.parts import parts_of, price_of
from cxloom.planning.placement import Placed
from cxloom.planning.plan_file import Plan
from cxloom.planning.reach import Reach, reach_of
from cxloom.planning.sizing import Pools, sized, sum_of_peaks
from cxloom.planning.stranding import InUse, sold_out, stranded_dram
from cxloom.planning.units import GIB
from cxloom.planning.worst import worst_minute

_MIB = float(2**20)
"""DRAM of a server is sized in such steps (own choice)."""


@dataclass
class Designed:
    """A design of a plan, for VMs that are placed."""

    plan: Plan
    name: str
    placed: Placed
    design: Design = field(init=False)
    reach: Reach = field(init=False)
    piece: float = field(init=False)
    """Bytes of a slice."""
    local: Floats = field(init=False)
    """Bytes of DRAM of each VM."""
    pooled: Counts = field(init=False)
    """Slices of each VM."""

    def __post_init__(self) -> None:
        demand = self.placed.demand
        self.design = self.plan.designs[self.name]
        self.reach = reach_of(self.design, self.plan.servers.count)
        if isinstance(self.design, NoPool):
            self.piece = GIB
            self.local = demand.memory
            self.pooled = np.zeros(len(demand), dtype=np.int64)
            return
        self.piece = float(self.design.slice)
        self.local = demand.memory - demand.memory * demand.pool_share
        self.pooled = slices_of(demand, self.piece)

    def found(self, seed: int, *, with_latency: bool) -> dict[str, Any]:
        """All results, by their names in ``docs/plan.md``."""
        plan, count = self.plan, self.reach.device_count
        own = self._dram_pools()
        pool = self._device_pools(self.placed.runs, self.placed.start)
        dram_size = sized(own, plan.sizing.probability)
        counted = pool.within()
        free = counted.played(UNLIMITED)  # serves all: of it are the bound and the interval
        least, is_exact = bound(counted, free)
        per_device = -(-least // self.reach.devices) if self.reach.devices else 0
        pool_size = sized(pool, plan.sizing.probability, per_device)
        bought = self._bought(own, dram_size.enough, pool_size.enough)
        parts = parts_of(self.design, self.reach, plan.servers.count, bought.dram, bought.device)
        return {
            "dram": {
                "per_server_bytes": bought.dram,
                "always_bytes": dram_size.always * _MIB,
                "all_bytes": plan.servers.count * bought.dram,
                "sum_of_peaks_bytes": sum_of_peaks(own.within().asks) * _MIB,
            },
            "pool": {
                "devices": count,
                "per_device_bytes": bought.device,
                "bytes": count * bought.device,
                "always_bytes": count * pool_size.always * self.piece,
                "bound_bytes": count * per_device * self.piece,
                "bound_is_exact": is_exact,
                "sum_of_peaks_bytes": sum_of_peaks(counted.asks) * self.piece,
                **bought.use(),
                **interval_of(counted, free, plan, self.piece, seed),
            },
            "bought_bytes": bought.all_bytes,
            "vms": bought.vms(),
            "stranded": bought.stranded(),
            "today": self._today(),
            "latency": self._latency(bought, seed) if with_latency else None,
            "parts": vars(parts),
            "price": price_of(self.design, parts, plan.prices),
            "curve": {
                "pool": [[count * room * self.piece, share] for room, share in pool_size.curve if count],
                "dram": [[room * _MIB, share] for room, share in dram_size.curve],
            },
            "course": bought.course(),
        }

    def _bought(self, own: Pools, dram: int, device: int) -> Bought:
        """The design with so many steps of DRAM in each server and slices in each device, played."""
        wait = self.plan.servers.when_full == "wait"
        of_dram = own.played(dram, wait=wait)
        runs, since = self.placed.runs.copy(), self.placed.start.copy()
        runs[own.asks.vms[~of_dram.served]] = False
        since[own.asks.vms] = of_dram.since
        refused_by_dram = self.placed.runs & ~runs
        pool = self._device_pools(runs, since)
        of_pool = pool.played(device, wait=wait)
        refused_by_pool = np.zeros(len(runs), dtype=bool)
        refused_by_pool[pool.asks.vms[~of_pool.served]] = True
        since[pool.asks.vms] = of_pool.since
        return Bought(
            InUse(self.placed, runs & ~refused_by_pool, since),
            self.plan.servers,
            self.reach,
            self.local,
            pool.asks,
            of_pool,
            self.piece,
            dram * _MIB,
            device * self.piece,
            refused_by_dram,
            refused_by_pool,
        )

    def _dram_pools(self) -> Pools:
        """Servers' DRAM is a pool of its own for each server, in steps of a MiB."""
        demand, servers = self.placed.demand, self.plan.servers.count
        steps = np.ceil(self.local / _MIB - 1e-9).astype(np.int64)
        asks = Asks.of(self.placed.start, demand.end, steps, self.placed.server)
        own = tuple((server,) for server in range(servers))
        return Pools(asks, own, servers, 1, demand, self.plan.sizing.of)

    def _device_pools(self, runs: Flags, start: Floats) -> Pools:
        demand = self.placed.demand
        delay = 0.0 if isinstance(self.design, NoPool) else self.design.release_delay
        slices = np.where(runs, self.pooled, 0)
        asks = Asks.of(start, demand.end, slices, self.placed.server, delay)
        units = self.reach
        return Pools(asks, units.units_of, units.units, units.devices, demand, self.plan.sizing.of)

    def _today(self) -> dict[str, Any] | None:
        """What is stranded of the DRAM that servers have today, with all memory in it."""
        servers = self.plan.servers
        if servers.dram is None:
            return None
        in_use = InUse(self.placed, self.placed.runs, self.placed.start)
        sold = sold_out(in_use, servers.count, servers.cores, servers.spare_cores)
        level = stranded_dram(in_use, sold, self.placed.demand.memory, servers.dram)
        whole = servers.count * servers.dram
        return {
            "dram_bytes": whole,
            "stranded_mean_share": level.mean() / whole,
            "stranded_p95_share": level.quantile(0.95) / whole,
        }

    def _latency(self, bought: Bought, seed: int) -> dict[str, Any] | None:
        traffic, template = self.plan.traffic, self.plan.template(self.name)
        if traffic is None or isinstance(self.design, NoPool) or template is None:
            return None
        demand = self.placed.demand
        worst = worst_minute(
            bought.asks, bought.played, self.reach, traffic, self.piece, demand.begin, demand.finish
        )
        if worst is None:
            return None
        try:
            return latency_of(self.design, self.reach, template, worst, traffic, seed)
        except SimulationError as error:
            return {"notes": [f"the simulation did not finish: {error}".partition("\n")[0]]}
