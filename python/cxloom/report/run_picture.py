"""A picture of one run: where the time went, how latencies are distributed, how busy links and buses were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from cxloom.base.words import counted
from cxloom.display import palette, style
from cxloom.display.numbers import duration
from cxloom.report.distribution import edges_of
from cxloom.report.series import busy_of_wires, rows_of
from cxloom.results.result import Result

_KINDS = {
    kind: (colour, dash)
    for (kind, colour), dash in zip(palette.KINDS.items(), ("-", "--", "-.", ":"), strict=True)
}
_BUSIEST = 4
_MARKED = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
_MEMORIES = 6
_UNEVEN = 1.05
"""Memories have bars of their own where the slowest takes so many times as long as the fastest."""


def draw(result: Result, path: Path) -> Path:
    """Draws a run that recorded its requests (and, if it did, its series) into a PNG file, and gives its path."""
    with_series = "series" in result.tables
    figure = style.figure(13, 7.2)
    grid = figure.add_gridspec(2 if with_series else 1, 2, width_ratios=[1.25, 1])
    answered = result.requests().filter(~pl.col("error"))
    requests = answered.with_columns(
        pl.col("target", "kind").cast(pl.String),
        latency=(pl.col("completed_ps") - pl.col("created_ps")) / 1000,
    )
    _draw_breakdown(figure.add_subplot(grid[:, 0]), requests, list(result.breakdown))
    _draw_histogram(figure.add_subplot(grid[0, 1]), requests)
    if with_series:
        _draw_utilization(figure.add_subplot(grid[1, 1]), _busy_over_time(result))
    name = result.spec.root.get("name")
    title = style.text(name.value) if name is not None else "cxloom"
    figure.suptitle(
        f"{title}: {counted(result.count, 'request')}, {result.bandwidth:.1f} GB/s, "
        f"mean latency {result.latency.mean:.0f} ns",
        fontsize=14,
        fontweight="bold",
    )
    return style.save(figure, path)


def groups(requests: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The requests that have a bar: reads and writes, the slowest of each, and by memory where these differ."""
    found: dict[str, pl.DataFrame] = {}
    for kind in _KINDS:
        rows = requests.filter(pl.col("kind") == kind)
        if len(rows):
            found[f"{kind}s"] = rows
    for kind, rows in list(found.items()):
        if len(rows) >= 1000:
            limit = rows["latency"].quantile(0.99, "higher")
            found[f"slowest 1 % of {kind}"] = rows.filter(pl.col("latency") >= limit)
    memories = (
        requests.group_by("target")
        .agg(pl.len().alias("count"), pl.col("latency").mean())
        .sort("count", "target", descending=[True, False])
    )
    if memories["latency"].max() > _UNEVEN * memories["latency"].min():  # type: ignore[operator]
        for target in sorted(memories["target"].head(_MEMORIES)):
            found[str(target)] = requests.filter(pl.col("target") == target)
    return found


def _draw_breakdown(axes: Axes, requests: pl.DataFrame, segments: list[str]) -> None:
    """A bar for each group of requests, cut up by segment."""
    bars = groups(requests)
    columns = [f"{segment}_ps" for segment in segments]
    means = np.array([rows.select(pl.col(columns).mean()).row(0) for rows in bars.values()]) / 1000
    totals = means.sum(axis=1)
    places = np.arange(len(bars))
    left = np.zeros(len(bars))
    for segment, widths in zip(segments, means.T, strict=True):
        if widths.max(initial=0) <= 0:
            continue
        colour, hatch = palette.segment(segment)
        look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.6}
        axes.barh(places, widths, left=left, height=0.7, label=segment.replace("_", " "), **look)
        for place, (start, width) in enumerate(zip(left, widths, strict=True)):
            if width > 0.045 * totals.max():
                box = {"boxstyle": "round,pad=0.15", "facecolor": colour, "edgecolor": "none"}
                axes.text(
                    start + width / 2,
                    place,
                    f"{width:.0f}",
                    ha="center",
                    va="center",
                    color=style.ink(colour),
                    fontsize=9,
                    bbox=box if hatch else None,
                )
        left += widths
    for place, total in enumerate(totals):
        axes.text(
            total + 0.01 * totals.max(), place, f"{total:.0f} ns", va="center", fontsize=9, fontweight="bold"
        )
    axes.set_yticks(places, [f"{name}\n{len(rows):,}" for name, rows in bars.items()])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * totals.max())
    axes.set_xlabel("mean latency (ns); hatched: waiting")
    axes.set_title("Where a request's time goes", loc="left")
    axes.legend(
        ncols=4,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.09),
        frameon=False,
        fontsize=9,
        handlelength=2.5,
        handleheight=1.2,
    )
    style.plain(axes)


