"""What is wrong with how a figure of Matplotlib looks: texts that are cut, or that lie over each other."""

from __future__ import annotations

import itertools

from matplotlib.figure import Figure
from matplotlib.text import Text


def heading(figure: Figure) -> str:
    """What stands above all of it, on one line."""
    above = figure.get_suptitle()
    return " ".join(above.split())


def faults(figure: Figure) -> list[str]:
    """Texts that reach beyond the figure, and pairs that overlap."""
    figure.canvas.draw()
    texts = [each for each in figure.findobj(Text) if each.get_visible() and each.get_text().strip()]  # type: ignore[attr-defined]
    ticks = [
        tick for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for tick in axis.get_major_ticks()
    ]
    drawn = {id(tick.label1) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)
             for tick in axis._update_ticks()}  # type: ignore[attr-defined]  # fmt: skip
    hidden = {id(part) for tick in ticks for part in (tick.label1, tick.label2)} - drawn
    boxes = [(each.get_text(), each.get_window_extent()) for each in texts if id(each) not in hidden]
    found = [
        f"cut: {text}"
        for text, box in boxes
        if min(box.x0, box.y0) < -2 or box.x1 > figure.bbox.x1 + 2 or box.y1 > figure.bbox.y1 + 2
    ]
    for (text, a), (other, b) in itertools.combinations(boxes, 2):
        across, down = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > 2 and down > 2:
            found.append(f"over each other: {text!r}, {other!r}")
    return found
