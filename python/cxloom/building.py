"""From a resolved spec to the core: traces opened, the system built or described, errors given their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from numpy.typing import NDArray

from cxloom import _core
from cxloom.errors import InputError
from cxloom.spec.node import Node
from cxloom.spec.resolve import Resolved
from cxloom.trace import TraceReader, open_trace


def build(resolved: Resolved) -> _core.Simulation:
    """The simulation of a spec, ready to run. Raises InputError, at its place in the spec."""
    feeds = _feeds(resolved)
    with errors_placed(resolved):
        return _core.Simulation(resolved.plain(), feeds)


def describe(resolved: Resolved) -> dict[str, Any]:
    """What a spec describes, without running it: devices, links, routes, addresses. Raises InputError."""
    feeds = _feeds(resolved)
    with errors_placed(resolved):
        return _core.check(resolved.plain(), feeds)


@contextmanager
def errors_placed(resolved: Resolved) -> Iterator[None]:
    """Gives errors of the core the place in the spec that they are about."""
    try:
        yield
    except InputError as error:
        raise resolved.placed(error) from None


Feed: TypeAlias = tuple[Callable[[], dict[str, NDArray[Any]] | None], int | None]
"""What the core calls for the next accesses of a trace: their columns, or None at the end. And how many there are."""


def _feeds(resolved: Resolved) -> dict[str, Feed]:
    return {name: _feed(_open(trace)) for name, trace in resolved.traces().items()}


def _open(trace: Node) -> TraceReader:
    try:
        return open_trace(trace.text())
    except InputError as error:
        # The spec names it; what is wrong is the file.
        raise trace.place.error(
            f"the trace {error.file}{'' if error.line is None else f':{error.line}'}: {error.problem}",
            found=error.found,
            allowed=error.allowed,
            suggestion=error.suggestion,
        ) from None


def _feed(trace: TraceReader) -> Feed:
    batches = iter(trace)

    def next_columns() -> dict[str, NDArray[Any]] | None:
        batch = next(batches, None)
        return None if batch is None else batch.columns()

    return next_columns, trace.length
