"""What a picture of a system shows: devices as nodes, links as edges, and many devices that are alike as one node."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.spec.parts import links_of
from cxloom.spec.resolved import Resolved

MANY = 64
"""In systems of more devices, those that are alike and hang on one device are drawn as one."""
_FEW = 16
"""So many of them are drawn one by one in a small system."""
MOST = 4000
"""More nodes are no picture."""


class Role(Enum):
    """What a device is for."""

    REQUESTER = "requester"
    FABRIC = "fabric"
    MEMORY = "memory"
    OTHER = "other"


_PARTS = {
    "requester": Role.REQUESTER,
    "switch": Role.FABRIC,
    "shared-medium": Role.FABRIC,
    "memory": Role.MEMORY,
    "io-initiator": Role.OTHER,
    "home": Role.OTHER,
}
"""What the core says that a device does, the first first; what it is for with that."""
ROOT = "root"
"""Instead of "requester": one that CXL.io goes upstream to, as to a host."""


@dataclass(frozen=True, slots=True)
class Node:
    """A device, or several that are alike."""

    names: tuple[str, ...]
    kind: str
    role: Role
    does: str = ""
    """What it does first of all, by the word of the core for it, or `ROOT`; empty: nothing is known."""

    @property
    def label(self) -> str:
        """The name; of several what they have in common: ``mem[0-3]``."""
        return spelt(self.names)


@dataclass(frozen=True, slots=True)
class Edge:
    """What joins two nodes, given by their places in the list: the links between them, by name and ends."""

    a: int
    b: int
    links: tuple[tuple[str, str, str], ...]
    """The name of each link, the device at the end of `a`, and the device at the end of `b`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes of a picture and what joins them. At most one edge joins two nodes."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]

    def neighbours(self) -> list[list[int]]:
        """The neighbours of each node, in the order of the edges."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for edge in self.edges:
            found[edge.a].append(edge.b)
            found[edge.b].append(edge.a)
        return found


def graph_of(resolved: Resolved) -> Graph:
    """The graph of a resolved spec, where devices that are alike may stand together.

    Raises InputError for a system with more nodes than a picture can show.
    """
    spec = resolved.lean()
    devices: Mapping[str, Any] = spec["devices"]
    neighbours: dict[str, dict[str, Any]] = {name: {} for name in devices}
    links: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for (first, second), name, given in _links(spec):
        ends = (first, second) if (second, first) not in links else (second, first)
        links[ends].append((name, *ends))
        neighbours[first][second] = neighbours[second][first] = given
    done = _done(spec)
    roles = {name: _role(name, done.get(name, ""), spec, len(neighbours[name])) for name in devices}
    groups = _alike(devices, neighbours, roles)
    if len(groups) > MOST:
        raise InputError("too large to be drawn", found=f"{len(groups):,} nodes", allowed=f"at most {MOST:,}")
    nodes = [
        Node(tuple(names), devices[names[0]]["kind"], roles[names[0]], done.get(names[0], ""))
        for names in groups
    ]
    place = {name: index for index, names in enumerate(groups) for name in names}
    joined: dict[tuple[int, int], list[tuple[str, str, str]]] = defaultdict(list)
    for (first, second), between in links.items():
        joined[place[first], place[second]] += between
    return Graph(nodes, [Edge(a, b, tuple(between)) for (a, b), between in joined.items()])


def _links(spec: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str, Any]]:
    """The ends, the name and the parameters of each link; the second of two parallel ones is called a-b#2.

    The names are those of the inventory. A system is drawn also where it has none, as its plug-in is not here.
    """
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for link in links_of(spec):
        first, second = link.written["between"]
        seen[first, second] += 1
        number = seen[first, second]
        suffix = f"#{number}" if number > 1 else ""
        parameters = {key: value for key, value in link.written.items() if key != "between"}
        yield (first, second), f"{first}-{second}{suffix}", parameters


def _done(spec: Mapping[str, Any]) -> dict[str, str]:
    """What each device does first of all; none if the system cannot be built, as its plug-in is not here."""
    try:
        devices = _core.inventory(spec, False)["devices"]
    except InputError:
        return {}
    found = {}
    for device in devices:
        first = next((part for part in _PARTS if part in device["roles"]), "")
        found[device["name"]] = ROOT if first == "requester" and device["is_root"] else first
    return found


def _role(name: str, does: str, spec: Mapping[str, Any], neighbours: int) -> Role:
    """What a device is for; where that is not known by what the spec does with it."""
    known = Role.REQUESTER if does == ROOT else _PARTS.get(does, Role.OTHER)
    if known is not Role.OTHER:
        return known
    if name in spec.get("workload", {}):
        return Role.REQUESTER
    if any(name in region.get("to", ()) for region in spec.get("address_map", ())):
        return Role.MEMORY
    return Role.FABRIC if neighbours > 1 else Role.OTHER


def _alike(
    devices: Mapping[str, Any], neighbours: Mapping[str, Mapping[str, Any]], roles: Mapping[str, Role]
) -> list[list[str]]:
    """The devices, those together that are drawn as one: of the same parameters, on the same device alone."""
    groups: dict[object, list[str]] = defaultdict(list)
    for name, device in devices.items():
        key: object = name
        if len(neighbours[name]) == 1 and roles[name] is not Role.FABRIC:
            ((other, link),) = neighbours[name].items()
            if len(neighbours[other]) > 1:
                key = (other, repr(device), repr(link))
        groups[key].append(name)
    found: list[list[str]] = []
    for names in groups.values():
        together = len(names) > (1 if len(devices) > MANY else _FEW)
        found += [names] if together else [[name] for name in names]
    return found


def spelt(names: Sequence[str]) -> str:
    """Names as one: ``mem[0-3]``, ``host[0,2,4]``, or the first and the last."""
    if len(names) == 1:
        return names[0]
    parts = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
    stems = {part[1] if part else None for part in parts}
    if len(stems) > 1 or None in stems:
        return f"{names[0]} ... {names[-1]}"
    numbers = [part[2] for part in parts if part]
    values = [int(number) for number in numbers]
    if values == list(range(values[0], values[0] + len(values))):
        return f"{stems.pop()}[{numbers[0]}-{numbers[-1]}]"
    if len(numbers) <= 4:
        return f"{stems.pop()}[{','.join(numbers)}]"
    return f"{names[0]} ... {names[-1]}"
