"""Runs a program on a simulated system: what misses its caches is simulated, as it is emulated or from a trace."""

from __future__ import annotations

import os
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from cxloom import _core
from cxloom.base.descriptors import hold_standard_descriptors
from cxloom.base.errors import InputError, SimulationError
from cxloom.base.words import counted
from cxloom.execution.feed import Part, batch_of, play
from cxloom.execution.objects import RecordedObjects, Rule, UseOfPages
from cxloom.execution.placed_program import (
    PlacedProgram,
    core_of,
    is_persistent,
    notes_on_places,
    prepare_all,
)
from cxloom.execution.processor import Processor
from cxloom.execution.recording import Recording
from cxloom.execution.result import REGION, Execution, ExecutionResult, Sampled
from cxloom.execution.sampling import Sampler, Sampling, Timing, keeps_state
from cxloom.results.caveats import error_sentence
from cxloom.system.system import System
from cxloom.trace import threads as of_threads
from cxloom.trace.capturing import CacheLevel, CoreOfTrace, about
from cxloom.trace.emulator import EmulatedSource
from cxloom.trace.files import refuse_no_file
from cxloom.trace.objects import METADATA as OBJECTS
from cxloom.trace.objects import Directory, Objects, recorded
from cxloom.trace.reader import TraceReader, open_trace
from cxloom.trace.source import Ended
from cxloom.trace.translation import Translation

SAMPLING = Sampling()
"""The sampling of a long program, if nothing else is said."""


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
    watch_past: Callable[[int, int], None] = lambda _done, _whole: None,
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
    systems are given is kept in the trace ``record``, if one is named: :func:`replay` gives the same result from it.
    If that cannot be written to its end, the result says so (`unrecorded`). Of a long program windows are simulated,
    as ``sampling`` says (docs/model/sampling.md); None: all of it. ``watch`` is called now and then with how many
    instructions were run and how many accesses were made, and before that ``watch_past`` with how many steps of how
    many were played of what flash of a system has been through. If ``interrupted``, asked now and then, says True,
    the program is ended, and the result is that of what was run.

    Raises InputError if the emulator, the program or the host is missing, and SimulationError if the program cannot be
    followed or a simulation cannot finish.
    """
    hold_standard_descriptors()
    started = time.perf_counter()
    placed = prepare_all(systems, pages, host, places, processor, page_tables)
    levels = [(level.size, level.ways, level.policy) for level in caches]
    _core.LackeyCapture(levels)  # says what is wrong with the levels before anything runs
    core = core_of(placed)
    durable = any(map(is_persistent, placed))
    source = EmulatedSource(
        command,
        lambda folder: _core.ProgramCapture(
            folder, levels, True, 0, None, region is not None, (0, 0), core.program, durable
        ),
        region,
    )
    said = about(source.name, command, caches=caches, region=region, core=core)
    return play_source(
        source,
        command,
        placed,
        said,
        record=record,
        sampling=sampling,
        interrupted=interrupted,
        watch=watch,
        watch_past=watch_past,
        started=started,
    )


class ReportedSource(Protocol):
    """What runs under an emulator and reports its accesses."""

    wanted: int
    """The thread whose records are waited for; 0: all take turns."""
    ended: Ended
    """Once there are no more accesses."""

    @property
    def sieve(self) -> _core.ProgramCapture:
        """The recorder, once there are accesses."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how it ended."""

    def accesses(self, step: Callable[[], bool]) -> Iterator[_core.Accesses]:
        """Runs it; gives its records. ``step`` is asked now and then whether to go on."""


def play_source(
    source: ReportedSource,
    command: Sequence[str],
    placed: Sequence[PlacedProgram],
    said: dict[str, str],
    *,
    frames: bool = True,
    record: str | os.PathLike[str] | None = None,
    sampling: Sampling | None = SAMPLING,
    interrupted: Callable[[], bool] = lambda: False,
    watch: Callable[[int, int], None] = lambda _instructions, _accesses: None,
    watch_past: Callable[[int, int], None] = lambda _done, _whole: None,
    started: float | None = None,
) -> ExecutionResult:
    """Plays what a source reports on all systems; the rest is as in :func:`execute`.

    Args:
        said: the metadata of the trace ``record``.
        frames: whether its accesses are those of pages that got frames, so that each page is of an object; the
            addresses of a machine are physical.
        started: when the run began, by `time.perf_counter`; now if nothing is said.

    Raises what :func:`execute` raises.
    """
    started = time.perf_counter() if started is None else started
    core = core_of(placed)
    durable = any(map(is_persistent, placed))

    def step() -> bool:
        watch(source.sieve.instructions_in_all, source.sieve.records)
        return not interrupted()

    def want(thread: int) -> None:
        source.wanted = thread

    with Recording(record, said) as recording:
        sampler = _sampler(sampling, placed)
        regions: Counter[int] = Counter()
        objects: Objects | None = None
        use = UseOfPages(core.page_bytes)

        def told() -> Iterator[_core.Accesses]:
            nonlocal objects
            for part in source.accesses(step):
                objects = objects or (Objects(source.sieve) if frames else None)
                yield part

        kept = _counted(recording.kept(told()), regions, use, lambda: objects)
        executions = play(
            placed, kept, sampler, want, lambda: objects, core.page_bytes, _heard(watch_past, interrupted)
        )
        if objects is not None and record is not None:
            said |= recorded(objects, record)
        sieve = source.sieve
        names = of_threads.told(sieve.names)
        said |= of_threads.recorded(names, record) if record is not None else {}
        translation = Translation.of(sieve.translation)
        said |= source.ended.to_metadata() | ({} if translation is None else translation.to_metadata())
    seconds = time.perf_counter() - started
    notes = _notes_on(sampling, sampler) + source.notes + _notes_on_capture(sieve, durable)
    return ExecutionResult(
        tuple(command),
        source.ended,
        sieve.instructions,
        sieve.records,
        _estimated(_walking(executions, translation), sampler, sieve.instructions),
        seconds,
        _notes_of(executions) + notes + notes_on_places(placed, [each.summary for each, _ in executions]),
        translation,
        regions,
        use.by_object(objects) if objects is not None else (),
        names,
        core.page_bytes,
        physical=not frames,
        unrecorded=recording.problem,
    )


