"""The table of a study as a file, and as a picture: lines of one measure against another, or bars of several."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from cxloom.base.errors import InputError, reason_of
from cxloom.base.temporary import written_whole
from cxloom.display import palette, style
from cxloom.report.study_columns import is_share, label, number, panel_title, shown
from cxloom.study.plots import Plot, Stack
from cxloom.study.runner import Outcome


def write_files(outcome: Outcome, folder: Path) -> list[Path]:
    """Writes the table and the pictures of a study, and gives their paths. Raises InputError if that cannot be."""
    rows, study = outcome.table, outcome.study
    try:
        written = [write_table(rows, folder / "table.csv")]
        for name, plot in study.plots.items():
            if shown(rows, plot):  # the quick form may lack all of them
                written.append(draw(rows, plot, study.title, folder / f"{name}.png"))
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=folder) from None
    return written


_PANEL, _LETTER = 2.4, 0.08
"""Inches of the axes of a panel, and of a letter below them."""


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
    title = plot.title or title
    drawn = shown(rows, plot)
    figure = bars(drawn, plot, title) if isinstance(plot, Stack) else lines(drawn, plot, title)
    return style.save(figure, path)


def bars(rows: Sequence[Mapping[str, Any]], plot: Stack, title: str) -> Figure:
    """A panel of bars for each value of a column, each bar piled up from several."""
    panels: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        panels.setdefault("" if plot.panels is None else str(row[plot.panels]), []).append(row)
    across = min(4, math.ceil(math.sqrt(len(panels))))
    down = math.ceil(len(panels) / across)
    figure = style.figure(3.2 * across + 2, 2.9 * down + 0.6)
    for place, (value, points) in enumerate(panels.items(), 1):
        axes = figure.add_subplot(down, across, place)
        xs = [style.text(point[plot.x]) for point in points]
        base = [0.0] * len(points)
        for index, column in enumerate(plot.stack):
            heights = [float(point[column]) for point in points]
            look: dict[str, Any] = {"color": palette.part(index), "edgecolor": "white", "linewidth": 0.6}
            axes.bar(xs, heights, bottom=base, width=0.85, label=style.text(label(column)), **look)
            base = [low + height for low, height in zip(base, heights, strict=True)]
        axes.set_title(style.text(panel_title(plot, value)), fontsize="medium")
        if len(xs) * (max(map(len, xs)) + 1) > _PANEL / _LETTER:  # names side by side would overlap
            axes.tick_params(axis="x", labelrotation=40)
            for name in axes.get_xticklabels():
                name.set(horizontalalignment="right", rotation_mode="anchor")
        axes.set_xlabel(style.text(label(plot.x)))
        style.plain(axes)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], frameon=False, loc="outside right center")
    figure.suptitle(style.text(title), x=0.01, ha="left", fontweight="bold")
    return figure


def lines(rows: Sequence[Mapping[str, Any]], plot: Plot, title: str) -> Figure:
    """A line for each value of a column, its points joined in their order."""
    figure = style.figure(10, 5.5)
    axes = figure.add_subplot()
    shares = {column: all(is_share(row[column]) for row in rows) for column in (plot.x, plot.y)}
    by_line: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_line.setdefault("" if plot.lines is None else str(row[plot.lines]), []).append(row)
    for index, (value, points) in enumerate(by_line.items()):
        xs, ys = (
            [number(point[column]) if share else point[column] for point in points]
            for column, share in shares.items()
        )
        axes.plot(xs, ys, label=style.text(value), clip_on=False, **style.line(index))
    axes.set_xlabel(style.text(label(plot.x)) + " (%)" * shares[plot.x])
    axes.set_ylabel(style.text(label(plot.y)) + " (%)" * shares[plot.y])
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    style.plain(axes)
    if plot.lines is not None:
        figure.legend(
            title=style.text(label(plot.lines)), frameon=False, loc="outside right center", handlelength=3.5
        )
    axes.set_title(style.text(title), loc="left", fontweight="bold")
    return figure
