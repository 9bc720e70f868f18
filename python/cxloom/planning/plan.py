"""``cxloom.plan``: designs of pods for the demand of many servers, compared."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError, together
from cxloom.planning.bound import check_slices
from cxloom.planning.outcome import PlanOutcome, outcome_of
from cxloom.planning.plan_file import Plan, read, with_path
from cxloom.planning.point import DESIGN, SEED, PlanRun, PlanSource
from cxloom.results.outdir import OF_PLAN
from cxloom.spec import paths
from cxloom.spec.names import listed
from cxloom.spec.node import Node
from cxloom.spec.override import Override
from cxloom.sweeping import space
from cxloom.sweeping.cluster import Cluster
from cxloom.sweeping.engine import Engine, Runner
from cxloom.sweeping.identity import identity
from cxloom.sweeping.manifest import Manifest
from cxloom.sweeping.plan import Point
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.space import MOST_POINTS, Axis, Setting
from cxloom.sweeping.supervisor import Supervisor

if TYPE_CHECKING:
    from distributed import Client

Watch = Callable[[Schedule], None]


def unwatched(_schedule: Schedule) -> None:
    """Shows nothing."""


@dataclass(frozen=True)
class Job:
    """A plan whose points are known, and not carried out yet."""

    source: PlanSource
    plans: Sequence[Plan]
    """The plan of each point, with what is swept."""
    engine: Engine

    def carried_out(
        self, runner: Runner, *, begun: Watch = unwatched, watch: Watch = unwatched
    ) -> PlanOutcome:
        """Carries out what is not stored yet, and puts all together. Raises InputError if a point has none."""
        self.engine.carry_out(self.source, runner, begun=begun, watch=watch)
        points = self.engine.manifest.points
        records = [None if point.key is None else self.engine.record(point.key) for point in points]
        self.engine.write_tables(self.engine.columns())
        return outcome_of(self.plans, points, records)


def job_of(
    file: str | os.PathLike[str] | Mapping[str, Any],
    directory: Path,
    *,
    overrides: Sequence[Override] = (),
    axes: Sequence[Axis] = (),
    most: int = MOST_POINTS,
) -> Job:
    """The points of a plan: its designs and seeds, under every combination of what is swept. Raises InputError."""
    root = read(file)
    source = PlanSource(root, tuple(overrides))
    settings = space.product([space.along(axis) for axis in axes])
    first = source.plan_at(settings[0])
    _check_demand(first)
    who = identity()
    points: list[Point] = []
    plans: list[Plan] = []
    errors = []
    for setting in settings:
        at = space.plain_of(setting)
        try:
            plan = source.plan_at(setting)
            own = _points(plan, at, setting, who.key)
            points += own
            plans += [plan] * len(own)
        except InputError as error:
            errors.append(error)
    space.check_points(len(points), most)
    if errors:
        raise together(errors)
    if len({plan.prices.currency for plan in plans}) > 1:
        raise InputError(
            "prices in several currencies",
            found=listed(dict.fromkeys(plan.prices.currency for plan in plans), word="and"),
            allowed="one for all that is compared",
            path="prices.currency",
        )
    return Job(source, plans, Engine(directory, Manifest(first.name, who, (), points), OF_PLAN))


def _check_demand(plan: Plan) -> None:
    """Raises InputError for a trace that is none, and for more slices in use than can be counted."""
    demand = plan.demanded(plan.run.seed)
    for name, design in plan.designs.items():
        try:
            check_slices(design, demand)
        except InputError as error:
            raise paths.located(plan.root, with_path(error, f"designs.{name}")) from None


def _points(
    plan: Plan, at: Mapping[str, Any], setting: Setting, key_of: Callable[[PlanRun], str]
) -> list[Point]:
    found = []
    for design in plan.designs:
        for seed in plan.seeds:
            run = PlanRun(plan, design, seed)
            work: tuple[Mapping[str, Node], str, int] = (setting, design, seed)
            found.append(Point({**at, DESIGN: design, SEED: seed}, key_of(run), None, work))
    return found


def plan(
    file: str | os.PathLike[str] | Mapping[str, Any],
    *,
    set: Mapping[str, Any] | None = None,
    sweep: Mapping[str, Iterable[Any]] | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    cluster: str | Client | None = None,
) -> PlanOutcome:
    """Plans a pool of memory for the demand of many servers: how much, how fast under load, and what it costs.

    ::

        print(cx.plan("rack.yaml").table())

    Args:
        file: a file as ``docs/plan.md`` has it, or the same as a map.
        set: values set in it first, by their paths.
        sweep: lists of values by path: everything is planned for every combination of them.
        jobs: points at a time, a point being a design under a seed; by default one for each processor.
        out: a directory to keep the points in, as ``cxloom plan --out`` does: those that are there are not run again.
        cluster: a Dask cluster to run on: the address of its scheduler, a `distributed.Client`, or "local".

    Raises InputError, with file, line and key, for what is wrong in it or in its trace.
    """
    overrides = [Override.of(path, value, f"from set {path}") for path, value in (set or {}).items()]
    axes = space.grid_of({} if sweep is None else sweep)
    if jobs is not None:
        space.check_count(jobs, "jobs")
    with contextlib.ExitStack() as stack:
        if out is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cxloom-plan-"))
        else:
            folder = space.folder_name(out)
        job = job_of(file, Path(folder), overrides=overrides, axes=axes)
        runner = Supervisor(jobs) if cluster is None else Cluster(cluster, jobs)
        return job.carried_out(runner)