def _notes_on_capture(sieve: _core.ProgramCapture, durable: bool) -> tuple[str, ...]:
    """Sentences on what of a program did not reach the systems."""
    notes: tuple[str, ...] = ()
    if sieve.records == 0:
        notes += ("no access missed the caches: no memory was accessed",)
    if sieve.flushes and not durable:
        left_out = f"{counted(sieve.flushes, 'flush')} of lines left out: no memory of a system is persistent"
        notes += (left_out,)
    return notes


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
    watch_past: Callable[[int, int], None] = lambda _done, _whole: None,
) -> ExecutionResult:
    """What :func:`execute` gives for the program of which ``trace`` was recorded, to the picosecond, on any systems.

    The trace is one that :func:`execute` or :func:`cxloom.trace.capture` recorded; the caches in front are those with
    which it was recorded. If ``interrupted`` says True, the result is that of what was played. The other parameters are
    as in :func:`execute`.

    Raises InputError if the trace cannot be read, or the cores are others than it was recorded for, and SimulationError
    if a simulation cannot finish.
    """
    started = time.perf_counter()
    placed = prepare_all(systems, pages, host, places, processor, page_tables)
    refuse_no_file(trace)
    reader = open_trace(trace)
    core = core_of(placed)
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
    executions = play(
        placed,
        parts,
        sampler,
        objects=lambda: objects,
        frame=frame,
        past=_heard(watch_past, interrupted),
    )
    notes = (
        ()
        if recorded is not None
        else ("the trace has no cycles: each instruction takes as many as the next",)
    )
    # The counts are of the whole run: of a part of it none are known.
    translation = None if progress.interrupted else Translation.in_metadata(reader.metadata)
    return ExecutionResult(
        _command_in(reader.metadata),
        Ended(interrupted=True) if progress.interrupted else None,
        progress.instructions,
        progress.accesses,
        _estimated(_walking(executions, translation), sampler, progress.instructions),
        time.perf_counter() - started,
        _notes_of(executions)
        + notes
        + _notes_on(sampling, sampler)
        + notes_on_places(placed, [each.summary for each, _ in executions]),
        translation,
        regions,
        use.by_object(objects) if objects is not None else (),
        of_threads.in_metadata(reader.metadata),
        frame,
        physical=reader.metadata.get("address space", "").startswith("physical"),
    )


def _heard(
    watch_past: Callable[[int, int], None], interrupted: Callable[[], bool]
) -> Callable[[int, int], None]:
    """A watch that an interrupt ends: nothing of the program is known yet."""

    def watch(done: int, whole: int) -> None:
        watch_past(done, whole)
        if interrupted():
            raise SimulationError("interrupted before the program began")

    return watch


def _command_in(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The program and its arguments, as a trace says them; as they stand there if no shell could read them."""
    said = metadata.get("command", "")
    try:
        return tuple(shlex.split(said))
    except ValueError:
        return (said,)


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

    def parts(self) -> Iterator[Part]:
        """Up to the end, or until interrupted."""
        for batch in self._reader:
            self.instructions += int(batch.instruction_gap.sum())
            self.accesses += len(batch.accesses())
            yield batch.columns()
            self._watch(self.instructions, self.accesses)
            if self._asked():
                self.interrupted = True
                return


def _counted(
    parts: Iterator[Part], regions: Counter[int], use: UseOfPages, objects: Callable[[], Directory | None]
) -> Iterator[Part]:
    """The parts as they come, whose accesses are counted by region, and by page if the object of that is known."""
    import numpy as np

    for part in parts:
        batch = batch_of(part).accesses()
        numbers, counts = np.unique(batch.address // np.uint64(REGION), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            regions[number] += count
        if (directory := objects()) is not None:
            use.add(batch, len(directory.of_frames()))
        yield part


def _walking(
    played: tuple[tuple[Execution, list[float]], ...], translation: Translation | None
) -> tuple[tuple[Execution, list[float]], ...]:
    """Executions that know how many cycles they wait for walks besides."""
    cycles = 0 if translation is None else translation.cycles
    return tuple((replace(each, walk_cycles=cycles), latest) for each, latest in played)


def _sampler(sampling: Sampling | None, placed: Sequence[PlacedProgram]) -> Sampler | None:
    """None if the systems keep what a program leaves in them longer than the warm-up of a window is."""
    if sampling is None or any(keeps_state(each.resolved.plain()) for each in placed):
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


def _notes_of(played: tuple[tuple[Execution, list[float]], ...]) -> tuple[str, ...]:
    """The notes of the simulations, with the names of their systems if there are several; once if a system is played
    twice. A program is measured whole: it has phases, and no warm-up that could be longer; tables are kept of none."""
    found = (
        f"{each.system}: {note}" if len(played) > 1 else str(note)
        for each, _ in played
        for note in (*filter(None, [error_sentence(each.summary)]), *each.summary.get("notes", ()))
        if not str(note).startswith(("the measured window was not stationary", "the series has no rows"))
    )
    return tuple(dict.fromkeys(found))


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
                sampler.weights(),
            ),
        )
        for execution, (timing, cycle_ns) in zip(executions, timings, strict=True)
    )
