"""The page of a run: how fast, how long, where the time went, how busy everything was, and what was simulated."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cxloom.base.errors import InputError
from cxloom.base.words import counted, plural
from cxloom.display.numbers import duration, margin, percent, significant, size
from cxloom.draw.graph import MOST, Graph, graph_of
from cxloom.draw.picture import loads_of, pictures
from cxloom.report import plots
from cxloom.report.latency_section import latency_section
from cxloom.report.page import (
    Cell,
    Section,
    answer,
    document,
    facts,
    notes,
    plot,
    refused_unless_whole,
    system_map,
    table,
    tiles,
)
from cxloom.report.run_answer import answer_of_run
from cxloom.report.series import Series, series_of
from cxloom.report.tail_section import tail_section
from cxloom.report.task_section import task_section, task_tiles
from cxloom.report.utilisation import Direction, directions, load_of
from cxloom.results import fences, removals, replications
from cxloom.results.blast import hit_hardest
from cxloom.results.caveats import error_count, error_sentence
from cxloom.results.kinds import by_kind
from cxloom.results.result import Result
from cxloom.results.sharing import COUNTS, LINES, PAIRS, line_rows, pair_rows
from cxloom.results.threads import threads_lines
from cxloom.results.tiering import tierings
from cxloom.spec.writer import to_yaml

if TYPE_CHECKING:
    from cxloom.base.summary import Component, Summary, SummaryRead

_Counted = Literal["requests", "packets"]
_Held = Literal["queue_mean", "in_flight_mean"]

_BARS = 16
"""The most memories that have a bar of their own: the slowest."""
_ROWS = 500
"""The most rows of a table."""
_LONGEST_SPEC = 60_000


def run_page(result: Result, directory: Path) -> str:
    """The text of the page. Raises InputError for results that are not whole."""
    summary = result.summary
    with refused_unless_whole("the whole summary of a run", "cxloom run --out", directory):
        lead = answer(answer_of_run(result.spec, summary)) + _lead(summary)
        return document(title_of(result), lead, list(_sections(result, directory)), _foot(summary))


def title_of(result: Result) -> str:
    """The name of the system, or what it is made of."""
    name = result.spec.root.get("name")
    return str(name.value) if name is not None else "A run of cxloom"


def graph_of_result(result: Result) -> Graph | None:
    """What there is to draw of the system; None if it is too large."""
    try:
        return graph_of(result.spec)
    except InputError:
        return None


def _foot(summary: Summary) -> str:
    return f"cxloom {escape(summary['version'])}. This page holds all that it needs; nothing is fetched."


def _lead(summary: Summary) -> str:
    if tasks := summary.get("tasks"):
        return tiles(task_tiles(tasks)) + _notes(summary)
    if not summary["requests"]:
        return _notes(summary) + "<p>Nothing was measured.</p>"
    latency = summary["latency_ns"]
    interval = latency.get("ci95")
    known = f"{margin(latency['mean'], interval, '± ').strip()} (95 %)" if interval else ""
    busiest = max(
        (way for way in directions(summary) if way.busy is not None),
        key=lambda way: way.in_use or 0,
        default=None,
    )
    entries = [
        ("bandwidth", f"{significant(summary['bandwidth_gb_per_s'], 4)} GB/s", _shares(summary)),
        ("mean latency", f"{significant(latency['mean'], 4)} ns", known),
        (
            "99th percentile",
            f"{significant(latency['p99'], 4)} ns",
            f"median {significant(latency['p50'], 4)} ns",
        ),
        (
            "99.9th percentile",
            f"{significant(latency['p999'], 4)} ns",
            f"largest {significant(latency['max'], 4)} ns",
        ),
        (
            "requests measured",
            f"{summary['requests']:,}",
            f"in {duration(summary['simulated_time_ns'])} simulated",
        ),
    ]
    if busiest is not None:
        entries.append(("busiest wire", percent(busiest.in_use or 0), busiest.name))
    return tiles(entries) + _notes(summary)


def _shares(summary: Summary) -> str:
    parts = [(kind, part) for kind, part in by_kind(summary).items() if part["requests"]]
    return ", ".join(f"{kind} {significant(part['bandwidth_gb_per_s'])}" for kind, part in parts)


def _notes(summary: Summary) -> str:
    lines = list(summary.get("notes", ()))
    if said := error_sentence(summary):
        lines.insert(0, said)
    return notes(lines, bad=f"Truncated: {summary['stop_reason']}" if summary["truncated"] else "")


def _sections(result: Result, directory: Path) -> Iterator[Section]:
    summary = result.summary
    if tasks := summary.get("tasks"):
        yield Section("tasks", "The tasks", task_section(tasks))
    if summary["requests"]:
        yield Section("time", "Where the time goes", _breakdown(summary))
    graph = graph_of_result(result)
    if graph is not None:
        drawn = pictures(graph, load_of(summary))
        about = (
            "The half of a link at a device has the colour of the direction that it sends. "
            + ("Dotted: no bandwidth is given, nothing waits there. " if None in loads_of(drawn[0]) else "")
            + "Grey discs: what waits on average, by area"
            f" (the largest: {significant(drawn[0].largest_queue)}); of requesters, the requests on their way."
        )
        yield Section("system", "The system", system_map(drawn, about))
    else:
        yield Section(
            "system", "The system", f'<p class="soft">Too large to be drawn: over {MOST:,} nodes.</p>'
        )
    if summary["requests"]:
        yield Section("latency", "How latencies are distributed", latency_section(result))
        if slow := tail_section(result):
            yield Section("tail", "What makes the slowest requests slow", slow)
    series = series_of(result)
    if series:
        yield Section("series", "Over time", _series(series))
    yield Section("parts", "Part by part", "".join(_tables(summary)))
    yield Section("parameters", "Parameters", _parameters(result))
    yield Section("provenance", "Provenance", _provenance(summary, directory))


# --- plots -----------------------------------------------------------------------------------------------------------


def bars_of(summary: Summary) -> dict[str, Mapping[str, Any]]:
    """The breakdowns that have a bar: all, each kind, and each memory where there are several."""
    parts: dict[str, Summary | SummaryRead | Component] = {"all": summary}
    kinds = {plural(kind): part for kind, part in by_kind(summary).items() if part["requests"]}
    parts |= kinds if len(kinds) > 1 else {}
    memories = {name: part for name, part in summary["per_memory"].items() if part["requests"]}
    if len(memories) > 1:
        slowest = sorted(memories, key=lambda name: -memories[name]["latency_ns"]["mean"])[:_BARS]
        parts |= {name: part for name, part in memories.items() if name in slowest}
    return {name: part["breakdown_ns"] for name, part in parts.items()}


def _breakdown(summary: Summary) -> str:
    figure = plots.breakdown(bars_of(summary), "Mean latency by what a request waits for")
    more = len([1 for part in summary["per_memory"].values() if part["requests"]]) - _BARS
    rest = (
        f'<p class="soft">And {counted(more, "memory")} that {"is" if more == 1 else "are"} faster.</p>'
        if more > 0
        else ""
    )
    text = (
        "Every picosecond of every request is charged to what it was spent on, so that the parts sum to the latency. "
        "Click on a name below the plot to hide it."
    )
    return f'<p class="soft">{text}</p>{plot("breakdown", figure, "Mean latency by segment")}{rest}'


def _series(series: Sequence[Series]) -> str:
    figures = []
    for each in series:
        y = plots.titled(each.unit, rangemode="tozero", showgrid=True)
        if each.key in ("busy", "nearest"):
            y |= {"range": [0, 104]}
        figure = plots.lines(
            each.curves,
            each.title,
            plots.titled(f"simulated time ({each.time_unit})", rangemode="tozero"),
            y,
            tip="{y} at {x}",
        )
        figures.append(plot(each.key, figure, each.title))
    return f'<div class="pair">{"".join(figures)}</div>'


# --- tables ----------------------------------------------------------------------------------------------------------


def _tables(summary: Summary) -> Iterator[str]:
    ways = sorted(directions(summary), key=lambda way: (-(way.in_use or 0), -way.payload, way.name))
    if ways:
        slots = any(way.slots is not None for way in ways)
        head = [
            "link or bus",
            "busy",
            *(["slots in use"] if slots else []),
            "GB/s",
            "payload / bytes",
            "queue mean",
            "p99",
            "max",
            "waits for credits",
        ]
        yield _limited(
            head,
            [_direction(way, slots=slots) for way in ways],
            "Links and buses, each direction; the busiest first",
        )
    groups: tuple[tuple[Mapping[str, Component], str, _Counted, _Held], ...] = (
        (summary.get("per_memory", {}), "Memories", "requests", "queue_mean"),
        (summary.get("per_requester", {}), "Requesters", "requests", "in_flight_mean"),
        (summary.get("per_io", {}), "I/O engines", "packets", "in_flight_mean"),
    )
    for devices, title, count, occupancy in groups:
        if devices:
            head = [
                "name",
                count,
                *(["errors"] if any(map(error_count, devices.values())) else []),
                "GB/s",
                "mean ns",
                "p50",
                "p99",
                "p99.9",
                "max",
                occupancy.replace("_", " "),
            ]
            yield _limited(
                head,
                [
                    _device(name, device, count, occupancy, errors="errors" in head)
                    for name, device in devices.items()
                ],
                title,
            )
    if waits := fences.rows(summary):
        yield _limited(fences.HEADS, waits, "What accesses behind fences waited for, beside their own time")
    yield from _shared(summary)
    homes = summary.get("per_home", {})
    if homes:
        yield _limited(
            ["home", *(_HOME[key] for key in _HOME)],
            [_home(name, home) for name, home in homes.items()],
            "Homes of coherent lines",
        )
    tiered = tierings(summary)
    if tiered:
        yield _limited(
            ["requester", *_TIERING.values()],
            [[name, *(number(found.get(key)) for key in _TIERING)] for name, found in tiered.items()],
            "What moving pages to nearer memory took, in the whole run",
        )
    yield from _happened(summary)


def _happened(summary: Summary) -> Iterator[str]:
    """What failed and was repaired, what was taken out of use, and what became of copies."""
    events = summary.get("events", {})
    if events:
        yield _limited(
            ["event", *_EVENT.values(), "hit hardest"],
            [
                [name, *(number(event[key]) for key in _EVENT), hit_hardest(event) or "-"]
                for name, event in events.items()
            ],
            "What failed and was repaired, and what each cost until the next",
        )
    if removed := removals.rows(summary):
        yield _limited(removals.HEADS, removed, "Memories that were taken out of use")
    if replicated := replications.rows(summary):
        yield _limited(replications.HEADS, replicated, "Regions with copies in several memories")


def _shared(summary: Summary) -> Iterator[str]:
    """What requesters missed of each other: by pair, and by line."""
    for first, shared, title in (
        (PAIRS, pair_rows(summary), "Stores that requesters missed of each other"),
        (LINES, line_rows(summary), "Lines whose stores were missed"),
    ):
        if shared:
            named = [[name, f"{stale:,}", f"{lost:,}"] for name, stale, lost in shared]
            yield _limited([first, *COUNTS], named, title)


def _limited(head: Sequence[str], rows: Sequence[Sequence[Cell | str]], title: str) -> str:
    more = len(rows) - _ROWS
    rest = f'<p class="soft">And {more:,} more.</p>' if more > 0 else ""
    return table(head, rows[:_ROWS], caption=title) + rest + "<br>"


def _direction(way: Direction, *, slots: bool) -> list[Cell | str]:
    busy = Cell("no limit") if way.busy is None else Cell(percent(way.busy), way.busy)
    return [
        way.name if "#" not in way.link else f"{way.name} #{way.link.partition('#')[2]}",
        busy,
        *([Cell("-") if way.slots is None else Cell(percent(way.slots), way.slots)] if slots else []),
        number(way.payload, 4),
        Cell("-") if not way.efficiency else Cell(percent(way.efficiency), way.efficiency),
        number(way.queue_mean),
        number(way.queue_p99),
        number(way.queue_max),
        Cell(percent(way.credit_blocked), way.credit_blocked),
    ]


def _device(
    name: str, values: Component, count: _Counted, occupancy: _Held, *, errors: bool
) -> list[Cell | str]:
    latency = values["latency_ns"]
    return [
        name,
        Cell(f"{values[count]:,}", values[count]) if count in values else "-",
        *([Cell(f"{error_count(values):,}", error_count(values))] if errors else []),
        number(values.get("bandwidth_gb_per_s"), 4),
        *(number(latency[key], 4) for key in _LATENCY),
        number(values.get(occupancy)),
    ]


_LATENCY: tuple[Literal["mean", "p50", "p99", "p999", "max"], ...] = ("mean", "p50", "p99", "p999", "max")

_EVENT: dict[Literal["rerouted", "failed", "lost", "lasted_ns", "away_ns", "never_made"], str] = {
    "rerouted": "rerouted messages",
    "failed": "error answers",
    "lost": "lost messages",
    "lasted_ns": "lasted ns",
    "away_ns": "away ns",
    "never_made": "requests never made",
}

_TIERING: dict[
    Literal[
        "faults",
        "fault_ns",
        "pages_moved",
        "pages_not_moved",
        "promoted_bytes",
        "demoted_bytes",
        "page_moves_ns",
        "page_wait_ns",
        "shootdowns",
        "interrupted_ns",
    ],
    str,
] = {
    "faults": "hint faults",
    "fault_ns": "their ns",
    "pages_moved": "pages moved",
    "pages_not_moved": "stayed",
    "promoted_bytes": "bytes to nearer nodes",
    "demoted_bytes": "bytes to farther nodes",
    "page_moves_ns": "ns of moves",
    "page_wait_ns": "ns that accesses waited for them",
    "shootdowns": "shoot-downs",
    "interrupted_ns": "ns taken of threads",
}

_HOME: dict[
    Literal[
        "filter_hits",
        "filter_misses",
        "filter_evictions",
        "snoops_sent",
        "lines_invalidated",
        "invalidation_wait_ns",
    ],
    str,
] = {
    "filter_hits": "filter hits",
    "filter_misses": "misses",
    "filter_evictions": "evictions",
    "snoops_sent": "snoops",
    "lines_invalidated": "lines invalidated",
    "invalidation_wait_ns": "wait ns",
}


def _home(name: str, values: Component) -> list[Cell | str]:
    return [name, *(number(values.get(key), 4) for key in _HOME)]


def number(value: float | None, digits: int = 3) -> Cell:
    """A cell of a number; a dash where there is none."""
    if value is None:
        return Cell("-")
    return Cell(f"{value:,}" if isinstance(value, int) else significant(value, digits), float(value))


# --- parameters ------------------------------------------------------------------------------------------------------


def _parameters(result: Result) -> str:
    text = to_yaml(result.spec.plain())
    if len(text) > _LONGEST_SPEC:
        cut = text[:_LONGEST_SPEC].rpartition("\n")[0]
        text = f"{cut}\n# and {len(text) - len(cut):,} more characters in spec.yaml"
    about = "The resolved spec: run again, it gives the same results."
    return f'<p class="soft">{about}</p><pre tabindex="0">{escape(text)}</pre>'


def _provenance(summary: Summary, directory: Path) -> str:
    cost = summary["cost"]
    speed = cost["events"] / cost["cpu_seconds"] if cost["cpu_seconds"] else 0.0
    return facts(
        [
            ("version", f"cxloom {summary['version']}"),
            ("spec", summary["spec_hash"]),
            ("seed", str(summary["seed"])),
            ("again", f"cxloom run {shlex.quote(str(directory / 'spec.yaml'))}"),
            ("ended", f"{summary['stop_reason']}{' (truncated)' if summary['truncated'] else ''}"),
            (
                "stationary",
                {True: "yes", False: "no", None: "too few requests to decide"}[summary.get("stationary")],
            ),
            (
                "cost",
                f"{cost['wall_seconds']:.2f} s, of CPU {cost['cpu_seconds']:.2f} s, {size(cost['peak_memory_bytes'])}",
            ),
            ("events", f"{cost['events']:,}, {speed / 1e6:.2f} million per CPU second"),
            *(("threads", line) for line in threads_lines(cost)),
            ("requests simulated", f"{cost.get('requests', summary['requests']):,}, with warm-up and drain"),
        ]
    )
