"""The machine of one host of a spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.booting.decoders import check_decoders
from cxloom.booting.machine import (
    UNIT,
    Below,
    Endpoint,
    HostBridge,
    InterleaveSet,
    Machine,
    RamNode,
    Span,
    Switch,
)
from cxloom.booting.reach import Network
from cxloom.spec.parts import Part, entries, is_persistent, quantity

OWN_RAM = 1 << 30
"""RAM of a host without memory of its own, for the kernel (own choice); beside it what it needs for memory on CXL."""
RAM_FOR_CXL = 48
"""Bytes of memory on CXL for which the kernel needs one of RAM: it keeps 64 B of each 4 KiB, and some for tables."""
LEAST_RAM = 1 << 29
"""RAM that a kernel with its first file system, the tools and a small program need (own choice: it needs half of
it)."""
MOST_MEMORY = 1 << 39
"""Memory that QEMU's processor can address beside its devices: half of 40 bits (own choice of the share)."""
QUICK_ON_CXL = 16 << 30
"""With more on CXL it is said that a kernel takes its time for it: 29 s for 64 GiB (docs/boot.md)."""


@dataclass(frozen=True)
class _Region:
    """A region of the address map with its bytes."""

    entry: Part
    memories: tuple[str, ...]
    base: int
    size: int


