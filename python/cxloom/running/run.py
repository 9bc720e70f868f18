"""Runs a system: in slices, so that progress can be shown, Ctrl-C is heard and records leave memory as they come."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from cxloom import _core
from cxloom.base.errors import InputError, SimulationError
from cxloom.base.filenames import file_name
from cxloom.display.numbers import duration
from cxloom.results.outdir import FILES, SPEC, SUMMARY, OutputDirectory, unwritable
from cxloom.results.records import PARTS, Columns, DroppedSink, MemorySink, ParquetSink, Sink
from cxloom.results.result import Result, Table
from cxloom.running.protocol_log import LogRequest, ProtocolLog
from cxloom.spec import paths
from cxloom.spec.override import Override
from cxloom.spec.resolved import Resolved
from cxloom.spec.writer import to_yaml
from cxloom.system.simulation import Simulation, build, errors_placed, refuse_endless
from cxloom.system.system import System

_NANOSECONDS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

SLICE_SECONDS = 0.05
"""Wall time that one slice of a simulation aims at: the most that Ctrl-C and the progress bar wait."""


class Progress(NamedTuple):
    """How far a run is."""

    completed: int
    expected: int | None
    """Requests in all, where that is known beforehand."""
    time_ns: float
    """Simulated time."""
    events: int
    past: tuple[int, int] | None = None
    """Steps done, and in all, of what media have been through before the run (`filled`, `overwritten` of flash)."""


class Watch(Protocol):
    """Looks at a run between its slices."""

    def __call__(self, progress: Progress) -> str | None:
        """Says why the run shall end now, or None to go on."""


class UnfinishedError(SimulationError):
    """The simulation could not finish. `result` is what was measured up to then, labelled truncated."""

    def __init__(self, diagnosis: str, result: Result) -> None:
        super().__init__(diagnosis)
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:
        return SimulationError, self.args  # on its way to another process it leaves the result behind


class UnwrittenError(InputError):
    """The results of a run could not be written: the disk is full, for one. `result` is what was measured."""

    result: Result


def run(
    system: System | str | os.PathLike[str],
    *,
    seed: int | None = None,
    requests: bool | None = None,
    max_time: str | None = None,
    until: str | None = None,
    threads: int | str | None = None,
    out: str | os.PathLike[str] | None = None,
    log: str | Sequence[str] | None = None,
) -> Result:
    """Runs a system to its end and gives the results. Many may run at once, each in a thread.

    Args:
        system: a `System`, or the path of a spec.
        seed: of the random streams; overrides the spec's.
        requests: record every request for `Result.requests`; overrides the spec's.
        max_time: simulated time after which the run ends, such as "1ms"; its results are labelled truncated.
        until: "ci=1%" ends the run as soon as the mean latency is known so well: half of its 95 % interval / the mean.
        threads: that play this one simulation, at most, or "auto"; overrides the spec's. Results are the same for any
            number of them.
        out: a directory to write the results to, as ``cxloom run --out`` does.
        log: what to log, in the words of ``cxloom run --log``, one or several: "protocol" for the table
            `Result.protocol`, "protocol=FILE", "address=0x1000".

    Raises InputError for a system that cannot be built, UnfinishedError (a SimulationError) for a deadlock or livelock,
    UnwrittenError (an InputError) if all went well but for the writing.
    """
    wanted = LogRequest.parse(log, "log")
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    limit = None if max_time is None else nanoseconds(max_time, "max_time")
    given = {"run.seed": seed, "outputs.requests": requests, "run.threads": threads}
    overrides = [Override.of(path, value) for path, value in given.items() if value is not None]
    if until is not None:
        overrides.append(Override.until(until, "from until="))
    resolved = system.resolve(overrides)
    simulation = build(resolved)
    with (
        OutputDirectory.optional(out) as directory,
        ProtocolLog.optional(wanted, simulation, directory) as protocol,
    ):
        return simulate(resolved, simulation, directory, protocol, max_time_ns=limit)


def simulate(
    resolved: Resolved,
    simulation: _core.Simulation,
    directory: OutputDirectory | None = None,
    log: ProtocolLog | None = None,
    *,
    max_time_ns: float | None = None,
    watch: Watch = lambda _progress: None,
    keep: bool = True,
) -> Result:
    """Runs a simulation to its end, or to where a limit or `watch` ends it, and writes its results and its log.

    Without a directory, rows that are recorded stay in memory for the result's tables, unless `keep` is False.

    Raises UnfinishedError if it deadlocks, after writing what there is; InputError for a trace that turns out bad;
    UnwrittenError if what there is cannot be written.
    """
    if max_time_ns is None:
        refuse_endless(resolved)
    started = time.perf_counter(), time.thread_time()
    sinks = _Sinks(asked_tables(resolved), simulation, directory, keep, log)
    diagnosis = ""
    try:
        with errors_placed(resolved):
            try:
                _advance(simulation, sinks, max_time_ns, watch)
            except SimulationError as error:
                diagnosis = str(error).rstrip()
                simulation.stop(diagnosis.partition("\n")[0])
            sinks.take(simulation)
            summary = simulation.summary()
            if isinstance(simulation, Simulation) and (remarks := simulation.remarks()):
                summary["notes"] = [*summary.get("notes", ()), *remarks]
        sinks.close()
    except BaseException:
        sinks.abandon()
        raise
    progress = simulation.progress()
    cost = _cost(*started) | {"requests": progress["completed"], "events": progress["events"]}
    if (division := simulation.division()) is not None:
        cost["cpu_seconds"] = round(cost["cpu_seconds"] + division.pop("helpers_cpu_seconds", 0.0), 6)
        cost["threads"] = division
    summary |= {"spec_hash": resolved.hash(), "version": _core.__version__, "cost": cost}
    result = Result(summary, resolved, sinks.tables(), replay_requests)
    refusal = None
    if log is not None:
        try:
            log.commit()
        except InputError as error:
            refusal = error
    if directory is not None:
        _write(result, directory, sinks)
    if refusal is not None:
        raise _unwritten(refusal, result)
    if diagnosis:
        raise UnfinishedError(diagnosis, result)
    return result


def _write(result: Result, directory: OutputDirectory, sinks: _Sinks) -> None:
    """All of the results, or nothing and an UnwrittenError."""
    failure = sinks.failure
    if failure is None:
        try:
            directory.commit(result.to_json() + "\n", to_yaml(result.spec.plain()))
            return
        except OSError as error:
            failure = error
    directory.discard()
    names = [SUMMARY, SPEC, *(FILES[output] for output in result.tables)]
    refusal = unwritable(failure, directory.path, not_written=names)
    raise _unwritten(refusal, Result(result.summary, result.spec, {}, replay_requests))


def _unwritten(refusal: InputError, result: Result) -> UnwrittenError:
    unwritten = UnwrittenError(refusal.problem, file=refusal.file, path=refusal.path)
    unwritten.result = result
    return unwritten


def asked_tables(resolved: Resolved) -> list[str]:
    """The tables that the `outputs` of a spec ask for: "requests", "series", "commands"."""
    outputs = resolved.root.get("outputs")
    asked = outputs.map() if outputs is not None else {}
    return [name for name in FILES if name in asked and asked[name].value not in (None, False)]


def replay_requests(resolved: Resolved) -> Table:
    """Plays a run once more to record its requests. Runs are deterministic, so the rows are the first run's."""
    on = Override.of("outputs.requests", True)
    again = Resolved(paths.assign(resolved.root, ("outputs", "requests"), on.value))
    return simulate(again, build(again)).tables["requests"]


