"""A picture by Matplotlib: PNG and PDF, for papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Polygon
from matplotlib.path import Path as Outline
from matplotlib.patheffects import withStroke

from cxloom.display import style
from cxloom.draw.node_style import LOAD_NAMES, ON_LIGHT, SHAPES, load_class
from cxloom.draw.picture import MANY, Line, Mark, Picture, busiest, count_size, loads_of
from cxloom.draw.routes import Way

_INCHES = 1 / 110
"""Inches of a pixel: the letters of a picture that fills a page are of 8 points."""
_LARGEST = 24.0
_SMALLEST = 3.0
_LINE = "#98a1ab"
_WIDTHS = (0.8, 1.4, 1.9, 2.4, 3.0, 3.6)


def to_figure(picture: Picture) -> Figure:
    """The picture as a figure of its own size, at most two feet wide."""
    height = picture.height + (48 if picture.loaded else 28) * picture.letters / 12
    inches = _INCHES * min(
        max(1.0, _SMALLEST / (_INCHES * picture.width)), _LARGEST / (_INCHES * max(picture.width, height))
    )
    made = style.figure(inches * picture.width, inches * height)
    made.set_layout_engine("none")
    axes = made.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, picture.width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    put(axes, picture, 72 * inches)
    _legend(axes, picture, 72 * inches)
    return made


def save(picture: Picture, path: Path) -> Path:
    """Writes the picture, in the form that the name ends in: .png or .pdf."""
    return style.save(to_figure(picture), path)


def put(axes: Axes, picture: Picture, points: float) -> None:
    """Draws it into axes whose data are its pixels, each so many points large."""
    large = (picture.letters / 12) ** 0.7  # of a large picture strokes are seen on its page, too
    scale = min(2.0, max(0.15, points / 0.65 * large))
    faint = 0.6 if len(picture.lines) > MANY else 1.0
    for line in sorted(picture.lines, key=busiest):
        _put_line(axes, line, scale, faint)
    for mark in picture.marks:
        _put_mark(axes, mark, picture.radius, scale)
        if mark.count > 1:
            size = count_size(mark.count, picture.radius) * points
            axes.text(
                mark.x, mark.y, str(mark.count), color="white", size=size, ha="center", va="center", zorder=4
            )
    around = [withStroke(linewidth=2 * scale, foreground="white")]
    for label in picture.labels:
        look: dict[str, Any] = {"size": picture.letters * points, "ha": "center", "va": "center", "zorder": 4}
        axes.text(label.x, label.y, label.text, path_effects=around, **look)


def _put_line(axes: Axes, line: Line, scale: float, faint: float) -> None:
    if line.loads is None:
        look = {
            "edgecolor": _LINE,
            "linewidth": 0.9 * faint * scale * min(4, line.count),
            "alpha": faint**0.5,
        }
        axes.add_patch(PathPatch(_outline(line.way), fill=False, **look))
        return
    for half, load in zip(line.way.halves(), line.loads, strict=True):
        look = {"edgecolor": _LINE, "linewidth": 0.9 * scale, "linestyle": ":"}
        if load is not None:
            rank = load_class(load)
            look = {"edgecolor": ON_LIGHT[rank], "linewidth": _WIDTHS[rank] * faint * scale, "linestyle": "-"}
        axes.add_patch(PathPatch(_outline(half), fill=False, capstyle="round", **look))


def _put_mark(axes: Axes, mark: Mark, radius: float, scale: float) -> None:
    corners = np.array(SHAPES[mark.style.shape]) * radius + (mark.x, mark.y)
    colour = mark.style.colour if mark.load is None else ON_LIGHT[load_class(mark.load)]
    look: dict[str, Any] = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.6 * scale, "zorder": 3}
    if mark.queue:
        turn = np.linspace(0, 2 * np.pi, 60)
        ring = np.column_stack([mark.x + mark.queue * np.cos(turn), mark.y + mark.queue * np.sin(turn)])
        axes.add_patch(Polygon(ring, facecolor=_LINE, alpha=0.35, zorder=2))
    if mark.count > 1:
        axes.add_patch(Polygon(corners + np.array([3, -3]), **look))
    axes.add_patch(Polygon(corners, **look))


def _outline(way: Way) -> Outline:
    steps = len(way.points) - 1
    step = {2: Outline.CURVE3, 3: Outline.CURVE4}[steps] if way.is_curve else Outline.LINETO
    return Outline(way.points, [Outline.MOVETO, *[step] * steps])


def _legend(axes: Axes, picture: Picture, points: float) -> None:
    unit = picture.letters / 12
    x, y = 20 * unit, picture.height + 14 * unit
    for kind, node in picture.kinds.items():
        corners = np.array(SHAPES[node.shape]) * 7 * unit + (x, y)
        axes.add_patch(Polygon(corners, facecolor=node.colour, edgecolor="white", linewidth=0.4))
        axes.text(x + 12 * unit, y, kind, size=picture.letters * points, va="center")
        x += (36 + 7.2 * len(kind)) * unit
    if picture.loaded:
        x, y = 12 * unit, y + 20 * unit
        axes.text(x, y, "busy:", size=picture.letters * points, va="center")
        x += 40 * unit
        for rank in sorted({load_class(load) for load in loads_of(picture) if load is not None}):
            name = LOAD_NAMES[rank]
            axes.plot([x, x + 18 * unit], [y, y], color=ON_LIGHT[rank], linewidth=_WIDTHS[rank])
            axes.text(x + 22 * unit, y, name, size=picture.letters * points, va="center")
            x += (36 + 6.4 * len(name)) * unit
