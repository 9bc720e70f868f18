"""A picture of one run: where the time went, how latencies are distributed, how busy links and buses were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from cxloom.report.numbers import duration
from cxloom.results import Result
from cxloom.temporary import written_whole

# Neighbours in the stack differ in hue; the same segment has the same colour in every picture.
COLOURS = {
    "requester_queue": "#9aa5b1",
    "process": "#4c6a92",
    "cache": "#7b9cc4",
    "mshr": "#b6c7dd",
    "link_queue": "#d95f5f",
    "credit": "#f0a3a3",
    "serialization": "#e8b04a",
    "port_delay": "#5aa469",
    "propagation": "#a8d5a2",
    "retry": "#7a1f1f",
    "bus_queue": "#e4572e",
    "bus": "#f6c28b",
    "switch_queue": "#c0392b",
    "switching": "#8e6c8a",
    "controller": "#8c6bb1",
    "media_queue": "#c994c7",
    "media": "#2a9d8f",
}
_KINDS = {"read": "#33658a", "write": "#f26419"}
_LINES = ("#33658a", "#f26419", "#2a9d8f", "#8c6bb1")
_MEMORIES = 8


def draw(result: Result, path: Path) -> Path:
    """Draws a run that recorded its requests (and, if it did, its series) into a PNG file, and gives its path."""
    with_series = "series" in result.tables
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.10, wspace=0.03, hspace=0.05)
    figure = Figure(figsize=(13, 7.2), dpi=140, layout=layout)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2 if with_series else 1, 2, width_ratios=[1.25, 1])
    requests = result.requests()
    _draw_breakdown(figure.add_subplot(grid[:, 0]), requests, list(result.breakdown))
    _draw_histogram(figure.add_subplot(grid[0, 1]), requests)
    if with_series:
        _draw_utilization(figure.add_subplot(grid[1, 1]), result.series())
    name = result.spec.root.get("name")
    title = str(name.value) if name is not None else "cxloom"
    figure.suptitle(
        f"{title}: {result.count:,} requests, {result.bandwidth:.1f} GB/s, mean latency {result.latency.mean:.0f} ns",
        fontsize=14,
        fontweight="bold",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        figure.savefig(temporary, format="png")
    return path


def _draw_breakdown(axes: Axes, requests: pl.DataFrame, segments: list[str]) -> None:
    """A bar for the reads and one for the writes of each memory, cut up by segment."""
    columns = [f"{segment}_ps" for segment in segments]
    mean_ns = [pl.col(column).mean() / 1000 for column in columns]
    means = requests.group_by("target", "kind").agg(pl.len().alias("count"), *mean_ns)
    means = means.with_columns(pl.col("target", "kind").cast(pl.String))
    memories = (
        means.group_by("target").agg(pl.col("count").sum()).sort("count", "target", descending=[True, False])
    )
    shown = sorted(memories["target"].head(_MEMORIES))
    rows = means.filter(pl.col("target").is_in(shown)).sort("target", "kind", descending=True)
    labels = [f"{target}  {kind}s" for target, kind in rows.select("target", "kind").iter_rows()]
    left = np.zeros(len(labels))
    for segment, column in zip(segments, columns, strict=True):
        widths = rows[column].to_numpy()
        if widths.max(initial=0) <= 0:
            continue
        axes.barh(
            labels, widths, left=left, color=COLOURS[segment], label=segment, edgecolor="white", linewidth=0.6
        )
        for y, (start, width) in enumerate(zip(left, widths, strict=True)):
            if width > 0.045 * float(rows.select(pl.sum_horizontal(columns)).max().item()):
                axes.text(
                    start + width / 2,
                    y,
                    f"{width:.0f}",
                    ha="center",
                    va="center",
                    color="white",
                    fontsize=8.5,
                )
        left += widths
    for y, total in enumerate(left):
        axes.text(total + 0.01 * left.max(), y, f"{total:.0f} ns", va="center", fontsize=9, fontweight="bold")
    axes.set_xlim(0, 1.12 * left.max())
    axes.set_xlabel("mean latency (ns)")
    axes.set_title("Where a request's time goes", loc="left")
    axes.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.09), frameon=False, fontsize=9)
    _plain(axes)


def _draw_histogram(axes: Axes, requests: pl.DataFrame) -> None:
    latency = (pl.col("completed_ps") - pl.col("created_ps")) / 1000
    values = requests.select(pl.col("kind").cast(pl.String), latency.alias("ns"))
    low, high = float(values["ns"].min()), float(values["ns"].quantile(0.9995))  # type: ignore[arg-type]
    bins = np.linspace(low, max(high, low + 1), 41).tolist()
    for kind, colour in _KINDS.items():
        ns = values.filter(pl.col("kind") == kind)["ns"].to_numpy()
        if len(ns):
            label = f"{kind}s: p50 {np.quantile(ns, 0.5):.0f} ns, p99 {np.quantile(ns, 0.99):.0f} ns"
            weights = np.full(len(ns), 100 / len(ns))
            axes.hist(ns, bins, weights=weights, color=colour, alpha=0.4, label=label, histtype="stepfilled")
            axes.hist(ns, bins, weights=weights, color=colour, linewidth=1.4, histtype="step")
    axes.set_xlabel("latency (ns)")
    axes.set_ylabel("share of requests (%)")
    axes.set_title("How latencies are distributed", loc="left")
    axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False, fontsize=9)
    _plain(axes)


def _draw_utilization(axes: Axes, series: pl.DataFrame) -> None:
    """The four busiest directions of links over time."""
    series = series.with_columns(pl.col("link").cast(pl.String))
    busiest = (
        series.group_by("link").agg(pl.col("utilization").mean()).sort("utilization", "link", descending=True)
    )
    longest = float(series["time_ps"].max() or 0) / 1000  # type: ignore[arg-type]
    unit = duration(longest).split()[1]
    scale = {"ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}[unit]
    for link, colour in zip(busiest["link"].head(len(_LINES)), _LINES, strict=False):
        rows = series.filter(pl.col("link") == link).sort("time_ps")
        axes.plot(rows["time_ps"] / scale, rows["utilization"] * 100, color=colour, linewidth=1.6, label=link)
    axes.set_ylim(0, 105)
    axes.set_xlabel(f"simulated time ({unit})")
    axes.set_ylabel("busy (%)")
    axes.set_title("How busy the busiest links are", loc="left")
    axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False, fontsize=9, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    _plain(axes)


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