def _draw_histogram(axes: Axes, requests: pl.DataFrame) -> None:
    """Counts on a logarithmic axis of all requests, with lines at p50, p99 and p99.9."""
    edges, is_long = edges_of(requests["latency"].to_numpy(), 40)
    for kind, (colour, dashes) in _KINDS.items():
        ns = requests.filter(pl.col("kind") == kind)["latency"].to_numpy()
        if len(ns):
            marked = {name: float(np.quantile(ns, share)) for name, share in _MARKED.items()}
            label = f"{kind}s: {', '.join(f'{name} {value:.0f}' for name, value in marked.items())} ns"
            weights = np.full(len(ns), 100 / len(ns))
            bins = edges.tolist()
            axes.hist(ns, bins, weights=weights, color=colour, alpha=0.2, histtype="stepfilled", log=True)
            look: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.6}
            axes.hist(ns, bins, weights=weights, histtype="step", label=label, log=True, **look)
            for value in marked.values():
                axes.axvline(value, color=colour, linestyle=":", linewidth=1.2)
    axes.set_xlabel("latency (ns)")
    if is_long:
        style.logarithmic(axes.xaxis, "latency (ns)")
    style.logarithmic(axes.yaxis, "requests (%)")
    axes.set_title("How latencies are distributed", loc="left")
    axes.grid(axis="y", alpha=0.25)
    _legend_below(axes, 1)


def _busy_over_time(result: Result) -> pl.DataFrame:
    """How busy directions of links and buses were over time; of half duplex the wires."""
    series = rows_of(result).with_columns(pl.col("name").cast(pl.String)).drop_nulls("utilization")
    return busy_of_wires(series, result.summary)


def _draw_utilization(axes: Axes, series: pl.DataFrame) -> None:
    """The busiest over time, the busiest first."""
    busiest = (
        series.group_by("name")
        .agg(pl.col("utilization").mean())
        .filter(pl.col("utilization") > 0)
        .sort("utilization", "name", descending=[True, False])
    )
    longest = float(series["time_ps"].max() or 0) / 1000  # type: ignore[arg-type]
    unit = duration(longest).split()[1]
    scale = {"ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}[unit]
    for index, (name, mean) in enumerate(busiest.head(_BUSIEST).iter_rows()):
        rows = series.filter(pl.col("name") == name).sort("time_ps")
        look = style.line(index, markers=False)
        axes.plot(
            rows["time_ps"] / scale, rows["utilization"] * 100, label=f"{name} ({100 * mean:.0f} %)", **look
        )
    axes.set_ylim(0, 105)
    axes.set_xlabel(f"simulated time ({unit})")
    axes.set_ylabel("busy (%)")
    axes.set_title("How busy the busiest links and buses are", loc="left")
    axes.grid(axis="y", alpha=0.25)
    if len(busiest):
        _legend_below(axes, 2)


def _legend_below(axes: Axes, columns: int) -> None:
    axes.legend(
        frameon=False,
        fontsize=9,
        ncols=columns,
        handlelength=3,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
    )
    style.plain(axes)
