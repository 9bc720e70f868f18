"""A machine in QEMU's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from cxloom.booting.cdat import device_table, switch_table
from cxloom.booting.firmware import Firmware
from cxloom.booting.machine import Below, Endpoint, HostBridge, Machine, Switch

PROCESSOR = "max,-hypervisor,-erms,-fsrm,-la57"
"""The processor: all that QEMU emulates, but page tables have four levels; string instructions are slow, as memory on
CXL is for the emulator, which takes each of their bytes alone; and a kernel that knows of a hypervisor asks it for
things."""

LINK = {"x-speed": "64", "x-width": "16"}
"""The link that devices say they have. The kernel adds its time to a latency, and has no more bandwidth than it gives;
the time and the bandwidth of the simulated links are in what devices say."""

_LABELS = 1 << 20  # bytes of a device's area of labels, which say what its memory is used for (own choice)
_FIRST_BUS = 12  # the buses before it are left to those of the board
_PORTS_AT_LEAST = 2
"""A bridge or switch with one port has a second, empty one: with one alone the kernel programs no decoder of it, which
those of QEMU need."""


def machine_arguments(
    machine: Machine, firmware: Firmware | None = None, tables: Path = Path(), persistent: bool = False
) -> list[str]:
    """The options that make the machine: board, processor, RAM, and CXL.

    Args:
        firmware: what the kernel is told of latency and bandwidth, if anything.
        tables: the folder where the tables of devices and switches are (`write_tables`).
        persistent: whether the devices say that they keep their memory without power, as a disk of it has to.
    """
    windows = [
        f"cxl-fmw.{number}.{option}"
        for number, each in enumerate(machine.sets)
        for option in (
            *(f"targets.{place}=bridge{bridge}" for place, bridge in enumerate(machine.bridges_of(each))),
            f"size={each.size}",
            f"interleave-granularity={each.granularity}",
        )
    ]
    board = ["q35", "cxl=on", *(["hmat=on"] if firmware is not None else []), *windows]
    options = [
        "-machine",
        ",".join(board),
        "-accel",
        "tcg",
        "-cpu",
        PROCESSOR,
        "-smp",
        f"{machine.processors}",
    ]
    options += ["-m", f"{sum(node.size for node in machine.ram)}B"]
    processors = "0" if machine.processors == 1 else f"0-{machine.processors - 1}"
    for number, node in enumerate(machine.ram):
        cpus = f",cpus={processors}" if number == 0 else ""
        options += ["-object", _memory(f"ram{number}", node.size)]
        options += ["-numa", f"node,nodeid={number},memdev=ram{number}{cpus}"]
    for endpoint in machine.endpoints():
        options += ["-object", _memory(f"memory{endpoint.serial}", endpoint.capacity)]
        options += ["-object", _memory(f"labels{endpoint.serial}", _LABELS)] if persistent else []
    cdat = {} if firmware is None else {name: tables / file for name, file in table_files(machine).items()}
    options += _devices(machine, cdat, persistent)
    return options if firmware is None else [*options, *_told(machine, firmware)]


def table_files(machine: Machine) -> dict[str, str]:
    """The file of the table of each device and each switch, by its name."""
    files = {endpoint.name: f"device{endpoint.serial}.cdat" for endpoint in machine.endpoints()}
    switches = [below for bridge in machine.bridges for below in bridge.below if isinstance(below, Switch)]
    return files | {switch.name: f"switch{number}.cdat" for number, switch in enumerate(switches)}


def write_tables(machine: Machine, firmware: Firmware, folder: Path) -> None:
    """Writes the tables of devices and switches. Raises OSError."""
    files = table_files(machine)
    for bridge in machine.bridges:
        for below in bridge.below:
            if isinstance(below, Switch):
                figures = firmware.switches[below.name]
                ports = _ports(len(below.endpoints))
                (folder / files[below.name]).write_bytes(switch_table(ports, figures.ns, figures.mb_per_s))
    for endpoint in machine.endpoints():
        figures = firmware.devices[endpoint.name]
        table = device_table(endpoint.capacity, figures.ns, figures.mb_per_s)
        (folder / files[endpoint.name]).write_bytes(table)


def _told(machine: Machine, firmware: Firmware) -> Iterator[str]:
    """The host's part: from the processors to RAM, and to host bridges, each of which is a node without memory.

    The kernel gives windows the first numbers that RAM leaves, whether a host bridge has one of them or not, and would
    take the figures of that bridge for those of the window's memory. So these numbers are left to the windows.
    """
    windows = len(machine.ram)
    ports = windows + len(machine.sets)
    for number in range(windows, ports):
        yield from ("-numa", f"node,nodeid={number}")
    for number, _ in enumerate(machine.bridges):
        yield from ("-numa", f"node,nodeid={ports + number}")
        yield from (
            "-object",
            f"acpi-generic-port,id=way{number},pci-bus=bridge{number},node={ports + number}",
        )
    targets = [*enumerate(firmware.ram), *enumerate(firmware.bridges, ports)]
    for node, figures in targets:
        kind = f"hmat-lb,initiator=0,target={node},hierarchy=memory,data-type=access"
        yield from ("-numa", f"{kind}-latency,latency={figures.ns}")
        yield from ("-numa", f"{kind}-bandwidth,bandwidth={figures.mb_per_s}M")


def _memory(name: str, size: int) -> str:
    """Memory of the guest takes memory of this computer where it is touched, and not before."""
    return f"memory-backend-ram,id={name},size={size}B,reserve=off"


def _devices(machine: Machine, cdat: Mapping[str, Path], persistent: bool) -> Iterator[str]:
    bus, port = _FIRST_BUS, 0
    for number, bridge in enumerate(machine.bridges):
        name = f"bridge{number}"
        yield from _device("pxb-cxl", id=name, bus="pcie.0", bus_nr=bus)
        bus += 1 + _buses(bridge)
        for place in range(_ports(len(bridge.below))):
            root_port = f"{name}.port{place}"
            # `port` is what the kernel tells the targets of a decoder by, `slot` with `chassis` what it is
            # plugged into.
            yield from _device(
                "cxl-rp", id=root_port, bus=name, port=place, chassis=number, slot=place, **LINK
            )
            port += 1
            if place < len(bridge.below):
                yield from _below(root_port, bridge.below[place], 128 + port, cdat, persistent)


def _below(
    root_port: str, below: Below, chassis: int, cdat: Mapping[str, Path], persistent: bool
) -> Iterator[str]:
    if isinstance(below, Endpoint):
        yield from _endpoint(root_port, below, cdat, persistent)
        return
    yield from _device(
        "cxl-upstream", id=f"{root_port}.up", bus=root_port, **LINK, **_table(below.name, cdat)
    )
    for place in range(_ports(len(below.endpoints))):
        name = f"{root_port}.down{place}"
        yield from _device(
            "cxl-downstream", id=name, bus=f"{root_port}.up", port=place, chassis=chassis, slot=place, **LINK
        )
        if place < len(below.endpoints):
            yield from _endpoint(name, below.endpoints[place], cdat, persistent)


def _endpoint(bus: str, endpoint: Endpoint, cdat: Mapping[str, Path], persistent: bool) -> Iterator[str]:
    memory = {"volatile-memdev": f"memory{endpoint.serial}"}
    if persistent:
        memory = {"persistent-memdev": f"memory{endpoint.serial}", "lsa": f"labels{endpoint.serial}"}
    table = _table(endpoint.name, cdat)
    name = f"device{endpoint.serial}"
    yield from _device("cxl-type3", id=name, bus=bus, **memory, sn=endpoint.serial, **LINK, **table)


def _table(name: str, cdat: Mapping[str, Path]) -> dict[str, str]:
    """The property with the table of a device, if there is one; a comma in a path is doubled."""
    return {"cdat": str(cdat[name]).replace(",", ",,")} if name in cdat else {}


def _device(kind: str, **properties: str | int) -> Iterator[str]:
    yield "-device"
    yield ",".join([kind, *(f"{key}={value}" for key, value in properties.items())])


def _ports(below: int) -> int:
    return max(_PORTS_AT_LEAST, below)


def _buses(bridge: HostBridge) -> int:
    """Buses below a bridge: one below each root port, and in a switch one, and one below each of its ports."""
    count = _ports(len(bridge.below))
    for below in bridge.below:
        if isinstance(below, Switch):
            count += 1 + _ports(len(below.endpoints))
    return count
