"""A plan beside its simulation: how long each kind of work is on the critical path of both, and each task in both."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError, InputErrors, SimulationError, together
from cxloom.base.granules import LINE
from cxloom.base.words import counted
from cxloom.display.numbers import percent, significant, size
from cxloom.offload.section import objects_alone, spec_of
from cxloom.offload.target import Target, target
from cxloom.offload.task_graph import Played, TaskGraph, play
from cxloom.results.caveats import error_sentence
from cxloom.running.run import run
from cxloom.spec import paths
from cxloom.spec.node import Origin
from cxloom.spec.writer import to_yaml
from cxloom.system.simulation import build
from cxloom.system.system import System
from cxloom.tasks.table import failures

if TYPE_CHECKING:
    from rich.table import Table

    from cxloom.base.summary import SummaryTasks
    from cxloom.offload.inference import InferencePlan
    from cxloom.offload.training import TrainingPlan


_FILE = "the plan's spec"
_PART = re.compile(r"tasks\.(objects|graph)\[(\d+)\]")
SHORTEST = 1000
"""Lines of a transfer, below which its latency counts (own choice: some 2 % of a copy at 26 GB/s)."""
_ALIKE = 5e-4
"""A share of a plan's time below which its simulation takes as long."""
COARSER = 4
"""What a plan is divided by besides, to see what latencies make of it (own choice: a quarter more to simulate)."""
SLOWER = 1.25
"""A kernel is noted to be slower than its plan, or a line than one alone, by more than this (own choice)."""


@dataclass(frozen=True)
class Kind:
    """A kind of work in plan and simulation, in seconds."""

    what: str
    tasks: int
    plan_s: float
    """On the plan's critical path."""
    simulated_s: float
    """On the critical path of the simulation."""
    plan_work_s: float
    """All its tasks together, on the critical path or not, but those that failed."""
    simulated_work_s: float
    """What these tasks take in the simulation."""
    whole_s: float | None = None
    """On the critical path of the whole, about; None where the simulation has it."""
    whole_work_s: float | None = None
    """`simulated_work_s` of the whole, about; None where the simulation has it."""
    failed: int = 0
    """Tasks with lines that memory answered without data: what they took is no time of their work."""

    @property
    def difference_s(self) -> float:
        """What the simulation spends more on its critical path."""
        return self.simulated_s - self.plan_s

    @property
    def more_s(self) -> float:
        """What the whole spends more on it, where that is known."""
        return (self.simulated_s if self.whole_s is None else self.whole_s) - self.plan_s

    def to_json(self) -> dict[str, Any]:
        """The comparison for programs."""
        return {
            "what": self.what,
            "tasks": self.tasks,
            "plan_s": self.plan_s,
            "simulated_s": self.simulated_s,
            "difference_s": self.difference_s,
            **({} if self.whole_s is None else {"whole_s": self.whole_s, "whole_work_s": self.whole_work_s}),
            "plan_work_s": self.plan_work_s,
            "simulated_work_s": self.simulated_work_s,
            "failed": self.failed,
        }


