"""Results of a program that ran on simulated systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cxloom.base.errors import InputError
from cxloom.execution.objects import ObjectUse
from cxloom.execution.sampling import Interval
from cxloom.results.caveats import error_sentence
from cxloom.results.threads import threads_lines
from cxloom.trace.source import Ended
from cxloom.trace.threads import ThreadName
from cxloom.trace.translation import Translation

if TYPE_CHECKING:
    from cxloom.base.summary import ComponentCore, ComponentCoreCriticalPath, Summary

REGION = 65536
"""Bytes of a region of memory whose accesses are counted together."""
WALKS = "page walks"
"""The part of a time that waits for the places of pages."""
_PARTS: dict[str, Literal["busy_ns", "chain_ns", "mshr_ns", "idle_ns"]] = {
    "busy": "busy_ns",
    "dependent computation": "chain_ns",
    "waiting for an MSHR": "mshr_ns",
    "idle": "idle_ns",
}


@dataclass(frozen=True)
class Sampled:
    """What a sample says of the whole program on one system."""

    time_ns: Interval
    slowdown: Interval
    """Against the first system, of the same windows."""
    instructions: int
    """Instructions of the whole program."""
    cycle_ns: float
    busy_ns: float
    """The time of all of its instructions, if nothing waits for memory."""
    simulated: float
    """Records that were simulated / all."""
    windows: int
    """That were measured."""
    weights: Mapping[int, float] = field(default_factory=dict)
    """How many records stand for one that was simulated, by thread."""

    def to_dict(self) -> dict[str, Any]:
        """The intervals, as results have them."""
        return {
            "time_ns_ci95": [self.time_ns.low, self.time_ns.high],
            "slowdown_ci95": [self.slowdown.low, self.slowdown.high],
            "windows": self.windows,
            "simulated_share": self.simulated,
        }


@dataclass(frozen=True)
class ThreadShare:
    """What a thread has to do with the time of a run."""

    name: ThreadName
    share: float
    """The share of the run's time in which the critical path is in this thread. For a sample an estimate, as if all
    records took as long as the simulated ones."""
    begun_ns: float
    """When another thread let it begin. In a sample this and the other times are simulated times."""
    ended_ns: float
    instructions: int
    instructions_per_cycle: float
    """Instructions per cycle from its beginning to its end."""
    busy: float
    """The share of that time for its instructions, or computing between accesses."""
    memory: float
    """The share of that time that waits for memory, and for a free miss register."""
    idle: float
    """The share of that time in which it does nothing."""


@dataclass(frozen=True)
class Execution:
    """A program on one system."""

    system: str
    """Its name."""
    summary: Summary
    """The summary as `summary.json` of a run has it."""
    host: str
    pages: str
    """Where the program's pages were: their placement."""
    sampled: Sampled | None = None
    """Estimates of the whole program from a sample; None: it was simulated as a whole."""
    walk_cycles: int = 0
    """Cycles of the whole program that wait for page walks, of the cycles in which nothing waits for memory."""
    progress: tuple[tuple[float, int], ...] = ()
    """Simulated times (ns) and how many requests were answered by then, now and then."""

    @property
    def core(self) -> ComponentCore:
        """The measures of the cores of the host: docs/model/core.md."""
        return self.summary["per_requester"][self.host]["core"]

    @property
    def path(self) -> ComponentCore | ComponentCoreCriticalPath:
        """Where the time of the run went: the critical path over its threads, or the only one."""
        return self.core.get("critical_path", self.core)

    @property
    def time_ns(self) -> float:
        """The time of the longest thread, from first instruction to last answer; with a sample the estimate."""
        return float(self.core["longest_ns"]) if self.sampled is None else self.sampled.time_ns.value

    def times_ns(self) -> dict[str, float]:
        """Where the time of the run went, to which they sum, waits for memory by their segments. Of a sample: of the
        whole program."""
        times = self._simulated_ns()
        if self.sampled is not None:
            busy, more = self._of_the_whole(times, self.sampled)
            times = {name: busy if name == "busy" else more * ns for name, ns in times.items()}
        walks = min(times["busy"], self.walk_cycles * self._share_of_path("busy_ns") * self.cycle_ns)
        if walks:
            times |= {"busy": times["busy"] - walks, WALKS: times.get(WALKS, 0.0) + walks}
        return times

    def _simulated_ns(self) -> dict[str, float]:
        path = self.path
        times = {name: float(path[key]) for name, key in _PARTS.items()} | dict(path["memory_ns"])
        if "walk_ns" in path:
            times[WALKS] = float(path["walk_ns"])
        if "kernel_ns" in path:
            times["kernel"] = float(path["kernel_ns"])
        return times

    def _of_the_whole(self, times: dict[str, float], sampled: Sampled) -> tuple[float, float]:
        """The time of the instructions of the whole run, and how many times longer all else takes than simulated."""
        simulated = sum(times.values())
        whole = simulated * self.time_ns / self.core["longest_ns"]
        busy = min(whole, sampled.busy_ns * self._share_of_path("busy_ns"))
        return busy, max(0.0, whole - busy) / (simulated - times["busy"])

    def processor_times_ns(self, cycles: Mapping[int, int]) -> dict[int, float]:
        """The time of all cores but when they had nothing to do, by the process of what they did: its instructions, and
        waits for its accesses. Keys are those of the measure ``waits_ns``.

        Args:
            cycles: of the instructions of each process, where nothing waits for memory.
        """
        core = self.core
        waits = {int(process): float(ns) for process, ns in core.get("waits_ns", {}).items()}
        busy = float(core["busy_ns"])
        if self.sampled is not None:
            _, more = self._of_the_whole(self._simulated_ns(), self.sampled)
            waits = {process: more * ns for process, ns in waits.items()}
            busy = self.sampled.busy_ns
        whole = sum(cycles.values())
        return {
            process: (busy * cycles.get(process, 0) / whole if whole else 0.0) + waits.get(process, 0.0)
            for process in sorted({*cycles, *waits})
        }

    def _share_of_path(self, measure: Literal["busy_ns", "instructions"]) -> float:
        """The critical path's share of a measure that sums over all threads."""
        whole = self.core[measure]
        return float(self.path[measure] / whole) if whole else 1.0

    @property
    def cycle_ns(self) -> float:
        """The cycle of its cores."""
        if self.sampled is not None:
            return self.sampled.cycle_ns
        instructions = self.core["instructions"]
        return (
            self.core["time_ns"] * self.core["instructions_per_cycle"] / instructions if instructions else 0.0
        )

    @property
    def instructions_per_cycle(self) -> float:
        """Instructions of the critical path / cycles of the run."""
        instructions = self.path["instructions"]
        if self.sampled is not None:
            instructions = self.sampled.instructions * self._share_of_path("instructions")
        cycle, time = self.cycle_ns, self.time_ns
        return float(instructions / (time / cycle)) if cycle and time else 0.0

    def threads(self, names: Sequence[ThreadName]) -> tuple[ThreadShare, ...]:
        """The threads that ran, the longest on the critical path first; none where only one did."""
        known = {each.number: each for each in names}
        weights = {} if self.sampled is None else self.sampled.weights
        each_on_path = {
            int(key): each["on_path_ns"] * weights.get(int(key), 1.0)
            for key, each in self.core.get("per_thread", {}).items()
        }
        whole = sum(each_on_path.values())
        shares = []
        for number, on_path in each_on_path.items():
            each = self.core["per_thread"][str(number)]
            lived = each["time_ns"] - each["begun_ns"]
            memory = sum(each["memory_ns"].values()) + each["mshr_ns"] + each.get("walk_ns", 0.0)
            shares.append(
                ThreadShare(
                    known.get(number, ThreadName(number, None, "")),
                    on_path / whole if whole else 0.0,
                    each["begun_ns"],
                    each["time_ns"],
                    each["instructions"],
                    each["instructions"] * self.cycle_ns / lived if lived else 0.0,
                    (each["busy_ns"] + each["chain_ns"]) / lived if lived else 0.0,
                    memory / lived if lived else 0.0,
                    (each["idle_ns"] - each["begun_ns"]) / lived if lived else 0.0,
                )
            )
        return tuple(sorted(shares, key=lambda share: (-share.share, share.name.number)))

    def parts(self) -> dict[str, float]:
        """Where the time of the run went, as shares that sum to 1; waits for memory by their segments."""
        times = self.times_ns()
        whole = sum(times.values())
        return {name: value / whole for name, value in times.items() if value} if whole else {}


