"""``cxloom.compare``: systems side by side, each run unless its results are there."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence

from cxloom.base.errors import InputError
from cxloom.base.filenames import file_name
from cxloom.results.comparison import Comparison
from cxloom.results.comparison import compare as compared
from cxloom.results.outdir import is_stored
from cxloom.results.result import Measures, Result
from cxloom.running.run import run
from cxloom.spec.node import described
from cxloom.spec.resolved import Resolved
from cxloom.system.system import System

Comparable = Measures | System | str | os.PathLike[str]
"""Results or a part of them (``result.read``), a `System`, a spec file, a preset, or a directory of stored results."""

_ALLOWED = "systems, spec files, presets, results, or directories that `cxloom run --out` wrote"


def compare(
    systems: Mapping[str, Comparable] | Sequence[Comparable],
    *,
    seed: int | None = None,
    until: str | None = None,
    max_time: str | None = None,
) -> Comparison:
    """Compares systems with the first: what differs beyond chance, and which part of the latency changed.

    ::

        cx.compare(["local.yaml", "cxl.yaml"])
        cx.compare({"near": near_result, "far": far_system}).frame()

    Args:
        systems: two or more, by the names that the comparison gives them; in a list each has that of its file, its
            preset, or its spec. Results, also a part of them such as ``result.read``, are compared as they are, as are
            those in a directory that ``cxloom run --out`` wrote; systems are run.
        seed: of the random streams of all that are run; overrides those of the specs.
        until: "ci=1%" ends each run when its mean latency is known so well.
        max_time: simulated time after which each run ends, such as "1ms"; the comparison says so.

    Latencies are in ns, bandwidths in GB/s. Raises InputError for fewer than two systems, for one that cannot be built
    or has no request, before any is run; and UnfinishedError for a deadlock.
    """
    named = dict(systems) if isinstance(systems, Mapping) else dict(_named(systems))
    if len(named) < 2:
        raise InputError("nothing to compare with", found="one system", allowed="two or more")
    ready = {name: _loaded(given) for name, given in named.items()}
    for each in ready.values():
        if isinstance(each, System):
            each.resolve()  # what is wrong with one is said before another is run
    return compared(
        {
            name: run(each, seed=seed, until=until, max_time=max_time) if isinstance(each, System) else each
            for name, each in ready.items()
        }
    )


def unlike(name: str, taken: Container[str]) -> str:
    """A name that no other system has: a.yaml, a.yaml (2)."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


def _named(systems: Sequence[Comparable]) -> Iterator[tuple[str, Comparable]]:
    if isinstance(systems, str | bytes) or not isinstance(systems, Sequence):
        raise InputError("not systems to compare", found=described(systems), allowed=f"a list of {_ALLOWED}")
    taken: set[str] = set()
    for number, each in enumerate(systems, start=1):
        name = unlike(_name(each, f"system {number}"), taken)
        taken.add(name)
        yield name, each


def _name(given: Comparable, otherwise: str) -> str:
    if isinstance(given, System):
        spec: Resolved | None = given.resolve()
    elif isinstance(given, Measures):
        spec = given.spec if isinstance(given, Result) else None
    else:
        return file_name(given, _ALLOWED)
    named = None if spec is None else spec.root.get("name")
    return otherwise if named is None else named.text()


def _loaded(given: Comparable) -> Measures | System:
    if isinstance(given, Measures | System):
        return given
    name = file_name(given, _ALLOWED)
    return Result.load(name) if is_stored(name) else System.load(name)
