"""Figures for papers: what the pages show, by Matplotlib, each to be saved as PDF and as PNG.

Their letters are of 9 to 10 points at the width of a column of text, 6.5 inches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from cxloom.report import curves, palette, style
from cxloom.report.columns import shown
from cxloom.report.distribution import distributions
from cxloom.report.outcome import plot_of
from cxloom.report.run_page import bars_of, picture_of
from cxloom.report.series import series_of
from cxloom.report.sweep_page import figures_of
from cxloom.results import Result
from cxloom.study.plots import Stack
from cxloom.sweeping.result import SweepResult

_WIDTH = 6.5


def run_figures(result: Result) -> dict[str, Figure]:
    """The figures of a run, by name: those for which it recorded enough."""
    found: dict[str, Figure] = {}
    if result.count:
        found["breakdown"] = breakdown(bars_of(result.summary))
        found |= _distribution(result)
    for each in series_of(result):
        found[each.key] = lines(each.curves, f"simulated time ({each.time_unit})", each.unit, markers=False)
    drawn = picture_of(result)
    if drawn is not None:
        from cxloom.draw.figure import to_figure

        found["system"] = to_figure(drawn)
    return found


def study_figures(outcome: Mapping[str, Any]) -> dict[str, Figure]:
    """The plots that a study asks for, by name."""
    found = {}
    for name, given in outcome["plots"].items():
        chosen = plot_of(given)
        rows = shown(outcome["table"], chosen)
        if rows:
            title = chosen.title or outcome["title"]
            if isinstance(chosen, Stack):
                found[name] = curves.bars(rows, chosen, title)
            else:
                found[name] = curves.lines(rows, chosen, title)
    return found


def sweep_figures(result: SweepResult) -> dict[str, Figure]:
    """The plots of the page of a sweep, by name."""
    found = {}
    for name, figure in figures_of(result).items():
        x, y = (figure["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis"))
        drawn = {trace["name"]: (trace["x"], trace["y"]) for trace in figure["data"]}
        found[name] = lines(drawn, x, y)
        for trace, line in zip(figure["data"], found[name].axes[0].get_lines(), strict=True):
            if trace["mode"] == "markers":
                line.set_linestyle("none")
        if "tickvals" in figure["layout"]["xaxis"]:
            (axes,) = found[name].axes
            axes.set_xscale("log")
            axes.set_xticks(
                figure["layout"]["xaxis"]["tickvals"], figure["layout"]["xaxis"]["ticktext"], minor=False
            )
            axes.minorticks_off()
    return found


def breakdown(bars: Mapping[str, Mapping[str, float]]) -> Figure:
    """Bars of mean latencies, each piled up from its segments."""
    names = list(bars)
    made = style.figure(_WIDTH, 1.3 + 0.3 * len(names))
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
    made.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return made


def _distribution(result: Result) -> dict[str, Figure]:
    found = distributions(result)
    slower = {f"{kind}s": part.slower for kind, part in found.items()}
    made = {"slower": lines(slower, "latency (ns)", "slower (%)", markers=False, logarithmic=True)}
    if all(part.histogram for part in found.values()):
        histogram = {f"{kind}s": part.histogram for kind, part in found.items() if part.histogram}
        made["histogram"] = lines(histogram, "latency (ns)", "requests (%)", markers=False, steps=True)
    return made


def lines(
    found: Mapping[str, tuple[Sequence[Any], Sequence[Any]]],
    x: str,
    y: str,
    *,
    markers: bool = True,
    logarithmic: bool = False,
    steps: bool = False,
) -> Figure:
    """Lines of different colours, dashes and markers."""
    made = style.figure(_WIDTH, 3.4)
    axes = made.add_subplot()
    for index, (name, (xs, ys)) in enumerate(found.items()):
        look = style.line(index, markers=markers) | ({"drawstyle": "steps-mid"} if steps else {})
        axes.plot(
            [style.text(x) if isinstance(x, str) else x for x in xs], ys, label=style.text(name), **look
        )
    axes.set_xlabel(style.text(x))
    axes.set_ylabel(style.text(y))
    if logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    style.plain(axes)
    if any(found):
        made.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, handlelength=3)
    return made
