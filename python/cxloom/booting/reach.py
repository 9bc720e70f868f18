"""What a host reaches, and by which way: its own memory, and CXL devices below root ports and switches."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cxloom.base.words import ends_of

_ENDS = {"requester", "memory", "io-initiator"}
"""Roles of devices at which a way ends; the others pass messages on."""


@dataclass(frozen=True)
class Network:
    """The devices of a system and their links."""

    kinds: Mapping[str, str]
    roles: Mapping[str, frozenset[str]]
    """What each device does, whatever its kind: ``requester``, ``memory``, ``switch``, ..."""
    links: Mapping[str, Mapping[str, bool]]
    """The neighbours of each device, and whether the link to each takes no time."""

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> Network:
        """The network of a description (`cxloom check --json`)."""
        kinds = {each["name"]: each["kind"] for each in described["devices"]}
        roles = {each["name"]: frozenset(each["roles"]) for each in described["devices"]}
        links: dict[str, dict[str, bool]] = {name: {} for name in kinds}
        for link in described["links"]:
            ends = link["ends"]
            one, other = ends_of(ends[0]["name"])
            at_once = all(end["flight"] == "0ps" for end in ends)
            for a, b in ((one, other), (other, one)):
                links[a][b] = links[a].get(b, True) and at_once
        return cls(kinds, roles, links)

    def is_root_port(self, station: str) -> bool:
        """Whether a device is a root port: by its kind, as its roles are those of a switch, and none tells it apart."""
        return self.kinds[station] == "root-port"

    def is_switch(self, station: str) -> bool:
        """Whether a device is a switch, of whatever kind, and no root port."""
        return "switch" in self.roles[station] and not self.is_root_port(station)

    def way(self, host: str, memory: str) -> tuple[str, ...] | None:
        """The devices between a host and a memory, on the shortest way; None if there is no way."""
        before: dict[str, str] = {}
        waiting = deque([host])
        while waiting:
            here = waiting.popleft()
            if here == memory:
                break
            if here != host and self.roles[here] & _ENDS:
                continue
            for there in self.links[here]:
                if there != host and there not in before:
                    before[there] = here
                    waiting.append(there)
        if memory == host:
            return ()
        if memory not in before:
            return None
        found = [before[memory]]
        while found[-1] != host:
            found.append(before[found[-1]])
        return tuple(reversed(found[:-1]))

    def is_in_socket(self, host: str, memory: str, way: Sequence[str]) -> bool:
        """Whether memory is in the host's socket: no link on the way takes time, and none leaves by a root port."""
        stations = [host, *way, memory]
        return not any(map(self.is_root_port, way)) and all(
            self.links[a][b] for a, b in pairwise(stations) if a != b
        )
