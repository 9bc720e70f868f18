"""The system that a plan is played on: who computes, who copies, and which memories objects are in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.granules import LINE
from cxloom.offload.task_graph import TaskGraph
from cxloom.spec import declared
from cxloom.spec.names import listed, nearest
from cxloom.spec.parts import Part, part_of, quantity
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import describe
from cxloom.system.system import System

MOST_LINES = 2_000_000
"""Lines that are simulated unless a scale is given (own choice: about half a minute)."""
_DROPPED = ("workload", "tasks")
"""Sections of a system that a plan replaces."""
_DROPPED_OF_RUN = ("warmup", "warmup_time", "until")
"""What a run of tasks refuses: its window is that of the graph."""
_NODE = r"[A-Za-z0-9_.\-\[\]]+(?: +ld +[0-9]{1,2})?(?: *: *[0-9]{1,6})?"
_PLACE = re.compile(rf" *(?:([a-z]+) *= *)?({_NODE}(?: *, *{_NODE})*) *")
"""A logical device is called as in results: `card ld 0`."""


@dataclass(frozen=True)
class Target:
    """A system for a plan, without work of its own."""

    system: Resolved
    """The system without its work, each value with its place."""
    host: str
    """The device that runs the kernels of the CPU."""
    gpu: str
    """The device whose DMA engine makes the copies."""
    threads: int
    """Cores of the host that a kernel is divided among."""
    places: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Where objects are, by their names, as `addresses` of the spec says it; of '' all others."""
    scale: int = 0
    """Bytes, operations and times are divided by it; 0: so that at most `MOST_LINES` lines move."""
    room: Mapping[str, int] = field(default_factory=dict)
    """Bytes that the host has of each node, by one of its memories."""
    queue: tuple[str, int, float] | None = None
    """The key of the queue of a host without cores, the lines that it has in flight at most, and the nanoseconds that a
    line takes from its farthest memory with no other traffic; None where that is not known."""
    left_out: tuple[str, ...] = ()
    """Work that the system has and a plan replaces: 'the workload of host0', 'its tasks'."""

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The system as plain data."""
        return self.system.plain()

    @property
    def hbm(self) -> float:
        """Bytes of the GPU's memory."""
        default = declared.fields(_field("hbm"))["capacity"]["default"]
        given = self.spec["devices"][self.gpu].get("hbm") or {}
        return quantity("bytes", given.get("capacity", default))

    def scale_of(self, graph: TaskGraph) -> int:
        """What a graph is divided by: a power of two unless it is given."""
        if self.scale:
            return self.scale
        lines = sum(task.amount for task in graph.tasks if task.kind in ("copy", "kernel")) / LINE
        return 1 << max(0, int(lines / MOST_LINES)).bit_length()

    def place_of(self, name: str) -> Mapping[str, Any]:
        """Where an object is."""
        return self.places.get(name, self.places.get("", {"kind": "preferred"}))

    def parts(self, scale: int, streams: int) -> dict[str, Any]:
        """The spec without tasks. The engine has as many streams as the plan, and the time of its calls is scaled."""
        devices = dict(self.spec["devices"])
        gpu = dict(devices[self.gpu])
        if gpu.get("streams", 1) < streams:
            gpu["streams"] = streams
        if scale > 1:
            call = quantity("time", gpu.get("launch_time", _field("launch_time")["default"]))
            gpu["launch_time"] = f"{round(1000 * call / scale)}ps"
        return {**self.spec, "devices": {**devices, self.gpu: gpu}}


