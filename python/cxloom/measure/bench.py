"""The bench that measurements stand on: a system without its work, and many points of it at once."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxloom.errors import InputError, SimulationError
from cxloom.filenames import file_name
from cxloom.spec.names import listed, nearest
from cxloom.spec.resolve import Override
from cxloom.sweeping.at_points import Watch, summaries_at, unwatched
from cxloom.system import System

Spec = dict[str, Any]

LINE = 64
MIB = 1 << 20
REQUESTERS = ("host", "accelerator")
PROBE = "-probe"
"""What the name of a requester's probe ends in."""


@dataclass(frozen=True)
class Node:
    """Memory that one measurement goes to: one memory, or those that share their addresses by interleave."""

    name: str
    memory: str
    """One of its memories, which names it."""
    size: int
    owner: str | None

    def bound(self) -> Spec:
        """The placement of pages there."""
        return {"kind": "bind", "nodes": [self.memory]}

    def footprint(self, wanted: int) -> int:
        """So many bytes, or as it has at most, in whole pages."""
        return max(4096, min(wanted, self.size) // 4096 * 4096)


class Bench:
    """A system to be measured.

    Args:
        system: a `System`, a spec file, or the name of a preset.
        memories: those to go to, by name; all if none is named.
        jobs: points at a time; by default one for each processor.
        watch: is called now and then with the progress.
        overrides: values set in the system first.

    Raises InputError for a system that cannot be built, or has no requester or no memory.
    """

    def __init__(
        self,
        system: System | str | os.PathLike[str],
        *,
        memories: Sequence[str] = (),
        jobs: int | None = None,
        watch: Watch = unwatched,
        overrides: Sequence[Override] = (),
    ) -> None:
        if not isinstance(system, System):
            system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
        resolved = system.resolve(overrides)
        from cxloom.building import describe

        described = describe(resolved)
        self._jobs = jobs
        self._watch = watch
        self.spec = _bare(resolved.plain())
        self.name = str(self.spec.get("name", "system"))
        self.requesters = [
            name for name, device in self.spec["devices"].items() if device["kind"] in REQUESTERS
        ]
        self._nodes = [
            Node("+".join(each["memories"][:4]), each["memories"][0], int(each["bytes"]), each["owner"])
            for each in described["nodes"]
        ]
        if not self.requesters:
            raise InputError("nobody in this system makes requests", allowed="a host or an accelerator")
        if not self._nodes:
            raise InputError("this system has no memory to measure", allowed="an address_map")
        self._choose(memories, [name for each in described["nodes"] for name in each["memories"]], described)

    def _choose(self, memories: Sequence[str], known: list[str], described: Mapping[str, Any]) -> None:
        for name in memories:
            if name not in known:
                raise InputError(
                    "no memory of this name has addresses",
                    found=f"'{name}'",
                    allowed=listed(known),
                    suggestion=nearest(name, known),
                    path="--memory",
                )
        if memories:
            self._nodes = [
                node
                for node, each in zip(self._nodes, described["nodes"], strict=True)
                if set(memories) & set(each["memories"])
            ]

    def nodes(self, requester: str) -> list[Node]:
        """The memory that a requester may use."""
        return [node for node in self._nodes if node.owner in (None, requester)]

    def queue(self, requester: str) -> int:
        """Requests that it has in flight at most."""
        return int(self.spec["devices"][requester].get("queue", 64))

    def uncached(self, *, only: Mapping[str, Spec] | None = None) -> Spec:
        """The system without the caches of its requesters; `only` are parameters to set, by requester."""
        spec = copy.deepcopy(self.spec)
        for name in self.requesters:
            spec["devices"][name].pop("cache", None)
            spec["devices"][name].pop("atomics", None)
            spec["devices"][name].update((only or {}).get(name, {}))
        return spec

    def with_probe(self, spec: Spec, requester: str) -> Spec:
        """The system with another requester beside one: a core of the same host.

        Both hang on the host's links by a bus that takes no time. Raises InputError if the host has memory of its own,
        to which the bus would be no way.
        """
        spec = copy.deepcopy(spec)
        device = spec["devices"][requester]
        for part in ("memory", "home_agent"):
            if device.get(part) is not None:
                raise InputError(
                    "a probe beside a requester with memory of its own has no way there that is as short",
                    found=f"'{requester}' with {part}",
                    allowed="memory as a device",
                )
        junction = f"{requester}-cores"
        probe = requester + PROBE
        spec["devices"][probe] = {**device, "queue": 1}
        spec["devices"][junction] = {"kind": "bus", "bus_time": "0ns", "bandwidth": "unlimited"}
        for other in spec["devices"].values():
            for hierarchy in other.get("vcs") or ():
                if hierarchy.get("upstream") == requester:
                    hierarchy["upstream"] = junction
        for link in spec["links"]:
            link["between"] = [junction if end == requester else end for end in link["between"]]
        spec["links"] += [{"between": [name, junction]} for name in (requester, probe)]
        return spec

    def run(self, spec: Spec, points: Sequence[Spec]) -> list[Mapping[str, Any]]:
        """Runs a system at all points, some at a time; gives their summaries. A point sets values by path.

        Raises SimulationError if one cannot finish, InputError if one is refused.
        """
        base = {**spec, **{key: value for key, value in points[0].items() if "." not in key}}
        found = summaries_at(System.from_yaml(json.dumps(base)), points, jobs=self._jobs, watch=self._watch)
        for each in found:
            if each.status == "refused":
                raise InputError(f"this system cannot be measured so: {each.error}")
            if each.summary is None:
                raise SimulationError(f"a point of the measurement did not finish: {each.error}")
        return [each.summary for each in found if each.summary is not None]


def _bare(spec: Spec) -> Spec:
    """Without work, events and recordings. What traffic there is besides stays."""
    spec = copy.deepcopy(spec)
    for section in ("workload", "events", "outputs"):
        spec.pop(section, None)
    for device in spec["devices"].values():
        device.pop("completion_timeout", None)  # nothing fails without events
    run = spec.setdefault("run", {})
    for key in ("warmup", "warmup_time", "until"):
        run.pop(key, None)
    return spec


_UNITS = {"B": 1, **{f"{k}iB": 1 << 10 * n for n, k in enumerate("KMGT", 1)}}
_UNITS |= {f"{k}B": 1000**n for n, k in enumerate(("k", "M", "G", "T"), 1)}


def byte_count(text: str) -> int:
    """Bytes of a size as a spec has it, such as 48KiB. Raises InputError if it is none."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)", text)
    if match is None or match[2] not in _UNITS:
        raise InputError("not a size", found=f"'{text}'", allowed="a number with its unit, such as 64MiB")
    return int(float(match[1]) * _UNITS[match[2]])


def size_text(count: int) -> str:
    """Bytes as a spec has them."""
    return f"{count}B"
