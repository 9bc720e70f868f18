"""A system of the servers and devices of a pod, as a spec: the device and its link are those of a preset."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxloom.base.errors import InputError
from cxloom.base.granules import LINE, PAGE
from cxloom.measure.look_ups import look_ups_ns, process_time
from cxloom.planning.designs import MOST_HEADS, Pooled, Sparse, Switched
from cxloom.planning.inputs import Traffic
from cxloom.planning.reach import Reach
from cxloom.planning.worst import Worst
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.parts import part_of
from cxloom.spec.resolve import resolve
from cxloom.system.simulation import describe
from cxloom.system.system import System

Spec = dict[str, Any]
MOST_SERVERS = 256
"""Servers that are simulated together at most (own choice: what a minute is enough for)."""
IDLE_READS = 2000
IDLE_FOOTPRINT = 256 << 20
IDLE_WARM = 50
"""The numbers of ``cxloom measure SPEC latency``, so that both find the same."""
UNUSED = "unused"
"""A switch that no access passes."""
_LEAST, _LEAST_WARM = 40, 4
"""Accesses of a server at least, and before them until it is warm (own choice: of one with hardly any traffic)."""
_CHUNK = PAGE
"""The interleave over the devices of a unit: pages (own choice; slices are far larger)."""


@dataclass(frozen=True)
class Template:
    """A host, a device and their link."""

    names: tuple[str, str]
    """Names of the host and the device in the spec that they are from."""
    host: Spec
    device: Spec
    link: Spec
    bytes: int
    """Bytes of the device's media."""


def template_of(design: Pooled, folder: str) -> Template:
    """The parts of the design's device. Raises InputError, at `device`, for a spec of another form."""
    beside = os.path.join(folder, design.device)
    try:
        resolved = System.load(beside if os.path.isfile(beside) else design.device).resolve()
    except InputError as error:
        if error.line is not None:
            raise
        raise InputError(
            error.problem,
            found=error.found or f"'{design.device}'",
            allowed=error.allowed,
            suggestion=error.suggestion,
            path="device",
        ) from None
    spec = resolved.plain()
    kinds = {name: each["kind"] for name, each in spec["devices"].items()}
    hosts = [name for name, kind in kinds.items() if kind == "host"]
    memories = [name for name, kind in kinds.items() if kind == "memory"]
    if len(hosts) != 1 or len(memories) != 1 or len(kinds) != 2 or len(spec["links"]) != 1:
        raise InputError(
            "not one host, one memory and their link",
            found=f"'{design.device}', with {', '.join(kinds.values())}",
            allowed="such as expander/x16-ddr5",
            path="device",
        )
    link = {key: value for key, value in spec["links"][0].items() if key != "between"}
    if design.phy is not None:
        link["phy"] = design.phy
    size = int(describe(resolved)["nodes"][0]["bytes"])
    return Template(
        (hosts[0], memories[0]), _server(spec, hosts[0]), spec["devices"][memories[0]], link, size
    )


def _server(spec: Spec, host: str) -> Spec:
    """A host whose accesses are those that memory sees: at their rate, where cores make them as soon as they can, and
    past its caches, which they have missed."""
    left_out = ("core", "cache", "atomics")
    server = {key: value for key, value in spec["devices"][host].items() if key not in left_out}
    part = part_of(spec, host, "requester")
    if part is not None and (look_ups := look_ups_ns(part)):
        server["process_time"] = process_time(part, look_ups)
    return server


def check_built(design: Pooled, reach: Reach, template: Template) -> None:
    """Raises InputError, at `phy` or `switching_time`, for values that the simulator does not take."""
    if design.phy is None and getattr(design, "switching_time", None) is None:
        return
    spec = idle_pod(Pod(design, reach, template), 0, reach.units_of[0][0])
    try:
        describe(resolve(from_plain(spec, Origin())))
    except InputError as error:
        raise InputError(
            error.problem,
            found=error.found,
            allowed=error.allowed,
            suggestion=error.suggestion,
            path=error.path.rpartition(".")[2],
        ) from None


