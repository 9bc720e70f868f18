"""How the latencies of a run are distributed: from its requests if it recorded them, otherwise from its percentiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cxloom.base.errors import InputError
from cxloom.display import palette
from cxloom.results.kinds import by_kind
from cxloom.results.result import Result

_BINS = 60
_LONG = 8.0
"""Latencies that reach so many times as far as most are binned by factors: no outlier then squeezes the others."""
_BULK = 60
_TAIL = 60
_KNOWN = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p999": 0.001}
"""Share of requests that are slower than these percentiles."""
MARKED = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
"""The percentiles that charts mark, and what they are called there."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The latencies of one kind of request."""

    slower: tuple[list[float], list[float]]
    """Latencies in ns, and the share of requests (%) that took longer."""
    histogram: tuple[list[float], list[float]] | None
    """Middles of bins in ns, and the share of requests (%) in each; None of a run that recorded no requests."""
    ends: tuple[float, float] | None
    """Where the first bin begins and the last one ends, in ns."""
    is_long: bool
    """Whether the bins grow by a factor, as the largest latencies are far from most."""
    count: int
    percentiles: Mapping[str, float]
    """The percentiles of `MARKED`, in ns, by what they are called."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """How many requests took so long: the latencies that there are, ascending, are fewer than the requests."""

    ns: np.ndarray
    counts: np.ndarray

    @property
    def total(self) -> int:
        """All requests."""
        return int(self.counts.sum())

    def at(self, places: np.ndarray) -> np.ndarray:
        """The latencies at these places of all requests by latency, the first of which is 0."""
        return self.ns[np.searchsorted(np.cumsum(self.counts), places, side="right")]


def distributions(result: Result) -> dict[str, Distribution]:
    """The distribution of each kind of request. Raises InputError for a table of requests that cannot be read."""
    latencies = _latencies(result) if "requests" in result.tables else {}
    if not latencies:
        return {kind: _known(part) for kind, part in by_kind(result.summary).items() if part["requests"]}
    edges, is_long = edges_of(
        np.concatenate([each.ns for each in latencies.values()]),
        _BINS,
        np.concatenate([each.counts for each in latencies.values()]),
    )
    parts = by_kind(result.summary)
    return {
        kind: _distribution(found, edges, is_long, parts[kind]["latency_ns"])
        for kind, found in latencies.items()
    }


def edges_of(values: np.ndarray, bins: int, counts: np.ndarray | None = None) -> tuple[np.ndarray, bool]:
    """The edges of bins that hold all of the values, and whether they grow by a factor: where a few are far off.

    `counts` says how often there is each value; by default once.
    """
    low, high = float(values.min()), float(values.max())
    most = np.quantile(values, 0.9, weights=counts, method="inverted_cdf")
    if low > 0 and high > _LONG * most:
        return np.geomspace(low, high, bins + 1), True
    return np.linspace(low, max(high, low + 1), bins + 1), False


def _latencies(result: Result) -> dict[str, _Counted]:
    """By kind. Requests are counted as they are read: a table of millions takes no memory by its length."""
    import polars as pl

    table = result.tables["requests"]
    rows = pl.scan_parquet(table) if isinstance(table, Path) else table.frame().lazy()
    latency = (pl.col("completed_ps") - pl.col("created_ps")).alias("ps")
    try:
        answered = rows.filter(~pl.col("error")) if "error" in rows.collect_schema() else rows
        counted = answered.select(pl.col("kind").cast(pl.String), latency).group_by("kind", "ps").len()
        frame = counted.sort("ps").collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(
            "not a table of requests: it is no Parquet, cut off, or of something else",
            file=table if isinstance(table, Path) else None,
        ) from None
    found: dict[str, _Counted] = {}
    for kind in palette.KINDS:
        part = frame.filter(pl.col("kind") == kind)
        if part.height:
            found[kind] = _Counted(part["ps"].to_numpy() / 1000, part["len"].to_numpy().astype(np.int64))
    return found


def _distribution(
    found: _Counted, edges: np.ndarray, is_long: bool, latency: Mapping[str, Any]
) -> Distribution:
    """The distribution of latencies, at some places of the bulk and some of the tail."""
    count = found.total
    ranks = count * np.concatenate([np.linspace(0, 0.9, _BULK), 1 - 0.1 * np.geomspace(1, 1 / count, _TAIL)])
    places = np.unique(np.clip(np.ceil(ranks).astype(int) - 1, 0, count - 1))
    places = places[places + 1 < count]  # nobody took longer than the slowest
    shares = 100 * (1 - (places + 1) / count)
    counts, _ = np.histogram(found.ns, edges, weights=found.counts)
    middles = np.sqrt(edges[:-1] * edges[1:]) if is_long else (edges[:-1] + edges[1:]) / 2
    return Distribution(
        (found.at(places).tolist(), shares.tolist()),
        (middles.tolist(), (100 * counts / count).tolist()),
        (float(edges[0]), float(edges[-1])),
        is_long,
        count,
        _marked(latency),
    )


def _known(part: Mapping[str, Any]) -> Distribution:
    latency = part["latency_ns"]
    at = [latency[key] for key in _KNOWN]
    return Distribution(
        (at, [100 * share for share in _KNOWN.values()]),
        None,
        None,
        False,
        part["requests"],
        _marked(latency),
    )


def _marked(latency: Mapping[str, Any]) -> dict[str, float]:
    return {name: latency[key] for key, name in MARKED.items() if latency[key] is not None}
