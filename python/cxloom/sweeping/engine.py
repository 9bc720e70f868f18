"""Carries out what is planned and not in the store yet, and derives the tables from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cxloom.base.errors import InputError, reason_of
from cxloom.spec.plugins import loaded_plugins
from cxloom.sweeping import manifest as manifests
from cxloom.sweeping import table
from cxloom.sweeping.interval import AGGREGATE, aggregated
from cxloom.sweeping.manifest import Manifest
from cxloom.sweeping.plan import Point
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.space import SEED
from cxloom.sweeping.store import Record, Store
from cxloom.sweeping.table import RESULTS, Columns
from cxloom.sweeping.work import Job, Source, Task


class Runner(Protocol):
    """Has tasks carried out somewhere: in processes of this machine, or on a cluster."""

    @property
    def at_once(self) -> int:
        """How many points it runs at a time."""

    def run(self, job: Job, schedule: Schedule, watch: Callable[[], None]) -> None:
        """Asks the schedule for tasks, and reports their ends and deaths to it, until it is done."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of a sweep that are run independently, into one directory."""

    index: int
    """Counts from 1."""
    count: int

    def share(self, keys: Sequence[str]) -> list[str]:
        """The keys that are this shard's: each of them is in one, and neighbours in different ones."""
        return list(dict.fromkeys(keys))[self.index - 1 :: self.count]


WHOLE = Shard(1, 1)


class Engine:
    """A sweep and its directory.

    Args:
        directory: where it is stored.
        manifest: what is to be run.
        outcome: the file that is made of it besides the tables of a sweep, if there is one.
    """

    def __init__(self, directory: Path, manifest: Manifest, outcome: str | None = None) -> None:
        self._outcome = outcome
        self.directory = directory
        self.manifest = manifest
        self._store = Store(directory)

    def carry_out(
        self,
        source: Source,
        runner: Runner,
        *,
        shard: Shard = WHOLE,
        begun: Callable[[Schedule], None] = lambda _schedule: None,
        watch: Callable[[Schedule], None] = lambda _schedule: None,
    ) -> None:
        """Runs what is not stored yet. What is finished is stored at once: whatever ends this, it can go on from there.

        Args:
            source: makes the specs of the points.
            runner: has it done.
            shard: the part that is to be run.
            begun: is called with what there is to do.
            watch: is called now and then with the progress.

        Raises InputError if the directory holds something else or cannot be written, SimulationError if no process can
        be started.
        """
        manifests.refuse_foreign(self.directory, (RESULTS, AGGREGATE), self._outcome)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            if not manifests.is_current(self.directory, self.manifest):
                for name in (RESULTS, AGGREGATE):  # of an earlier sweep
                    (self.directory / name).unlink(missing_ok=True)
                manifests.write(self.directory, self.manifest)  # before the points: it says whose they are
            self._store.prepare()
        except OSError as error:
            raise unwritable(error, self.directory) from None
        schedule = self._schedule(runner, shard)
        begun(schedule)
        if schedule.is_done:
            return
        try:
            job = Job(source, self.directory.absolute(), loaded_plugins(), self.manifest.identity)
            runner.run(job, schedule, lambda: watch(schedule))
        finally:
            self._store_lost(schedule)

    def _schedule(self, runner: Runner, shard: Shard) -> Schedule:
        """The points of a shard that are left to run: not stored, or lost."""
        work = {point.key: point.work for point in self.manifest.points if point.key is not None}
        tasks = []
        share = shard.share(list(work))
        for key in share:
            record = self.record(key)
            if record is None or not record.is_final:
                tasks.append(Task(key, work[key], pilot=runner.at_once > 1))
        return Schedule(tasks, len(share) - len(tasks))

    def _store_lost(self, schedule: Schedule) -> None:
        for key, reason in schedule.lost.items():
            record = self.record(key)
            if record is None or not record.is_final:
                said = f"its process died {schedule.attempts} times, the last time alone: {reason}"
                try:
                    self._store.write(key, Record("lost", said))
                except OSError as error:
                    raise unwritable(error, self.directory) from None

    def record(self, key: str) -> Record | None:
        """The result of a point; None if it is not stored. Raises InputError."""
        try:
            return self._store.read(key)
        except OSError as error:
            file = self._store.path(key)
            raise InputError(f"cannot be read: {reason_of(error)}", file=file) from None

    def columns(self) -> Columns:
        """The table of all points, as they are stored now. Raises InputError if one cannot be read."""
        points = self.manifest.points
        records = (self.record(point.key) if point.key is not None else None for point in points)
        return table.columns_of(points, records, self.manifest.measures)

    def write_tables(self, columns: Columns) -> list[Path]:
        """Derives the files from the table of all points; gives those written.

        None is as long as a point is missing, or if somebody has begun another sweep in the directory since. Raises
        InputError if they cannot be written.
        """
        if "missing" in columns["status"] or not manifests.is_current(self.directory, self.manifest):
            return []
        tables = {RESULTS: columns}
        if has_seeds(self.manifest.points):
            tables[AGGREGATE] = aggregated(columns)
        try:
            for name, each in tables.items():
                table.write(self.directory / name, each)
            if AGGREGATE not in tables:
                (self.directory / AGGREGATE).unlink(missing_ok=True)  # of an earlier sweep
        except OSError as error:
            raise unwritable(error, self.directory) from None
        return [self.directory / name for name in tables]


def has_seeds(points: Sequence[Point]) -> bool:
    """Whether points are run under several seeds."""
    return len({point.at[SEED] for point in points if isinstance(point.at.get(SEED), int)}) > 1


def unwritable(error: OSError, directory: Path) -> InputError:
    """The error for a directory that results cannot be written into."""
    return InputError(f"results cannot be written here: {reason_of(error)}", file=directory, path="--out")
