"""The page of a study: simulated beside published, plots, tables, the systems, and where all of it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.display.numbers import size
from cxloom.draw.graph import graph_of
from cxloom.draw.picture import pictures
from cxloom.report import plots
from cxloom.report.page import (
    Cell,
    Section,
    document,
    facts,
    plot,
    refused_unless_whole,
    system_map,
    table,
    tiles,
)
from cxloom.report.run_page import number as cell
from cxloom.report.study_columns import is_share, label, number, panel_title, shown
from cxloom.report.study_outcome import plot_of
from cxloom.report.utilisation import load_of
from cxloom.results.caveats import errors_of_points
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolved import Resolved
from cxloom.spec.writer import to_yaml
from cxloom.study.file import DEFAULT_COLUMNS
from cxloom.study.plots import Plot, Stack
from cxloom.study.points import described_point
from cxloom.study.state import State, tally
from cxloom.sweeping.labels import headings

Values = Mapping[str, Any]

_BARS = 24
"""The most points that have a bar of their own."""
_DEVIATIONS = 40
"""The most comparisons in a plot: those farthest from what is expected."""
_ROWS = 1000
_LOOKS = {State.MET: "good", State.FAILED: "bad"}


def study_page(outcome: Values, directory: Path) -> str:
    """The text of the page. Raises InputError for an outcome that is not whole."""
    with refused_unless_whole("the whole outcome of a study", "cxloom study run", directory):
        foot = f"cxloom {escape(outcome['version'])}. This page holds all that it needs; nothing is fetched."
        return document(outcome["title"], _lead(outcome), list(_sections(outcome)), foot)


def _lead(outcome: Values) -> str:
    comparisons = outcome["comparisons"]
    entries = []
    if comparisons:
        entries.append(("expectations", f"{len(comparisons):,}", tally_of(comparisons)))
        valued = [each for each in comparisons if each["expected"]]
        if valued:
            worst = max(valued, key=lambda each: abs(each["deviation"]))
            entries.append(
                (
                    "largest deviation",
                    f"{100 * worst['deviation']:+.2f} %",
                    f"allowed {worst['allowed_text']}",
                )
            )
    requests = sum(point["requests"] or 0 for point in outcome["points"])
    wall = sum(point["cost"]["cpu_seconds"] for point in outcome["points"])
    entries.append(("points", f"{len(outcome['points']):,}", "the quick form" if outcome["quick"] else ""))
    entries.append(("requests measured", f"{requests:,}", f"{wall:.1f} s of CPU"))
    source = f'<p class="soft">{escape(outcome["source"])}</p>' if outcome["source"] else ""
    counts = [point.get("errors") for point in outcome["points"]]
    if (wrong := errors_of_points(counts)) is not None:
        entries.append(("answered with an error", f"{sum(filter(None, counts)):,}", wrong))
    return source + tiles(entries) + _paragraphs(outcome["about"])


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in text.split("\n") if part.strip())


def _sections(outcome: Values) -> Iterator[Section]:
    if outcome["comparisons"]:
        yield Section("published", "Simulated against published", "".join(_published(outcome)))
    figures = list(drawn(outcome))
    if figures:
        yield Section("plots", "Plots", f'<div class="pair">{"".join(figures)}</div>')
    if outcome["table"] and [*outcome["table"][0]][len(outcome["axes"]) :] != [*DEFAULT_COLUMNS]:
        yield Section("table", "Table", _table(outcome["table"]))  # else that of the points says it all
    yield Section("points", "Every point", _points(outcome))
    systems = list(_systems(outcome["systems"]))
    if systems:
        title = "The system" if len(systems) == 1 else "Some of the systems"
        yield Section("systems", title, "".join(systems))
    yield Section("parameters", "Parameters", _parameters(outcome))
    yield Section("provenance", "Provenance", _provenance(outcome))


# --- simulated against published -------------------------------------------------------------------------------------


def _published(outcome: Values) -> Iterator[str]:
    comparisons = outcome["comparisons"]
    figures = [*scatter(comparisons), *_deviations(comparisons)]
    if figures:
        yield f'<div class="pair">{"".join(figures)}</div>'
    if outcome["explain"]:
        yield f"<h3>Where the two differ, and why</h3>{_paragraphs(outcome['explain'])}"
    axes = outcome["axes"]
    short = headings(axes).values()
    groups: dict[str, list[Values]] = {}
    for each in comparisons:
        groups.setdefault(str(each["measure"]), []).append(each)
    for measure, group in groups.items():
        rows = [
            [
                *(_value(each["at"][axis]) for axis in axes),
                cell(each["simulated"], 4),
                Cell(each["expected_text"], each["expected"]),
                Cell(f"{100 * each['deviation']:+.2f} %", each["deviation"])
                if each["expected"] != 0
                else Cell(f"{each['deviation']:+.3g}", each["deviation"]),
                each["allowed_text"],
                state_cell(each["state"]),
                Cell(_source(each), look="text"),
            ]
            for each in group
        ]
        head = [*short, "simulated", "expected", "deviation", "allowed", "", "source"]
        yield table(head, rows[:_ROWS], caption=measure) + "<br>"


def tally_of(comparisons: Sequence[Values]) -> str:
    """How many of the comparisons of an outcome stand how, in words."""
    return tally((each["state"], bool(each["derived"])) for each in comparisons)


def state_cell(state: str) -> Cell:
    """How a comparison stands: green where a value was predicted, red where one failed."""
    order = [*State].index(State(state))
    return Cell(state.upper() if state == State.FAILED else state, order, _LOOKS.get(State(state), ""))


def _source(comparison: Values) -> str:
    told = [f"{key}: {comparison[key]}" for key in ("fitted", "open") if comparison[key]]
    return "; ".join(filter(None, (comparison["source"], comparison["derived"], comparison["note"], *told)))


def _value(value: object) -> Cell:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Cell(f"{value}", float(value))
    return Cell(str(value))


def _named(comparison: Values) -> str:
    return f"{described_point(comparison['at'])}: {comparison['measure']}"


def scatter(comparisons: Sequence[Values], prefix: str = "study") -> Iterator[str]:
    """Simulated over expected values, a mark for each, with the line on which the two are equal; nothing for few."""
    valued = [each for each in comparisons if each["expected"] is not None]
    if len({each["expected"] for each in valued}) < 3:
        return
    every = [value for each in valued for value in (each["expected"], each["simulated"])]
    scale = "log" if min(every) > 0 and max(every) > 20 * min(every) else "linear"
    ends = [min(every), max(every)] if scale == "log" else [min(0, *every), max(every)]
    figure = plots.lines(
        {"equal": (ends, ends)},
        "Simulated over expected",
        plots.titled("expected", type=scale, showgrid=True),
        plots.titled("simulated", type=scale, showgrid=True),
        colours={"equal": "#80868d"},
        height=360,
    )
    del figure["data"][0]["tip"]
    groups: dict[str, list[Values]] = {}
    for each in valued:
        groups.setdefault(str(each["measure"]), []).append(each)
    for index, (measure, group) in enumerate(groups.items()):
        figure["data"].append(plots.marks(index, measure, *_points_of(group)))
    yield plot(f"{prefix}-scatter", figure, "Simulated over expected values")


def _points_of(group: Sequence[Values]) -> tuple[list[float], list[float], list[str]]:
    texts = [
        f"{described_point(each['at'])}\nsimulated {each['simulated']:.4g}, expected {each['expected']:.4g}"
        for each in group
    ]
    return [each["expected"] for each in group], [each["simulated"] for each in group], texts


def _deviations(comparisons: Sequence[Values]) -> Iterator[str]:
    """How far each is from what is expected, as a share of what is allowed: within 1 on either side it is met."""
    shares = []
    for each in comparisons:
        if each["expected"] is None or each["least"] is None or each["most"] is None:
            continue
        allowed = (each["most"] - each["least"]) / 2
        off = each["simulated"] - each["expected"]
        shares.append((off / allowed if allowed else (0.0 if not off else 9.0), each))
    if len(shares) < 2:
        return
    worst = sorted(shares, key=lambda pair: -abs(pair[0]))[:_DEVIATIONS]
    kept = {id(each) for _, each in worst}
    rows = [(max(-2.0, min(2.0, share)), each) for share, each in shares if id(each) in kept]
    title = "Deviation over what is allowed"
    if len(shares) > len(rows):
        title += f" (the farthest {len(rows)} of {len(shares)})"
    yield plot(
        "deviations",
        plots.deviations(title, rows, _named),
        "Deviation of each comparison over what is allowed",
    )


# --- plots and tables ------------------------------------------------------------------------------------------------


def drawn(outcome: Values, prefix: str = "plot") -> Iterator[str]:
    """The plots that a study asks for; `prefix` tells plots of several studies apart."""
    for name, given in outcome["plots"].items():
        chosen = plot_of(given)
        rows = shown(outcome["table"], chosen)
        if not rows:
            continue
        title = chosen.title or outcome["title"]
        figures = _stacks(rows, chosen, title) if isinstance(chosen, Stack) else [_lines(rows, chosen, title)]
        for index, figure in enumerate(figures):
            yield plot(f"{prefix}-{name}-{index}", figure, title)


def _lines(rows: Sequence[Values], chosen: Plot, title: str) -> plots.Figure:
    shares = {column: all(is_share(row[column]) for row in rows) for column in (chosen.x, chosen.y)}
    curves: dict[str, tuple[list[Any], list[Any]]] = {}
    for row in rows:
        xs, ys = curves.setdefault("" if chosen.lines is None else str(row[chosen.lines]), ([], []))
        for values, column in ((xs, chosen.x), (ys, chosen.y)):
            values.append(number(row[column]) if shares[column] else row[column])
    axes = [
        plots.titled(label(column) + " (%)" * shares[column], rangemode="tozero", showgrid=True)
        for column in (chosen.x, chosen.y)
    ]
    figure = plots.lines(curves, title, *axes, markers=True, height=360)
    if chosen.lines is not None:
        figure["layout"]["legend"] = f"{label(chosen.lines)}: "
    else:
        figure["layout"]["showlegend"] = False
    return figure


def _stacks(rows: Sequence[Values], chosen: Stack, title: str) -> list[plots.Figure]:
    panels: dict[str, list[Values]] = {}
    for row in rows:
        panels.setdefault("" if chosen.panels is None else str(row[chosen.panels]), []).append(row)
    bars = {
        panel_title(chosen, name): (
            [str(row[chosen.x]) for row in group],
            {label(column): [float(row[column]) for row in group] for column in chosen.stack},
        )
        for name, group in panels.items()
    }
    return plots.stacks(bars, title, label(chosen.x))


def _table(rows: Sequence[Values]) -> str:
    head = [label(column) for column in rows[0]]
    cells = [[_cell(value) for value in row.values()] for row in rows[:_ROWS]]
    more = f'<p class="soft">And {len(rows) - _ROWS:,} more in table.csv.</p>' if len(rows) > _ROWS else ""
    return table(head, cells, caption="The table of the study") + more


def _cell(value: object) -> Cell:
    return cell(value, 4) if value is None or isinstance(value, float) else _value(value)


def _points(outcome: Values) -> str:
    axes = outcome["axes"]
    if all(point["latency_ns"] is None for point in outcome["points"]):  # no requests of memory
        head = [*headings(axes).values(), "requests"]
        rows = [
            [*(_value(each["at"][axis]) for axis in axes), cell(each["requests"])]
            for each in outcome["points"]
        ]
        return table(head, rows[:_ROWS], caption="The points")
    errors = ["errors"] if any(point.get("errors") for point in outcome["points"]) else []
    head = [*headings(axes).values(), "requests", *errors]
    head += ["GB/s", "mean ns", "p50", "p99", "max"]
    rows = [
        [
            *(_value(point["at"][axis]) for axis in axes),
            cell(point["requests"]),
            *(cell(point.get(key)) for key in errors),
            cell(point["bandwidth_gb_per_s"], 4),
            *(cell(point["latency_ns"][key], 4) for key in ("mean", "p50", "p99", "max")),
        ]
        for point in outcome["points"]
    ]
    more = f'<p class="soft">And {len(rows) - _ROWS:,} more.</p>' if len(rows) > _ROWS else ""
    bars = {
        described_point(point["at"]): point["breakdown_ns"]
        for point in outcome["points"][:_BARS]
        if point["requests"]
    }
    figure = ""
    if bars:
        first = f" (the first {_BARS} points)" if len(outcome["points"]) > _BARS else ""
        made = plots.breakdown(bars, f"Mean latency by what a request waits for{first}")
        figure = plot("breakdown", made, "Mean latency by segment")
    return figure + table(head, rows[:_ROWS], caption="Measures of each point") + more


# --- systems and parameters ------------------------------------------------------------------------------------------


def _systems(systems: Sequence[Values]) -> Iterator[str]:
    for index, system in enumerate(systems):
        try:
            graph = graph_of(Resolved(from_plain(system["spec"], Origin())))
        except InputError:
            continue
        drawn = pictures(graph, load_of(system["summary"]))
        about = (
            f"{drawn[0].about}. Colour: how busy each direction was, at its sender. Grey discs: what waits."
        )
        shown = system_map(drawn, about, f"{index}-")
        yield f"<h3>{escape(described_point(system['at']))}</h3>{shown}"


def _parameters(outcome: Values) -> str:
    if not outcome["systems"]:
        return "<p>None is kept.</p>"
    first = outcome["systems"][0]
    text = to_yaml(first["spec"])
    cut = text if len(text) <= 20_000 else text[:20_000].rpartition("\n")[0] + "\n# ..."
    about = f"The resolved spec of {described_point(first['at'])}"
    return f'<p class="soft">{escape(about)}:</p><pre tabindex="0">{escape(cut)}</pre>'


def _provenance(outcome: Values) -> str:
    costs = [point["cost"] for point in outcome["points"]]
    hashes = sorted({str(point["spec_hash"]) for point in outcome["points"] if point["spec_hash"]})
    specs = ", ".join(hashes[:8]) + (f" and {len(hashes) - 8} more" if len(hashes) > 8 else "")
    events = [cost["events"] for cost in costs if "events" in cost]  # KV caches have none
    return facts(
        [
            ("version", f"cxloom {outcome['version']}"),
            *([("again", outcome["command"])] if outcome["command"] else []),
            *([("specs", specs)] if specs else []),
            (
                "cost",
                f"{sum(cost['cpu_seconds'] for cost in costs):.1f} s of CPU in {counted(len(costs), 'run')}",
            ),
            ("memory", f"at most {size(max(cost['peak_memory_bytes'] for cost in costs))}"),
            *([("events", f"{sum(events):,}")] if events else []),
        ]
    )