def nanoseconds(text: str, path: str) -> float:
    """A time such as "1ms" as a number of ns. Raises InputError, with `path`, if it is none."""
    try:
        canonical = _core.parse("time", text)  # a whole number and its unit
    except InputError as error:
        error.path = path
        raise
    number = canonical.rstrip("munps")
    return int(number) * _NANOSECONDS[canonical[len(number) :]]


def _advance(simulation: _core.Simulation, sinks: _Sinks, max_time_ns: float | None, watch: Watch) -> None:
    if (reason := play_past(simulation, watch)) is not None:
        simulation.stop(reason)
        return
    limit = math.inf if max_time_ns is None else max_time_ns
    events = 10_000
    while True:
        before = time.perf_counter()
        finished = simulation.advance(events, max_time_ns)
        sinks.take(simulation)
        if finished:
            return
        progress = Progress(**simulation.progress())
        reason = watch(progress)
        if progress.time_ns >= limit:
            reason = reason or f"the simulated time reached its limit of {duration(limit)}"
        if reason is not None:
            simulation.stop(reason)
            return
        events = next_slice(events, time.perf_counter() - before)


def next_slice(events: int, took: float) -> int:
    """Towards the target by no more than a factor of four at a time: one slow slice is no measure of the next."""
    return max(1_000, int(events * min(4.0, max(0.25, SLICE_SECONDS / max(took, 1e-6)))))


