"""What a design is made of, and what its parts cost."""

from __future__ import annotations

from dataclasses import dataclass

from cxloom.planning.designs import Design, NoPool, Switched
from cxloom.planning.prices import Prices
from cxloom.planning.reach import Reach
from cxloom.planning.units import GIB


@dataclass(frozen=True)
class Parts:
    """Parts that are bought, by the words of `Prices`."""

    dram_gib: float
    pool_dram_gib: float = 0.0
    devices: int = 0
    heads: int = 0
    switch_ports: int = 0
    cables: int = 0
    retimers: int = 0


def parts_of(design: Design, reach: Reach, servers: int, dram: float, device: float) -> Parts:
    """The parts of a design, with so many bytes of DRAM in each server, and in each device."""
    local = servers * dram / GIB
    if isinstance(design, NoPool):
        return Parts(local)
    count = reach.device_count
    if isinstance(design, Switched):
        heads, links = count, servers + count
        used = servers // reach.units + reach.devices
        ports = reach.units * (design.ports if design.ports is not None else used)
    else:
        links = sum(len(units) for units in reach.units_of) * reach.devices
        heads, ports = links, 0
    return Parts(local, count * device / GIB, count, heads, ports, links, links * design.retimers)


def price_of(design: Design, parts: Parts, prices: Prices) -> dict[str, float]:
    """The price of each part, and all together (`total`)."""
    pool_gib = prices.dram_per_gib if prices.pool_dram_per_gib is None else prices.pool_dram_per_gib
    devices = parts.devices * prices.device + parts.heads * prices.head
    if not isinstance(design, NoPool) and design.device_price is not None:
        devices = parts.devices * design.device_price
    costs = {
        "dram": parts.dram_gib * prices.dram_per_gib,
        "pool_dram": parts.pool_dram_gib * pool_gib,
        "devices": devices,
        "switch_ports": parts.switch_ports * prices.switch_port,
        "cables": parts.cables * prices.cable,
        "retimers": parts.retimers * prices.retimer,
    }
    return {**costs, "total": sum(costs.values())}
