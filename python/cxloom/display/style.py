"""How the pictures of Matplotlib look: the palette of `palette`, and never colour alone."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cxloom.base.temporary import written_whole
from cxloom.display import palette

_DASHES = ("-", "--", "-.", ":")
_MARKERS = "osD^vPX*"
_DPI = 140
_LETTERS_PER_INCH = 11.5
"""Letters of headings and legends that fit into an inch."""


def line(index: int, *, markers: bool = True) -> dict[str, Any]:
    """How the line of this index is drawn, for `Axes.plot`. No two of the first 28 look alike."""
    look: dict[str, Any] = {
        "color": palette.line(index),
        "linestyle": _DASHES[index % len(_DASHES)],
        "linewidth": 1.6,
    }
    if markers:
        look |= {"marker": _MARKERS[index % len(_MARKERS)], "markersize": 4.5}
    return look


def text(written: object) -> str:
    """A name, a value or a title for Matplotlib, which sets what stands between two dollar signs as a formula."""
    return str(written).replace("$", r"\$")


def ink(colour: str) -> str:
    """Black or white, whichever can be read on a colour (its relative luminance by ITU-R BT.709)."""
    red, green, blue = to_rgb(colour)
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.4 else "white"


def figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that makes room for what stands outside of its axes."""
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.10, wspace=0.03, hspace=0.05)
    made = Figure(figsize=(width, height), dpi=_DPI, layout=layout)
    FigureCanvasAgg(made)
    return made


def plain(axes: Axes) -> None:
    """No frame but the two axes, and a grid that stays behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
    axes.set_axisbelow(True)


def heading(made: Figure, *lines: str) -> None:
    """Writes what the figure shows above it, at its left; a line that is longer than the figure is wide goes on."""
    width = int(_LETTERS_PER_INCH * made.get_figwidth())
    wrapped = [part for line in lines if line for part in textwrap.wrap(text(line), width)]
    made.suptitle("\n".join(wrapped), x=0.02, ha="left", fontsize=9.5, fontweight="bold")


def legend_below(made: Figure, title: str = "") -> None:
    """A legend below all axes, in as many columns as find room there; none for a single line without a name."""
    handles, names = made.axes[0].get_legend_handles_labels()
    if not any(names):
        return
    names = [textwrap.fill(name, int(_LETTERS_PER_INCH * made.get_figwidth())) for name in names]
    for columns in range(min(4, len(names)), 0, -1):
        legend = made.legend(
            handles,
            names,
            loc="outside lower center",
            ncols=columns,
            title=title or None,
            frameon=False,
            fontsize=8,
            handlelength=3,
        )
        if columns == 1 or legend.get_window_extent().width <= 0.97 * made.bbox.width:
            return
        legend.remove()


def logarithmic(axis: Axis, label: str) -> None:
    """Makes an axis logarithmic: it says so, and has plain digits."""
    which = axis.axis_name  # type: ignore[attr-defined]
    axis.axes.set(**{f"{which}scale": "log"})
    axis.set_label_text(f"{label}, logarithmic")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.6g}" if value >= 1e-4 else f"{value:g}")
    )
    axis.set_minor_formatter(NullFormatter())


def save(made: Figure, path: Path) -> Path:
    """Writes the figure, whole or not at all, in the form that the name of the file ends in; gives the path."""
    form = path.suffix.removeprefix(".")
    known: dict[str, Any] = {"pdf": {"CreationDate": None}}  # equal figures are equal files
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        made.savefig(temporary, format=form, metadata=known.get(form))
    return path
