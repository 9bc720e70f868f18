"""The table of a study as a file, and as a picture: lines of one measure against another, or bars of several."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cxloom.study.file import Plot, Stack
from cxloom.temporary import written_whole

_UNITS = {"_gb_per_s": "GB/s", "_ns": "ns"}
_COLOURS = ("#33658a", "#f26419", "#2a9d8f", "#8c6bb1", "#e8b04a", "#c0392b", "#5aa469", "#4c6a92")


def write_table(rows: list[dict[str, Any]], path: Path) -> Path:
    """Writes the rows as CSV, with a header, and gives the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def draw(rows: list[dict[str, Any]], plot: Plot | Stack, title: str, path: Path) -> Path:
    """Draws the rows into a PNG file, as lines or as bars, and gives the path."""
    return (
        _draw_bars(rows, plot, title, path)
        if isinstance(plot, Stack)
        else draw_lines(rows, plot, title, path)
    )


def _draw_bars(rows: list[dict[str, Any]], plot: Stack, title: str, path: Path) -> Path:
    panels: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        panels.setdefault(str(row[plot.panels]), []).append(row)
    across = min(4, math.ceil(math.sqrt(len(panels))))
    down = math.ceil(len(panels) / across)
    figure = Figure(figsize=(3.2 * across + 2, 2.9 * down + 0.6), dpi=140, layout="constrained")
    FigureCanvasAgg(figure)
    for place, (value, points) in enumerate(panels.items(), 1):
        axes = figure.add_subplot(down, across, place)
        xs = [str(point[plot.x]) for point in points]
        base = [0.0] * len(points)
        for index, column in enumerate(plot.stack):
            heights = [float(point[column]) for point in points]
            colour = _COLOURS[index % len(_COLOURS)]
            axes.bar(xs, heights, bottom=base, width=0.85, color=colour, label=_label(column))
            base = [low + height for low, height in zip(base, heights, strict=True)]
        axes.set_title(value, fontsize="medium")
        axes.set_xlabel(_label(plot.x))
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], frameon=False, loc="outside right center")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return _save(figure, path)


def draw_lines(rows: list[dict[str, Any]], plot: Plot, title: str, path: Path) -> Path:
    """Draws the rows into a PNG file, points joined in their order, and gives the path."""
    figure = Figure(figsize=(9, 5.5), dpi=140, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault(str(row[plot.lines]), []).append(row)
    for index, (value, points) in enumerate(lines.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        xs, ys = ([point[column] for point in points] for column in (plot.x, plot.y))
        axes.plot(xs, ys, marker="o", markersize=3.5, linewidth=1.6, color=colour, label=value)
    axes.set_xlabel(_label(plot.x))
    axes.set_ylabel(_label(plot.y))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title=plot.lines, frameon=False, loc="upper left")
    axes.set_title(title, loc="left", fontweight="bold")
    return _save(figure, path)


def _save(figure: Figure, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        figure.savefig(temporary, format="png")
    return path


def _label(column: str) -> str:
    for suffix, unit in _UNITS.items():
        if column.endswith(suffix):
            return f"{column.removesuffix(suffix).replace('_', ' ')} ({unit})"
    return column.replace("_", " ")
