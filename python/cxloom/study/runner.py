"""Runs the points of a study, several at once, and holds them against what is expected."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from cxloom.building import build
from cxloom.errors import InputError, SimulationError
from cxloom.running import simulate
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolve import Resolved
from cxloom.study.file import Expectation, Point, Study, matches

Summary = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expected value beside the simulated one, at one point."""

    expectation: Expectation
    point: Point
    simulated: float

    @property
    def passed(self) -> bool:
        """True if the two agree within the tolerance."""
        return self.expectation.accepts(self.simulated)

    @property
    def deviation(self) -> float:
        """Simulated over expected, less one; the difference itself where zero is expected."""
        expected = self.expectation.value
        return self.simulated / expected - 1 if expected else self.simulated


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a study gave."""

    study: Study
    summaries: list[Summary]
    """The summary of each point, in the order of `study.points`."""
    comparisons: list[Comparison]

    @property
    def table(self) -> list[dict[str, Any]]:
        """The columns that the study asks for, a row for each point."""
        rows = []
        for point, summary in zip(self.study.points, self.summaries, strict=True):
            cells = self.study.columns.items()
            rows.append(
                {name: point[what] if what in point else measured(summary, what) for name, what in cells}
            )
        return rows

    @property
    def passed(self) -> bool:
        """True if every expectation is met."""
        return all(comparison.passed for comparison in self.comparisons)


def run_study(
    study: Study, *, jobs: int | None = None, done: Callable[[int], None] = lambda _count: None
) -> Outcome:
    """Runs all points, each in a process of its own.

    Args:
        study: what to run.
        jobs: processes at the same time; by default one a processor.
        done: is told how many points have ended, each time one has.

    Raises InputError for a point that cannot be built, before any is run, or a measure that a summary does not have;
    SimulationError for a point that cannot finish.
    """
    for spec in study.specs:
        build(spec)
    summaries: list[Summary] = [{} for _ in study.specs]
    processes = min(jobs or os.cpu_count() or 1, len(study.specs))
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(processes, context, initializer=_follow_parent) as pool:
        futures = {pool.submit(_run_point, spec.plain()): index for index, spec in enumerate(study.specs)}
        try:
            for count, future in enumerate(as_completed(futures), 1):
                index = futures[future]
                try:
                    summaries[index] = future.result()
                except SimulationError as error:
                    raise SimulationError(f"at {described_point(study.points[index])}: {error}") from None
                except BrokenProcessPool:
                    raise SimulationError(
                        "a process of the study was killed; was there memory enough?"
                    ) from None
                done(count)
        except BaseException:
            # Nobody waits for the points under way, which may take hours.
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise
    comparisons = [
        Comparison(expectation, point, _value(study, summaries, expectation, index))
        for expectation in study.expectations
        for index, point in enumerate(study.points)
        if matches(point, expectation.at)
    ]
    return Outcome(study, summaries, comparisons)


def described_point(point: Point) -> str:
    """A point as one reads it: the last words of its paths are enough."""
    return (
        ", ".join(f"{axis.rpartition('.')[2]} {value}" for axis, value in point.items()) or "the only point"
    )


def _follow_parent() -> None:
    """Ends with the process that runs the study, however that ends, and without a word about Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_point(plain: dict[str, Any]) -> Summary:
    """Runs in another process, to which only plain data can be sent."""
    spec = Resolved(from_plain(plain, Origin()))
    return dict(simulate(spec, build(spec), keep=False).summary)


def _value(study: Study, summaries: list[Summary], expectation: Expectation, index: int) -> float:
    value = measured(summaries[index], expectation.measure)
    if expectation.relative_to is None:
        return value
    reference = {**study.points[index], **expectation.relative_to}
    at = next((i for i, point in enumerate(study.points) if matches(point, reference)), None)
    if at is None:
        raise InputError(f"no point to relate to: {described_point(reference)}", path="relative_to")
    return value / measured(summaries[at], expectation.measure)


def measured(summary: Summary, path: str) -> float:
    """The number at a dotted path of a summary. Raises InputError if there is none."""
    here: Any = summary
    for step in path.split("."):
        if not isinstance(here, dict) or step not in here:
            known = ", ".join(here) if isinstance(here, dict) else "nothing below it"
            raise InputError(f"no measure '{path}': no '{step}'", allowed=known, path="measure")
        here = here[step]
    if not isinstance(here, (int, float)):
        raise InputError(f"the measure '{path}' is no number", path="measure")
    return float(here)
