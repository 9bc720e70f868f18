"""The page of a plan: designs side by side, the pool over time, and how much memory serves how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from cxloom import _core
from cxloom.display.numbers import percent, significant, size
from cxloom.report import plots
from cxloom.report.page import Cell, Section, answer, document, notes, plot, table

_GIB = float(2**30)
_DAY = 86400.0
_PARTS = ("dram", "pool_dram", "devices", "switch_ports", "cables", "retimers")
_MOST_LINES = 6
"""Designs that one picture shows: the first ones."""


def plan_page(found: Mapping[str, Any]) -> str:
    """The text of the page, of what ``cxloom plan --json`` prints."""
    lead = answer(found["sentence"]) + notes(found["notes"])
    foot = f"cxloom {escape(_core.__version__)}. This page holds all that it needs; nothing is fetched."
    return document(found["plan"], lead, list(_sections(found)), foot)


def capacity_curves(found: Mapping[str, Any]) -> dict[str, tuple[list[float], list[float]]]:
    """GiB of pool memory, and the share in per cent that each serves, of designs with devices."""
    curves = {}
    for each in found["designs"]:
        if each["curve"]["pool"]:
            sizes, shares = zip(*each["curve"]["pool"], strict=True)
            curves[called(each)] = ([value / _GIB for value in sizes], [100 * share for share in shares])
    return dict(list(curves.items())[:_MOST_LINES])


def called(design: Mapping[str, Any]) -> str:
    """A design with what was swept."""
    swept = (f"{path.rpartition('.')[2]} {value}" for path, value in design.get("set", {}).items())
    return ", ".join([design["design"], *swept])


def _sections(found: Mapping[str, Any]) -> Iterator[Section]:
    yield Section("designs", "Designs side by side", _designs(found))
    yield Section("capacity", "How much is enough", _capacity(found))
    yield Section("course", "The pool over time", _course(found))
    yield Section("cost", "What it costs", _cost(found))


def _designs(found: Mapping[str, Any]) -> str:
    head = [
        "design",
        "DRAM of a server",
        "devices",
        "pool",
        "of it in use",
        "all memory",
        "stranded",
        "refused",
    ]
    head += ["idle", "loaded", "p99", "slowest server"]
    rows: list[Sequence[Cell | str]] = []
    for each in found["designs"]:
        latency, pool = each["latency"] or {}, each["pool"]
        rows.append(
            [
                Cell(called(each), look="text"),
                _bytes(each["dram"]["per_server_bytes"]),
                Cell(f"{pool['devices']:.0f}", pool["devices"]),
                _bytes(pool["bytes"]),
                _share(pool["used_mean_share"]),
                _bytes(each["bought_bytes"]),
                _share(each["stranded"]["mean_share"]),
                Cell(f"{each['vms']['refused']:,.4g}", each["vms"]["refused"]),
                *(_ns(latency.get(key)) for key in ("idle_ns", "mean_ns", "p99_ns", "slowest_mean_ns")),
            ]
        )
    text = "Stranded, in use: means over time. Latencies: reads of devices, alone and in the worst minute."
    return f'<p class="soft">{text}</p>{table(head, rows, caption="Designs")}'


def _capacity(found: Mapping[str, Any]) -> str:
    curves = capacity_curves(found)
    if not curves:
        return "<p>No design has devices.</p>"
    figure = plots.lines(
        curves,
        "Memory of devices, and the share that it serves",
        plots.titled("all devices (GiB)", showgrid=True),
        plots.titled("served (%)", showgrid=True),
        markers=True,
        tip="{y} % with {x} GiB",
    )
    rows: list[Sequence[Cell | str]] = [
        [
            Cell(called(each), look="text"),
            _bytes(each["pool"]["bytes"]),
            _bytes(each["pool"]["always_bytes"]),
            _bytes(each["pool"]["bound_bytes"]),
            _bytes(each["pool"]["sum_of_peaks_bytes"]),
        ]
        for each in found["designs"]
        if each["pool"]["devices"]
    ]
    head = ["design", "enough", "always enough", "no allocator needs less", "sum of servers' peaks"]
    return (
        plot("enough", figure, "Share that is served over the memory of all devices, by design")
        + f"{table(head, rows, caption='Memory of all devices')}"
    )


def _course(found: Mapping[str, Any]) -> str:
    used = {}
    for each in found["designs"]:
        course = each["course"]
        if each["pool"]["devices"]:
            used[called(each)] = (
                [at / _DAY for at in course["at_s"]],
                [value / _GIB for value in course["pool_used_bytes"]],
            )
    stranded = {
        called(each): (
            [at / _DAY for at in each["course"]["at_s"]],
            [value / _GIB for value in each["course"]["stranded_bytes"]],
        )
        for each in found["designs"]
    }
    parts = []
    for key, curves, title in (
        ("used", used, "Memory of devices in use"),
        ("stranded", stranded, "Stranded memory"),
    ):
        if curves:
            figure = plots.lines(
                dict(list(curves.items())[:_MOST_LINES]),
                title,
                plots.titled("time (days)"),
                plots.titled("GiB", rangemode="tozero", showgrid=True),
                tip="{y} GiB at {x} days",
            )
            parts.append(plot(key, figure, f"{title} over time, by design"))
    return "".join(parts)


def _cost(found: Mapping[str, Any]) -> str:
    currency = found["prices"]["currency"]
    rows: list[Sequence[Cell | str]] = [
        [
            Cell(called(each), look="text"),
            *(Cell(f"{each['price'][part]:,.0f}", each["price"][part]) for part in (*_PARTS, "total")),
            _share(each["relative_price"]),
        ]
        for each in found["designs"]
    ]
    prices: list[Sequence[Cell | str]] = [
        [
            Cell(called({**each, "design": each["part"].replace("_", " ")}), look="text"),
            Cell(significant(each["price"]), each["price"]),
            Cell(each["by"], look="text"),
            Cell(each["source"], look="text"),
        ]
        for each in found["prices"]["parts"]
    ]
    head = ["design", *(part.replace("_", " ") for part in _PARTS), "all", "of that without a pool"]
    return (
        f"{table(head, rows, caption=f'Cost in {currency}')}"
        f"{table(['part', currency, 'by', 'source'], prices, caption='Prices', sortable=False)}"
    )


def _bytes(value: float) -> Cell:
    return Cell(size(value), value)


def _share(value: float | None) -> Cell:
    return Cell("-" if value is None else percent(value), value)


def _ns(value: float | None) -> Cell:
    return Cell("-" if value is None else f"{significant(value)} ns", value)
