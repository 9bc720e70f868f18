"""``cxloom.sweep``: many runs of one system, from Python."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.errors import InputError
from cxloom.filenames import file_name
from cxloom.frozen import FrozenDict, frozen
from cxloom.spec.resolve import Template
from cxloom.sweeping import draw as draws
from cxloom.sweeping import manifest as manifests
from cxloom.sweeping import rows, space, table
from cxloom.sweeping.cluster import Cluster
from cxloom.sweeping.engine import Engine, has_seeds
from cxloom.sweeping.identity import identity
from cxloom.sweeping.interval import aggregated
from cxloom.sweeping.manifest import Manifest
from cxloom.sweeping.plan import Point, planned
from cxloom.sweeping.space import MOST_POINTS, Setting
from cxloom.sweeping.store import Record
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.table import Columns
from cxloom.sweeping.work import Sweep
from cxloom.system import System

if TYPE_CHECKING:
    import polars as pl
    from distributed import Client


class SweepResult:
    """What a sweep gave: a row for each point, in the order in which they were asked for."""

    def __init__(self, points: Sequence[Point], records: Sequence[Record | None], columns: Columns) -> None:
        self._points = points
        self._records = records
        self._columns = columns

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> SweepResult:
        """What is stored in a directory. Raises InputError if that is none of a sweep."""
        folder = Path(space.folder_name(directory))
        return result_of(Engine(folder, manifests.read(folder)))

    def __len__(self) -> int:
        return len(self._points)

    @property
    def points(self) -> list[Mapping[str, Any]]:
        """What was set at each point: values by path."""
        return [FrozenDict(point.at) for point in self._points]

    @property
    def statuses(self) -> list[str]:
        """How each point ended: ``finished``; ``unfinished``, by a deadlock or livelock; ``refused``, for its input;
        ``lost``, as its process died; or ``missing``, if it has not been run."""
        return list(self._columns["status"])

    @property
    def errors(self) -> list[str | None]:
        """Why each point did not finish; None if it did."""
        return list(self._columns["error"])

    def summary(self, index: int) -> Mapping[str, Any] | None:
        """The results of a point by the keys of ``cxloom run --json``, without `cost`; None if it has none."""
        record = self._records[index]
        summary: Mapping[str, Any] | None = None if record is None else frozen(record.summary)
        return summary

    def frame(self) -> pl.DataFrame:
        """A row for each point: what is set, key, status, error, and its measures by their dotted paths."""
        return _frame(self._columns)

    def aggregate(self) -> pl.DataFrame:
        """A row for all seeds of a point: the mean of each measure, and in ``NAME:low`` and ``NAME:high`` the ends of
        its 95 % interval by Student's t; without values for a single seed."""
        return _frame(aggregated(self._columns))

    @property
    def columns(self) -> Columns:
        """The table as lists by the names of its columns. Not to be changed."""
        return self._columns

    @property
    def has_seeds(self) -> bool:
        """Whether points were run under several seeds."""
        return has_seeds(self._points)

    def __repr__(self) -> str:
        finished = self.statuses.count("finished")
        return f"<Sweep: {space.count_of(self._points)}, {finished:,} finished>"


def settings_of(
    *,
    grid: Sequence[space.Axis] = (),
    rows: Sequence[Setting] | None = None,
    drawn: Sequence[draws.Draws] = (),
    samples: int | None = None,
    draw_seed: int = 1,
    seeds: int = 1,
    first_seed: object = None,
    most: int = MOST_POINTS,
) -> list[Setting]:
    """All settings of a sweep. Raises InputError if there are too many, a path is set twice, or nothing is drawn."""
    if bool(drawn) != (samples is not None):
        problem = "what is drawn has no number of samples" if drawn else "samples of what is not said"
        raise InputError(problem, allowed="--draw and --samples, both or neither")
    lengths = [len(axis.values) for axis in grid] + [1 if rows is None else len(rows), samples or 1, seeds]
    space.check_points(math.prod(lengths), most)
    parts: list[Sequence[Setting]] = [space.along(axis) for axis in grid]
    if rows is not None:
        parts.append(rows)
    if samples is not None:
        parts.append(draws.samples(drawn, samples, draw_seed))
    if seeds > 1:
        parts.append(space.along(space.seeds(seeds, first_seed)))
    return space.product(parts)


