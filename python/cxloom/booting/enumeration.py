"""How the kernel finds CXL devices and sets them up: its accesses to them, by step and device."""

from __future__ import annotations

import base64
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxloom.booting.guest import Guest
from cxloom.booting.io_time import CONFIGURATION_BYTES, IoTimes, Packet
from cxloom.booting.machine import Machine, Switch
from cxloom.booting.reach import Network
from cxloom.booting.tracing import Traced

SPACES = ("configuration", "component", "device")
"""Configuration space; component registers, where decoders are; device registers, where the mailbox is."""
ABSENT = "no device"
"""Whom an access is for that looks for devices where there are none."""

_BAR_SPACES = {0: "component", 2: "device"}
"""What the base address registers of CXL devices lead to, as QEMU has them."""


@dataclass(frozen=True)
class Access:
    """An access of the kernel to a device."""

    step: str
    device: str
    space: str
    """One of SPACES."""
    register: int
    """Its place in that space."""
    is_write: bool
    value: int
    """What was read or written."""
    size: int = CONFIGURATION_BYTES
    """Bytes that were."""

    @property
    def is_posted(self) -> bool:
        """Whether nobody waits for its end: a write of registers in memory. One of configuration space is answered."""
        return self.is_write and self.space != SPACES[0]


@dataclass(frozen=True)
class Places:
    """Where the devices of a machine are in a guest."""

    functions: Mapping[str, str]
    """The device of each function, such as `0d:00.0`."""
    registers: Sequence[tuple[int, int, str, str]]
    """First address, last address, device and space of each range of registers."""

    def attributed(self, step: str, accesses: Iterable[Traced]) -> list[Access]:
        """The accesses of a step to CXL devices; those to other devices are left out."""
        found = []
        for each in accesses:
            if each.function:
                device = self.functions.get(each.function, ABSENT if each.kind == "empty" else "")
                if device:
                    space = SPACES[0]
                    found.append(
                        Access(step, device, space, each.address, each.is_write, each.value, each.size)
                    )
                continue
            for first, last, device, space in self.registers:
                if first <= each.address <= last:
                    at = each.address - first
                    found.append(Access(step, device, space, at, each.is_write, each.value, each.size))
                    break
        return found


def places(guest: Guest, machine: Machine) -> Places:
    """Where the devices of a machine are. Raises SimulationError."""
    ways = guest.run(
        "for each in /sys/bus/cxl/devices/mem*; do echo $(cat $each/serial) $(readlink -f $each); done",
        "finding the devices' places",
    )
    functions = functions_of(machine, ways)
    listed = guest.run(
        "for each in /sys/bus/pci/devices/*; do echo ${each##*/}; head -n 6 $each/resource; done",
        "finding the devices' registers",
    )
    table = guest.run("base64 /sys/firmware/acpi/tables/CEDT", "reading the table of host bridges")
    return Places(functions, [*bars(listed, functions), *bridge_registers(machine, base64.b64decode(table))])


def functions_of(machine: Machine, ways: str) -> dict[str, str]:
    """The device of each function, by lines of a serial number and the folder of its device, which has the way."""
    names = {endpoint.serial: endpoint.name for endpoint in machine.endpoints()}
    found = {}
    for line in ways.splitlines():
        serial, _, path = line.partition(" ")
        name = names[int(serial, 0)]
        bridge, port = machine.route(name)
        parts = [part.removeprefix("0000:") for part in path.split("/") if part.startswith("0000:")]
        found[parts[0]] = f"{machine.bridges[bridge].name} root port {port}"
        below = machine.bridges[bridge].below[port]
        if isinstance(below, Switch):
            place = [endpoint.name for endpoint in below.endpoints].index(name)
            found[parts[1]] = f"{below.name} upstream port"
            found[parts[2]] = f"{below.name} downstream port {place}"
        found[parts[-1]] = name
    return found


def bars(listed: str, functions: Mapping[str, str]) -> list[tuple[int, int, str, str]]:
    """The ranges of registers of the functions, by lines of a function and of its base address registers."""
    found, device, number = [], "", 0
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 1:
            device, number = functions.get(words[0].removeprefix("0000:"), ""), 0
            continue
        first, last = int(words[0], 16), int(words[1], 16)
        if device and last > first and number in _BAR_SPACES:
            found.append((first, last, device, _BAR_SPACES[number]))
        number += 1
    return found


def bridge_registers(machine: Machine, table: bytes) -> list[tuple[int, int, str, str]]:
    """The component registers of host bridges, by the table of the firmware (CEDT), which has them in their order."""
    found, at = [], 36  # behind the header that all such tables have
    bridges = iter(machine.bridges)
    while at + 4 <= len(table):
        kind, length = struct.unpack_from("<BxH", table, at)
        if kind == 0:
            base, size = struct.unpack_from("<QQ", table, at + 16)
            found.append((base, base + size - 1, f"{next(bridges).name} host bridge", SPACES[1]))
        at += max(length, 4)
    return found


class Times:
    """The time of each access on the simulated system: that of CXL.io over the links of the spec.

    Root ports and host bridges are in the host, of which the spec has no time: their accesses take none, nor do those
    to where no device is.
    """

    def __init__(self, machine: Machine, spec: Mapping[str, Any], described: Mapping[str, Any]) -> None:
        """``spec`` is the resolved spec, as plain data; ``described`` its description."""
        self._times = IoTimes(spec, described)
        network = Network.of(described)
        self._ways: dict[str, tuple[str, ...]] = {}
        for endpoint in machine.endpoints():
            way = (machine.host, *(network.way(machine.host, endpoint.name) or ()), endpoint.name)
            self._ways[endpoint.name] = way
            for place, station in enumerate(way):
                if network.is_switch(station):
                    self._ways[station] = way[: place + 1]

    def ns(self, access: Access) -> float:
        """Until it is answered; of a posted write, for which the processor does not wait, until it has come."""
        name = access.device
        if name not in self._ways:
            name = name.partition(" upstream port")[0].partition(" downstream port")[0]
        way = self._ways.get(name)
        if way is None:
            return 0.0
        if access.is_posted:
            return self._times.one_way_ns(way, Packet(access.size))
        there, back = (access.size, 0) if access.is_write else (0, access.size)
        return self._times.round_trip_ns(way, Packet(there), Packet(back, is_completion=True))


def counted_by(accesses: Iterable[Access]) -> dict[tuple[str, str], Counter[tuple[str, bool]]]:
    """Reads and writes of each space, by step and device, in the order in which they came first."""
    found: dict[tuple[str, str], Counter[tuple[str, bool]]] = {}
    for each in accesses:
        found.setdefault((each.step, each.device), Counter())[each.space, each.is_write] += 1
    return found
