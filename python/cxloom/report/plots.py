"""Plots as Plotly takes them, as plain data: the library itself is not loaded, its JavaScript reads the same.

Colours of text, axes and grids are set by the page, which knows whether it is light or dark. Texts are plain, as
Matplotlib takes them: `page.plot` escapes them for Plotly, which reads tags in them. Only a `hovertemplate` is
Plotly's own, so no name is written into one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cxloom.display import palette

Figure = dict[str, Any]
Curve = tuple[Sequence[float], Sequence[float]]
"""The x and the y of the points of a line."""

_GREY = "#80868d"
_HATCHES = {"": "", "//": "/", "xx": "x"}
_DASHES = ("solid", "dash", "dashdot", "dot", "longdash", "longdashdot")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
_FONT = {"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 13}


def layout(
    title: str,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    height: int = 380,
    **more: Any,
) -> dict[str, Any]:
    """The layout that all plots have in common: axes, a legend below, and a title for the page to write above it."""
    axis: Figure = {"automargin": True, "ticks": "outside", "showline": True, "zeroline": False}
    return {
        "meta": {"title": title},
        "height": height,
        "font": _FONT,
        "margin": {"l": 10, "r": 12, "t": 26, "b": 10},
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0,
            "traceorder": "normal",
        },
        "modebar": {"bgcolor": "rgba(0,0,0,0)"},
        "xaxis": axis | dict(x),
        "yaxis": axis | dict(y),
        "hovermode": "closest",
        **more,
    }


def titled(text: str, **more: Any) -> dict[str, Any]:
    """An axis with a title."""
    return {"title": {"text": text}, **more}


def breakdown(
    bars: Mapping[str, Mapping[str, float]], title: str, x: str = "mean latency (ns)", unit: str = "ns"
) -> Figure:
    """Horizontal bars of times, by default mean latencies, each piled up from its segments; hatched: waiting."""
    names = list(bars)
    segments = [
        segment
        for segment in next(iter(bars.values()), {})
        if max(float(bar.get(segment) or 0) for bar in bars.values()) > 0
    ]
    totals = [sum(float(bar.get(segment) or 0) for segment in segments) for bar in bars.values()]
    data: list[Figure] = []
    for segment in segments:
        colour, hatch = palette.segment(segment)
        values = [float(bar.get(segment) or 0) for bar in bars.values()]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": segment.replace("_", " "),
                "y": names,
                "x": values,
                "customdata": [
                    100 * value / total if total else 0 for value, total in zip(values, totals, strict=True)
                ],
                "hovertemplate": "%{y}<br>%{fullData.name}: %{x:.4g} "
                f"{unit} (%{{customdata:.1f}} %)<extra></extra>",
                "marker": {
                    "color": _visible(colour),
                    "pattern": {"shape": _HATCHES[hatch], "solidity": 0.35},
                    "line": {"width": 0.5, "color": "rgba(255,255,255,0.7)"},
                },
            }
        )
    data.append(
        {
            "type": "scatter",
            "mode": "text",
            "y": names,
            "x": totals,
            "text": [f" {total:.4g} {unit}" for total in totals],
            "textposition": "middle right",
            "cliponaxis": False,
            "hoverinfo": "skip",
            "showlegend": False,
        }
    )
    most = max(totals, default=1.0)
    return {
        "data": data,
        "layout": layout(
            title,
            titled(f"{x}; hatched: waiting", range=[0, 1.01 * most], showgrid=True),
            {"autorange": "reversed", "showgrid": False, "type": "category"},
            height=190 + 34 * len(names) + 22 * ((len(segments) + 3) // 4),
            barmode="stack",
            bargap=0.3,
            margin={"l": 10, "r": 68, "t": 26, "b": 10},
        ),
    }


def lines(
    curves: Mapping[str, Curve],
    title: str,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    colours: Mapping[str, str] | None = None,
    markers: bool = False,
    hover: str = "%{x:.4g}, %{y:.4g}",
    height: int = 380,
    **more: Any,
) -> Figure:
    """Lines of different colours and dashes, and of different markers if these are wanted."""
    data = []
    for index, (name, (xs, ys)) in enumerate(curves.items()):
        trace: Figure = {
            "type": "scatter",
            "mode": "lines+markers" if markers else "lines",
            "name": name,
            "x": list(xs),
            "y": list(ys),
            "line": {
                "color": (colours or {}).get(name, _visible(palette.line(index))),
                "dash": _DASHES[index % len(_DASHES)],
                "width": 2,
            },
            "hovertemplate": f"%{{fullData.name}}<br>{hover}<extra></extra>",
        }
        if markers:
            trace["marker"] = {"symbol": _MARKERS[index % len(_MARKERS)], "size": 8}
        data.append(trace)
    return {"data": data, "layout": layout(title, x, y, height=height, **more)}


def marks(index: int, name: str, xs: Sequence[float], ys: Sequence[float], texts: Sequence[str]) -> Figure:
    """Marks of a colour and a shape of their own, each with a text."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": list(xs),
        "y": list(ys),
        "text": list(texts),
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": _MARKERS[index % len(_MARKERS)],
            "color": _visible(palette.line(index)),
            "size": 10,
            "opacity": 0.85,
        },
    }


