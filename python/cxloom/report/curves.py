"""The table of a study as a file, and as a picture: one measure against another, a line for each value of a third."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cxloom.study.file import Plot

_UNITS = {"_gb_per_s": "GB/s", "_ns": "ns"}
_COLOURS = ("#33658a", "#f26419", "#2a9d8f", "#8c6bb1", "#e8b04a", "#c0392b", "#5aa469", "#4c6a92")


def write_table(rows: list[dict[str, Any]], path: Path) -> Path:
    """Writes the rows as CSV, with a header, and gives the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)
    return path


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
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    figure.savefig(temporary, format="png")
    temporary.replace(path)
    return path


def _label(column: str) -> str:
    for suffix, unit in _UNITS.items():
        if column.endswith(suffix):
            return f"{column.removesuffix(suffix).replace('_', ' ')} ({unit})"
    return column.replace("_", " ")
