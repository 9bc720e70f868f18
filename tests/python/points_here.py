"""Runs points in the process of the tests: those of sweeps are about the workers that users have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Self

from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.work import Bench, Job, raise_if_unwritable


class PointsHere:
    """In the place of `cxloom.sweeping.supervisor.Supervisor`: one point after the other, none of which may crash."""

    at_once = 1

    def __init__(self, _jobs: int | None = None) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def run(self, job: Job, schedule: Schedule, watch: Callable[[], None]) -> None:
        """Carries out all tasks of a schedule."""
        bench = Bench(job)
        while (task := schedule.next()) is not None:
            report = bench.carry_out(replace(task, pilot=False))
            raise_if_unwritable(report, job)
            schedule.ended(report)
            watch()