def target(
    system: System | str | os.PathLike[str],
    *,
    host: str | None = None,
    dma: str | None = None,
    threads: int | None = None,
    place: Sequence[str] = (),
    scale: int | None = None,
) -> Target:
    """The system that a plan is played on.

    Args:
        system: a system with a GPU, or the path or preset of its spec. Work that it has is left out.
        host: who runs the CPU's kernels; by default the host of the GPU, or the only one.
        dma: the device that copies by DMA; by default the only one of kind `gpu`.
        threads: cores that a kernel is divided among; by default all of the host.
        place: where objects are: "dram,card" all of them, page by page, "dram:3,card" three pages for one, and
            "cache=card" a single object. By default the nearest memory with room.
        scale: bytes, operations and times are divided by it; 1 simulates windows of lines of the whole, more every
            line. By default so that at most `MOST_LINES` lines move.

    Raises InputError for what is wrong in the system, at its place, for one without a GPU, and for names that are none.
    """
    if not isinstance(system, System):
        system = System.load(system)
    bare, described = _without_work(system)
    devices = bare.plain()["devices"]
    # Its host, its streams and the time of its calls are parameters of this kind, and of no part that others have.
    gpus = [name for name, device in devices.items() if _kind(device) == "gpu"]
    gpu = _one(gpus, "gpu", dma, "dma", "a device of kind gpu, whose DMA engine copies")
    roots = [each["name"] for each in _core.inventory(bare.plain(), False)["devices"] if each["is_root"]]
    parts = {name: part for name in roots if (part := part_of(bare.plain(), name, "requester")) is not None}
    given = host or devices[gpu].get("host")
    host = _one(list(parts), "host", given, "host", "a host, whose cores compute")
    core = parts[host].below("core")
    cores = (core.count("cores") if core is not None else None) or 1
    if threads is not None and threads > 1 and core is None:
        raise InputError(
            "threads need cores to run on",
            found=str(threads),
            allowed=f"{parts[host].at}.core, or 1",
            path="threads",
        )
    if scale is not None and scale < 1:
        raise InputError("not a scale", found=str(scale), allowed="1 or more", path="scale")
    room = {
        node["memories"][0]: node["offered"][host] for node in described["nodes"] if host in node["offered"]
    }
    queue = _queue_of(parts[host], described["routes"], host) if core is None else None
    return Target(
        bare, host, gpu, threads or cores, _places(place), scale or 0, room, queue, _work_of(system)
    )


def _queue_of(part: Part, routes: Iterable[Mapping[str, Any]], host: str) -> tuple[str, int, float] | None:
    lines = part.count("queue")
    for route in routes:
        idle = route.get("idle_read_ns")
        if route["requester"] == host and idle and lines:
            return f"{part.at}.queue", lines, float(idle["most"])
    return None


def _work_of(system: System) -> tuple[str, ...]:
    """What of a system's work a plan replaces, in words."""
    spec = system.resolve().plain()
    names = [name for name, work in (spec.get("workload") or {}).items() if work is not None]
    found = [f"the workload of {listed(names, word='and')}"] if names else []
    return (*found, *(["its tasks"] if spec.get("tasks") else []))


def _without_work(system: System) -> tuple[Resolved, dict[str, Any]]:
    """The system without what a plan replaces, which builds, and what it is. Raises InputError at its place."""
    root = system.resolve().root
    kept = {key: node for key, node in root.map().items() if key not in _DROPPED}
    if (run := kept.pop("run", None)) is not None:
        run = run.with_entries({key: node for key, node in run.map().items() if key not in _DROPPED_OF_RUN})
        kept |= {"run": run} if run.value else {}
    bare = Resolved(root.with_entries(kept))
    return bare, describe(bare)


def _one(names: Sequence[str], noun: str, given: str | None, path: str, what: str) -> str:
    """The device that is meant, of those that can be."""
    if given is not None:
        if given not in names:
            raise InputError(
                f"no {noun} '{given}'",
                allowed=listed(names) if names else what,
                suggestion=nearest(given, names),
                path=path,
            )
        return given
    if len(names) != 1:
        problem = f"the system has {'no' if not names else 'more than one'} {noun}"
        raise InputError(problem, allowed=listed(names) if names else what, path=path)
    return names[0]


def _field(name: str) -> Any:
    """A parameter of a GPU, as it is declared."""
    return declared.kind_fields("devices", "gpu")[name]


def _kind(device: Any) -> str:
    return str(device.get("kind") if isinstance(device, Mapping) else device)


def _places(given: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for text in given:
        parts = _PLACE.fullmatch(text)
        if parts is None:
            raise InputError(
                "not a place",
                found=f"'{text}'",
                allowed="NODE[:PAGES][,NODE...] or OBJECT=NODE..., such as dram,card or cache=card",
                path="place",
            )
        name = parts[1] or ""
        if name in found:
            raise InputError("an object has two places", found=f"'{text}'", allowed="one", path="place")
        nodes = [node.partition(":") for node in parts[2].split(",")]
        names = [" ".join(node.split()) for node, _, _ in nodes]
        if len(names) == 1:
            found[name] = {"kind": "bind", "nodes": names}
        else:
            weights = [int(weight or 1) for _, _, weight in nodes]
            more = {"weights": weights} if len(set(weights)) > 1 else {}
            found[name] = {"kind": "interleave", "nodes": names, **more}
    return found