def play_past(simulation: _core.Simulation, watch: Watch) -> str | None:
    """Plays what media have been through before the run, in slices. Gives the reason if `watch` ends it."""
    steps = 10_000
    whole = left = simulation.past_left()
    while left > 0:
        before = time.perf_counter()
        simulation.play_past(steps)
        steps = next_slice(steps, time.perf_counter() - before)
        left = simulation.past_left()
        if (reason := watch(Progress(**simulation.progress(), past=(whole - left, whole)))) is not None:
            return reason
    return None


class _Sinks:
    """Where the rows of a run go: its log, and the tables that are asked for, in its directory or in memory."""

    def __init__(
        self,
        outputs: Sequence[str],
        simulation: _core.Simulation,
        directory: OutputDirectory | None,
        keep: bool,
        log: ProtocolLog | None,
    ) -> None:
        self._directory = directory
        self._log = log
        self._sinks: dict[str, Sink] = {}
        nodes = simulation.node_names()
        names = {
            "requests": {"requester": nodes, "target": nodes, "kind": ["read", "write", "atomic", "flush"]},
            "series": {"name": simulation.probe_names()},
            "commands": {"memory": nodes, "command": simulation.command_names(), "part": PARTS},
        }
        names["protocol"] = {}  # which come with its rows
        for output in [*outputs, "protocol"] if log is not None and log.is_table else outputs:
            if directory is not None:
                self._sinks[output] = ParquetSink(directory.temporary(FILES[output]), names[output])
            else:
                self._sinks[output] = MemorySink(names[output]) if keep else DroppedSink()

    def take(self, simulation: _core.Simulation) -> None:
        """Moves the rows since the last time out of the simulation."""
        rows = self._log.take(simulation) if self._log is not None else {}
        take: dict[str, Callable[[], Columns]] = {
            "protocol": lambda: rows,
            "requests": lambda: _requests(simulation.take_requests()),
            "series": lambda: _series(simulation.take_series()),
            "commands": lambda: _commands(simulation.take_commands()),
        }
        for output, sink in self._sinks.items():
            sink.add(take[output]())

    def close(self) -> None:
        """Ends the tables."""
        for sink in self._sinks.values():
            sink.close()
        if self._log is not None:
            self._log.close()

    def abandon(self) -> None:
        """Lets go of the tables without ending them well."""
        for sink in self._sinks.values():
            sink.abandon()

    @property
    def failure(self) -> OSError | None:
        """Why a table is not whole, if one is not."""
        failures = (sink.failure for sink in self._sinks.values() if isinstance(sink, ParquetSink))
        return next((failure for failure in failures if failure is not None), None)

    def tables(self) -> dict[str, Table]:
        """The tables by the name of their output, where they are once the directory is committed."""
        if self._directory is None:
            return {output: sink for output, sink in self._sinks.items() if isinstance(sink, MemorySink)}
        return {output: self._directory.path / FILES[output] for output in self._sinks}


def _requests(columns: _core.Columns) -> Columns:
    """A yes or no as such."""
    import numpy as np  # a run without tables needs none of it

    return columns | {"error": columns["error"].view(np.bool_)}


def _series(columns: _core.Columns) -> Columns:
    """Utilisations of what has none, a memory, as gaps, and so with turns and queues."""
    import numpy as np

    gaps = {name: np.isnan(columns[name]) for name in ("utilization", "turnaround", "queue")}
    masked = {
        name: np.ma.MaskedArray(columns[name], mask=mask)
        for name, mask in gaps.items()
        if name != "queue" or mask.any()
    }
    return columns | masked


def _commands(columns: _core.Columns) -> Columns:
    """Coordinates that a command does not have as gaps, and a yes or no as such."""
    import numpy as np

    gaps = ("bank_group", "bank", "row", "column")
    masked = {name: np.ma.MaskedArray(columns[name], mask=columns[name] == -1) for name in gaps}
    return columns | masked | {"rmw": columns["rmw"].view(np.bool_)}


def _cost(wall_started: float, cpu_started: float) -> dict[str, Any]:
    return {
        "wall_seconds": round(time.perf_counter() - wall_started, 6),
        "cpu_seconds": round(time.thread_time() - cpu_started, 6),
        "peak_memory_bytes": _peak_memory_bytes(),
    }


def _peak_memory_bytes() -> int:
    """The peak of this process alone: `getrusage` has at least that of its parent, which exec passes on."""
    with contextlib.suppress(OSError), open("/proc/self/status", "rb", buffering=0) as status:
        _, found, peak = status.read().partition(b"\nVmHWM:")
        if found:
            return int(peak.split(maxsplit=1)[0]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
