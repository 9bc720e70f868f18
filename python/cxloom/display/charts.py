"""Charts that reports and measurements have in common: piled bars, and lines.

Letters have 9 to 10 points at the width of a column of text, 6.5 inches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from cxloom.display import palette, style

_WIDTH = 6.5


def breakdown(bars: Mapping[str, Mapping[str, float]], *heading: str) -> Figure:
    """Bars of mean latencies, each piled up from its segments, under a heading."""
    names = list(bars)
    made = style.figure(_WIDTH, (1.75 if any(heading) else 1.3) + 0.3 * len(names))
    axes = made.add_subplot()
    left = [0.0] * len(names)
    for segment in next(iter(bars.values())):
        values = [float(bar[segment]) for bar in bars.values()]
        if max(values) <= 0:
            continue
        colour, hatch = palette.segment(segment)
        look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.5}
        axes.barh(names, values, left=left, height=0.7, label=segment.replace("_", " "), **look)
        left = [start + value for start, value in zip(left, values, strict=True)]
    for place, total in enumerate(left):
        axes.text(total, place, f" {total:.4g} ns", va="center", fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max(left))
    axes.set_xlabel("mean latency (ns); hatched: waiting")
    style.plain(axes)
    style.legend_below(made)
    style.heading(made, *heading)
    return made


def lines(
    found: Mapping[str, tuple[Sequence[Any], Sequence[Any]]],
    x: str,
    y: str,
    *heading: str,
    markers: bool = True,
    logarithmic: str = "",
    steps: bool = False,
) -> Figure:
    """Lines of different colours, dashes and markers, under a heading.

    `logarithmic` names the axes that are: "x", "y" or "xy".
    """
    made = style.figure(_WIDTH, 3.4)
    axes = made.add_subplot()
    for index, (name, (xs, ys)) in enumerate(found.items()):
        look = style.line(index, markers=markers) | ({"drawstyle": "steps-mid"} if steps else {})
        axes.plot(
            [style.text(x) if isinstance(x, str) else x for x in xs], ys, label=style.text(name), **look
        )
    for which, axis, label in (("x", axes.xaxis, x), ("y", axes.yaxis, y)):
        if which in logarithmic:
            style.logarithmic(axis, style.text(label))
        else:
            axis.set_label_text(style.text(label))
    if "y" not in logarithmic:
        axes.set_ylim(0, 1.06 * axes.dataLim.y1 if axes.dataLim.y1 > 0 else 1)
    axes.grid(alpha=0.25)
    style.plain(axes)
    style.legend_below(made)
    style.heading(made, *heading)
    return made
