"""Figures for papers: what the pages show, by Matplotlib, each to be saved as PDF and as PNG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cxloom.display import palette
from cxloom.display.charts import breakdown, lines
from cxloom.display.numbers import significant
from cxloom.draw.picture import picture
from cxloom.report import study_plots
from cxloom.report.distribution import Distribution, distributions
from cxloom.report.run_page import bars_of, graph_of_result
from cxloom.report.series import series_of
from cxloom.report.study_columns import shown
from cxloom.report.study_outcome import plot_of
from cxloom.report.sweep_page import figures_of
from cxloom.report.utilisation import load_of
from cxloom.results.result import Result
from cxloom.study.plots import Stack
from cxloom.sweeping.result import SweepResult


def run_figures(result: Result) -> dict[str, Figure]:
    """The figures of a run, by name: those for which it recorded enough."""
    found: dict[str, Figure] = {}
    if result.count:
        found["breakdown"] = breakdown(bars_of(result.summary))
        found |= _distribution(result)
    for each in series_of(result):
        found[each.key] = lines(each.curves, f"simulated time ({each.time_unit})", each.unit, markers=False)
    graph = graph_of_result(result)
    if graph is not None:
        from cxloom.draw.figure import to_figure

        found["system"] = to_figure(picture(graph, load_of(result.summary)))
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
                found[name] = study_plots.bars(rows, chosen, title)
            else:
                found[name] = study_plots.lines(rows, chosen, title)
    return found


def sweep_figures(result: SweepResult) -> dict[str, Figure]:
    """The plots of the page of a sweep, by name."""
    found = {}
    for name, figure in figures_of(result).items():
        x, y = (figure["layout"][axis]["title"] for axis in ("xaxis", "yaxis"))
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


def serving_figures(found: Mapping[str, Any]) -> dict[str, Figure]:
    """The courses of servers with a KV cache, by name: those of a run that has more than a row of its series."""
    series = found["series"]
    if len(series) < 2:
        return {}
    times = [row["until_s"] for row in series]
    known = [row for row in series if row["ttft_s"] is not None]
    shares = {
        tier: [
            (row["until_s"], 100 * share) for row in series if (share := row["hit_shares"][tier]) is not None
        ]
        for tier in found["tiers"]
    }
    loads = {tier: (times, [row["loaded_gb_per_s"][tier] for row in series]) for tier in found["tiers"]}
    x = "simulated time (s)"
    made = {
        "found": lines(
            {tier: ([at for at, _ in points], [y for _, y in points]) for tier, points in shares.items()},
            x,
            "of the prompts' tokens (%)",
            markers=False,
        ),
        "loaded": lines(loads, x, "GB/s", markers=False),
    }
    first = ([row["until_s"] for row in known], [1000 * row["ttft_s"] for row in known])
    return made | {"first_token": lines({"first token": first}, x, "ms", markers=False)}


def _distribution(result: Result) -> dict[str, Figure]:
    found = distributions(result)
    slower = {f"{kind}s": part.slower for kind, part in found.items()}
    x = "x" if any(part.is_long for part in found.values()) else ""
    made = {"slower": lines(slower, "latency (ns)", "slower (%)", markers=False, logarithmic=f"{x}y")}
    if all(part.histogram for part in found.values()):
        histogram = {f"{kind}s": part.histogram for kind, part in found.items() if part.histogram}
        y = "requests (%)"
        made["histogram"] = lines(
            histogram, "latency (ns)", y, markers=False, steps=True, logarithmic=f"{x}y"
        )
    for figure in made.values():
        for number, (kind, part) in enumerate(found.items()):
            _mark(figure.axes[0], part, palette.KINDS[kind], number)
    return made


def _mark(axes: Axes, part: Distribution, colour: str, row: int) -> None:
    """Upright lines at the percentiles of a kind of request, with their names above the axes, a row for each kind."""
    for value in part.percentiles.values():
        axes.axvline(value, color=colour, linestyle=":", linewidth=1)
    said = ", ".join(f"{name} {significant(value, 4)}" for name, value in part.percentiles.items())
    axes.text(0, 1.02 + 0.07 * row, f"{said} ns", transform=axes.transAxes, color=colour, fontsize=8)