@dataclass(frozen=True)
class Beside:
    """A plan's graph as its rates play it, and as a system does."""

    planned: Played
    spec: dict[str, Any]
    """What was simulated."""
    scale: int
    """What bytes, operations and times were divided by; the seconds here are those of the whole."""
    tasks: SummaryTasks
    """`tasks` of the summary."""
    left_out: tuple[str, ...] = ()
    """Work of the system that the plan replaced, in words."""
    coarser: SummaryTasks | None = None
    """`tasks` of a part that is `COARSER`, where latencies count that are not divided; None: they do not count."""
    queue: tuple[str, int, float] | None = None
    """`queue` of the target."""
    hbm: float = math.inf
    """Bytes of the GPU's memory."""
    errors: str = ""
    """Requests that were answered without data, in words; empty if all had theirs."""

    @property
    def plan_s(self) -> float:
        """Seconds of the plan."""
        return self.planned.seconds

    @property
    def simulated_s(self) -> float:
        """Seconds of the simulation."""
        return self._seconds(self.tasks["time_ns"])

    def _seconds(self, nanoseconds: float) -> float:
        return nanoseconds * 1e-9 * self.scale

    @property
    def whole_s(self) -> float | None:
        """Seconds of the whole, about: what latencies add, which are not divided, grows with the scale, so that it is
        known from two of them. None where it is not known to be more than nothing."""
        return None if self.coarser is None else self._whole(self.tasks["time_ns"], self.coarser["time_ns"])

    def _whole(self, nanoseconds: float, coarser: float) -> float:
        """What is left at scale 1 of a time that grows evenly with the scale."""
        here, there = self._seconds(nanoseconds), self._seconds(coarser) * COARSER
        return max(0.0, here - (there - here) * (self.scale - 1) / (self.scale * (COARSER - 1)))

    @cached_property
    def kinds(self) -> list[Kind]:
        """Each kind of work. Their differences sum to that of the whole."""
        what = {task.name: task.what for task in self.planned.graph.tasks if task.kind != "join"}
        planned, path = self.planned.exposed(), self._path(self.tasks, what)
        coarser = None if self.coarser is None else self._path(self.coarser, what)
        work, alone, count = dict.fromkeys(path, 0.0), dict.fromkeys(path, 0.0), dict.fromkeys(path, 0)
        coarse_work, failed = dict(work), dict(count)
        for task in self.planned.graph.tasks:
            if task.kind == "join":
                continue
            ran = self.tasks["per_task"][task.name]
            count[task.what] += 1
            if ran.get("failed"):
                failed[task.what] += 1
                continue
            work[task.what] += ran["end_ns"] - ran["start_ns"]
            if self.coarser is not None:
                there = self.coarser["per_task"][task.name]
                coarse_work[task.what] += there["end_ns"] - there["start_ns"]
            alone[task.what] += task.seconds
        return [
            Kind(
                name,
                count[name],
                planned.get(name, 0.0),
                self._seconds(path[name]),
                alone[name],
                self._seconds(work[name]),
                None if coarser is None else self._whole(path[name], coarser[name]),
                None if coarser is None else self._whole(work[name], coarse_work[name]),
                failed[name],
            )
            for name in path
        ]

    @staticmethod
    def _path(tasks: SummaryTasks, what: Mapping[str, str]) -> dict[str, float]:
        """Nanoseconds of each kind of work on a critical path."""
        path = dict.fromkeys(what.values(), 0.0)
        for part in tasks["critical_path"]:
            path[what[part["task"]]] += part["time_ns"]
        return path

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        whole = f", of 1 / {self.scale} of it" if self.scale > 1 else ""
        if failed := sum(each.failed for each in self.kinds):
            whole += (
                f", and with {failed} of {counted(sum(each.tasks for each in self.kinds), 'task')} failed"
            )
        took = self.simulated_s if self.whole_s is None else self.whole_s
        by = took / self.plan_s - 1 if self.plan_s else 0.0
        about = "" if self.whole_s is None else f"{_said(self.simulated_s)}, and the whole about "
        said = f"Simulated{whole}, the plan takes {about}{_said(took)}"
        if abs(by) < _ALIKE:
            return f"{said}, as it says."
        most = max(self.kinds, key=lambda each: abs(each.more_s))
        return (
            f"{said} and not {_said(self.plan_s)}: {percent(abs(by))} {'more' if by >= 0 else 'less'}, most of it "
            f"by {most.what} ({significant(most.more_s, 3)} s)."
        )

    @property
    def notes(self) -> list[str]:
        """What to bear in mind."""
        short = _short(self.planned.graph, self.scale)
        notes = [f"the plan runs alone, without {' and '.join(self.left_out)}"] if self.left_out else []
        if self.planned.graph.on_gpu > self.hbm:
            notes.append(
                f"the plan holds {size(self.planned.graph.on_gpu)} on the GPU, whose memory here has {size(self.hbm)} "
                "(hbm.capacity)"
            )
        if self.errors:
            notes.append(f"{self.errors}; {failures(self.tasks)}; what these took is no time of their work")
        if waiting := self._held_by_queue():
            assert self.queue is not None
            notes.append(
                f"{', '.join(waiting)}: bound by the {self.queue[1]} lines that the host has in flight at most "
                f"({self.queue[0]}), and not by memory"
            )
        if self.scale == 1:
            return notes
        if self.spec.get("events"):
            notes.append(
                f"events come at their times, which are not divided by {self.scale} as those of the plan are"
            )
        if not short:
            return notes
        return [
            *notes,
            f"latencies are not divided by {self.scale}, so that what moves less than {SHORTEST} lines then takes too "
            f"long: {', '.join(short)}; a smaller --scale has less of it",
        ]

    def _held_by_queue(self) -> list[str]:
        """Kernels that are slower than their plan by more than `SLOWER`, while the queue of the host is full of lines
        that wait for nothing: by Little's law each takes as long as without other traffic."""
        if self.queue is None:
            return []
        found: dict[str, None] = {}
        for task in self.planned.graph.tasks:
            if task.kind != "kernel" or not task.amount:
                continue
            ran = self.tasks["per_task"][task.name]
            took = self._seconds(ran["end_ns"] - ran["start_ns"])
            each_ns = self.queue[1] * LINE / task.amount * took * 1e9
            if not ran.get("failed") and took > SLOWER * task.seconds and each_ns < SLOWER * self.queue[2]:
                found[task.what] = None
        return list(found)

    def to_json(self) -> dict[str, Any]:
        """The simulated plan for programs."""
        rows = []
        for place, task in enumerate(self.planned.graph.tasks):
            if task.kind == "join":
                continue
            ran = self.tasks["per_task"][task.name]
            rows.append(
                {
                    "name": task.name,
                    "what": task.what,
                    "plan_start_s": self.planned.start[place],
                    "plan_s": task.seconds,
                    "simulated_start_s": self._seconds(ran["start_ns"]),
                    "simulated_s": self._seconds(ran["end_ns"] - ran["start_ns"]),
                    **({"failed": True} if ran.get("failed") else {}),
                }
            )
        return {
            "sentence": self.sentence,
            "notes": self.notes,
            "scale": self.scale,
            "plan_s": self.plan_s,
            "simulated_s": self.simulated_s,
            "whole_s": self.whole_s,
            "error_s": self._seconds(self.tasks["error_ns"]),
            "kinds": [each.to_json() for each in self.kinds],
            "tasks": rows,
        }

    def table(self) -> Table:
        """The kinds of work, for people; of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        whole = [] if self.whole_s is None else ["whole"]
        for title in ("critical path", "tasks", "plan", "simulated", *whole, "more", "each takes"):
            made.add_column(title, justify="left" if title == "critical path" else "right")
        for kind in self.kinds:
            work = kind.simulated_work_s if kind.whole_work_s is None else kind.whole_work_s
            ratio = work / kind.plan_work_s if kind.plan_work_s else None
            count = f"{kind.tasks:,}" + (f" ({kind.failed:,} failed)" if kind.failed else "")
            each = "" if ratio is None else f"x {ratio:.3g}"
            made.add_row(kind.what, count, *_figures(kind.plan_s, kind.simulated_s, kind.whole_s), each)
        figures = _figures(self.plan_s, self.simulated_s, self.whole_s)
        made.add_row("all, s", "", *figures, style="bold")
        return made


def _said(seconds: float) -> str:
    """Seconds that are told apart from others of the same order, as those of a plan are."""
    return f"{significant(seconds, 4)} s"


def _figures(plan: float, simulated: float, whole: float | None) -> list[str]:
    """The seconds of a row: of the plan, of the simulation and of the whole if it is known, and what that is more."""
    took = simulated if whole is None else whole
    return [f"{each:.4g}" for each in (plan, simulated, whole) if each is not None] + [f"{took - plan:+.4g}"]


def _short(graph: TaskGraph, scale: int) -> list[str]:
    """The kinds of work with transfers that are so short then that their latency counts."""
    least = SHORTEST * LINE * scale
    return sorted(
        {task.what for task in graph.tasks if task.kind in ("copy", "kernel") and 0 < task.amount < least}
    )


def _coarser(graph: TaskGraph, on: Target) -> SummaryTasks | None:
    """The tasks of a smaller part, where it tells what latencies are of the time; None where it does not."""
    scale = on.scale_of(graph)
    if scale == 1 or on.spec.get("events") or not _short(graph, scale):
        return None
    spec = spec_of(graph, replace(on, scale=scale * COARSER))
    return run(System.from_yaml(to_yaml(spec), _FILE)).summary["tasks"]


def beside(graph: TaskGraph, on: Target) -> Beside:
    """Plays a graph by its rates and on a system.

    Raises InputError and SimulationError as a run does, and SimulationError where each copy and kernel has lines
    that memory answers with errors.
    """
    spec = spec_of(graph, on)
    _refuse_without_room(graph, on)
    with _placed(spec, on):
        result = run(System.from_yaml(to_yaml(spec), _FILE))
    summary = result.summary
    said = error_sentence(summary) or ""
    moved = [task for task in summary["tasks"]["per_task"].values() if task["bytes"]]
    if said and all(task.get("failed") for task in moved):
        raise SimulationError(f"the plan cannot run there: {said}")
    return Beside(
        play(graph),
        spec,
        on.scale_of(graph),
        summary["tasks"],
        left_out=on.left_out,
        coarser=None if said else _coarser(graph, on),
        queue=on.queue,
        hbm=on.hbm,
        errors=said,
    )


def simulate_plan(
    plan: InferencePlan | TrainingPlan,
    system: System | str | os.PathLike[str],
    *,
    tokens: int | None = None,
    host: str | None = None,
    dma: str | None = None,
    threads: int | None = None,
    place: Sequence[str] | None = None,
    scale: int | None = None,
) -> Beside:
    """Plays a plan on a system, and holds what it takes against what the plan says, by kinds of work.

    Args:
        plan: of `plan_inference` or `plan_training`.
        system: a system with a GPU, or the path or preset of its spec; work that it has is left out.
        tokens: of an inference only so many of each answer; by default all.
        host: who runs the CPU's kernels; by default the host of the GPU, or the only one.
        dma: the device that copies by DMA; by default the only one of kind `gpu`.
        threads: cores that a kernel is divided among; by default all of the host.
        place: where objects are, such as ["dram,card", "cache=card"]; by default the memories of a training, page by
            page as it has them, and the nearest with room for an inference.
        scale: what bytes, operations and times are divided by; by default so that at most two million lines move.

    Raises InputError for what the system does not have, and where an object has no room.
    """
    on = target(
        system,
        host=host,
        dma=dma,
        threads=threads,
        place=plan.places if place is None else place,
        scale=scale,
    )
    return beside(plan.task_graph(tokens), on)


def written(plan_graph: TaskGraph, on: Target) -> str:
    """The spec of a graph on a system, as YAML. Raises InputError as `beside` does."""
    spec = spec_of(plan_graph, on)
    text = to_yaml(spec)
    _refuse_without_room(plan_graph, on)
    with _placed(spec, on):
        System.from_yaml(text, _FILE).check()
    return text


def _refuse_without_room(graph: TaskGraph, on: Target) -> None:
    """Raises InputError where an object of the whole plan has no room, of which a part would have it."""
    if on.scale_of(graph) > 1:
        spec = objects_alone(graph, on)
        with _placed(spec, on):
            build(System.from_yaml(to_yaml(spec), _FILE).resolve())


@contextmanager
def _placed(spec: Mapping[str, Any], on: Target) -> Iterator[None]:
    """Errors at what the user wrote: nobody wrote the section `tasks`, and its file is none."""
    try:
        yield
    except InputErrors as several:
        raise together([_of_user(each, spec, on) for each in several.errors]) from None
    except InputError as error:
        raise _of_user(error, spec, on) from None


def _of_user(error: InputError, spec: Mapping[str, Any], on: Target) -> InputError:
    """An error of an object where its place is said, of a task at who does it, of all else where the system has it."""
    if error.file != _FILE:
        return error
    error.allowed = error.allowed.replace("tasks.exact: true (--exact)", "a scale above 1")
    part = _PART.match(error.path)
    if part is None:
        return paths.placed(on.system.root, error)
    said = spec["tasks"][part[1]][int(part[2])]
    what = "object" if part[1] == "objects" else "task"
    problem = error.problem if said["name"] in error.problem else f"{error.problem} ({what} '{said['name']}')"
    devices = on.system.root.map()["devices"].map()
    place = Origin(path="place") if what == "object" else devices[said["on"]].place
    return place.error(problem, found=error.found, allowed=error.allowed, suggestion=error.suggestion)