def seed_of(template: Template) -> object:
    """The seed that a spec sets, if it can be told before anything else is set."""
    try:
        run = template.resolve().root.get("run")
    except InputError:
        return None
    seed = run.get("seed") if run is not None else None
    return None if seed is None else seed.value


def engine_of(
    template: Template,
    settings: Sequence[Setting],
    directory: Path,
    name: str,
    measures: Sequence[str] = (),
) -> Engine:
    """The engine of a sweep, planned. Raises InputError for a path that matches nothing, or if no point can be run."""
    who = identity()
    return Engine(directory, Manifest(name, who, measures, planned(template, settings, who)))


def result_of(engine: Engine) -> SweepResult:
    """What is stored of a sweep."""
    records = engine.records()
    return SweepResult(engine.manifest.points, records, engine.columns(records))


def sweep(
    system: System | str | os.PathLike[str],
    grid: Mapping[str, Iterable[Any]] | None = None,
    *,
    points: Iterable[Mapping[str, Any]] | None = None,
    draw: Mapping[str, str | Sequence[Any]] | None = None,
    samples: int | None = None,
    draw_seed: int = 1,
    seeds: int = 1,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    cluster: str | Client | None = None,
    measures: Sequence[str] = (),
    max_points: int = MOST_POINTS,
) -> SweepResult:
    """Runs a system at many points, several at a time, each in a process of its own.

    ::

        cx.sweep(system, {"devices.host.queue": [1, 2, 4, 8]}).frame()

    Args:
        system: a `System`, or the path of a spec.
        grid: lists of values by path; every combination is a point.
        points: the points themselves, each a map of values by path; with a grid, each under every combination of it.
        draw: what is drawn by path: a range such as ``"1..256:log"`` or ``"25ns..100ns"``, or a list to choose from.
        samples: how many points are drawn.
        draw_seed: another one draws others.
        seeds: runs each point under so many seeds, from the spec's `run.seed` on; `SweepResult.aggregate` has means.
        jobs: points at a time; by default one for each processor.
        out: a directory to keep the points in, as ``cxloom sweep --out`` does: those that are there are not run again.
        cluster: a Dask cluster to run on: the address of its scheduler, a `distributed.Client`, or "local".
        measures: further columns, as paths of the summary with stars: ``"per_memory.*.queue_mean"``.
        max_points: more points are refused.

    A point that cannot finish, or whose input is wrong, stops no other: its `error` says why. Raises InputError before
    anything is run for a path that matches nothing, or if no point can be run.
    """
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    template = system.template()
    if jobs is not None:
        space.check_count(jobs, "jobs")
    settings = settings_of(
        grid=space.grid_of({} if grid is None else grid),
        rows=None if points is None else rows.given(points),
        drawn=() if draw is None else draws.given_draws(draw),
        samples=None if samples is None else space.check_count(samples, "samples"),
        draw_seed=space.check_count(draw_seed, "draw_seed", 0),
        seeds=space.check_count(seeds, "seeds"),
        first_seed=seed_of(template),
        most=space.check_count(max_points, "max_points"),
    )
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory()) if out is None else space.folder_name(out)
        engine = engine_of(template, settings, Path(name), "sweep", list(measures))
        runner = Supervisor(jobs) if cluster is None else Cluster(cluster, jobs)
        engine.carry_out(Sweep(template), runner)
        result = result_of(engine)
        if out is not None:
            engine.write_tables(result.columns)
        return result


def _frame(columns: Columns) -> pl.DataFrame:
    import polars as pl

    frame = pl.from_arrow(table.arrow(columns))
    assert isinstance(frame, pl.DataFrame)
    return frame
