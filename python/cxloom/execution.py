"""Runs a program on a simulated system: what misses its caches is simulated, as it is emulated or from a trace."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from cxloom import _core
from cxloom.building import errors_placed
from cxloom.errors import InputError
from cxloom.objects import ByRule, ObjectUse, RecordedObjects, Rule, UseOfPages, placement_by
from cxloom.processor import Processor
from cxloom.sampling import Interval, Sampler, Sampling, Timing, keeps_state
from cxloom.spec.resolve import Override, Resolved
from cxloom.system import System
from cxloom.trace.capture import CacheLevel, CoreOfTrace, about
from cxloom.trace.emulator import EmulatedSource
from cxloom.trace.format import TraceBatch
from cxloom.trace.objects import METADATA as OBJECTS
from cxloom.trace.objects import Directory, Objects, recorded
from cxloom.trace.reader import TraceReader, open_trace
from cxloom.trace.source import Ended
from cxloom.trace.translation import Translation
from cxloom.trace.writer import BatchWriter, trace_writer
from cxloom.words import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Part: TypeAlias = "_core.Accesses | dict[str, NDArray[Any]]"
SAMPLING = Sampling()
"""Of a long program, if nothing else is said."""
HUGE_PAGE = "2MiB"
"""Of programs whose pages are all huge."""
REGION = 65536
"""Bytes of a region of memory whose accesses are counted together."""
_EVENTS = 50_000  # of a turn of a simulation
WALKS = "page walks"
"""Of the parts of a time: waiting for the places of pages."""
_PARTS = {"busy": "busy_ns", "chain": "chain_ns", "waiting to ask": "mshr_ns", "idle": "idle_ns"}


@dataclass(frozen=True)
class Sampled:
    """What a sample says of the whole program on one system."""

    time_ns: Interval
    slowdown: Interval
    """Against the first system, of the same windows."""
    instructions: int
    """Of the whole program."""
    cycle_ns: float
    busy_ns: float
    """Of all of its instructions, if nothing waits for memory."""
    simulated: float
    """Records that were simulated / all."""
    windows: int
    """That were measured."""

    def to_dict(self) -> dict[str, Any]:
        """The intervals, as results have them."""
        return {
            "time_ns_ci95": [self.time_ns.low, self.time_ns.high],
            "slowdown_ci95": [self.slowdown.low, self.slowdown.high],
            "windows": self.windows,
            "simulated_share": self.simulated,
        }


@dataclass(frozen=True)
class Execution:
    """A program on one system."""

    system: str
    """Its name."""
    summary: Mapping[str, Any]
    """As `summary.json` of a run has it."""
    host: str
    pages: str
    """Where the program's pages were: their placement."""
    sampled: Sampled | None = None
    """What is known of the whole program from a sample of it; None: it was simulated as a whole."""
    walk_cycles: int = 0
    """Of the whole program: of the cycles in which nothing waits for memory those in which it waits for page walks."""
    progress: tuple[tuple[float, int], ...] = ()
    """Simulated times (ns) and how many requests were answered by then, now and then."""

    @property
    def core(self) -> Mapping[str, Any]:
        """What is measured of the cores of the host: docs/model/core.md."""
        found: Mapping[str, Any] = self.summary["per_requester"][self.host]["core"]
        return found

    @property
    def time_ns(self) -> float:
        """From the first instruction to the last answer of the thread that took longest; of a sample the estimate."""
        return float(self.core["longest_ns"]) if self.sampled is None else self.sampled.time_ns.value

    def times_ns(self) -> dict[str, float]:
        """Where the time of all threads went, waits for memory by their segments. Of a sample: of the whole program."""
        times = {name: float(self.core[key]) for name, key in _PARTS.items()} | dict(self.core["memory_ns"])
        if "walk_ns" in self.core:
            times[WALKS] = float(self.core["walk_ns"])
        if self.sampled is not None:
            times = self._of_the_whole(times, self.sampled)
        walks = min(times["busy"], self.walk_cycles * self.cycle_ns)
        if walks:
            times |= {"busy": times["busy"] - walks, WALKS: times.get(WALKS, 0.0) + walks}
        return times

    def _of_the_whole(self, times: dict[str, float], sampled: Sampled) -> dict[str, float]:
        simulated = sum(times.values())
        whole = simulated * self.time_ns / self.core["longest_ns"]
        busy = sampled.busy_ns
        scale = max(0.0, whole - busy) / (simulated - times["busy"])
        return {name: busy if name == "busy" else scale * ns for name, ns in times.items()}

    @property
    def cycle_ns(self) -> float:
        """Of its cores."""
        if self.sampled is not None:
            return self.sampled.cycle_ns
        instructions = self.core["instructions"]
        return (
            self.core["time_ns"] * self.core["instructions_per_cycle"] / instructions if instructions else 0.0
        )

    @property
    def instructions_per_cycle(self) -> float:
        """Of all threads."""
        if self.sampled is None:
            return float(self.core["instructions_per_cycle"] or 0)
        cycles = sum(self.times_ns().values()) / self.sampled.cycle_ns
        return self.sampled.instructions / cycles

    def parts(self) -> dict[str, float]:
        """Where the time of all threads went, as shares that sum to 1; waits for memory by their segments."""
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
    """Of all threads."""
    accesses: int
    """That the systems were given: what missed the caches in front."""
    executions: tuple[Execution, ...]
    """In the order of the systems that were given."""
    seconds: float
    """That it took here."""
    notes: tuple[str, ...] = field(default=())
    translation: Translation | None = None
    """What it took to find the places of its pages; None: its core has no TLB, or the trace does not tell."""
    regions: Mapping[int, int] = field(default_factory=dict)
    """Accesses by the number of their region of :data:`REGION` bytes, in the order in which pages were touched."""
    objects: tuple[ObjectUse, ...] = ()
    """What is accessed, by its name (:mod:`cxloom.trace.objects`), the most first; none if a trace does not say."""

    def to_dict(self) -> dict[str, Any]:
        """As `cxloom exec --out` writes it."""
        return {
            "command": list(self.command),
            "ended": None if self.ended is None else str(self.ended),
            "instructions": self.instructions,
            "accesses": self.accesses,
            **({} if self.translation is None else {"tlb": self.translation.to_dict(self.instructions)}),
            "notes": list(self.notes),
            "objects": [asdict(each) for each in self.objects],
            "systems": [
                {
                    "system": each.system,
                    "placement": each.pages,
                    "time_ns": each.time_ns,
                    "slowdown": slowdown,
                    "instructions_per_cycle": each.instructions_per_cycle,
                    "time_parts": each.parts(),
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


def execute(
    command: Sequence[str],
    systems: Sequence[System],
    *,
    host: str | None = None,
    pages: Sequence[Any] | None = None,
    places: Sequence[Sequence[Rule]] | None = None,
    processor: Processor | None = None,
    page_tables: Any = None,
    caches: Sequence[CacheLevel] = (),
    region: str | None = None,
    record: str | os.PathLike[str] | None = None,
    sampling: Sampling | None = SAMPLING,
    interrupted: Callable[[], bool] = lambda: False,
    watch: Callable[[int, int], None] = lambda _instructions, _accesses: None,
) -> ExecutionResult:
    """Runs an x86-64 Linux program to its end, as it would run on each of the systems.

    The program is emulated once (docs/model/program.md). Its accesses pass ``caches``, by default those that the core
    of the host has for itself, and what misses them is given to every system at once, where the ``host`` makes it as
    its core would (docs/model/core.md); by default the only host or accelerator of the system. The workloads of the
    specs are not played.

    ``pages`` has for each system the placement of the program's pages, as `addresses` of a workload says it
    (docs/model/placement.md), such as ``{"kind": "bind", "nodes": ["cxl"]}``; by default the next free frame of the
    system's memory, in the order of its address map. ``places`` has for each system where the pages of single objects
    go instead, such as ``Rule("map:build_*", {"kind": "bind", "nodes": ["cxl"]})``: the first rule counts whose
    pattern the name of the object fits (:mod:`cxloom.trace.objects`). ``page_tables`` is the placement of the pages of
    its page tables on the last of the systems; by default they go where other pages do. They are read where the core of
    the host has a `tlb` (docs/model/tlb.md).

    The ``processor`` takes the place of that of the host, in all systems.

    With ``region`` only that part of the program counts: a function, or ``"marks"`` of <cxloom/roi.h>. What the
    systems are given is kept in the trace ``record``, if one is named: :func:`replay` gives the same result from
    it. Of a long program windows are simulated, as ``sampling`` says (docs/model/sampling.md); None: all of it.
    ``watch`` is told now and then how many instructions were run and how many accesses were made. If
    ``interrupted``, asked now and then, says True, the program is ended, and the result is that of what was run.

    Raises InputError if the emulator, the program or the host is missing, and SimulationError if the program cannot be
    followed or a simulation cannot finish.
    """
    started = time.perf_counter()
    placed = _all_prepared(systems, pages, host, places, processor, page_tables)
    levels = [(level.size, level.ways, level.policy) for level in caches]
    _core.LackeyCapture(levels)  # says what is wrong with the levels before anything runs
    core = _core_of(placed)
    durable = any(map(_is_persistent, placed))
    source = EmulatedSource(
        command,
        lambda folder: _core.ProgramCapture(
            folder, levels, True, 0, None, region is not None, (0, 0), core.program, durable
        ),
        region,
    )

    def step() -> bool:
        watch(source.sieve.instructions_in_all, source.sieve.records)
        return not interrupted()

    def want(thread: int) -> None:
        source.wanted = thread

    said = about(source.name, command, caches=caches, region=region, core=core)
    with contextlib.nullcontext() if record is None else trace_writer(record, said) as writer:
        sampler = _sampler(sampling, placed)
        regions: Counter[int] = Counter()
        objects: Objects | None = None
        use = UseOfPages(core.page_bytes)

        def told() -> Iterator[_core.Accesses]:
            nonlocal objects
            for part in source.accesses(step):
                objects = objects or Objects(source.sieve)
                yield part

        kept = _counted(_kept(told(), writer), regions, use, lambda: objects)
        executions = _played(placed, kept, sampler, want, lambda: objects, core.page_bytes)
        if objects is not None and record is not None:
            said |= recorded(objects, record)
        said |= source.ended.to_metadata()
        sieve = source.sieve
        translation = Translation.of(sieve.translation)
        said |= {} if translation is None else translation.to_metadata()
    seconds = time.perf_counter() - started
    notes = _notes_on(sampling, sampler)
    if sieve.records == 0:
        notes += ("nothing went beyond the caches of its cores: no memory was accessed",)
    if sieve.flushes and not durable:
        notes += (
            f"{counted(sieve.flushes, 'flush')} of lines left out: no memory of a system is persistent",
        )
    return ExecutionResult(
        tuple(command),
        source.ended,
        sieve.instructions,
        sieve.records,
        _estimated(_walking(executions, translation), sampler, sieve.instructions),
        seconds,
        notes + _notes_on_places(placed),
        translation,
        regions,
        use.by_object(objects) if objects is not None else (),
    )


def replay(
    trace: str | os.PathLike[str],
    systems: Sequence[System],
    *,
    host: str | None = None,
    pages: Sequence[Any] | None = None,
    places: Sequence[Sequence[Rule]] | None = None,
    processor: Processor | None = None,
    page_tables: Any = None,
    sampling: Sampling | None = SAMPLING,
    interrupted: Callable[[], bool] = lambda: False,
    watch: Callable[[int, int], None] = lambda _instructions, _accesses: None,
) -> ExecutionResult:
    """What :func:`execute` gives for the program of which ``trace`` was recorded, to the picosecond, on any systems.

    The trace is one that :func:`execute` or :func:`cxloom.trace.capture` recorded; the caches in front are those with
    which it was recorded. If ``interrupted`` says True, the result is that of what was played. The other parameters are
    as in :func:`execute`.

    Raises InputError if the trace cannot be read, or the cores are others than it was recorded for, and SimulationError
    if a simulation cannot finish.
    """
    started = time.perf_counter()
    placed = _all_prepared(systems, pages, host, places, processor, page_tables)
    reader = open_trace(trace)
    core = _core_of(placed)
    recorded = reader.metadata.get(CoreOfTrace.NAME)
    if recorded is not None and CoreOfTrace.parse(recorded).program != core.program:
        raise InputError(
            "the trace was recorded for another core: its pace is not that of this one",
            found=str(core),
            allowed=f"{recorded}, as in the trace; `cxloom trace capture --core '{core}'` records one for this core",
            file=trace,
        )
    progress = _Progress(reader, interrupted, watch)
    sampler = _sampler(sampling, placed)
    regions: Counter[int] = Counter()
    said = reader.metadata.get(OBJECTS)
    objects = None if said is None else RecordedObjects(said)
    if objects is None and any(each.rules for each in placed):
        raise InputError(
            "the trace does not say which objects its pages are of",
            allowed="one that `cxloom exec --record` or `cxloom trace capture` recorded",
            file=trace,
        )
    frame = (CoreOfTrace() if recorded is None else CoreOfTrace.parse(recorded)).page_bytes
    use = UseOfPages(frame)
    parts = _counted(progress.parts(), regions, use, lambda: objects)
    executions = _played(placed, parts, sampler, objects=lambda: objects, frame=frame)
    notes = (
        ()
        if recorded is not None
        else ("the trace has no cycles: each instruction takes as many as the next",)
    )
    # Of a part of it nobody knows.
    translation = None if progress.interrupted else Translation.in_metadata(reader.metadata)
    return ExecutionResult(
        tuple(shlex.split(reader.metadata.get("command", ""))),
        Ended(interrupted=True) if progress.interrupted else None,
        progress.instructions,
        progress.accesses,
        _estimated(_walking(executions, translation), sampler, progress.instructions),
        time.perf_counter() - started,
        notes + _notes_on(sampling, sampler) + _notes_on_places(placed),
        translation,
        regions,
        use.by_object(objects) if objects is not None else (),
    )


class _Progress:
    """The parts of a trace, and how much of it was read."""

    def __init__(
        self, reader: TraceReader, interrupted: Callable[[], bool], watch: Callable[[int, int], None]
    ) -> None:
        self._reader = reader
        self._asked = interrupted
        self._watch = watch
        self.interrupted = False
        self.instructions = 0
        self.accesses = 0

    def parts(self) -> Iterator[_Part]:
        """Up to the end, or until interrupted."""
        for batch in self._reader:
            self.instructions += int(batch.instruction_gap.sum())
            self.accesses += len(batch.accesses())
            yield batch.columns()
            self._watch(self.instructions, self.accesses)
            if self._asked():
                self.interrupted = True
                return


def _kept(parts: Iterator[_core.Accesses], writer: BatchWriter | None) -> Iterator[_Part]:
    """The same, which are written, too."""
    for part in parts:
        if writer is not None:
            writer.write(TraceBatch(*part.columns()))
        yield part


def _counted(
    parts: Iterator[_Part], regions: Counter[int], use: UseOfPages, objects: Callable[[], Directory | None]
) -> Iterator[_Part]:
    """The same, whose accesses are counted by region, and by page if it is known what that is of."""
    import numpy as np

    for part in parts:
        batch = _batch_of(part).accesses()
        numbers, counts = np.unique(batch.address // np.uint64(REGION), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            regions[number] += count
        if (directory := objects()) is not None:
            use.add(batch, len(directory.of_frames()))
        yield part


@dataclass(frozen=True)
class _Placed:
    """A system that is to run a program."""

    name: str
    resolved: Resolved
    host: str
    core: CoreOfTrace
    pages: str
    rules: Sequence[Rule]
    fits: set[str] = field(default_factory=set)
    """Patterns of the rules for which there was an object."""


def _all_prepared(
    systems: Sequence[System],
    pages: Sequence[Any] | None,
    host: str | None,
    places: Sequence[Sequence[Rule]] | None,
    processor: Processor | None,
    page_tables: Any,
) -> list[_Placed]:
    if not systems:
        raise InputError("no system", allowed="at least one")
    placements = pages if pages is not None else ["first-touch"] * len(systems)
    if len(placements) != len(systems):
        raise InputError(
            "not a placement of pages for each system", found=str(len(placements)), allowed=str(len(systems))
        )
    rules = places if places is not None else [()] * len(systems)
    tables = [None] * (len(systems) - 1) + [page_tables]
    each = zip(systems, placements, rules, tables, strict=True)
    return [_prepared(*parts, host, processor) for parts in each]


def _is_persistent(placed: _Placed) -> bool:
    """Whether flushes of lines can make something durable there."""
    regions = placed.resolved.plain().get("address_map", [])
    return any(region.get("persistence", "volatile") != "volatile" for region in regions)


def _core_of(placed: Sequence[_Placed]) -> CoreOfTrace:
    """Of all of them."""
    first = placed[0].core
    if any(each.core.program != first.program for each in placed):
        raise InputError(
            "the cores of the systems differ in how they run instructions",
            found=" and ".join(each.name for each in placed),
            allowed="the same width, window, caches, tlb and prediction of branches in all",
        )
    return first


def _prepared(
    system: System,
    pages: Any,
    rules: Sequence[Rule],
    page_tables: Any,
    host: str | None,
    processor: Processor | None,
) -> _Placed:
    resolved = system.resolve()
    devices = resolved.plain()["devices"]
    requesters = [name for name, device in devices.items() if device["kind"] in ("host", "accelerator")]
    if host is None:
        if len(requesters) != 1:
            raise InputError(
                "which device runs the program?",
                found=f"{len(requesters)} hosts and accelerators",
                allowed=" or ".join(requesters) or "a system with a host",
                path="--host",
            )
        host = requesters[0]
    if host not in requesters:
        raise InputError(f"'{host}' makes no requests", allowed=" or ".join(requesters), path="--host")
    with errors_placed(resolved):
        values = devices[host].get("core", {}) if processor is None else processor.values["core"]
        core = CoreOfTrace(values, f"devices.{host}.core")
    work = {"trace": "the program", "addresses": placement_by(rules, pages)}
    if core.has_huge_pages:
        work["page"] = HUGE_PAGE
    if page_tables is not None:
        work["page_tables"] = page_tables
    overrides = [Override.of("workload", {host: work}), Override.of("run.warmup", 0)]
    if processor is not None:
        overrides += [Override.of(f"devices.{host}.{key}", value) for key, value in processor.values.items()]
    elif "core" not in devices[host]:
        overrides.append(Override.of(f"devices.{host}.core", {}))
    resolved = system.resolve(overrides)
    name = str(resolved.plain().get("name", "")) or "the system"
    text = ", ".join([*map(str, rules), _text_of(pages)])
    if page_tables is not None:
        text += f", page tables {_text_of(page_tables)}"
    return _Placed(name, resolved, host, core, text, rules)


def _text_of(pages: Any) -> str:
    """A placement in a few words: ``bind cxl``."""
    if not isinstance(pages, Mapping):
        return str(pages)
    rest = [value for key, value in pages.items() if key != "kind"]
    words = [",".join(map(str, each)) if isinstance(each, list) else str(each) for each in rest]
    return " ".join([str(pages.get("kind", "")), *words])


class _Shared:
    """One stream of accesses for several simulations; what all have had is forgotten."""

    def __init__(
        self, source: Iterator[_Part], consumers: int, want: Callable[[int], None] = lambda _thread: None
    ) -> None:
        """``want`` is told which thread's records the next part should have."""
        self._source = source
        self._want = want
        self.wanted = [0] * consumers
        """The thread whose records each waits for; 0: of any."""
        self._held: deque[_Part] = deque()
        self._before = 0  # parts that are forgotten
        self.taken = [0] * consumers
        """Parts that each has had."""

    def next(self, consumer: int) -> _Part | None:
        """The next part for one of them; None at the end."""
        place = self.taken[consumer] - self._before
        if place == len(self._held):
            self._want(self.wanted[consumer])
            part = next(self._source, None)
            if part is None:
                return None
            self._held.append(part)
        part = self._held[place]
        self.taken[consumer] += 1
        while min(self.taken) > self._before:
            self._held.popleft()
            self._before += 1
        return part


class _Feed:
    """What one of the simulations is given."""

    def __init__(
        self,
        shared: _Shared,
        number: int,
        placed: _Placed,
        objects: Callable[[], Directory | None],
        frame: int,
    ) -> None:
        self._shared = shared
        self._number = number
        self._placed = placed
        self._objects = objects
        self._frame = frame
        self._by_rule: ByRule | None = None

    def __call__(self) -> _Part | None:
        part = self._shared.next(self._number)
        if part is None or not self._placed.rules:
            return part
        if self._by_rule is None:
            directory = self._objects()
            assert directory is not None
            self._by_rule = ByRule(self._placed.rules, directory, self._placed.fits, self._frame)
        return self._by_rule(_batch_of(part)).columns()

    def want(self, thread: int) -> None:
        """The simulation cannot go on without what this thread does next."""
        self._shared.wanted[self._number] = thread


def _played(
    placed: Sequence[_Placed],
    parts: Iterator[_Part],
    sampler: Sampler | None,
    want: Callable[[int], None] = lambda _thread: None,
    objects: Callable[[], Directory | None] = lambda: None,
    frame: int = 4096,
) -> tuple[tuple[Execution, list[float]], ...]:
    """Gives the parts to all systems, and says when each was answered if there is a sampler, which chooses of them.
    Those that have had the least go on first, so that little has to be held.
    """
    chosen = parts if sampler is None else sampler.parts(map(_batch_of, parts), lambda: want(0))
    shared = _Shared(chosen, len(placed), want)
    simulations = []
    for number, each in enumerate(placed):
        with errors_placed(each.resolved):
            feeds = {each.host: _Feed(shared, number, each, objects, frame)}
            simulations.append(_core.Simulation(each.resolved.lean(), feeds, sampler is not None))
    running = set(range(len(simulations)))
    reached: list[list[tuple[float, int]]] = [[] for _ in simulations]
    while running:
        number = min(running, key=lambda each: (shared.taken[each], each))
        with errors_placed(placed[number].resolved):
            if simulations[number].advance(_EVENTS):
                running.remove(number)
        made = simulations[number].progress()
        reached[number].append((made["time_ns"], made["completed"]))
    return tuple(
        (
            Execution(each.name, simulation.summary(), each.host, each.pages, progress=tuple(points)),
            [] if sampler is None else simulation.batch_times(each.host),
        )
        for each, simulation, points in zip(placed, simulations, reached, strict=True)
    )


def _walking(
    played: tuple[tuple[Execution, list[float]], ...], translation: Translation | None
) -> tuple[tuple[Execution, list[float]], ...]:
    """The same, of which is known how many cycles they wait for walks besides."""
    cycles = 0 if translation is None else translation.cycles
    return tuple((replace(each, walk_cycles=cycles), latest) for each, latest in played)


def _batch_of(part: _Part) -> TraceBatch:
    return TraceBatch(**part) if isinstance(part, dict) else TraceBatch(*part.columns())


def _sampler(sampling: Sampling | None, placed: Sequence[_Placed]) -> Sampler | None:
    """None if the systems keep what a program leaves in them longer than the warm-up of a window is."""
    if sampling is None or any(keeps_state(each.resolved.plain()["devices"]) for each in placed):
        return None
    return Sampler(sampling)


def _notes_on(sampling: Sampling | None, sampler: Sampler | None) -> tuple[str, ...]:
    if sampling is not None and sampler is None:
        return ("simulated as a whole: a sample would not know what is in caches or flash of the systems",)
    if sampler is not None and sampler.sampled:
        share = sampler.simulated / sampler.records
        together = sampler.side_by_side / sampler.records
        whole = f", {together:.1%} as a whole where threads ran side by side" if together else ""
        return (f"{share:.1%} of the records were simulated{whole}; --exact simulates all of them",)
    return ()


def _notes_on_places(placed: Sequence[_Placed]) -> tuple[str, ...]:
    unused = {str(rule): None for each in placed for rule in each.rules if rule.pattern not in each.fits}
    return tuple(f"no object of the program fits --place {rule}" for rule in unused)


def _estimated(
    played: tuple[tuple[Execution, list[float]], ...], sampler: Sampler | None, instructions: int
) -> tuple[Execution, ...]:
    """With what is known of the whole program, if of only a part of it is simulated."""
    executions = tuple(execution for execution, _ in played)
    if sampler is None or not sampler.sampled:
        return executions
    cycles = sum(piece.cycles for piece in sampler.pieces)
    timings = []
    for execution, latest in played:
        core = execution.core
        cycle_ns = core["busy_ns"] / cycles if cycles else 0.0
        timings.append((Timing(sampler, latest, core["longest_ns"], cycle_ns), cycle_ns))
    first = timings[0][0]
    return tuple(
        replace(
            execution,
            sampled=Sampled(
                timing.time(),
                timing.slowdown(first),
                instructions,
                cycle_ns,
                cycle_ns * sampler.cycles,
                sampler.simulated / sampler.records,
                len(timing.rest_ns),
            ),
        )
        for execution, (timing, cycle_ns) in zip(executions, timings, strict=True)
    )
