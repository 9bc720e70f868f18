"""Latency over the size of what is read: a fixed cycle through it, lap after lap, through the caches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.base.granules import LINE, MIB
from cxloom.display.numbers import percent, size
from cxloom.measure import pictures
from cxloom.measure.bench import Bench, Cells, Node, Spec, size_text
from cxloom.measure.look_ups import levels
from cxloom.measure.measurement import Column, Measurement, one_decimal
from cxloom.spec.parts import Part, forgets, part_of, quantity

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

SMALLEST = 512
_LEAST_READS = 2000
_KNOWN = "0.2%"
"""So well the mean is to be known; where no lap tells it, the whole lap does."""
_MARGIN = 4096
"""Reads behind the first lap: prefetches of a core are among the requests that a warm-up counts."""
_MOST = 64 * MIB
"""The largest size by default: three laps of it are three million reads."""


def sizes_to(largest: int, smallest: int = SMALLEST) -> list[int]:
    """2^n and 1.5 x 2^n bytes from `smallest` on, and the largest that is not above `largest`."""
    found = []
    step = smallest
    while step <= largest:
        found += [step] + ([step * 3 // 2] if step * 3 // 2 <= largest else [])
        step *= 2
    return found


def sizes(
    bench: Bench, requester: str | None = None, largest: int | None = None, smallest: int = SMALLEST
) -> Measurement:
    """The latency of a read over the size of what is read, with the hit rate of each cache level."""
    chosen = bench.requesters[0] if requester is None else requester
    node = bench.nodes(chosen)[0]
    cache = bench.part(chosen).below("cache")
    most = largest_of(bench, chosen) if largest is None else largest
    if most > node.size or most < smallest:
        raise InputError(
            "the largest size is no size that there is memory for",
            found=size(most),
            allowed=f"{size(smallest)} to {size(node.size)}",
            path="--largest",
        )
    steps = sizes_to(most, smallest)
    summaries = _summaries(bench, chosen, steps)
    rows: list[dict[str, Any]] = []
    cells = Cells()
    for step, summary in zip(steps, summaries, strict=True):
        if not cells.has_number(f"for {size(step)}", summary):
            rows.append({"bytes": step, "latency_ns": None})
            continue
        mine = summary["per_requester"][chosen]
        levels = mine.get("cache_levels") or (
            [{"hits": mine["cache_hit_rate"] * mine["requests"]}] if cache else []
        )
        rows.append(
            {"bytes": step, "latency_ns": summary["latency_ns"]["mean"]}
            | {f"l{nr}_hits": level["hits"] / mine["requests"] for nr, level in enumerate(levels, 1)}
        )
    cells.check()
    names = list(dict.fromkeys(key for row in rows for key in row if key.endswith("_hits")))
    return Measurement(
        "sizes",
        bench.name,
        f"Latency over size from {chosen} to {node.name}",
        rows,
        [
            Column("bytes", "size", size),
            Column("latency_ns", "ns", one_decimal),
            *(Column(name, f"{name[:2].upper()} hits", percent) for name in names),
        ],
        pictures.sizes,
        ""
        if cache
        else f"{chosen} has no cache: its latency is the same over all sizes, but for what the media do",
        cells.without,
        left_out=bench.before_events,
    )


def largest_of(bench: Bench, requester: str) -> int:
    """The largest size, by default: four times the caches, at least 1 MiB and at most 64 MiB. More hits no more."""
    held = sum(_capacity(level) for level in levels(bench.part(requester).below("cache")))
    return bench.nodes(requester)[0].footprint(min(_MOST, max(4 * held, MIB)))


def latencies(bench: Bench, requester: str, steps: Sequence[int]) -> list[float | None]:
    """The mean latency in ns at each of these sizes, which are whole lines; None where it is unknown."""
    return [
        summary["latency_ns"]["mean"] if Cells().has_number(f"for {size(step)}", summary) else None
        for step, summary in zip(steps, _summaries(bench, requester, steps), strict=True)
    ]


def _summaries(bench: Bench, requester: str, steps: Sequence[int]) -> Sequence[Summary]:
    """Runs in which a requester alone reads each of these sizes, through its caches, one read at a time."""
    spec = bench.uncached(only={name: {"queue": 1} for name in bench.requesters})
    spec = bench.with_cache(spec, requester)
    node = bench.nodes(requester)[0]
    soon = _is_steady_at_once(bench, bench.part(requester).below("cache"), node)
    return bench.run(spec, [_point(requester, node.bound(), step, soon=soon) for step in steps])


def _is_steady_at_once(bench: Bench, cache: Part | None, node: Node) -> bool:
    """The second lap is like all that follow: a set of LRU has the lines of it that were read last after the first lap
    as after any other. A second level has others after it, since the first keeps lines from it from the second lap on.
    """
    if cache is None or len(levels(cache)) > 1 or cache.text("policy") != "lru":
        return False
    if cache.get("prefetch") not in (None, "none"):
        return False
    media = (part_of(bench.spec, name.split(" ld ")[0], "memory") for name in node.memories)
    return all(part is not None and forgets(part) for part in media)


def _point(requester: str, addresses: Spec, step: int, *, soon: bool) -> Spec:
    lines = step // LINE
    warm = lines + (min(lines, _MARGIN) if soon else lines)
    laps = max(1, -(-_LEAST_READS // lines))
    work = {
        "pattern": "cycle",
        "requests": laps * lines,
        "footprint": size_text(step),
        "addresses": addresses,
    }
    return {"workload": {requester: work}, "run.warmup": warm, "run.until.ci": _KNOWN}


def _capacity(level: Part) -> int:
    """Bytes of a level."""
    return int(quantity("bytes", level.text("size")))
