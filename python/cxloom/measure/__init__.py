"""Measures a system as the tools do that people measure machines with: MLC, LMbench and STREAM.

::

    import cxloom as cx

    print(cx.measure.latency("dmsim/asic"))
    curve = cx.measure.loaded("dmsim/asic", memories=["cxl"])
    curve.rows, curve.frame()
    curve.save("loaded.svg")

What each number is, ``docs/measure.md`` defines. The system is measured without its own workload and events. Every
function takes a `System`, a spec file or the name of a preset, and:

    memories: those to go to, by name; all if left out.
    jobs: points at a time; by default one for each processor.

Where requesters have cores, `loaded`, `bandwidth` and `stream` take `threads`: how many of each load a memory, by
default one for each core.

A module for each tool; `bench` runs their points, `measurement` holds what they give. No tool knows a kind of device.
It raises InputError for a system that cannot be built or measured so, SimulationError if a point cannot finish.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.spec.names import listed, nearest

if TYPE_CHECKING:
    from cxloom.measure.bench import Bench
    from cxloom.measure.measurement import Measurement
    from cxloom.system.system import System

__all__ = ["bandwidth", "latency", "loaded", "matrix", "sizes", "stream"]

TOOLS = tuple(__all__)
PATTERNS = ("random", "sequential")


def latency(
    system: System | str | os.PathLike[str],
    *,
    requester: str | None = None,
    memories: Sequence[str] = (),
    reads: int = 2000,
    jobs: int | None = None,
) -> Measurement:
    """The idle latency of each memory: one dependent read at a time, nothing else, no cache.

    Args:
        requester: who reads; by default the first of the system.
        reads: how many, of each memory.
    """
    from cxloom.measure import idle_latency

    bench = _bench(system, memories, jobs)
    return idle_latency.latency(bench, chosen(bench, requester), reads)


def matrix(
    system: System | str | os.PathLike[str],
    *,
    memories: Sequence[str] = (),
    reads: int = 1000,
    jobs: int | None = None,
) -> Measurement:
    """The idle latency from each requester to each memory."""
    from cxloom.measure import idle_latency

    return idle_latency.matrix(_bench(system, memories, jobs), reads)


def sizes(
    system: System | str | os.PathLike[str],
    *,
    requester: str | None = None,
    memories: Sequence[str] = (),
    largest: str | None = None,
    jobs: int | None = None,
) -> Measurement:
    """Latency over the size of what is read, through the caches of the requester: a fixed cycle, as lat_mem_rd has it.

    Args:
        requester: who reads; by default the first of the system. It reads the first of the memories.
        largest: the largest size, such as "64MiB"; by default four times the caches, at most 64 MiB.
    """
    from cxloom.measure import size_sweep
    from cxloom.measure.bench import byte_count

    bench = _bench(system, memories, jobs)
    return size_sweep.sizes(
        bench, chosen(bench, requester), None if largest is None else byte_count(largest, "--largest")
    )


def loaded(
    system: System | str | os.PathLike[str],
    *,
    requester: str | None = None,
    memories: Sequence[str] = (),
    reads: float | Sequence[float] = 1.0,
    pattern: str = "random",
    threads: int | None = None,
    jobs: int | None = None,
) -> Measurement:
    """The latency of a probe over the bandwidth of all, with loads from almost none to full: a curve for each memory.

    Args:
        requester: whose the probe is; by default the first of the system. All requesters load.
        reads: share of reads of the load, from 0 to 1; of several shares each has a curve.
        pattern: of the load, "random" or "sequential".
    """
    from cxloom.measure import loaded_latency

    given = list(reads) if isinstance(reads, Iterable) else [reads]
    for each in given or [-1]:
        if not isinstance(each, Real) or not 0 <= each <= 1:
            raise InputError("a share of reads", found=str(reads), allowed="0 to 1", path="--reads")
    bench = _bench(system, memories, jobs, threads)
    return loaded_latency.loaded(
        bench,
        chosen(bench, requester),
        [float(each) for each in given],
        one_of(pattern, PATTERNS, "--pattern"),
    )


def bandwidth(
    system: System | str | os.PathLike[str],
    *,
    memories: Sequence[str] = (),
    pattern: str = "sequential",
    threads: int | None = None,
    jobs: int | None = None,
) -> Measurement:
    """The peak bandwidth of each memory by the mix of reads and writes, the best over how many requests are in flight.

    Args:
        pattern: "sequential" or "random".
    """
    from cxloom.measure import peak

    return peak.bandwidth(_bench(system, memories, jobs, threads), one_of(pattern, PATTERNS, "--pattern"))


def stream(
    system: System | str | os.PathLike[str],
    *,
    memories: Sequence[str] = (),
    stores: str = "allocate",
    pages: Mapping[str, Any] | None = None,
    threads: int | None = None,
    jobs: int | None = None,
) -> Measurement:
    """The four kernels of STREAM on each memory, or with their pages placed over several.

    Args:
        stores: "allocate": the line of a store is read and written back; "streaming": it is written.
        pages: a placement in the words of a workload's `addresses`, such as
            ``{"kind": "interleave", "nodes": ["local", "cxl"], "weights": [3, 1]}``; no `memories` beside it.
    """
    from cxloom.measure import peak

    refuse_both(memories, pages)
    bench = _bench(system, memories, jobs, threads)
    return peak.stream(bench, one_of(stores, peak.STORES, "--stores"), pages)


def refuse_both(memories: Sequence[str], pages: object) -> None:
    """Raises InputError if memories are named and pages placed."""
    if memories and pages is not None:
        raise InputError(
            "memories are named, and pages are placed",
            found=f"--memory {memories[0]} beside a placement",
            allowed="one of them: a placement names its memories",
            path="--memory",
        )


def chosen(bench: Bench, requester: str | None, path: str = "--from") -> str:
    """A requester of the system. Raises InputError, at the option that named it, if it is none."""
    if requester is None:
        first: str = bench.requesters[0]
        return first
    if requester in bench.copying:
        raise InputError(
            "a device that copies by DMA makes no accesses line by line, which are what is measured",
            found=f"'{requester}'",
            allowed=f"{listed(bench.requesters)}; `cxloom run` measures its copies",
            path=path,
        )
    if requester not in bench.requesters:
        raise InputError(
            "no requester of this name",
            found=f"'{requester}'",
            allowed=listed(bench.requesters),
            suggestion=nearest(requester, bench.requesters),
            path=path,
        )
    return requester


def one_of(value: str, allowed: Sequence[str], path: str) -> str:
    """A value of these. Raises InputError if it is none."""
    if value not in allowed:
        raise InputError(
            "unknown choice",
            found=f"'{value}'",
            allowed=listed(allowed),
            suggestion=nearest(value, allowed),
            path=path,
        )
    return value


def _bench(
    system: System | str | os.PathLike[str],
    memories: Sequence[str],
    jobs: int | None,
    threads: int | None = None,
) -> Bench:
    from cxloom.measure.bench import Bench

    return Bench(system, memories=memories, jobs=jobs, threads=threads)
