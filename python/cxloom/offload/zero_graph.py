"""A step of ZeRO-Offload as a graph of tasks, and its time by what it was spent on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cxloom.offload.task_graph import Played, Task, TaskGraph, Use, play
from cxloom.offload.zero import ADAM, BACKWARD, CAST, FORWARD, HALF, UNSCALE, VERSIONS, Training


def zero_graph(given: Training) -> TaskGraph:
    """The tasks of a step.

    Forward, backward and Adam follow each other: the norm of the gradients needs all of them. Copies of gradients run
    beside backward only with `overlap`.
    """
    graph = TaskGraph(objects={name: each * given.parameters for name, each in OBJECTS.items()})
    if given.accumulate > 1:
        graph.objects["sums"] = HALF * given.parameters
    ends: tuple[int, ...] = ()
    for micro_step in range(given.accumulate):
        ends = _micro_step(graph, given, micro_step, ends)
    for what, each, seconds, read, written in (
        ("unscale and clip", UNSCALE, given.unscale_s, ("gradients",), ("gradients",)),
        ("Adam", ADAM, given.adam_s, ("parameters", "moments", "gradients"), ("parameters", "moments")),
        ("cast", CAST, given.cast_s, ("parameters",), ("half",)),
    ):
        reads, writes = (tuple(Use(name, graph.objects[name]) for name in names) for names in (read, written))
        amount = each * given.parameters
        least = given.parameters / given.adam_rate if what == "Adam" else 0.0
        task = Task(
            what, what, "kernel", "CPU", seconds, amount, reads=reads, writes=writes, after=ends, least=least
        )
        ends = (graph.add(task),)
    width = VERSIONS[given.version][1]
    moved = "half" if width == OBJECTS["half"] else "parameters"
    what = "parameters to the GPU"
    graph.add(
        Task(
            what,
            what,
            "copy",
            "to GPU",
            given.up_s,
            width * given.parameters,
            moved,
            "cpu",
            "gpu",
            after=ends,
        )
    )
    return graph


OBJECTS = {"parameters": 4, "moments": 8, "gradients": 4, "half": 2}
"""What is in CPU memory, and the bytes for a parameter: 18 together."""


def _micro_step(
    graph: TaskGraph, given: Training, micro_step: int, after: tuple[int, ...]
) -> tuple[int, ...]:
    """Adds forward and backward of a micro-step; gives what the next one, or the optimizer, waits for."""
    whole = f"micro-step {micro_step}"
    operations = FORWARD * given.parameters * given.tokens
    task = Task(f"{whole}: forward", "forward", "compute", "GPU", given.forward_s, operations, after=after)
    computed = (graph.add(task),)
    copied: tuple[int, ...] = ()
    down, up = given.gradient_bytes(micro_step)
    kept = "sums" if micro_step < given.accumulate - 1 else "gradients"
    for number, bucket in enumerate(given.buckets):
        here = f"{whole}, bucket {number}"
        seconds = given.backward_s * bucket / given.parameters
        operations = BACKWARD * bucket * given.tokens
        task = Task(f"{here}: backward", "backward", "compute", "GPU", seconds, operations, after=computed)
        computed = (graph.add(task),)
        last = computed
        for what, each, rate, on, moved, ways in (
            ("sums of gradients to the GPU", up, given.up, "to GPU", "sums", ("cpu", "gpu")),
            ("gradients from the GPU", down, given.down, "from GPU", kept, ("gpu", "cpu")),
        ):
            if each:
                amount, offset = each * bucket, each * number * given.bucket
                name = f"{here}: {what}"
                task = Task(name, what, "copy", on, amount / rate, amount, moved, *ways, offset, after=last)
                last = (graph.add(task),)
        if given.overlap:
            copied = last
        else:
            computed = last
    return (*computed, *copied)


@dataclass(frozen=True)
class TrainingStep:
    """How long a step takes."""

    given: Training

    @cached_property
    def played(self) -> Played:
        """When each task runs."""
        return play(zero_graph(self.given))

    @property
    def total_s(self) -> float:
        """Seconds of the step."""
        return self.played.seconds

    @cached_property
    def exposed(self) -> dict[str, float]:
        """Seconds by what they were spent on: the critical path. They sum to the total."""
        return {what: seconds for what, seconds in self.played.exposed().items() if seconds}

    @property
    def copied_bytes(self) -> dict[str, float]:
        """Bytes that a step moves from and to the GPU, by `down` and `up`."""
        found = {"down": 0.0, "up": 0.0}
        for task in self.played.graph.tasks:
            if task.kind == "copy":
                found["up" if task.target == "gpu" else "down"] += task.amount
        return found
