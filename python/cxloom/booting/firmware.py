"""What the kernel is told about memory: by the firmware (HMAT) the host's part, by devices and switches (CDAT) theirs.

The kernel adds up the way to a device: host to bridge, switches, device, and a flit on each link. The sum is the idle
read of the simulated system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxloom.booting.machine import Machine, Switch
from cxloom.booting.performance import Performance

LINK_NS = 1
"""What the kernel adds for a link of 64 GT/s with 16 lanes, as all here are: 68 B take 0.53 ns there, rounded up."""


@dataclass(frozen=True)
class Figures:
    """Latency and bandwidth of a part of a way."""

    ns: int
    mb_per_s: int


@dataclass(frozen=True)
class Firmware:
    """The figures of a machine."""

    ram: tuple[Figures, ...]
    """From the processors to each node of RAM."""
    bridges: tuple[Figures, ...]
    """From the processors to each host bridge."""
    switches: Mapping[str, Figures]
    devices: Mapping[str, Figures]


def firmware_of(machine: Machine, performance: Mapping[tuple[str, ...], Performance]) -> Firmware | None:
    """The figures of a machine, given the performance of each node by its memories; None if that of one is not known.

    Devices of a set share its bandwidth. A device of several sets has the figures of the smallest of them, in which it
    shares the least; a bridge or a switch those of the set that gets the most by it.
    """
    nodes = [node.memories for node in machine.ram] + [each.targets for each in machine.sets]
    if any(each not in performance for each in nodes):
        return None
    figures: dict[str, Figures] = {}
    for each in sorted(machine.sets, key=lambda one: len(one.targets)):
        known = performance[each.targets]
        for name in each.targets:
            links = 1 + machine.is_behind_switch(name)
            rest = max(0, known.device_ns - links * LINK_NS)
            figures.setdefault(name, Figures(rest, round(known.mb_per_s / len(each.targets))))
    bridges, switches = [], {}
    for bridge in machine.bridges:
        names = []
        for below in bridge.below:
            its = [each.name for each in below.endpoints] if isinstance(below, Switch) else [below.name]
            names += its
            if isinstance(below, Switch):
                most, ways = _most(machine, performance, its)
                switches[below.name] = Figures(max(each.switch_ns for each in ways), most)
        most, ways = _most(machine, performance, names)
        bridges.append(Figures(max(each.host_ns for each in ways), most))
    ram = [performance[node] for node in nodes[: len(machine.ram)]]
    return Firmware(
        tuple(Figures(each.idle_ns, each.mb_per_s) for each in ram), tuple(bridges), switches, figures
    )


def _most(
    machine: Machine, performance: Mapping[tuple[str, ...], Performance], devices: Sequence[str]
) -> tuple[int, list[Performance]]:
    """The most bandwidth that a set gets by way of these devices, and the performance of all sets that use them."""
    shares, ways = [], []
    for each in machine.sets:
        here = sum(name in devices for name in each.targets)
        if here:
            ways.append(performance[each.targets])
            shares.append(round(ways[-1].mb_per_s * here / len(each.targets)))
    return max(shares), ways