def machine_of(
    spec: Mapping[str, Any],
    described: Mapping[str, Any],
    host: str | None = None,
    local: Sequence[str] | None = None,
) -> Machine:
    """The machine that one host of a system sees.

    Memory that it reaches by links that take no time, and by no root port, is its RAM; all other memory is on CXL.

    Args:
        spec: the resolved spec, as plain data.
        described: its description.
        host: the host; by default the only one.
        local: which memories are RAM, by name with `*` and `?`, in place of the rule above.

    Raises InputError, at the place in the spec, for what a machine of QEMU cannot have.
    """
    network = Network.of(described)
    chosen = _host(spec, host)
    regions, left_out = _seen(spec, described, chosen)
    names = list(dict.fromkeys(name for region in regions for name in region.memories))
    if left_out and not names:
        raise InputError(
            f"{chosen} has a way to none of the memory of the address map",
            found=", ".join(left_out),
            allowed="links to it by buses and switches, and virtual switches of the host that have it bound",
            path="address_map",
        )
    ways = {name: _way(network, chosen, name) for name in names}
    if local is None:
        own = {name for name in names if network.is_in_socket(chosen, name, ways[name])}
    else:
        own = _named(local, names)
    ram, sets, capacities = _memory(regions, own)
    notes = [
        f"{name}: memory on CXL" if name not in own else f"{name}: the host's own memory" for name in names
    ]
    notes += [f"{name}: none of {chosen}'s, left out" for name in left_out]
    others = [name for name, roles in network.roles.items() if "requester" in roles and name != chosen]
    if others:
        verb = "is" if len(others) == 1 else "are"
        said = [f"the work of {name}" if name in names else name for name in others]
        notes.append(f"as {chosen} sees it: {', '.join(said)} {verb} left out")
    if not ram:
        added = -(-(OWN_RAM + sum(capacities.values()) // RAM_FOR_CXL) // UNIT) * UNIT
        ram = [RamNode((), added)]
        notes.append(
            f"{chosen} has no memory of its own: {added >> 20} MiB of RAM are added, where the kernel is"
        )
    if sum(capacities.values()) > QUICK_ON_CXL:
        notes.append(
            f"the kernel takes {sum(capacities.values()) >> 30} GiB on CXL into use, a GiB in half a second or "
            f"more: with --set devices.{next(iter(capacities))}.capacity=1GiB it comes to the program sooner"
        )
    bridges = _bridges(network, {name: ways[name] for name in names if name not in own}, capacities)
    machine = Machine(chosen, tuple(ram), bridges, tuple(sets), tuple(notes))
    check_decoders(machine)
    _check_size(machine)
    return machine


def _host(spec: Mapping[str, Any], wanted: str | None) -> str:
    """The device that boots: one that makes requests, and that CXL.io goes upstream to."""
    devices = _core.inventory(spec, False)["devices"]
    hosts = [each["name"] for each in devices if each["is_root"] and "requester" in each["roles"]]
    if wanted is not None and wanted not in hosts:
        raise InputError(
            "no host of this system", found=f"'{wanted}'", allowed=", ".join(hosts), path="--host"
        )
    if wanted is None and len(hosts) != 1:
        raise InputError(
            "a machine has one host" if hosts else "no host that could boot",
            found=f"{len(hosts)} hosts",
            allowed=f"--host {hosts[0]}: what it sees of the system" if hosts else "a device of kind host",
            path="devices",
        )
    return wanted if wanted is not None else hosts[0]


def _regions(spec: Mapping[str, Any], described: Mapping[str, Any]) -> list[_Region]:
    """The regions with their sizes; one without takes what its targets have left."""
    bytes_of = {tuple(node["memories"]): int(node["bytes"]) for node in described["nodes"]}
    found: list[_Region] = []
    end = 0
    for entry in entries(spec, "address_map"):
        if entry.get("ld") is not None:
            raise InputError(
                "QEMU has no logical devices", allowed="memories without logical_devices", path=entry.at
            )
        if is_persistent(entry):
            raise InputError(
                "persistent memory is not booted", allowed="persistence: volatile", path=entry.at
            )
        if entry.get("type") is not None:
            raise InputError("a booted guest caches all memory alike", allowed="type: wb", path=entry.at)
        memories = tuple(entry.written["to"])
        sizes = [each for each in found if each.memories == memories]
        left = bytes_of.get(memories, 0) - sum(each.size for each in sizes)
        size = left if entry.get("size") is None else int(quantity("bytes", entry.get("size")))
        base = end if entry.get("base") is None else int(quantity("bytes", entry.get("base")))
        found.append(_Region(entry, memories, base, size))
        end = base + size
    return found


def _seen(
    spec: Mapping[str, Any], described: Mapping[str, Any], host: str
) -> tuple[list[_Region], list[str]]:
    """The regions whose memory the host is offered, and the other memories: no way leads there, or they are bound to a
    virtual switch of another host, or to none."""
    regions = _regions(spec, described)
    nodes = {tuple(node["memories"]): node for node in described["nodes"]}
    seen = [each for each in regions if each.memories not in nodes or host in nodes[each.memories]["offered"]]
    for region in seen:
        node = nodes.get(region.memories)
        if node is not None and int(node["offered"][host]) < int(node["bytes"]):
            raise InputError(
                f"{host} has a part of this memory alone, and QEMU has no extents",
                found=f"{int(node['offered'][host]) >> 20} of {int(node['bytes']) >> 20} MiB",
                allowed="memory that is all offered to the host",
                path=region.entry.at,
            )
    for region in regions:
        for name in region.memories:
            if _has_shared_extents(spec, name, host):
                raise InputError(
                    f"{host} shares extents of this memory, and QEMU has no extents",
                    found=name,
                    allowed="memory that is all offered to the host",
                    path=region.entry.at,
                )
    own = {name for region in seen for name in region.memories}
    names = dict.fromkeys(name for region in regions for name in region.memories)
    return seen, [name for name in names if name not in own]


def _has_shared_extents(spec: Mapping[str, Any], memory: str, host: str) -> bool:
    capacity = spec["devices"][memory].get("dynamic_capacity")
    extents = capacity.get("extents") if isinstance(capacity, Mapping) else None
    return any(extent["host"] == host and extent.get("tag") for extent in extents or ())


def _way(network: Network, host: str, memory: str) -> tuple[str, ...]:
    way = network.way(host, memory)
    if way is None:
        raise InputError(
            f"{host} has no way to this memory, and all hosts have one address map",
            allowed="links to it by buses and switches; or an address map without the memory of other hosts",
            path=f"devices.{memory}",
        )
    return way


def _named(patterns: Sequence[str], names: Sequence[str]) -> set[str]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(
                "no memory of the address map", found=f"'{pattern}'", allowed=", ".join(names), path="--local"
            )
    return {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}


def _memory(
    regions: Sequence[_Region], own: set[str]
) -> tuple[list[RamNode], list[InterleaveSet], dict[str, int]]:
    """Nodes of RAM, sets on CXL, and the bytes of each CXL device: what is mapped of it."""
    ram: dict[tuple[str, ...], list[Span]] = {}
    sets: list[InterleaveSet] = []
    capacities: dict[str, int] = {}
    for region in regions:
        here = [name in own for name in region.memories]
        if all(here):
            ram.setdefault(region.memories, []).append(Span(region.base, region.size))
            continue
        if any(here):
            raise InputError(
                "a region over the host's own memory and CXL together is none of CXL's decoders",
                found=", ".join(region.memories),
                allowed="one or the other; interleave pages instead",
                path=region.entry.at,
            )
        if region.entry.get("policy") is not None and len(region.memories) > 1:
            raise InputError(
                "decoders give each device as much as the others",
                found=f"policy: {region.entry.get('policy')}",
                allowed="policy: cxl",
                path=region.entry.at,
            )
        granularity = int(quantity("bytes", region.entry.text("interleave")))
        sets.append(InterleaveSet(region.entry.at, region.memories, granularity, region.size, region.base))
        for name in region.memories:
            capacities[name] = capacities.get(name, 0) + region.size // len(region.memories)
    nodes = [
        RamNode(memories, sum(span.size for span in spans), tuple(spans)) for memories, spans in ram.items()
    ]
    return nodes, sets, capacities


def _bridges(
    network: Network, ways: Mapping[str, tuple[str, ...]], capacities: Mapping[str, int]
) -> tuple[HostBridge, ...]:
    """A host bridge for each root port of the spec, and for each link of the host without one."""
    bridges: dict[str, dict[str, Endpoint | list[Endpoint]]] = {}
    for number, (name, way) in enumerate(ways.items()):
        endpoint = Endpoint(name, capacities[name], number + 1)
        ports = [station for station in way if network.is_root_port(station)]
        switches = [station for station in way if network.is_switch(station)]
        wrong = [station for station in way if station not in ports and station not in switches]
        if wrong:
            kind = network.kinds[wrong[0]]
            raise InputError(
                f"QEMU has no {kind} before memory on CXL",
                found=f"a way to {name} by {', '.join(way)}",
                allowed="switches; or --local, if it is memory of a socket",
                path=f"devices.{wrong[0]}",
            )
        if len(switches) > 1 or len(ports) > 1 or (ports and way[0] != ports[0]):
            raise InputError(
                "QEMU has one level of switches below a root port",
                found=f"a way by {', '.join(way)}",
                allowed="root port, switch, memory; or --local, if it is memory of a socket",
                path=f"devices.{name}",
            )
        bridge = bridges.setdefault((ports or switches or [name])[0], {})
        if switches:
            below = bridge.setdefault(switches[0], [])
            assert isinstance(below, list)
            below.append(endpoint)
        else:
            bridge[name] = endpoint
    return tuple(
        HostBridge(name, tuple(_below(each, what) for each, what in below.items()))
        for name, below in bridges.items()
    )


def _below(name: str, what: Endpoint | list[Endpoint]) -> Below:
    return Switch(name, tuple(what)) if isinstance(what, list) else what


def _check_size(machine: Machine) -> None:
    if machine.ram[0].size < LEAST_RAM:
        raise InputError(
            "too little memory of its own for a kernel",
            found=f"{machine.ram[0].size >> 20} MiB",
            allowed=f"{LEAST_RAM >> 20} MiB or more",
            path=f"devices.{machine.ram[0].memories[0]}",
        )
    whole = sum(node.size for node in machine.ram)
    on_cxl = sum(endpoint.capacity for endpoint in machine.endpoints())
    if whole < LEAST_RAM + on_cxl // RAM_FOR_CXL:
        raise InputError(
            "too little memory of its own for a kernel that keeps 64 B of each 4 KiB of memory on CXL there",
            found=f"{whole >> 20} MiB, and {on_cxl >> 30} GiB on CXL",
            allowed=f"{(LEAST_RAM + on_cxl // RAM_FOR_CXL) >> 20} MiB or more, or less on CXL",
            path=f"devices.{machine.ram[0].memories[0]}",
        )
    if machine.bytes > MOST_MEMORY:
        raise InputError(
            "more memory than QEMU's processor can address",
            found=f"{machine.bytes >> 30} GiB",
            allowed=f"{MOST_MEMORY >> 30} GiB; --set gives memories another capacity",
            path="devices",
        )
    for endpoint in machine.endpoints():
        if endpoint.capacity % UNIT:
            raise InputError(
                "CXL counts capacity by 256 MiB",
                found=f"{endpoint.capacity} B",
                allowed="a multiple of 256 MiB",
                path=f"devices.{endpoint.name}",
            )
