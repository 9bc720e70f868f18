"""The points of a study, carried out by the engine of sweeps: in parallel, and never twice into one directory."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError, SimulationError
from cxloom.kv.point import KvRun
from cxloom.results.outdir import OF_STUDY
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolved import Resolved
from cxloom.study.file import Study
from cxloom.sweeping.engine import Engine
from cxloom.sweeping.identity import identity
from cxloom.sweeping.manifest import Manifest
from cxloom.sweeping.plan import Point
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.space import described_setting
from cxloom.sweeping.supervisor import Supervisor

if TYPE_CHECKING:
    from cxloom.booting.point import BootRun

Watch = Callable[[Schedule], None]
"""Looks at a study while it runs."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What a point runs. A resolved spec becomes plain data on its way to another process."""

    resolved: Resolved | KvRun | BootRun

    def __reduce__(self) -> tuple[object, ...]:
        if not isinstance(self.resolved, Resolved):
            return Spec, (self.resolved,)
        return _arrived, (self.resolved.plain(),)


class Specs:
    """The source of a study: every point brings its spec."""

    def resolve(self, work: Spec) -> Resolved | KvRun | BootRun:
        """What a point runs."""
        return work.resolved


def carried_out(
    study: Study,
    out: str | os.PathLike[str] | None = None,
    *,
    jobs: int | None = None,
    begun: Watch = lambda _schedule: None,
    watch: Watch = lambda _schedule: None,
) -> list[dict[str, Any]]:
    """The summary of each point, in the order of `study.points`.

    Args:
        study: what to run.
        out: a directory to keep the points in; those that are there are not run again. None keeps nothing.
        jobs: points at a time; by default as many as this computer has processors for, of which a booted machine takes
            several.
        begun: is called with what there is to do.
        watch: is called now and then with the progress.

    Raises, when all others are done, SimulationError for a point that did not finish, InputError for one whose input
    turned out wrong; InputError if the directory holds something else or cannot be written.
    """
    with contextlib.ExitStack() as stack:
        name = os.fspath(out) if out is not None else stack.enter_context(tempfile.TemporaryDirectory())
        who = identity()
        points = [
            Point(at, who.key(spec), None, Spec(spec))
            for at, spec in zip(study.points, study.specs, strict=True)
        ]
        processors = len(os.sched_getaffinity(0))
        engine = Engine(Path(name), Manifest(study.title, who, [], points), OF_STUDY)
        engine.carry_out(
            Specs(), Supervisor(jobs or points_at_once(study, processors)), begun=begun, watch=watch
        )
        return [_summary(engine, point) for point in points]


def points_at_once(study: Study, processors: int) -> int:
    """How many points are run at a time on so many processors: each of their threads has one, if one point's have."""
    threads = [1 if isinstance(each, Resolved | KvRun) else each.threads for each in study.specs]
    return max(1, processors // max(threads, default=1))


def _summary(engine: Engine, point: Point) -> dict[str, Any]:
    assert point.key is not None
    record = engine.record(point.key)
    if record is None or record.summary is None or record.error is not None:
        problem = (
            f"at {described_setting(point.at)}: {record.error if record else 'it is not stored any more'}"
        )
        raise InputError(problem) if record and record.status == "refused" else SimulationError(problem)
    return record.summary | {"cost": record.cost}


def _arrived(plain: dict[str, Any]) -> Spec:
    return Spec(Resolved(from_plain(plain, Origin())))
