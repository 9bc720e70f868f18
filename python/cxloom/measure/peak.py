"""Peak bandwidth by the mix of reads and writes, as a memory sees it, and by the four kernels of STREAM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cxloom.base.granules import LINE, MIB, PAGE
from cxloom.measure import pictures
from cxloom.measure.bench import Bench, Cells, Node, Spec, note_on_load, size_text
from cxloom.measure.measurement import Column, Measurement, gb_per_s, one_decimal
from cxloom.measure.placed import OPTION, PlacedPages, placed

MIXES: Mapping[str, float | None] = {
    "all reads": 1.0,
    "3:1 reads-writes": 0.75,
    "2:1 reads-writes": 2 / 3,
    "1:1 reads-writes": 0.5,
    "triad-like": None,
}
"""The share of reads of each mix; of the last, two streams of reads and one of writes past the caches."""
KERNELS: Mapping[str, tuple[str, str]] = {
    "copy": ("a", "c"),
    "scale": ("c", "b"),
    "add": ("ab", "c"),
    "triad": ("bc", "a"),
}
"""The arrays that each kernel reads, and the one that it writes."""
STORES = ("allocate", "streaming")
_DEPTHS = (4, 2, 1)
"""A queue is divided by these: more in flight than a system can take may cost bandwidth."""
_BETTER = 1.001
"""So much more bandwidth is worth more requests in flight."""
_FOOTPRINT = 256 * MIB
_ARRAY = 80_000_000
"""Bytes: ten million elements of 8, as STREAM has by default. No power of two, which would meet in the same banks."""
_APART = 6 * PAGE
"""The memory of a requester from which its three arrays begin at pages of their own: a quarter each, rounded up."""
_ROUNDS = 6000
"""Lines of each array in the window, and a sixth of that before it, of all requesters together."""
_PAGES = 6
"""Pages of each array that each thread has at least in the window where they are in several memories: threads whose
pages are in the fastest one run ahead, and of a page or two they would be most of what the window sees."""


def bandwidth(bench: Bench, pattern: str = "sequential") -> Measurement:
    """The peak bandwidth of each memory by the mix of reads and writes, all requesters at once."""
    keys = [
        (node, mix, depth)
        for node in bench.all_nodes()
        for mix in MIXES
        if MIXES[mix] is not None or pattern == "sequential"  # streams are in sequence
        for depth in _DEPTHS
        if depth == 1 or all(bench.queue(name) >= depth for name in bench.requesters)
    ]
    summaries = bench.run(
        bench.uncached(), [_mixed(bench, node, MIXES[mix], depth, pattern) for node, mix, depth in keys]
    )
    best: dict[tuple[str, str], dict[str, Any]] = {}
    cells = Cells()
    for (node, mix, depth), summary in zip(keys, summaries, strict=True):
        row = {
            "memory": node.name,
            "mix": mix,
            "bandwidth_gb_per_s": summary["bandwidth_gb_per_s"],
            "in_flight": sum(
                bench.in_flight(name, depth, ahead=pattern == "sequential") for name in bench.users(node)
            ),
            "latency_ns": summary["latency_ns"]["mean"],
        }
        if not cells.has_rate(f"for {node.name}, {mix}", summary):
            row |= dict.fromkeys(("bandwidth_gb_per_s", "in_flight", "latency_ns"))
        known = best.setdefault((node.name, mix), row)["bandwidth_gb_per_s"] or 0.0
        if (row["bandwidth_gb_per_s"] or 0.0) > _BETTER * known:
            best[node.name, mix] = row
    cells.check()
    return Measurement(
        "bandwidth",
        bench.name,
        f"Peak bandwidth by mix, {pattern}{of_threads(bench)}",
        list(best.values()),
        [
            Column("memory", "memory", right=False),
            Column("mix", "mix", right=False),
            Column("bandwidth_gb_per_s", "GB/s", gb_per_s),
            Column("in_flight", "in flight"),
            Column("latency_ns", "mean ns", one_decimal),
        ],
        pictures.bandwidth,
        note_on_load(bench),
        cells.without,
        left_out=bench.before_events,
    )


def stream(bench: Bench, stores: str = "allocate", pages: Any = None, option: str = OPTION) -> Measurement:
    """The four kernels of STREAM, all requesters at once, each on its own part of the arrays.

    They are measured on each memory, or with their pages placed as `pages` says, which the command has from `option`.
    """
    nodes = bench.all_nodes() if pages is None else [placed(bench, pages, option)]
    keys = [(node, kernel) for node in nodes for kernel in KERNELS]
    summaries = bench.run(bench.uncached(), [_kernel(bench, node, kernel, stores) for node, kernel in keys])
    rows = []
    cells = Cells()
    for (node, kernel), summary in zip(keys, summaries, strict=True):
        bus = summary["bandwidth_gb_per_s"] if cells.has_rate(f"for {node.name}, {kernel}", summary) else None
        reads, _ = KERNELS[kernel]
        counted = (len(reads) + 1) / (len(reads) + (2 if stores == "allocate" else 1))
        rows.append(
            {
                "memory": node.name,
                "kernel": kernel,
                "stores": stores,
                "bandwidth_gb_per_s": None if bus is None else bus * counted,
                "bus_gb_per_s": bus,
            }
        )
    cells.check()
    return Measurement(
        "stream",
        bench.name,
        f"STREAM, {'stores past the caches' if stores == 'streaming' else 'stores that allocate'}{of_threads(bench)}",
        rows,
        [
            Column("memory", "memory" if pages is None else "pages", right=False),
            Column("kernel", "kernel", right=False),
            Column("bandwidth_gb_per_s", "GB/s", gb_per_s),
            Column("bus_gb_per_s", "bus GB/s", gb_per_s),
        ],
        pictures.stream,
        note_on_load(bench),
        cells.without,
        left_out=bench.before_events,
    )


def of_threads(bench: Bench) -> str:
    """The addition to a title where cores make the requests."""
    counts = sorted({bench.threads(name) for name in bench.cored})
    if not counts:
        return ""
    each = " each" if len(bench.cored) > 1 else ""
    return f", {' or '.join(str(count) for count in counts)} thread{'' if counts == [1] else 's'}{each}"


def _mixed(bench: Bench, node: Node, reads: float | None, depth: int, pattern: str) -> Spec:
    users = bench.users(node)
    settings: Spec = {
        f"{bench.part(name).at}.queue": bench.queue(name) // depth for name in users if depth > 1
    }
    if reads is None:
        return settings | _streams(bench, node, "bc", "a", allocate=False)
    size = min(_FOOTPRINT, node.part(len(users)))
    work = {
        "pattern": pattern,
        "reads": reads,
        "footprint": size_text(size),
        "addresses": node.bound(),
        "requests": max(500, 3 * _ROUNDS // len(users)),
    }
    return settings | {"workload": bench.load(users, size, work), "run.warmup": _warm(bench, users)}


def _kernel(bench: Bench, node: Node, kernel: str, stores: str) -> Spec:
    reads, written = KERNELS[kernel]
    return _streams(bench, node, reads, written, allocate=stores == "allocate")


def _streams(bench: Bench, node: Node, reads: str, written: str, *, allocate: bool) -> Spec:
    """Line by line: the lines that are read, that of the store if it allocates, and the store, or its write-back."""
    users = node.users if isinstance(node, PlacedPages) else bench.users(node)
    part = node.part(len(users))
    size = min(_ARRAY, part // 4) // LINE * LINE
    apart = -(-size // PAGE) * PAGE if part >= _APART else size
    bases = {array: place * apart for place, array in enumerate("abc")}
    order = [(array, 1.0) for array in reads] + ([(written, 1.0)] if allocate else []) + [(written, 0.0)]
    phases = [
        {
            "pattern": "sequential",
            "requests": 1,
            "reads": share,
            "base": hex(bases[array]),
            "footprint": size_text(size),
        }
        for array, share in order
    ]
    rounds = _ROUNDS
    if isinstance(node, PlacedPages):
        rounds = max(rounds, _PAGES * (PAGE // LINE) * sum(bench.threads(name) for name in users))
    work = {
        "phases": phases,
        "addresses": node.bound(),
        "requests": max(500, rounds * len(order) // len(users)),
    }
    return {"workload": bench.load(users, size, work), "run.warmup": _warm(bench, users)}


def _warm(bench: Bench, users: Sequence[str]) -> int:
    """Accesses of each requester that fill its queue three times."""
    return max(_ROUNDS // 6, *(3 * bench.queue(name) for name in users))
