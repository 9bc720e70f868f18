"""The page of a sweep: bandwidth and latency along its axes, what became of each point, and where it comes from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from cxloom.base.words import counted
from cxloom.display.numbers import significant
from cxloom.report import plots
from cxloom.report.page import Cell, Section, answer, document, facts, notes, plot, table, tiles
from cxloom.report.sweep_answer import BANDWIDTH, MEAN, differs, extremes, measured, span, sweep_answer
from cxloom.report.sweep_axes import axes_of, longest, names_of, quantities, varied
from cxloom.results.caveats import errors_of_points, notes_of_points
from cxloom.sweeping.interval import aggregated
from cxloom.sweeping.labels import headings, labels
from cxloom.sweeping.manifest import read
from cxloom.sweeping.points_table import TASKS
from cxloom.sweeping.result import SweepResult
from cxloom.sweeping.space import described_setting
from cxloom.sweeping.table import ERRORS, Columns, notes_in

_LINES = 12
"""The most lines in a plot; of more combinations each point is a mark."""
_ROWS = 1000
P99 = "latency_ns.p99"
_Y = {BANDWIDTH: "bandwidth (GB/s)", MEAN: "mean latency (ns)", P99: "99th percentile (ns)"}


def sweep_page(result: SweepResult, directory: Path) -> str:
    """The text of the page."""
    about = read(directory)
    version = about.identity.version
    foot = f"cxloom {escape(version)}. This page holds all that it needs; nothing is fetched."
    return document(
        f"Sweep of {about.name}", _lead(result), list(_sections(result, directory, version)), foot
    )


def _lead(result: SweepResult) -> str:
    columns = aggregated(result.columns) if result.has_seeds else result.columns
    names = names_of(columns, varied(columns))
    entries = []
    for key, name, unit, best in (
        (BANDWIDTH, "bandwidth", "GB/s", "highest"),
        (MEAN, "mean latency", "ns", "lowest"),
        (P99, "99th percentile", "ns", "lowest"),
    ):
        if measured(columns, key):
            shown = span(columns, key)
            where = f"{best} at {names[extremes(columns, key)[best]]}" if differs(columns, key) else ""
            entries.append((name, f"{shown} {unit}", where))
    finished = result.statuses.count("finished")
    others = [
        f"{result.statuses.count(status)} {status}"
        for status in dict.fromkeys(result.statuses)
        if status != "finished"
    ]
    entries.append(("points finished", f"{finished:,} of {len(result):,}", ", ".join(others)))
    counts = result.columns.get(ERRORS, [])
    if errors_of_points(counts) is not None:
        entries.append(("answered with an error", f"{sum(filter(None, counts)):,}", "without data"))
    return answer(sweep_answer(columns)) + tiles(entries) + _notes(result.columns)


def _notes(columns: Columns) -> str:
    """What runs say of themselves, and what the numbers do not have."""
    wrong = errors_of_points(columns.get(ERRORS, []))
    found, rest = notes_of_points(notes_in(columns))
    lines = [wrong] if wrong else []
    lines += [f"{where}: {note}" if where else note for where, note in found]
    lines += [f"and {counted(rest, 'other note')}, in results.parquet"] if rest else []
    return notes(lines)


def _sections(result: SweepResult, directory: Path, version: str) -> Iterator[Section]:
    figures = [plot(key, figure, figure["layout"]["title"]) for key, figure in figures_of(result).items()]
    if figures:
        yield Section("plots", "Along the axes", f'<div class="pair">{"".join(figures)}</div>')
    yield Section("points", "Every point", _points(result.columns))
    again = f"cxloom report {shlex.quote(str(directory))}"
    yield Section(
        "provenance", "Provenance", facts([("version", f"cxloom {version}"), ("this page again", again)])
    )


def figures_of(result: SweepResult) -> dict[str, plots.Figure]:
    """Bandwidth and latencies along the axis with the most values, a line for each combination of the others.

    Of more combinations than can be told apart, as random samples have, and along an axis of words, between which
    there is nothing, every point is a mark without a line. Several
    seeds of a point are one mark, at their mean.
    """
    columns = aggregated(result.columns) if result.has_seeds else result.columns
    axes, x = axes_of(columns), longest(columns)
    if x is None or MEAN not in columns:
        return {}
    shown = labels(columns[x])
    names = names_of(columns, [axis for axis in varied(columns) if axis != x])
    lines: dict[str, list[int]] = {}
    for row in measured(columns, MEAN):
        lines.setdefault(names[row], []).append(row)
    joined = len(lines) <= _LINES
    if not joined:
        lines = {"points": [row for rows in lines.values() for row in rows]}
    numbers = quantities(columns[x])
    title = x if numbers is None or not numbers[1] else f"{x} ({numbers[1]})"
    figures = {}
    for key, y in _Y.items():
        curves = {
            name: (
                [shown[row] if numbers is None else numbers[0][row] for row in rows],
                [columns[key][row] for row in rows],
            )
            for name, rows in lines.items()
        }
        if joined and numbers:
            curves = {name: _sorted(curve) for name, curve in curves.items()}
        figures[key.replace(".", "-")] = _figure(
            curves, y.partition(" (")[0].capitalize(), plots.titled(title, **_doubling(numbers)), y
        )
    loaded = {
        name: ([columns[BANDWIDTH][row] for row in rows], [columns[MEAN][row] for row in rows])
        for name, rows in lines.items()
    }
    figures["loaded"] = _figure(loaded, "Latency against bandwidth", plots.titled(_Y[BANDWIDTH]), _Y[MEAN])
    if not joined or numbers is None:
        for figure in figures.values():
            for trace, rows in zip(figure["data"], lines.values(), strict=True):
                trace |= {"mode": "markers", "text": [_text(columns, axes, row) for row in rows]}
                trace["tip"] = "{x}, {y}\n{text}"
    return figures


def _text(columns: Columns, axes: Sequence[str], row: int) -> str:
    return described_setting({axis: columns[axis][row] for axis in axes if columns[axis][row] is not None})


def _doubling(numbers: tuple[list[float], str] | None) -> dict[str, Any]:
    """A logarithmic axis with a mark at each value, for values that grow by factors."""
    values = sorted(set(numbers[0])) if numbers else []
    if len(values) < 3 or values[0] <= 0 or values[-1] < 16 * values[0] or len(values) > _LINES:
        return {}
    return {"type": "log", "tickvals": values, "ticktext": [f"{value:g}" for value in values]}


def _figure(curves: dict[str, Any], title: str, x: dict[str, Any], y: str) -> plots.Figure:
    figure = plots.lines(
        curves,
        title,
        {**x, "showgrid": True},
        plots.titled(y, rangemode="tozero", showgrid=True),
        markers=True,
    )
    figure["layout"]["showlegend"] = len(curves) > 1
    return figure


def _sorted(curve: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
    pairs = sorted(zip(*curve, strict=True), key=lambda pair: pair[0])
    return [x for x, _ in pairs], [y for _, y in pairs]


def _points(columns: Columns) -> str:
    axes = axes_of(columns)
    measures = [
        key
        for key in (TASKS, "requests", ERRORS, BANDWIDTH, MEAN, "latency_ns.p50", P99, "latency_ns.max")
        if key in columns and ((key != ERRORS and TASKS not in columns) or any(columns[key]))
    ]
    fixed = [axis for axis in axes if len({repr(value) for value in columns[axis]}) == 1 and len(axes) > 1]
    axes = [axis for axis in axes if axis not in fixed]
    named = {axis: labels(columns[axis]) for axis in axes}
    names = {
        TASKS: "tasks ns",
        ERRORS: "errors",
        BANDWIDTH: "GB/s",
        MEAN: "mean ns",
        "latency_ns.p50": "p50",
        P99: "p99",
        "latency_ns.max": "max",
    }
    count = len(columns["status"])
    unfinished = any(status != "finished" for status in columns["status"])
    order = sorted(range(count), key=lambda row: columns["status"][row] == "finished")
    rows = [
        [
            *(_set(columns[axis][row], named[axis][row]) for axis in axes),
            *(_number(columns[key][row]) for key in measures),
            *(_ended(columns, row) if unfinished else ()),
        ]
        for row in order[:_ROWS]
    ]
    head = [*headings(axes).values(), *(names.get(key, key) for key in measures)]
    head += ["status", "why not"] if unfinished else []
    more = (
        f'<p class="soft">And {counted(count - _ROWS, "more point")} in results.parquet.</p>'
        if count > _ROWS
        else ""
    )
    caption = "Measures of each point" + ("; those that did not finish first" if unfinished else "")
    same = "; ".join(f"{axis} {columns[axis][0]}" for axis in fixed)
    return (
        (f'<p class="soft">At every point: {escape(same)}</p>' if same else "")
        + table(head, rows, caption=caption)
        + more
    )


def _ended(columns: Columns, row: int) -> tuple[Cell, Cell]:
    status = str(columns["status"][row])
    return Cell(status, look="" if status == "finished" else "bad"), Cell(
        str(columns["error"][row] or ""), look="text"
    )


def _set(value: object, shown: str) -> Cell:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Cell(shown, float(value))
    numbers = quantities([value])
    return Cell(shown, numbers[0][0] if numbers else None)


def _number(value: float | None) -> Cell:
    if value is None:
        return Cell("-")
    return Cell(f"{value:,}" if isinstance(value, int) else significant(value, 4), float(value))
