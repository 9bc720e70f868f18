"""The picture of an explanation: how full each resource is, in the order of a request's way, and the chain.

Matplotlib is loaded where it is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cxloom.explaining.explanation import Explanation

_WIDTH = 6.5
_MOST = 16


def picture(explained: Explanation) -> Figure:
    """A bar for each resource under the sentence; bars of the chain are darker and joined, the limit has its gain."""
    from cxloom.display import palette, style

    chained = explained.chain
    shown = [each for each in explained.resources if each in chained or each.busy >= 0.05]
    shown = sorted(
        sorted(shown, key=lambda each: (each not in chained, -each.busy))[:_MOST], key=lambda each: each.stage
    )
    made = style.figure(_WIDTH, 1.7 + 0.32 * max(1, len(shown)))
    axes = made.add_subplot()
    places = {each.name: place for place, each in enumerate(shown)}
    gains = {each.resource.name: each.gain for each in explained.what_ifs}
    for each in shown:
        limits = explained.limit is not None and each.name == explained.limit.name
        colour = palette.VERMILION if limits else palette.BLUE if each in chained else "#b9c4cf"
        axes.barh(places[each.name], min(1.0, each.busy), height=0.7, color=colour)
        gain = f", if doubled: {100 * gains[each.name]:+.0f} %" if each.name in gains else ""
        axes.text(1.02, places[each.name], each.level + gain, va="center", fontsize=7.5)
    ends = [(1.0, places[each.name]) for each in chained]
    if len(ends) > 1:
        axes.plot(
            [x for x, _ in ends], [y for _, y in ends], color="black", linewidth=1, marker="v", markersize=4
        )
    axes.set_yticks(range(len(shown)), [each.name.removeprefix("the ") for each in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 2.1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    axes.set_xlabel("in use (%)", x=0.5 / 2.1)
    style.plain(axes)
    axes.spines["bottom"].set_bounds(0, 1)
    style.heading(made, f"{explained.system}: {explained.sentence}")
    return made
