"""Idle latency: one dependent read at a time, to one memory, of one requester or of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxloom.base.granules import MIB
from cxloom.measure import pictures
from cxloom.measure.bench import Bench, Cells, Node, Spec, size_text
from cxloom.measure.look_ups import look_ups_ns
from cxloom.measure.measurement import Column, Measurement, one_decimal

_FOOTPRINT = 256 * MIB
_WARM = 50


def latency(bench: Bench, requester: str | None = None, reads: int = 2000) -> Measurement:
    """The idle latency of each memory from one requester."""
    chosen = bench.requesters[0] if requester is None else requester
    cells = Cells()
    rows = _rows(bench, [chosen], reads, cells)
    return Measurement(
        "latency",
        bench.name,
        f"Idle latency from {chosen}",
        rows,
        [
            Column("memory", "memory", right=False),
            Column("latency_ns", "mean ns", one_decimal),
            Column("least_ns", "least ns", one_decimal),
            Column("most_ns", "most ns", one_decimal),
        ],
        pictures.breakdown,
        without=cells.without,
        left_out=bench.before_events,
    )


def matrix(bench: Bench, reads: int = 1000) -> Measurement:
    """The idle latency from each requester to each memory."""
    cells = Cells()
    rows = _rows(bench, bench.requesters, reads, cells)
    memories = list(dict.fromkeys(row["memory"] for row in rows))
    found = {(row["requester"], row["memory"]): row["latency_ns"] for row in rows}
    table = [
        {"requester": name, **{memory: found.get((name, memory)) for memory in memories}}
        for name in bench.requesters
    ]
    return Measurement(
        "matrix",
        bench.name,
        "Idle latency, ns, from each requester to each memory",
        table,
        [
            Column("requester", "requester", right=False),
            *(Column(memory, memory, one_decimal) for memory in memories),
        ],
        pictures.matrix,
        without=cells.without,
        left_out=bench.before_events,
    )


def _rows(bench: Bench, requesters: list[str], reads: int, cells: Cells) -> list[dict[str, Any]]:
    if len(requesters) == 1:
        bench.nodes(requesters[0])
    pairs = [(name, node) for name in requesters for node in bench.all_nodes()]
    there = [(name, node) for name, node in pairs if bench.may(name, node)]
    only = {name: {"queue": 1} for name in bench.requesters}
    summaries = bench.run(bench.uncached(only=only), [_point(name, node, reads) for name, node in there])
    found = dict(zip(there, summaries, strict=True))
    rows = []
    for name, node in pairs:
        cell = f"from {name} to {node.name}"
        summary = found.get((name, node), {})
        if not summary:
            cells.without[cell] = bench.why_not(name, node)
        known = bool(summary) and cells.has_number(cell, summary)
        times = summary["latency_ns"] if known else {}
        parts = _with_look_ups(summary["breakdown_ns"], bench, name) if known else {}
        rows.append(
            {
                "requester": name,
                "memory": node.name,
                "latency_ns": times.get("mean"),
                "least_ns": times.get("min"),
                "most_ns": times.get("max"),
                "breakdown_ns": {part: value for part, value in parts.items() if value},
            }
        )
    cells.check()
    return rows


def _with_look_ups(parts: Mapping[str, float], bench: Bench, requester: str) -> dict[str, float]:
    """The parts of a latency, with what the bench has as time at the requester and is that of its cache."""
    look_ups = look_ups_ns(bench.part(requester))
    return {**parts, "process": round(parts["process"] - look_ups, 9), "cache": parts["cache"] + look_ups}


def _point(requester: str, node: Node, reads: int) -> Spec:
    work = {
        "pattern": "pointer-chase",
        "requests": reads,
        "footprint": size_text(node.footprint(_FOOTPRINT)),
        "addresses": node.bound(),
    }
    return {"workload": {requester: work}, "run.warmup": _WARM}
