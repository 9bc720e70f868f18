"""``cxloom.sweep``: many runs of one system, from Python."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.spec import paths
from cxloom.spec.resolve import Template
from cxloom.sweeping import random_points as draws
from cxloom.sweeping import rows, space
from cxloom.sweeping.cluster import Cluster
from cxloom.sweeping.engine import Engine
from cxloom.sweeping.identity import identity
from cxloom.sweeping.manifest import Manifest
from cxloom.sweeping.plan import planned
from cxloom.sweeping.result import SweepResult
from cxloom.sweeping.space import MOST_POINTS, Setting
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.work import Sweep
from cxloom.system.system import System

if TYPE_CHECKING:
    from distributed import Client


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
    """The seed that a spec sets, if it is known before anything else is set."""
    try:
        seed, missing = paths.follow(template.resolve().root, space.SEED)
    except InputError:
        return None
    return None if missing else seed.value


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
    runner = Supervisor(jobs) if cluster is None else Cluster(cluster, jobs)
    with contextlib.ExitStack() as unless_all_goes_well:
        folder = tempfile.mkdtemp(prefix="cxloom-sweep-") if out is None else space.folder_name(out)
        if out is None:
            unless_all_goes_well.callback(shutil.rmtree, folder, ignore_errors=True)
        engine = engine_of(template, settings, Path(folder), "sweep", list(measures))
        engine.carry_out(Sweep(template), runner)
        result = SweepResult(engine)
        unless_all_goes_well.pop_all()
    if out is None:
        weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    else:
        engine.write_tables(result.columns)
    return result
