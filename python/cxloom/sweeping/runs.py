"""A system at points that are chosen as results come in, on points that are stored as those of a sweep."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.base.words import counted
from cxloom.results.caveats import notes_of_points
from cxloom.spec.override import Override
from cxloom.spec.resolve import Template
from cxloom.sweeping import space
from cxloom.sweeping.result import SweepResult
from cxloom.sweeping.schedule import Schedule
from cxloom.sweeping.space import Setting, node_of
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.sweep import engine_of
from cxloom.sweeping.work import Sweep
from cxloom.system.system import System

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

Watch = Callable[[Schedule], None]
"""Is told how far each round of points is."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came out at a point."""

    summary: Summary | None
    """None where there is no result."""
    error: str | None
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class Runs:
    """A system whose points are run in rounds; those that are stored are not run again."""

    template: Template
    runner: Supervisor
    folder: Path
    watch: Watch
    earlier: list[Setting] = field(default_factory=list)
    """The points of the rounds before: the directory is about all of them."""
    notes: list[Sequence[str]] = field(default_factory=list)
    """What each run said of itself."""

    def at(self, settings: Sequence[Mapping[str, Any]], *, is_first: bool) -> list[Run]:
        """What comes out under these settings, values by path, each round several at a time.

        Raises InputError for a path that matches nothing, and if all of a first round are refused: something is wrong
        with every point then. Of a later round all may be beyond what there is.
        """
        nodes = [
            {path: node_of(path, value, f"--vary {path}={value}") for path, value in each.items()}
            for each in settings
        ]
        before = len(self.earlier)
        try:
            engine = engine_of(self.template, [*self.earlier, *nodes], self.folder, "find")
        except InputError as error:
            if is_first:
                raise
            return [Run(None, str(error))] * len(settings)
        engine.carry_out(Sweep(self.template), self.runner, watch=self.watch)
        self.earlier.extend(nodes)
        result = SweepResult(engine)
        if is_first and set(result.statuses) == {"refused"}:
            raise InputError(f"every value is refused: {result.errors[0]}")
        found = [self._run(result, before + at) for at in range(len(settings))]
        self.notes.extend(run.summary["notes"] for run in found if run.summary is not None)
        return found

    def remarks(self) -> tuple[str, ...]:
        """What the runs said of themselves, the most frequent first, and of how many points it is."""
        shown, rest = notes_of_points(self.notes)
        more = (f"and {counted(rest, 'other note')}: see the points",) if rest else ()
        return (*(f"{where}: {note}" if where else note for where, note in shown), *more)

    @staticmethod
    def _run(result: SweepResult, at: int) -> Run:
        summary, error = result.summary(at), result.errors[at]
        if error is None and summary is not None:
            return Run(summary, None)
        return Run(None, error or result.statuses[at])


@contextlib.contextmanager
def runs_of(
    system: System | str | os.PathLike[str],
    *,
    jobs: int | None,
    out: str | os.PathLike[str] | None,
    overrides: Sequence[Override],
    watch: Watch,
) -> Iterator[Runs]:
    """The runs of a system, stored in a directory, or in one that is removed afterwards. Raises InputError."""
    if jobs is not None:
        space.check_count(jobs, "jobs")
    if not isinstance(system, System):
        system = System.load(file_name(system, "a System, a spec file, or the name of a preset"))
    with contextlib.ExitStack() as stack:
        if out is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cxloom-find-"))
        else:
            folder = space.folder_name(out)
        runner = stack.enter_context(Supervisor(jobs))
        yield Runs(system.template(overrides), runner, Path(folder), watch)
