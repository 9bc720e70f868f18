"""Systems that are booted, what `cxl list` says of one, and archives taken apart."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cxloom as cx
from cxloom.booting.decoders import Level
from cxloom.booting.machine import InterleaveSet, Machine, Switch
from cxloom.booting.system import machine_of_system

_LOCAL = "local: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}"
_MEMORY = "{kind: memory, capacity: 256MiB, media: {kind: fixed, latency: 45ns}}"


def system(memories: str, devices: str, links: Sequence[str], regions: Sequence[str]) -> str:
    """A spec with a host, its own memory, and these memories on CXL."""
    lines = ["devices:", "  host: {kind: host}", f"  {_LOCAL}", f"  {memories}: {_MEMORY}"]
    lines += [f"  {line}" for line in devices.splitlines()]
    lines += [
        "links:",
        "  - {between: [host, local], port_delay: 0ns}",
        *(f"  - {{between: {link}}}" for link in links),
    ]
    lines += ["address_map:", "  - {to: local}", *(f"  - {{to: {region}}}" for region in regions)]
    return "\n".join(lines) + "\n"


_PORTS = "p[0-1]: {kind: root-port, depth: 64}"

TOPOLOGIES = {
    "direct": system("m0", "", ["[host, m0], delay: 10ns"], ["m0"]),
    "two devices on one bridge": system(
        "m[0-1]", "p: {kind: root-port, depth: 64}", ["[host, p]", '[p, "m[*]"]'], ["m0", "m1"]
    ),
    "two bridges": system("m[0-1]", _PORTS, ['[host, "p[*]"]', "[p0, m0]", "[p1, m1]"], ["m0", "m1"]),
    "a switch with two devices": system(
        "m[0-1]", "sw: {kind: switch}", ["[host, sw]", '[sw, "m[*]"]'], ['"m[*]", interleave: 256B']
    ),
    "two ways over bridges": system(
        "m[0-1]", _PORTS, ['[host, "p[*]"]', "[p0, m0]", "[p1, m1]"], ['"m[*]", interleave: 4KiB']
    ),
    "four ways over bridges and ports": system(
        "m[0-3]",
        _PORTS,
        ['[host, "p[*]"]', "[p0, m0]", "[p0, m2]", "[p1, m1]", "[p1, m3]"],
        ['"m[*]", interleave: 1KiB'],
    ),
}
"""The topologies that a boot is checked on."""


def machine(text: str, host: str | None = None, local: Sequence[str] | None = None) -> Machine:
    """The machine of a spec's text."""
    return machine_of_system(cx.System.from_yaml(text, "system.yaml").resolve(), host, local)


# --- what the tool would say of decoders that are set as `levels` has them -------------------------------------------


def listed(of: Machine, base: int, levels: Sequence[Mapping[str, Level]]) -> list[dict[str, Any]]:
    """The lines of `cxl list -BPTEMD -i` for a machine whose windows lie side by side from a base on."""
    bases = [base + sum(each.size for each in of.sets[:number]) for number in range(len(of.sets))]
    sets = list(zip(of.sets, bases, levels, strict=True))
    bridges = []
    for number, bridge in enumerate(of.bridges):
        port: dict[str, Any] = {"port": f"port{number}", "host": f"pci0000:{number:02x}"}
        port["decoders:port"] = _decoders(
            sets,
            f"bridge {bridge.name}",
            lambda wanted, n=number: [
                f"root{n}.{port}"
                for port in dict.fromkeys(p for b, p in map(of.route, wanted.targets) if b == n)
            ],
        )
        port["endpoints:port"], port["ports:port"] = [], []
        for place, below in enumerate(bridge.below):
            dport = f"root{number}.{place}"
            if not isinstance(below, Switch):
                port["endpoints:port"].append(_endpoint(of, sets, below.name, dport))
                continue
            switch: dict[str, Any] = {
                "port": below.name,
                "host": f"up{number}.{place}",
                "parent_dport": dport,
            }
            switch["decoders:switch"] = _decoders(
                sets,
                f"port {number}.{place}",
                lambda wanted, its=below: [
                    f"down {t}" for t in wanted.targets if t in [each.name for each in its.endpoints]
                ],
            )
            switch["endpoints:switch"] = [
                _endpoint(of, sets, each.name, f"down {each.name}") for each in below.endpoints
            ]
            port["ports:port"].append(switch)
        bridges.append(port)
    windows = _decoders(
        sets, "window", lambda wanted: [f"pci0000:{each:02x}" for each in of.bridges_of(wanted)]
    )
    return [{"bus": "root0", "ports:root0": bridges, "decoders:root0": windows}]


def _decoders(sets: Any, name: str, targets_of: Any) -> list[dict[str, Any]]:
    found = []
    for wanted, base, levels in sets:
        if name in levels:
            targets = [{"target": each, "position": place} for place, each in enumerate(targets_of(wanted))]
            level = levels[name]
            found.append(
                {
                    "resource": hex(base),
                    "size": wanted.size,
                    "interleave_ways": level.ways,
                    "interleave_granularity": level.granularity,
                    "targets": targets[::-1],  # the tool has them in an order of its own
                }
            )
    return found


def _endpoint(of: Machine, sets: Any, name: str, dport: str) -> dict[str, Any]:
    decoders, taken = [], 0
    for wanted, base, levels in sets:
        if name in wanted.targets:
            level = levels[f"device {name}"]
            decoders.append(
                {
                    "resource": base,
                    "size": wanted.size,
                    "interleave_ways": level.ways,
                    "interleave_granularity": level.granularity,
                    "dpa_resource": hex(taken),
                }
            )
            taken += wanted.size // len(wanted.targets)
    serial = next(each.serial for each in of.endpoints() if each.name == name)
    return {
        "endpoint": name,
        "parent_dport": dport,
        "memdev": {"serial": serial},
        "decoders:endpoint": decoders,
    }


def closed_form(wanted: InterleaveSet, offset: int) -> tuple[str, int]:
    """The device of a byte of a region, and its place there, counted chunk by chunk (docs/model/address_map.md)."""
    chunk, rest = divmod(offset, wanted.granularity)
    round_, turn = divmod(chunk, len(wanted.targets))
    return wanted.targets[turn], round_ * wanted.granularity + rest


# --- archives --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """An entry of an archive."""

    path: str
    mode: int
    data: bytes

    @property
    def kind(self) -> str:
        """The kind: - for a file, d for a folder, l for a link."""
        return stat.filemode(self.mode)[0]


def entries(archive: bytes) -> list[Entry]:
    """The entries of archives behind each other, in the form that the kernel's documentation has."""
    found, at = [], 0
    while at < len(archive):
        if archive[at] == 0:  # between archives
            at += 1
            continue
        assert at % 4 == 0
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * each : at + 14 + 8 * each], 16) for each in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + name_size]
        assert name.endswith(b"\0")
        at = -(-(at + 110 + name_size) // 4) * 4
        found.append(Entry(name[:-1].decode(), mode, archive[at : at + size]))
        at = -(-(at + size) // 4) * 4
        if name == b"TRAILER!!!\0":
            found.pop()
    return found
