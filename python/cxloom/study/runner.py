"""Has the points of a study run, and holds them against what is expected."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from cxloom.base.errors import NOWHERE, InputError, is_nowhere
from cxloom.study.carried import Watch, carried_out
from cxloom.study.compare import Comparison, Summary, check, compare, table
from cxloom.study.file import Study
from cxloom.study.state import State


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a study."""

    study: Study
    summaries: list[Summary]
    """The summary of each point, in the order of `study.points`."""
    comparisons: list[Comparison]

    @property
    def table(self) -> list[dict[str, Any]]:
        """The columns that the study asks for, a row for each point."""
        return table(self.study, self.summaries)

    @property
    def passed(self) -> bool:
        """True if no expectation failed: each is met, fitted, bracketed, or said to be open."""
        return all(comparison.state is not State.FAILED for comparison in self.comparisons)


def run_study(
    study: Study,
    *,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    begun: Watch = lambda _schedule: None,
    watch: Watch = lambda _schedule: None,
) -> Outcome:
    """Runs all points, several at once, and holds them against what is expected.

    Args:
        study: what to run.
        jobs: points at the same time; by default one per processor, fewer of machines that are booted.
        out: a directory to keep the points in, so that those that are there are not run again; None keeps nothing.
        begun: is called with what there is to do.
        watch: is called now and then with the progress.

    Raises InputError for a working directory that is gone, a point that cannot be built or a measure that there is not,
    before any is run; SimulationError, when all others are done, for a point that cannot finish.
    """
    if is_nowhere():
        raise InputError(NOWHERE, allowed="one that exists: the processes of a study begin in it")
    check(study)
    summaries = carried_out(study, out, jobs=jobs, begun=begun, watch=watch)
    return Outcome(study, summaries, compare(study, summaries))
