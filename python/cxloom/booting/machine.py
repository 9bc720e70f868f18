"""A machine as QEMU can have it: nodes of RAM, host bridges with root ports, switches, Type-3 devices,
interleave sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cxloom.base.granules import MIB

UNIT = 256 * MIB
"""The unit of capacities and of windows of CXL memory (CXL 3.x, 8.1.3.8.2 and 9.18.1.3)."""


@dataclass(frozen=True)
class Span:
    """A part of the simulated system's addresses."""

    base: int
    size: int


@dataclass(frozen=True)
class RamNode:
    """A NUMA node of the host's own memory. The first has the processors."""

    memories: tuple[str, ...]
    """The memories of the spec that it stands for; none for RAM that a system without memory of its own was given."""
    size: int
    spans: tuple[Span, ...] = ()
    """Where it is in the address map, in the order in which it has them; nowhere if it was given."""


@dataclass(frozen=True)
class Endpoint:
    """A Type-3 device."""

    name: str
    capacity: int
    serial: int
    """By which it is known in the guest."""


@dataclass(frozen=True)
class Switch:
    """A switch with one upstream port and a downstream port for each device."""

    name: str
    endpoints: tuple[Endpoint, ...]


Below = Endpoint | Switch
"""What hangs on a root port."""


@dataclass(frozen=True)
class HostBridge:
    """A CXL host bridge with a root port for each of what is below it."""

    name: str
    below: tuple[Below, ...]


@dataclass(frozen=True)
class InterleaveSet:
    """A region of the address map over one or several devices: a window of host addresses, and a node of the guest."""

    place: str
    """The region's place in the spec, such as `address_map[1]`."""
    targets: tuple[str, ...]
    """The devices in the order of the interleave."""
    granularity: int
    size: int
    base: int = 0
    """Where the address map has it."""


@dataclass(frozen=True)
class Machine:
    """One host with what it can reach."""

    host: str
    ram: tuple[RamNode, ...]
    bridges: tuple[HostBridge, ...]
    sets: tuple[InterleaveSet, ...]
    notes: tuple[str, ...] = ()
    """What is not as the spec has it."""
    processors: int = 1
    """In the first node of RAM."""

    def endpoints(self) -> Iterator[Endpoint]:
        """All devices, in the order of bridges and ports."""
        for bridge in self.bridges:
            for below in bridge.below:
                yield from below.endpoints if isinstance(below, Switch) else (below,)

    def route(self, device: str) -> tuple[int, int]:
        """The numbers of the bridge and of the root port below which a device is."""
        return next(
            (number, port)
            for number, bridge in enumerate(self.bridges)
            for port, below in enumerate(bridge.below)
            if device in [each.name for each in (below.endpoints if isinstance(below, Switch) else (below,))]
        )

    def is_behind_switch(self, device: str) -> bool:
        """Whether there is a switch before a device."""
        bridge, port = self.route(device)
        return isinstance(self.bridges[bridge].below[port], Switch)

    def bridges_of(self, wanted: InterleaveSet) -> tuple[int, ...]:
        """The bridges that a set goes round first, in their order."""
        return tuple(dict.fromkeys(self.route(target)[0] for target in wanted.targets))

    @property
    def bytes(self) -> int:
        """All memory of the machine."""
        return sum(node.size for node in self.ram) + sum(each.capacity for each in self.endpoints())