@dataclass(frozen=True)
class ExecutionResult:
    """A program on one system or several."""

    command: tuple[str, ...]
    ended: Ended | None
    """None: it was replayed from a trace, which says how it ended only if that was not of its own will."""
    instructions: int
    """Instructions of all threads."""
    accesses: int
    """That the systems were given: what missed the caches in front."""
    executions: tuple[Execution, ...]
    """In the order of the systems that were given."""
    seconds: float
    """That it took to simulate."""
    notes: tuple[str, ...] = field(default=())
    translation: Translation | None = None
    """What it took to find the places of its pages; None: its core has no TLB, or the trace does not say."""
    regions: Mapping[int, int] = field(default_factory=dict)
    """Accesses by the number of their region of :data:`REGION` bytes: of physical addresses, or else in the order in
    which pages were touched."""
    objects: tuple[ObjectUse, ...] = ()
    """The use of each object (:mod:`cxloom.trace.objects`), in the order in which they were first touched; none if a
    trace does not say."""
    threads: tuple[ThreadName, ...] = ()
    """The names of the program's threads; none if a trace does not say."""
    page_bytes: int = 4096
    """Bytes of a page of the program."""
    physical: bool = False
    """Whether its addresses are those of the address map, as a machine's are: its pages got no frames here."""
    unrecorded: InputError | None = None
    """Why the trace was not written that was to be recorded, such as a full disk."""

    def errors(self) -> dict[str, str]:
        """Systems that answered accesses of the program without data, and how many: its time there means nothing."""
        found = {each.system: error_sentence(each.summary) for each in self.executions}
        return {system: said for system, said in found.items() if said is not None}

    @property
    def threads_lines(self) -> list[str]:
        """A line on the threads that its simulations were to have; none if they were not."""
        return list(
            dict.fromkeys(
                line for each in self.executions for line in threads_lines(each.summary.get("cost", {}))
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """As `cxloom exec --out` writes it."""
        return {
            "command": list(self.command),
            "ended": None if self.ended is None else str(self.ended),
            "instructions": self.instructions,
            "accesses": self.accesses,
            **({} if self.translation is None else {"tlb": self.translation.to_dict(self.instructions)}),
            "notes": list(self.notes),
            "page_bytes": self.page_bytes,
            "threads": int(self.executions[0].core.get("threads", 1)),
            "objects": [asdict(each) for each in self.objects],
            "systems": [
                {
                    "system": each.system,
                    "placement": each.pages,
                    "time_ns": each.time_ns,
                    "slowdown": slowdown,
                    "instructions_per_cycle": each.instructions_per_cycle,
                    "time_parts": each.parts(),
                    "threads": [
                        {
                            "thread": share.name.number,
                            "process": share.name.process,
                            "program": share.name.program,
                            **{key: value for key, value in asdict(share).items() if key != "name"},
                        }
                        for share in each.threads(self.threads)
                    ],
                    **({} if each.sampled is None else each.sampled.to_dict()),
                    **each.summary,
                }
                for each, slowdown in zip(self.executions, self.slowdowns, strict=True)
            ],
        }

    @property
    def slowdowns(self) -> list[float]:
        """The time on each system / that on the first."""
        first = self.executions[0].time_ns
        return [each.time_ns / first if first else 1.0 for each in self.executions]