def check_heads(design: Pooled, reach: Reach, *, is_simulated: bool) -> None:
    """Raises InputError for devices with more heads than the simulator's memory has."""
    servers = reach.servers_of()
    is_whole = all(len(each) == len(reach.units_of) for each in servers)
    most = MOST_HEADS if is_whole or not is_simulated else MOST_HEADS - 1
    if isinstance(design, Sparse) and (found := max(map(len, servers))) > most:
        why = ": one head of each is for a switch that joins what is simulated" if most < MOST_HEADS else ""
        raise InputError(
            "too many heads of a device",
            found=str(found),
            allowed=f"at most {most}{why}",
            path="graph" if design.heads is None else "heads",
        )


@dataclass
class Pod:
    """The spec of a part of a pod, built up."""

    design: Pooled
    reach: Reach
    template: Template
    spec: Spec = field(init=False)

    def __post_init__(self) -> None:
        self.spec = {"name": "pod", "devices": {}, "links": [], "address_map": [], "workload": {}}

    def server(self, server: int, **changes: Any) -> str:
        """Adds a server."""
        name = f"server{server}"
        self.spec["devices"][name] = {**copy.deepcopy(self.template.host), **changes}
        if isinstance(self.design, Switched):
            self._link(name, self._switch(self.reach.units_of[server][0]))
        return name

    def unit(self, unit: int, servers: Sequence[int]) -> list[str]:
        """Adds the devices of a unit, linked to these servers, which are there."""
        names = self.device_names(unit)
        for name in names:
            device = copy.deepcopy(self.template.device)
            if isinstance(self.design, Switched):
                self.spec["devices"][name] = device
                # What the preset's link takes beyond its wire is of the host and the device, which are there once.
                self._link(self._switch(unit), name, delay="0ns")
                continue
            self.spec["devices"][name] = {**device, "heads": max(1, len(servers))}
            for server in servers:
                self._link(f"server{server}", name)
        return names

    def device_names(self, unit: int) -> list[str]:
        """The names of the devices of a unit."""
        return [f"device{unit * self.reach.devices + at}" for at in range(self.reach.devices)]

    def _switch(self, unit: int) -> str:
        name = f"switch{unit}"
        if name not in self.spec["devices"]:
            assert isinstance(self.design, Switched)
            own = self.design.switching_time
            self.spec["devices"][name] = {
                "kind": "switch",
                **({} if own is None else {"switching_time": own}),
            }
        return name

    def _link(self, one: str, other: str, **changes: Any) -> None:
        self.spec["links"].append({"between": [one, other], **copy.deepcopy(self.template.link), **changes})

    def make_reachable(self) -> None:
        """Links all to a switch that nothing passes: the simulator wants each host to reach each memory of the map, and
        of a sparse pod hosts reach some. The ways over it are longer than those of any access."""
        spec = self.spec
        spec["devices"][UNUSED] = {"kind": "switch"}
        for name, device in spec["devices"].items():
            if name == UNUSED:
                continue
            if name.startswith("device"):
                device["heads"] += 1
            spec["links"].append({"between": [name, UNUSED]})


