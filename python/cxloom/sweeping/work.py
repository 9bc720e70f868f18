"""One point, carried out: in whatever process a runner has for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from cxloom.base.errors import InputError, SimulationError, reason_of
from cxloom.running.run import Progress, UnfinishedError, simulate
from cxloom.spec.plugins import load_plugin, loaded_plugins
from cxloom.spec.resolve import Template
from cxloom.spec.resolved import Resolved
from cxloom.sweeping.identity import Identity, identity
from cxloom.sweeping.space import Setting, overrides_of
from cxloom.sweeping.store import Record, Store
from cxloom.system.simulation import build

NO_PROCESSORS = "points at a time have no more processors each"
"""Why a point is played by fewer threads than it asks for."""
PILOT_SECONDS = 0.05
"""CPU time after which a pilot asks whether to go on."""
TOLD_SECONDS = 0.5
"""Wall time after which a point says again how long it will take."""
PILOT_SHARE = 0.1
"""The most that a pilot which gives up may have cost, as a share of the whole run."""


class OwnRun(Protocol):
    """A point that is no system with work: it knows itself how it is carried out."""

    def digest(self) -> str:
        """A digest of all that decides what comes out."""

    def carried_out(self) -> dict[str, Any]:
        """What it finds, with its `cost`. Raises InputError."""


class Source(Protocol):
    """Makes the spec of a point; it is sent to every worker once."""

    def resolve(self, work: Any, /) -> Resolved | OwnRun:
        """The spec of a point, of its `Point.work`. Raises InputError."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The source of a sweep: what all of its points have in common."""

    template: Template

    def resolve(self, work: Setting) -> Resolved:
        """The spec under a setting."""
        return self.template.resolve(overrides_of(work))


@dataclass(frozen=True, slots=True)
class Job:
    """The knowledge of a worker before its first point."""

    source: Source
    directory: Path
    """Absolute: that of the store."""
    plugins: Sequence[str]
    identity: Identity
    """The program that the keys of the points belong to."""


@dataclass(frozen=True, slots=True)
class Task:
    """A point to carry out."""

    key: str
    work: Any
    pilot: bool
    """Give up if it turns out to be long, and say how long."""
    threads: int | None = None
    """The most threads that play it, whatever its spec asks for: others have the other processors. None: any number."""


@dataclass(frozen=True, slots=True)
class Report:
    """The end of a task, or a word of it while it is under way."""

    key: str
    what: Literal["stored", "postponed", "unwritable", "expected"]
    seconds: float
    """CPU time that it took, of a postponed one that it will take; of one under way the time that it takes in all."""
    reason: str = ""
    """Why it could not be stored."""


def raise_if_unwritable(report: Report, job: Job) -> None:
    """Raises InputError for a report that a point could not be stored."""
    if report.what == "unwritable":
        problem = f"results cannot be written here: {report.reason}"
        raise InputError(problem, file=job.directory, path="--out")


class _PostponedError(Exception):
    """A pilot found out how long its point will take."""


class Bench:
    """Where points are carried out: a process that has read what they have in common."""

    def __init__(self, job: Job) -> None:
        """Loads the plug-ins that are not loaded yet.

        Raises InputError for one that is gone, and if this is not the program that the points are to be run with: its
        results would be taken for those of that one.
        """
        for plugin in job.plugins:
            if plugin not in loaded_plugins():
                load_plugin(plugin)
        if identity() != job.identity:
            allowed = (
                f"cxloom {job.identity.version}, the same build and plug-ins as where the sweep was begun"
            )
            found = f"another build, of version {identity().version}"
            raise InputError("a worker has another cxloom", found=found, allowed=allowed)
        self._source = job.source
        self._store = Store(job.directory)

    def carry_out(self, task: Task, tell: Callable[[Report], None] = lambda _report: None) -> Report:
        """Runs a point, unless somebody else has, and stores what it gives.

        `tell` hears now and then how long one will take that goes on to its end.
        """
        started = time.thread_time()
        try:
            record = self._store.read(task.key)
            if record is None or not record.is_final:
                record = self._run(task, started, tell)
                self._store.write(task.key, record)
        except _PostponedError as postponed:
            return Report(task.key, "postponed", float(postponed.args[0]))
        except OSError as error:
            return Report(task.key, "unwritable", 0.0, reason_of(error))
        return Report(task.key, "stored", time.thread_time() - started)

    def _run(self, task: Task, started: float, tell: Callable[[Report], None]) -> Record:
        """The result of the point. Raises _PostponedError if its pilot gives up."""
        begun = told = time.monotonic()

        def say_how_long(progress: Progress) -> None:
            nonlocal told
            now = time.monotonic()
            if now - told < TOLD_SECONDS or not progress.expected or not progress.completed:
                return
            told = now
            tell(Report(task.key, "expected", (now - begun) * progress.expected / progress.completed))

        def give_up_if_long(progress: Progress) -> None:
            spent = time.thread_time() - started
            if spent < PILOT_SECONDS or not progress.expected or not progress.completed:
                return
            whole = spent * progress.expected / progress.completed
            if spent < PILOT_SHARE * whole:
                raise _PostponedError(whole)

        try:
            resolved = self._source.resolve(task.work)
            if not isinstance(resolved, Resolved):
                return _record(resolved.carried_out(), None)
            asked = resolved
            if task.threads is not None:
                resolved = asked.in_threads(task.threads)
            fewer = resolved is not asked
            watch = give_up_if_long if task.pilot else say_how_long
            result = simulate(resolved, build(resolved), watch=watch, keep=False)
        except UnfinishedError as error:
            return _record(error.result.plain(), str(error), fewer)
        except InputError as error:
            return Record("refused", str(error))
        except SimulationError as error:
            return Record("unfinished", str(error))
        return _record(result.plain(), None, fewer)


def _record(summary: Mapping[str, Any], error: str | None, fewer_threads: bool = False) -> Record:
    measured = {key: value for key, value in summary.items() if key != "cost"}
    cost = dict(summary["cost"])
    if fewer_threads:
        cost["threads"] = {"reason": NO_PROCESSORS} | cost.get("threads", {"parts": 1})
    return Record("finished" if error is None else "unfinished", error, measured, cost)
