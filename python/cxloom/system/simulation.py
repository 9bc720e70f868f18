"""The way from a resolved spec to the core: traces opened, the system built or described, errors placed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom import _core
from cxloom.base.errors import Gathered, InputError, shown
from cxloom.spec.node import Node
from cxloom.spec.resolved import Resolved

if TYPE_CHECKING:
    from cxloom.trace import TraceReader


class Simulation(_core.Simulation):
    """One that knows the traces of its spec."""

    readers: Mapping[str, TraceReader]

    def remarks(self) -> list[str]:
        """Changes on the way from a trace to its requester, as far as it was read."""
        return _remarks(self.readers)


def build(resolved: Resolved) -> Simulation:
    """The simulation of a spec, ready to run. Raises InputError, at its place in the spec."""
    readers = _readers(resolved)
    with errors_placed(resolved):
        made = Simulation(resolved.lean(), _feeds(readers))
    made.readers = _timed(resolved, readers)
    return made


def open_feeds(resolved: Resolved) -> dict[str, _core.Feed]:
    """A feed for each trace of a spec, from its beginning. Raises InputError, at its place in the spec."""
    return _feeds(_readers(resolved))


def _feeds(readers: Mapping[str, TraceReader]) -> dict[str, _core.Feed]:
    return {name: (reader.feed(), reader.length, reader.feed) for name, reader in readers.items()}


def _remarks(readers: Mapping[str, TraceReader]) -> list[str]:
    return [
        f"{name} from the trace {shown(os.path.basename(reader.path))}: {remark}"
        for name, reader in readers.items()
        for remark in reader.remarks
    ]


def _timed(resolved: Resolved, readers: Mapping[str, TraceReader]) -> dict[str, TraceReader]:
    """The readers whose times are played: remarks are about them."""
    entries = resolved.traces()
    played = {name: entries[name].get("replay") for name in readers}
    return {
        name: readers[name] for name, how in played.items() if how is not None and how.value == "timestamps"
    }


def refuse_without_work(resolved: Resolved) -> None:
    """Raises InputError, as a run does, for a system in which nobody makes requests."""
    workload = resolved.root.get("workload")
    if workload is None or not workload.value:
        tasks = resolved.root.get("tasks")
        if tasks is not None and tasks.value:
            raise resolved.placed(
                InputError(
                    "a graph of tasks is no workload, which this asks for",
                    allowed="a spec with a workload and without tasks (cxloom run plays them)",
                    path="tasks",
                )
            )
        raise resolved.placed(
            InputError(
                "nobody makes requests", allowed="an entry for a host or an accelerator", path="workload"
            )
        )


def work_note(resolved: Resolved) -> str:
    """The remark of a check on a system without a workload or tasks, which is one for some tools; empty if it has any.

    Raises InputError for a workload that is written and has no entry.
    """
    tasks = resolved.root.get("tasks")
    if tasks is not None and tasks.value:
        return ""
    workload = resolved.root.get("workload")
    written = workload is not None and (workload.key is not None or bool(workload.origin.note))
    if written or (workload is not None and workload.value):
        refuse_without_work(resolved)
        return ""
    return (
        "nobody makes requests: run, sweep, explain and crash refuse this system until it has a workload; "
        "measure and exec bring work of their own"
    )


def describe(resolved: Resolved, watch: Callable[[int], None] = lambda _accesses: None) -> dict[str, Any]:
    """The system that a spec describes, without a run: devices, links, routes, addresses. Raises InputError.

    Its traces are read, as far as a run would; `watch` is called with how many more accesses each time.
    """
    readers = _readers(resolved)
    feeds = {
        name: (_watched(reader.feed(), watch), reader.length, reader.feed) for name, reader in readers.items()
    }
    with errors_placed(resolved):
        found: dict[str, Any] = _core.check(resolved.lean(), feeds)
    found["notes"] += _remarks(_timed(resolved, readers))
    return found


def refuse_endless(resolved: Resolved) -> None:
    """Raises InputError for a trace that is repeated for ever in a run that nothing else ends."""
    run = resolved.root.get("run")
    if run is not None and run.get("until") is not None:
        return
    for workload in resolved.traces().values():
        repeat = workload.get("repeat")
        if repeat is not None and repeat.value == "forever" and workload.get("requests") is None:
            raise repeat.place.error(
                "a trace that is repeated for ever, and nothing that ends the run",
                found="repeat: forever",
                allowed="requests beside it, run.until, or a time limit (--max-time)",
            )


_LEVELS = (
    "levels: [1, 2, 8, 4, 65536, 128] beside it, or whatever there is of channels, ranks, bank groups, banks, rows "
    "and columns of 64 B"
)


@contextmanager
def errors_placed(resolved: Resolved) -> Iterator[None]:
    """Gives errors of the core the place in the spec that they are about."""
    try:
        yield
    except InputError as error:
        raise resolved.placed(error) from None


def _readers(resolved: Resolved) -> dict[str, TraceReader]:
    """The trace of each requester that replays one, opened. Raises InputError for all that cannot be."""
    errors = Gathered()
    readers: dict[str, TraceReader] = {}
    for name, workload in resolved.traces().items():
        with errors.one():
            readers[name] = _open(resolved, name, workload)
    if errors.errors:
        said = {error.path for error in errors.errors}
        errors.errors += [error for error in resolved.errors() if error.path not in said]
        errors.raise_any()
    return readers


def _watched(feed: Callable[[], _core.Batch], watch: Callable[[int], None]) -> Callable[[], _core.Batch]:
    """A feed that reports what passes."""

    def next_part() -> _core.Batch:
        part = feed()
        if part is not None:
            watch(len(part if isinstance(part, _core.Accesses) else part["address"]))
        return part

    return next_part


def _open(resolved: Resolved, name: str, workload: Node) -> TraceReader:
    """The trace of a requester's workload. Raises InputError, at its place in the spec."""
    from cxloom.trace import open_trace
    from cxloom.trace.files import refuse_no_file

    entries = workload.map()
    trace = entries["trace"]
    given = {key: entries[key].plain() for key in ("tick", "levels", "format") if key in entries}
    form = str(given["format"]) if "format" in given else None
    path = Path(trace.text())
    try:
        refuse_no_file(path)
        reader = open_trace(path, tick=given.get("tick"), levels=given.get("levels") or (), format=form)
    except InputError as error:
        key, bracket, index = error.path.partition("[")
        if key in given:
            error.file, error.path = None, f"workload.{name}.{key}{bracket}{index}"
            raise resolved.placed(error) from None
        if key == "levels":
            error.allowed = _LEVELS
        if key == "format":
            error.allowed = f"format: NAME beside it, which is {error.allowed}"
        # The spec names it; what is wrong is the file.
        raise trace.place.error(
            f"the trace {error.file}{'' if error.line is None else f':{error.line}'}: {error.problem}",
            found=error.found,
            allowed=error.allowed,
            suggestion=error.suggestion,
        ) from None
    replay = entries.get("replay")
    if reader.unknown_tick and replay is not None and replay.value == "timestamps":
        raise trace.place.error(
            f"the trace {path} counts ticks or cycles, and does not say how long one takes",
            found=f"replay: timestamps of a trace in the form {reader.format}",
            allowed="tick: 625ps or 2.4GHz beside it, or whatever one takes",
        )
    return reader