def idle_pod(pod: Pod, server: int, unit: int) -> Spec:
    """One server alone, one dependent read at a time, to one device.

    What is drawn depends on names: with those of the preset the reads are those of ``cxloom measure PRESET latency``.
    """
    host = pod.server(server, queue=1)
    device = pod.unit(unit, [server])[0]
    spec = pod.spec
    # Its other devices have no part in it, nor have they when all are measured one after the other.
    spec["devices"] = {
        name: each
        for name, each in spec["devices"].items()
        if not name.startswith("device") or name == device
    }
    spec["links"] = [link for link in spec["links"] if all(end in spec["devices"] for end in link["between"])]
    spec["address_map"] = [{"to": [device]}]
    spec["workload"] = {
        host: {
            "pattern": "pointer-chase",
            "requests": IDLE_READS,
            "footprint": f"{min(IDLE_FOOTPRINT, pod.template.bytes)}B",
            "addresses": {"kind": "bind", "nodes": [device]},
        }
    }
    spec["run"] = {"warmup": IDLE_WARM}
    renamed: Spec = _renamed(spec, dict(zip((host, device), pod.template.names, strict=True)))
    return renamed


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A spec with other names of devices."""
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


@dataclass(frozen=True)
class Scope:
    """The servers and units that are simulated."""

    servers: tuple[int, ...]
    units: tuple[int, ...]
    is_whole: bool
    """Whether all that shares a device with another of them, directly or by others, is among them."""


def scope_of(worst: Worst) -> Scope:
    """All that hangs together with the worst unit in its worst minute; of too many servers its own neighbours."""
    pairs = list(worst.slices)
    units, servers = {worst.unit}, {server for server, unit in pairs if unit == worst.unit}
    nearest = set(servers)
    while True:
        units |= {unit for server, unit in pairs if server in servers}
        more = {server for server, unit in pairs if unit in units} - servers
        if not more:
            return Scope(tuple(sorted(servers)), tuple(sorted(units)), True)
        if len(servers | more) > MOST_SERVERS:
            units = {unit for server, unit in pairs if server in nearest}
            return Scope(tuple(sorted(nearest)), tuple(sorted(units)), False)
        servers |= more


def loaded_pod(pod: Pod, worst: Worst, scope: Scope, traffic: Traffic, seed: int) -> Spec:
    """The servers of the scope with their traffic in the worst minute, each to the slices that it has.

    What a server has is smaller than in the pod, by one factor for all: which part of the traffic goes to which device
    stays as it is, and lines are as far from each other as rows of DRAM are.
    """
    loads = {(s, u): n for (s, u), n in worst.traffic.items() if s in scope.servers and u in scope.units}
    shares = _sizes(loads, pod)
    for server in scope.servers:
        pod.server(server)
    for unit in scope.units:
        pod.unit(unit, [s for s in scope.servers if unit in pod.reach.units_of[s]])
    if any(unit not in pod.reach.units_of[server] for server in scope.servers for unit in scope.units):
        pod.make_reachable()
    whole = sum(loads.values())
    base = 0
    for server in scope.servers:
        own = {unit: size for (of, unit), size in shares.items() if of == server}
        load = sum(value for (of, _), value in loads.items() if of == server)
        for unit, size in own.items():
            pod.spec["address_map"].append(_region(pod.device_names(unit), size))
        pod.spec["workload"][f"server{server}"] = {
            "pattern": traffic.pattern,
            "reads": traffic.reads,
            "rate": f"{load / LINE:.3f}/s",
            "arrivals": "poisson" if traffic.arrivals == "poisson" else "fixed",
            "requests": max(_LEAST, round(traffic.requests * load / whole)),
            "base": hex(base),
            "footprint": f"{sum(own.values())}B",
        }
        base += sum(own.values())
    fewest = min(work["requests"] for work in pod.spec["workload"].values())
    pod.spec["run"] = {"warmup": max(_LEAST_WARM, fewest // 10), "seed": seed}  # of each server
    pod.spec["outputs"] = {"requests": True}
    return pod.spec


def _region(devices: Sequence[str], size: int) -> Spec:
    if len(devices) == 1:
        return {"to": list(devices), "size": f"{size}B"}
    return {"to": list(devices), "size": f"{size}B", "interleave": f"{_CHUNK}B", "policy": "weighted"}


def _sizes(loads: dict[tuple[int, int], float], pod: Pod) -> dict[tuple[int, int], int]:
    """Bytes of each server in each unit, in proportion to its traffic there, as the accesses of a server go evenly to
    all of its bytes."""
    step = _CHUNK * pod.reach.devices
    most: dict[int, float] = {}
    for (_, unit), load in loads.items():
        most[unit] = most.get(unit, 0.0) + load
    room = pod.template.bytes * pod.reach.devices * 0.9
    factor = room / max(most.values())
    return {pair: max(step, int(load * factor) // step * step) for pair, load in loads.items()}
