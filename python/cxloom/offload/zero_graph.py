"""A step of ZeRO-Offload as a graph of tasks, and its time by what it was spent on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cxloom.offload.task_graph import Played, Task, TaskGraph, play
from cxloom.offload.zero import ADAM, CAST, UNSCALE, VERSIONS, Training


def zero_graph(given: Training) -> TaskGraph:
    """The tasks of a step.

    Forward, backward and Adam follow each other: the norm of the gradients needs all of them. Copies of gradients run
    beside backward only with `overlap`.
    """
    graph = TaskGraph()
    ends: tuple[int, ...] = ()
    for micro_step in range(given.accumulate):
        ends = _micro_step(graph, given, micro_step, ends)
    passes = (
        ("unscale and clip", UNSCALE, given.unscale_s, "gradients"),
        ("Adam", ADAM, given.adam_s, "optimizer states"),
        ("cast", CAST, given.cast_s, "parameters"),
    )
    for what, each, seconds, moved in passes:
        amount = each * given.parameters
        task = Task(what, what, "kernel", "CPU", seconds, amount, moved, after=ends)
        ends = (graph.add(task),)
    amount = VERSIONS[given.version][1] * given.parameters
    what = "parameters to the GPU"
    graph.add(Task(what, what, "copy", "to GPU", given.up_s, amount, "parameters", "cpu", "gpu", ends))
    return graph


def _micro_step(
    graph: TaskGraph, given: Training, micro_step: int, after: tuple[int, ...]
) -> tuple[int, ...]:
    """Adds forward and backward of a micro-step; gives what the next one, or the optimizer, waits for."""
    name = f"micro-step {micro_step}"
    task = Task(f"{name}: forward", "forward", "compute", "GPU", given.forward_s, after=after)
    computed = (graph.add(task),)
    copied: tuple[int, ...] = ()
    down, up = given.gradient_bytes(micro_step)
    for number, bucket in enumerate(given.buckets):
        here = f"{name}, bucket {number}"
        seconds = given.backward_s * bucket / given.parameters
        task = Task(f"{here}: backward", "backward", "compute", "GPU", seconds, after=computed)
        computed = (graph.add(task),)
        last = computed
        for what, each, rate, on, ways in (
            ("sums of gradients to the GPU", up, given.up, "to GPU", ("cpu", "gpu")),
            ("gradients from the GPU", down, given.down, "from GPU", ("gpu", "cpu")),
        ):
            if each:
                moved = each * bucket
                task = Task(
                    f"{here}: {what}", what, "copy", on, moved / rate, moved, "gradients", *ways, last
                )
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
