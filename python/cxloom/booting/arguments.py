"""A machine in QEMU's words."""

from __future__ import annotations

from collections.abc import Iterator

from cxloom.booting.machine import Below, Endpoint, HostBridge, Machine, Switch

PROCESSOR = "max,-hypervisor,-erms,-fsrm"
"""The processor: all that QEMU emulates, but string instructions are slow, as memory on CXL is for the emulator,
which takes
each of their bytes alone; and a kernel that knows of a hypervisor asks it for things."""

_FIRST_BUS = 12  # the buses before it are left to those of the board
_PORTS_AT_LEAST = 2
"""A bridge or switch with one port has a second, empty one: with one alone the kernel programs no decoder of it, which
those of QEMU need."""


def machine_arguments(machine: Machine) -> list[str]:
    """The options that make the machine: board, processor, RAM, and CXL."""
    windows = [
        f"cxl-fmw.{number}.{option}"
        for number, each in enumerate(machine.sets)
        for option in (
            *(f"targets.{place}=bridge{bridge}" for place, bridge in enumerate(machine.bridges_of(each))),
            f"size={each.size}",
            f"interleave-granularity={each.granularity}",
        )
    ]
    options = [
        "-machine",
        ",".join(["q35", "cxl=on", *windows]),
        "-accel",
        "tcg",
        "-cpu",
        PROCESSOR,
        "-smp",
        "1",
    ]
    options += ["-m", f"{sum(node.size for node in machine.ram)}B"]
    for number, node in enumerate(machine.ram):
        cpus = ",cpus=0" if number == 0 else ""
        options += ["-object", _memory(f"ram{number}", node.size)]
        options += ["-numa", f"node,nodeid={number},memdev=ram{number}{cpus}"]
    for endpoint in machine.endpoints():
        options += ["-object", _memory(f"memory{endpoint.serial}", endpoint.capacity)]
    return [*options, *_devices(machine)]


def _memory(name: str, size: int) -> str:
    """Memory of the guest takes memory of this computer where it is touched, and not before."""
    return f"memory-backend-ram,id={name},size={size}B,reserve=off"


def _devices(machine: Machine) -> Iterator[str]:
    bus, port = _FIRST_BUS, 0
    for number, bridge in enumerate(machine.bridges):
        name = f"bridge{number}"
        yield from _device("pxb-cxl", id=name, bus="pcie.0", bus_nr=bus)
        bus += 1 + _buses(bridge)
        for place in range(max(_PORTS_AT_LEAST, len(bridge.below))):
            root_port = f"{name}.port{place}"
            # `port` is what the kernel tells the targets of a decoder by, `slot` with `chassis` what it is
            # plugged into.
            yield from _device("cxl-rp", id=root_port, bus=name, port=place, chassis=number, slot=place)
            port += 1
            if place < len(bridge.below):
                yield from _below(root_port, bridge.below[place], 128 + port)


def _below(root_port: str, below: Below, chassis: int) -> Iterator[str]:
    if isinstance(below, Endpoint):
        yield from _endpoint(root_port, below)
        return
    yield from _device("cxl-upstream", id=f"{root_port}.up", bus=root_port)
    for place in range(max(_PORTS_AT_LEAST, len(below.endpoints))):
        downstream = f"{root_port}.down{place}"
        yield from _device(
            "cxl-downstream", id=downstream, bus=f"{root_port}.up", port=place, chassis=chassis, slot=place
        )
        if place < len(below.endpoints):
            yield from _endpoint(downstream, below.endpoints[place])


def _endpoint(bus: str, endpoint: Endpoint) -> Iterator[str]:
    name = f"device{endpoint.serial}"
    yield from _device(
        "cxl-type3", id=name, bus=bus, **{"volatile-memdev": f"memory{endpoint.serial}"}, sn=endpoint.serial
    )


def _device(kind: str, **properties: str | int) -> Iterator[str]:
    yield "-device"
    yield ",".join([kind, *(f"{key}={value}" for key, value in properties.items())])


def _buses(bridge: HostBridge) -> int:
    """Buses below a bridge: one below each root port, and in a switch one, and one below each of its ports."""
    count = max(_PORTS_AT_LEAST, len(bridge.below))
    for below in bridge.below:
        if isinstance(below, Switch):
            count += 1 + max(_PORTS_AT_LEAST, len(below.endpoints))
    return count
