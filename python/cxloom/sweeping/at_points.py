"""A system at some points for a program that wants their summaries and keeps nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cxloom.sweeping import rows
from cxloom.sweeping.result import SweepResult
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.sweep import engine_of
from cxloom.sweeping.work import Sweep
from cxloom.system.system import System

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

Watch = Callable[[Schedule], None]
Keep = Callable[["Summary"], "Summary"]


class Played(NamedTuple):
    """The result at a point."""

    summary: Summary | None
    """None if it has none."""
    status: str
    """The status as `SweepResult.statuses` has it: "refused" for a wrong input."""
    error: str
    """Why it has none."""
    cost: Mapping[str, Any] = MappingProxyType({})
    """The cost of the run, as `cxloom run` has it; nothing if it has no summary."""


def unwatched(_schedule: Schedule) -> None:
    """Shows nothing."""


def whole(summary: Summary) -> Summary:
    """All of it."""
    return summary


def of_the_run(summary: Summary) -> Summary:
    """The measures of the run alone, without those of its components: of a thousand devices these are megabytes."""
    kept = {key: value for key, value in summary.items() if not key.startswith("per_")}
    return cast("Summary", kept)


def summaries_at(
    system: System,
    points: Sequence[Mapping[str, Any]],
    *,
    jobs: int | None = None,
    watch: Watch = unwatched,
    keep: Keep = whole,
) -> list[Played]:
    """Runs a system at points, each of which sets values by path, some at a time.

    `keep` says what of each summary is kept. Raises InputError for a path that matches nothing, or if all are refused.
    """
    template = system.template()
    with tempfile.TemporaryDirectory(prefix="cxloom-points-") as folder:
        engine = engine_of(template, rows.given(points, named=False), Path(folder), "points")
        engine.carry_out(Sweep(template), Supervisor(jobs), watch=watch)
        result = SweepResult(engine)

        def summary(index: int) -> Summary | None:
            found = result.summary(index)
            return None if found is None else keep(found)

        return [
            Played(
                summary(index) if status == "finished" else None,
                status,
                error or status,
                result.cost(index),
            )
            for index, (status, error) in enumerate(zip(result.statuses, result.errors, strict=True))
        ]