def deviations(
    title: str, rows: Sequence[tuple[float, Mapping[str, Any]]], named: Callable[[Mapping[str, Any]], str]
) -> Figure:
    """A mark for each comparison, by its deviation over what is allowed, with a band for what is."""
    data = []
    for index, (name, passed) in enumerate((("within", True), ("outside", False))):
        chosen = [
            (place, share, each) for place, (share, each) in enumerate(rows) if each["passed"] is passed
        ]
        if chosen:
            texts = [
                f"{named(each)}\nsimulated {each['simulated']:.4g}, expected {each['expected']:.4g}, "
                f"allowed {each['allowed_text']}"
                for _, _, each in chosen
            ]
            trace = marks(
                index, name, [share for _, share, _ in chosen], [place for place, _, _ in chosen], texts
            )
            trace["marker"] |= {"color": palette.BLUE if passed else palette.VERMILION}
            trace["marker"] |= {"symbol": "circle" if passed else "x"}
            data.append(trace)
    band = {"type": "rect", "x0": -1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    shapes = [band | {"fillcolor": "rgba(0,158,115,0.14)", "line": {"width": 0}}]
    made = layout(
        title,
        titled("deviation / allowed", range=[-2.2, 2.2], showgrid=True, zeroline=True),
        {"showticklabels": False, "ticks": "", "autorange": "reversed", "showgrid": False},
        height=420,
        shapes=shapes,
    )
    return {"data": data, "layout": made}


def stacks(
    panels: Mapping[str, tuple[Sequence[str], Mapping[str, Sequence[float]]]], title: str, x: str
) -> list[Figure]:
    """Bars over names, each piled up from several parts: a plot for each panel, all with the same scale."""
    most = max(
        (
            sum(values[i] for values in parts.values())
            for xs, parts in panels.values()
            for i in range(len(xs))
        ),
        default=1.0,
    )
    figures = []
    for name, (xs, parts) in panels.items():
        data = [
            {
                "type": "bar",
                "name": part,
                "x": list(xs),
                "y": list(values),
                "marker": {
                    "color": _visible(palette.part(index)),
                    "line": {"width": 0.5, "color": "#ffffff"},
                },
                "hovertemplate": "%{x}<br>%{fullData.name}: %{y:.4g}<extra></extra>",
            }
            for index, (part, values) in enumerate(parts.items())
        ]
        made = layout(
            f"{title}: {name}" if name else title,
            titled(x, type="category"),
            {"range": [0, 1.05 * most]},
            barmode="stack",
        )
        figures.append({"data": data, "layout": made})
    return figures


def _visible(colour: str) -> str:
    """A colour that is seen on dark paper too."""
    return _GREY if colour == palette.BLACK else colour
