"""The section of a page on latencies: how they are distributed, with marks at p50, p99 and p99.9."""

from __future__ import annotations

from collections.abc import Mapping

from cxloom.display import palette
from cxloom.display.numbers import significant
from cxloom.report import plots
from cxloom.report.distribution import Distribution, distributions
from cxloom.report.page import plot
from cxloom.results.result import Result


def latency_section(result: Result) -> str:
    """A histogram and the share of requests that take longer, with marks at percentiles.

    Raises InputError for a table of requests that cannot be read.
    """
    found = distributions(result)
    colours = {name: palette.KINDS[kind] for kind, name in _legend(found).items()}
    names = _legend(found)
    histograms = {names[kind]: part.histogram for kind, part in found.items() if part.histogram}
    ends = next((part.ends for part in found.values() if part.ends), None)
    x = plots.titled(
        "latency (ns)",
        showgrid=True,
        **({"range": ends} if ends else {}),
        **({"type": "log"} if any(part.is_long for part in found.values()) else {}),
    )
    marks = [
        {
            "x": value,
            "name": f"{name} {significant(value, 4)}",
            "color": colours[names[kind]],
            "of": names[kind],
        }
        for kind, part in found.items()
        for name, value in part.percentiles.items()
    ]
    slower = plots.lines(
        {names[kind]: part.slower for kind, part in found.items()},
        "Share of requests that take longer",
        x,
        plots.titled("slower (%)", type="log", showgrid=True),
        colours=colours,
        markers=not any(part.histogram for part in found.values()),
        tip="{y} % take longer than {x} ns",
        marks=marks,
    )
    parts = [
        plot("slower", slower, "Share of requests that take longer than a latency, on a logarithmic axis")
    ]
    if histograms:
        most = max(part.count for part in found.values())
        histogram = plots.lines(
            histograms,
            "Histogram",
            x,
            plots.titled("requests (%)", type="log", showgrid=True, range=[50 / most, 100]),
            colours=colours,
            tip="{y} % at {x} ns",
            marks=marks,
        )
        for trace in histogram["data"]:
            trace["line"]["shape"] = "hvh"
            trace["fill"] = "tozeroy"
        return f'<div class="pair">{plot("histogram", histogram, "Histogram of latencies")}{parts[0]}</div>'
    text = "The run recorded no requests (<code>outputs: {requests: true}</code>), so that only percentiles are known."
    return f'<p class="soft">{text}</p>{parts[0]}'


def _legend(found: Mapping[str, Distribution]) -> dict[str, str]:
    return {kind: f"{kind}s ({part.count:,})" for kind, part in found.items()}
