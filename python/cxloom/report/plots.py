"""Charts of pages as plain data, which `chart.js` draws: curves and bars, `data`, and axes and marks, `layout`.

A trace of `data` is a "bar" or a "scatter" (lines, markers or texts) with its values as `x` and `y`. Colours of text,
axes and grids are the page's, which is light or dark. Texts are plain: no tag in them is one of the page. `tip` is what
stands beside the pointer, with `{name}`, `{x}`, `{y}`, `{text}` and `{custom}` filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cxloom.display import palette
from cxloom.display.numbers import percent, significant

Figure = dict[str, Any]
Curve = tuple[Sequence[float], Sequence[float]]
"""The x and the y of the points of a line."""

_GREY = "#80868d"
_LEAST_SEEN = 0.002
"""Smaller parts of a bar are not seen, and have no key."""
_HATCHES = {"": "", "//": "/", "xx": "x"}
_DASHES = ("solid", "dash", "dashdot", "dot", "longdash", "longdashdot")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")


def layout(
    title: str,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    height: int = 320,
    **more: Any,
) -> dict[str, Any]:
    """The layout that all charts have in common: a title, which the page writes above it, axes and a height.

    Args:
        title: what is seen.
        x: the axis below.
        y: the axis on the left; names on it go from the top down.
        height: of the chart without its legend, in pixels.
        more: `barmode` ("stack", or bars lie over each other), `showlegend` and `legend` (a title of it), `marks`
            (upright lines at `x` with a `name`, `of` a trace), `bands` (`from` and `to` along x), `yaxis2` (right).
    """
    return {"title": title, "height": height, "xaxis": dict(x), "yaxis": dict(y), **more}


def titled(text: str, **more: Any) -> dict[str, Any]:
    """An axis with a title, which says if it is logarithmic.

    Args:
        text: what is measured, with its unit.
        more: `type` ("log", "category"), `range`, `rangemode` ("tozero"), `showgrid`, `tickvals` and `ticktext`,
            `showticklabels`, `categories` (names in their order).
    """
    return {"title": f"{text}, logarithmic" if more.get("type") == "log" else text, **more}


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
                "custom": [
                    percent(value / total) if total else ""
                    for value, total in zip(values, totals, strict=True)
                ],
                "tip": f"{{y}}\n{{name}}: {{x}} {unit} ({{custom}})",
                "marker": {"color": _visible(colour), "pattern": {"shape": _HATCHES[hatch]}},
                "showlegend": any(v > _LEAST_SEEN * total for v, total in zip(values, totals, strict=True)),
            }
        )
    data.append(
        {
            "type": "scatter",
            "mode": "text",
            "y": names,
            "x": totals,
            "text": [f"{significant(total, 4)} {unit}" for total in totals],
            "showlegend": False,
        }
    )
    most = max(totals, default=1.0)
    return {
        "data": data,
        "layout": layout(
            title,
            titled(f"{x}; hatched: waiting", range=[0, 1.01 * most], showgrid=True),
            {"type": "category"},
            height=60 + 34 * len(names),
            barmode="stack",
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
    tip: str = "{x}, {y}",
    height: int = 320,
    **more: Any,
) -> Figure:
    """Lines of different colours and dashes, and of different markers if these are wanted.

    A line without a name has no key in the legend.
    """
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
            "tip": f"{{name}}\n{tip}" if name else tip,
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
        "tip": "{text}",
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
    made = layout(
        title,
        titled("deviation / allowed", range=[-2.2, 2.2], showgrid=True),
        {"showticklabels": False, "ticks": "", "autorange": "reversed"},
        height=360,
        bands=[{"from": -1, "to": 1, "color": "rgba(0,158,115,0.14)"}],
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
                "marker": {"color": _visible(palette.part(index))},
                "tip": "{x}\n{name}: {y}",
            }
            for index, (part, values) in enumerate(parts.items())
        ]
        made = layout(
            f"{title}: {name}" if name else title,
            titled(x, type="category"),
            {"range": [0, 1.05 * most], "showgrid": True},
            barmode="stack",
        )
        figures.append({"data": data, "layout": made})
    return figures


def _visible(colour: str) -> str:
    """A colour that is seen on dark paper too."""
    return _GREY if colour == palette.BLACK else colour
