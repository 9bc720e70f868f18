"""Tasks with dependences, the times at which they run where each resource does one at a time, and the critical path."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["compute", "copy", "kernel", "join"]


@dataclass(frozen=True)
class Use:
    """A part of an object that a kernel reads or writes."""

    moved: str
    """The object."""
    amount: float
    """Bytes."""
    offset: float = 0.0
    """Where in the object they begin."""

    def to_json(self) -> dict[str, Any]:
        """The range for programs."""
        return {"object": self.moved, "bytes": self.amount, "offset": self.offset}


@dataclass(frozen=True)
class Task:
    """Something that is done once those before it are."""

    name: str
    what: str
    """What kind of work it is, such as "weights to the GPU": tasks of the same kind have the same."""
    kind: Kind
    """`compute` on the GPU, `copy` of an object, `kernel` of the CPU on memory; `join` waits and does nothing."""
    on: str
    """The resource that does it, one task at a time; empty for a join."""
    seconds: float = 0.0
    """How long it takes alone."""
    amount: float = 0.0
    """Bytes of a copy or kernel, operations of a computation; 0: only the time is known."""
    moved: str = ""
    """The object of a copy: weights, cache, ..."""
    source: str = ""
    target: str = ""
    """The memories that a copy reads and writes: gpu, cpu, disk."""
    offset: float = 0.0
    """Where in its object, as far as that is in CPU memory, a copy begins."""
    reads: tuple[Use, ...] = ()
    writes: tuple[Use, ...] = ()
    """What a kernel reads and writes in CPU memory."""
    after: tuple[int, ...] = ()
    """The tasks before it, by their places in the graph."""
    least: float = 0.0
    """Seconds that the cores of a kernel take at least, however fast memory is."""

    def to_json(self, names: Sequence[Task]) -> dict[str, Any]:
        """The task for programs; tasks before it by their names."""
        said: dict[str, Any] = {"name": self.name, "what": self.what, "kind": self.kind}
        if self.kind != "join":
            said |= {"on": self.on, "seconds": self.seconds}
        if self.amount:
            said["flops" if self.kind == "compute" else "bytes"] = self.amount
        if self.kind == "copy":
            said |= {"object": self.moved, "from": self.source, "to": self.target, "offset": self.offset}
        if self.kind == "kernel":
            said |= {"reads": [use.to_json() for use in self.reads]}
            said |= {"writes": [use.to_json() for use in self.writes]}
            said |= {"least_seconds": self.least}
        return said | {"after": [names[place].name for place in self.after]}


@dataclass
class TaskGraph:
    """Tasks, each behind those that it waits for."""

    tasks: list[Task] = field(default_factory=list)
    objects: dict[str, float] = field(default_factory=dict)
    """Bytes of each object in CPU memory."""
    on_gpu: float = 0.0
    """Bytes that the GPU holds at most, where the plan says it."""

    def add(self, task: Task) -> int:
        """Adds a task; gives its place."""
        if any(not 0 <= place < len(self.tasks) for place in task.after):
            raise ValueError(f"{task.name} waits for a task that is not there yet")
        self.tasks.append(task)
        return len(self.tasks) - 1

    def to_json(self) -> dict[str, Any]:
        """The graph for programs."""
        objects = [{"name": name, "bytes": size} for name, size in self.objects.items()]
        return {"objects": objects, "tasks": [task.to_json(self.tasks) for task in self.tasks]}


@dataclass(frozen=True)
class Played:
    """When each task ran."""

    graph: TaskGraph
    start: Sequence[float]
    end: Sequence[float]
    behind: Sequence[int]
    """The task whose end let each one start: one that it waited for, or that held its resource; -1: none."""

    @property
    def seconds(self) -> float:
        """The end of the last task."""
        return max(self.end, default=0.0)

    def critical_path(self) -> list[Task]:
        """The tasks that the time is the sum of, from the first to the last."""
        path: list[Task] = []
        at = max(range(len(self.end)), key=lambda place: (self.end[place], place), default=-1)
        while at >= 0:
            path.append(self.graph.tasks[at])
            at = self.behind[at]
        return path[::-1]

    def exposed(self) -> dict[str, float]:
        """The time by what was done on the critical path: it sums to all of it."""
        found: dict[str, float] = {}
        for task in self.critical_path():
            if task.kind != "join":
                found[task.what] = found.get(task.what, 0.0) + task.seconds
        return found


def play(graph: TaskGraph) -> Played:
    """Runs the tasks: each resource does one at a time, of those that are ready the one that was added first."""
    tasks = graph.tasks
    waits = [len(task.after) for task in tasks]
    followers: list[list[int]] = [[] for _ in tasks]
    for place, task in enumerate(tasks):
        for before in task.after:
            followers[before].append(place)
    start, end, behind = [0.0] * len(tasks), [0.0] * len(tasks), [-1] * len(tasks)
    ready: dict[str, list[int]] = {}
    held: dict[str, int] = {}
    last: dict[str, int] = {}
    running: list[tuple[float, int]] = []

    def begin(place: int, now: float, by: int) -> None:
        start[place], end[place], behind[place] = now, now + tasks[place].seconds, by
        heapq.heappush(running, (end[place], place))

    def offer(place: int, by: int) -> None:
        behind[place] = by
        heapq.heappush(ready.setdefault(tasks[place].on, []), place)

    def dispatch(now: float) -> None:
        for on, places in ready.items():
            while places and (not on or on not in held):
                place = heapq.heappop(places)
                by = behind[place]
                holder = last.get(on, -1) if on else -1
                if holder >= 0 and end[holder] == now and (by < 0 or end[by] < now):
                    by = holder
                if on:
                    held[on] = last[on] = place
                begin(place, now, by)

    for place, count in enumerate(waits):
        if not count:
            offer(place, -1)
    dispatch(0.0)
    while running:
        now = running[0][0]
        while running and running[0][0] == now:
            _, done = heapq.heappop(running)
            if tasks[done].on:
                del held[tasks[done].on]
            for place in followers[done]:
                waits[place] -= 1
                if not waits[place]:
                    offer(place, done)
        dispatch(now)
    return Played(graph, start, end, behind)
