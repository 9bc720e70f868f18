"""Which server may use which devices of a design.

Devices that all of the same servers are linked to are one unit: an allocator may give any slice of any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.planning.designs import Design, Direct, MultiHeaded, NoPool, Sparse, Switched

MOST_DEALT = 512
"""Servers of a graph that is dealt at most (own choice: some seconds)."""


@dataclass(frozen=True)
class Reach:
    """The units of a design, and the servers that are linked to them."""

    units_of: tuple[tuple[int, ...], ...]
    """The units that each server is linked to."""
    units: int
    devices: int
    """Devices of a unit, each with links to all of its servers."""

    @property
    def device_count(self) -> int:
        """All devices."""
        return self.units * self.devices

    def servers_of(self) -> list[list[int]]:
        """The servers of each unit."""
        found: list[list[int]] = [[] for _ in range(self.units)]
        for server, units in enumerate(self.units_of):
            for unit in units:
                found[unit].append(server)
        return found


def reach_of(design: Design, servers: int) -> Reach:
    """The links of a design. Raises InputError, with the key, for numbers that do not go together."""
    if isinstance(design, NoPool):
        return Reach(tuple(() for _ in range(servers)), 0, 0)
    if isinstance(design, Direct):
        return Reach(tuple((server,) for server in range(servers)), servers, design.devices)
    if isinstance(design, Sparse):
        lists = sparse_lists(design, servers)
        return Reach(lists, 1 + max(unit for units in lists for unit in units), 1)
    if isinstance(design, MultiHeaded):
        together = design.heads
    else:
        together = servers if design.servers is None else design.servers
        _check_ports(design, together)
    key = "heads" if isinstance(design, MultiHeaded) else "servers"
    if servers % together:
        raise InputError(
            f"{counted(servers, 'server')} are not shared out evenly",
            found=f"{together} to a pool",
            allowed=f"a divisor of {servers}",
            path=key,
        )
    return Reach(
        tuple((server // together,) for server in range(servers)), servers // together, design.devices
    )


def _check_ports(design: Switched, together: int) -> None:
    used = together + design.devices
    if design.ports is not None and used > design.ports:
        raise InputError(
            "more servers and devices than the switch has ports",
            found=f"{together} + {design.devices}",
            allowed=f"{design.ports} together, or fewer servers to a switch",
            path="ports",
        )


@lru_cache(maxsize=64)
def sparse_lists(design: Sparse, servers: int) -> tuple[tuple[int, ...], ...]:
    """The devices of each server. Raises InputError."""
    if not isinstance(design.graph, str):
        return _written(design.graph, design, servers)
    if design.links is None or design.heads is None:
        missing = "links" if design.links is None else "heads"
        raise InputError(
            f"'{missing}' is missing", allowed="links of each server and heads of each device", path=""
        )
    ports = servers * design.links
    if ports % design.heads:
        raise InputError(
            "the links of all servers do not fill whole devices",
            found=f"{servers} x {design.links} links, {design.heads} heads",
            allowed=f"a divisor of {ports}",
            path="heads",
        )
    devices = ports // design.heads
    if design.links > devices:
        raise InputError(
            "more links of a server than devices",
            found=f"{design.links}",
            allowed=f"at most {devices}, with {design.heads} heads to a device",
            path="links",
        )
    if servers > MOST_DEALT:
        raise InputError(
            "too many servers for a graph that is dealt",
            found=f"{servers:,}",
            allowed=f"at most {MOST_DEALT:,}, or a graph as a list of devices for each server",
            path="graph",
        )
    rng = np.random.default_rng(design.graph_seed)
    return _dealt(servers, design.links, devices, design.heads, rng, spread=design.graph == "spread")


def _written(graph: Sequence[tuple[int, ...]], design: Sparse, servers: int) -> tuple[tuple[int, ...], ...]:
    if design.links is not None or design.heads is not None:
        key = "links" if design.links is not None else "heads"
        raise InputError("a number beside a graph that says it", allowed="one of both", path=key)
    if len(graph) != servers:
        raise InputError(
            "not a list of devices for each server",
            found=counted(len(graph), "list"),
            allowed=f"{servers}",
            path="graph",
        )
    known = {unit for units in graph for unit in units}
    for server, units in enumerate(graph):
        if not units or len(set(units)) < len(units):
            raise InputError(
                f"the devices of server {server}",
                found=str(list(units)),
                allowed="at least one, none twice",
                path="graph",
            )
    if known != set(range(len(known))):
        missing = min(set(range(max(known) + 1)) - known)
        raise InputError(
            "a design with a device that no server is linked to",
            found=f"no {missing}",
            allowed="devices counted from 0, without gaps",
            path="graph",
        )
    return tuple(graph)


def _dealt(
    servers: int, links: int, devices: int, heads: int, rng: np.random.Generator, *, spread: bool
) -> tuple[tuple[int, ...], ...]:
    """Devices dealt to servers one after the other, of those with the most heads free, drawn among equals.

    With `spread` such are preferred whose servers share the fewest devices with this one. Taking the fullest last, no
    server is left without enough devices: heads that are free differ by one at most between devices.
    """
    free = np.full(devices, heads)
    on: list[list[int]] = [[] for _ in range(devices)]
    shared = np.zeros((servers, servers), dtype=np.int64)
    dealt = []
    for server in rng.permutation(servers):
        mine: list[int] = []
        for _ in range(links):
            open_ones = np.array([unit for unit in range(devices) if unit not in mine])
            most = open_ones[free[open_ones] == free[open_ones].max()]
            if spread:
                cost = [int(sum(shared[server, other] for other in on[unit])) for unit in most]
                most = most[np.array(cost) == min(cost)]
            unit = int(rng.choice(most))
            for other in on[unit]:
                shared[server, other] += 1
                shared[other, server] += 1
            mine.append(unit)
            free[unit] -= 1
        for unit in mine:
            on[unit].append(int(server))
        dealt.append((int(server), tuple(sorted(mine))))
    return tuple(units for _, units in sorted(dealt))
