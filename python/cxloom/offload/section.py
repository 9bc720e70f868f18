"""A plan's graph in the words of a spec: the section `tasks` that `cxloom run` plays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cxloom.base.errors import InputError
from cxloom.base.granules import LINE
from cxloom.display.numbers import significant
from cxloom.offload.room import objects_of, whole_lines
from cxloom.offload.target import Target
from cxloom.offload.task_graph import Task, TaskGraph, Use

_PS = 1e12


def spec_of(graph: TaskGraph, target: Target) -> dict[str, Any]:
    """The whole spec: the system, and the graph on it.

    Computation has a processor for each rate of the plan, or the time alone where no operations are known; copies are
    made by the GPU's DMA engine, in a stream for each resource of the plan; kernels of the CPU read and write their
    parts of objects with `threads` cores. Joins become dependences.

    Raises InputError for a plan with a disk, and for a place of an object that the plan does not have.
    """
    _refuse_disks(graph)
    for name in target.places:
        if name and name not in graph.objects:
            raise InputError(
                f"the plan has no object '{name}' in CPU memory",
                allowed=", ".join(graph.objects),
                path="place",
            )
    scale = target.scale_of(graph)
    writer = _Writer(graph, target, scale)
    tasks = [writer.task(place, task) for place, task in enumerate(graph.tasks) if task.kind != "join"]
    section: dict[str, Any] = {
        "objects": objects_of(graph, target, scale),
        "processors": [{"name": name, "flops": rate} for name, rate in writer.processors.items()],
        "graph": tasks,
    }
    if scale > 1:
        section["exact"] = True
    return {**target.parts(scale, len(writer.streams)), "tasks": section}


def objects_alone(graph: TaskGraph, target: Target) -> dict[str, Any]:
    """The system with the objects of the whole plan, and nothing that moves them: whether they have room there."""
    nothing = {"name": "none", "kind": "compute", "on": "none", "time": "0ps"}
    section = {
        "objects": objects_of(graph, target, 1),
        "processors": [{"name": "none", "flops": 1.0}],
        "graph": [nothing],
        "exact": True,
    }
    return {**target.parts(1, 1), "tasks": section}


def _refuse_disks(graph: TaskGraph) -> None:
    for task in graph.tasks:
        if "disk" in (task.source, task.target):
            raise InputError(
                "a simulated system has no disk for a plan",
                found=task.what,
                allowed="a plan without a disk: --disk 0B",
                path="disk",
            )


class _Writer:
    """Tasks in the words of a spec, with the processors and streams that they need."""

    def __init__(self, graph: TaskGraph, target: Target, scale: int) -> None:
        self._graph, self._target, self._scale = graph, target, scale
        self.processors: dict[str, float] = {}
        self.streams: dict[str, int] = {}

    def task(self, place: int, task: Task) -> dict[str, Any]:
        """One task."""
        said: dict[str, Any] = {"name": task.name, "kind": task.kind}
        if task.kind == "compute":
            said |= self._compute(task)
        elif task.kind == "copy":
            said |= self._copy(task)
        else:
            said |= self._kernel(task)
        after = [self._graph.tasks[each].name for each in _waited_for(self._graph, task.after)]
        return said | ({"after": after} if after else {})

    def _compute(self, task: Task) -> dict[str, Any]:
        rate = task.amount / task.seconds if task.amount and task.seconds else 0.0
        if not rate:
            self.processors.setdefault("GPU", 1.0)  # its tasks have times
            return {"on": "GPU", "time": self._time(task.seconds)}
        name = f"GPU at {significant(rate / 1e12, 6)} Tflop/s"
        self.processors.setdefault(name, rate)
        return {"on": name, "flops": task.amount / self._scale}

    def _copy(self, task: Task) -> dict[str, Any]:
        part = self._part(Use(task.moved, task.amount, task.offset))
        stream = self.streams.setdefault(task.on, len(self.streams))
        gpu = self._target.gpu
        ends = (
            {"from": part["object"], "to": gpu}
            if task.target == "gpu"
            else {"from": gpu, "to": part["object"]}
        )
        return {**ends, "on": gpu, "stream": stream, "bytes": part["bytes"], "offset": part["offset"]}

    def _kernel(self, task: Task) -> dict[str, Any]:
        said: dict[str, Any] = {"on": self._target.host}
        if self._target.threads > 1:
            said["threads"] = self._target.threads
        if task.least:
            said["time"] = self._time(task.least)
        for key, uses in (("reads", task.reads), ("writes", task.writes)):
            if uses:
                said[key] = [self._part(use) for use in uses]
        return said

    def _part(self, use: Use) -> dict[str, Any]:
        """A part of an object in whole lines, within it."""
        whole = whole_lines(self._graph.objects[use.moved] / self._scale)
        size = min(whole_lines(use.amount / self._scale), whole)
        offset = min(LINE * round(use.offset / self._scale / LINE), whole - size)
        return {"object": use.moved, "bytes": f"{size}B", "offset": f"{offset}B"}

    def _time(self, seconds: float) -> str:
        return f"{round(seconds / self._scale * _PS)}ps"


def _waited_for(graph: TaskGraph, after: Iterable[int]) -> list[int]:
    """The tasks that a task waits for, with those behind joins in their place."""
    found: dict[int, None] = {}
    for place in after:
        if graph.tasks[place].kind == "join":
            found |= dict.fromkeys(_waited_for(graph, graph.tasks[place].after))
        else:
            found[place] = None
    return list(found)
