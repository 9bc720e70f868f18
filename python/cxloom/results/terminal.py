"""The table at the end of a run: one screen that says how fast, how long, and where the time went."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from cxloom.base.words import counted
from cxloom.display.console import output, plain
from cxloom.display.notes import folded
from cxloom.display.numbers import duration, margin, narrow, percent, size
from cxloom.display.tables import shortened
from cxloom.results import fences, removals, replications, tiering
from cxloom.results.busiest import fullest, used
from cxloom.results.caveats import error_count, error_sentence
from cxloom.results.kinds import by_kind
from cxloom.results.sharing import COUNTS, PAIRS, pair_rows, with_pairs
from cxloom.results.threads import threads_lines

if TYPE_CHECKING:
    from cxloom.base.summary import (
        Component,
        Summary,
        SummaryCoherence,
        SummaryEvents,
        SummaryRead,
        SummaryTasks,
    )

LINES = 45
"""The most lines that the table takes."""
COLUMNS = 80
"""The most columns that it takes, unless its figures need more."""

_BAR = 24
_GAP = 2
"""Blanks before figures and bars; as padding, they would have each cell laid out twice."""
_NAME = 16
"""Names are not made shorter than this for bars."""
_LEAST = 8
"""Names are not made shorter than this for figures."""
_ROWS = range(8, 1, -1)
"""How many rows each table of devices may have."""
_BUSIEST = 6
_EVENTS = 6
"""At least, whatever is left of the screen: who makes things fail looks for them."""
_TROUBLES = 4
_NOTABLE = 0.01
"""Waiting for credits is worth a line from this share of the time on."""

_Latency = Literal["mean", "p50", "p99", "p999", "max"]
_Counted = Literal["requests", "packets"]
_Held = Literal["queue_mean", "in_flight_mean"]


def show(summary: Summary) -> None:
    """Prints the table on standard output: in colour on a terminal, plain ASCII where nothing else can be shown."""
    blocks = _blocks(sys.stdout.encoding)
    out = output()
    if out.is_terminal:
        report = _report(summary, blocks, out.width)
        output(at_least=_needed(report)).print(report)
    else:
        encoding = sys.stdout.encoding or "utf-8"
        print(_plain(summary, blocks).encode(encoding, "replace").decode(encoding))


def to_text(summary: Summary) -> str:
    """The table as plain text, 80 columns wide, or as wide as its figures need."""
    return _plain(summary, _blocks("utf-8"))


def _plain(summary: Summary, blocks: str) -> str:
    """The lines of `_report`, which are counted as they are written: tables are laid out once."""
    for rows in _ROWS:
        report = _with_rows(summary, blocks, rows, COLUMNS)
        file = io.StringIO()
        plain(file, at_least=_needed(report)).print(report)
        lines = file.getvalue().splitlines()
        if len(lines) <= LINES:
            break
    return "\n".join(line.rstrip() for line in lines)


def _needed(report: Group) -> int:
    """How many columns the figures of all tables need; names give way to them, down to the width that a table has."""
    return max((_width(part) for part in report.renderables if isinstance(part, Table)), default=0)


def _width(table: Table) -> int:
    """The fewest columns that a table can have: those of its names and figures, for bars give way."""
    return sum(column.min_width or 0 for column in table.columns)


def _keep_figures(table: Table, width: int) -> None:
    """Makes every column of figures as wide as the widest of them and the gap before it, whatever room there is.

    Where lines would be too long, short names leave the room that they do not need, then heads are folded, then names
    are shortened as far as they can be told apart.
    """
    names, *others = table.columns
    figures = [column for column in others if column.justify == "right"]
    for column in figures:
        column.min_width = _GAP + _widest(column)
    if _width(table) > width:
        names.min_width = min(_NAME, _widest(names))
    if _width(table) > width:
        for column in figures:
            column.header = str(column.header).replace(" ", "\n")
            column.min_width = _GAP + _widest(column)
    least = names.min_width or 0
    room = width - _width(table) + least
    bars = sum(_widest(column) - _GAP for column in others if column not in figures)
    names.min_width = min(least, _shorten(names, max(room - bars, min(room, least))))


def _shorten(names: Column, room: int) -> int:
    """Leaves out the middle of names that have no room; the room that they take then. What has a style is no name."""
    cells = [cell for cell in names.cells if isinstance(cell, Text) and not cell.style]
    different = {cell.plain for cell in cells}
    room = max(room, _LEAST)
    while len({shortened(name, room) for name in different}) < len(different):
        room += 1
    for cell in cells:
        cell.plain = shortened(cell.plain, room)
    return room


def _widest(column: Column) -> int:
    texts = [str(column.header), *map(str, column.cells)]
    return max(len(line) for text in texts for line in text.split("\n"))


def _report(summary: Summary, blocks: str, width: int = COLUMNS) -> Group:
    """The table with as many rows for devices as a screen has room for beside all else that has to be said."""
    for rows in _ROWS:
        report = _with_rows(summary, blocks, rows, width)
        lines = plain(io.StringIO(), at_least=max(width, _needed(report))).render_lines(report)
        if len(lines) <= LINES:
            break
    return report


def _with_rows(summary: Summary, blocks: str, rows: int, width: int) -> Group:
    events = summary.get("events", {})
    if tasks := summary.get("tasks"):
        return _of_tasks(summary, tasks, blocks, rows, width)
    if not summary["requests"]:
        happened: list[RenderableType] = ["", _events(events, max(rows, _EVENTS))] if events else []
        return Group(_headline(summary, blocks), *happened, *_troubles(summary), "", _provenance(summary))
    requesters, memories = summary.get("per_requester", {}), summary.get("per_memory", {})
    engines = summary.get("per_io", {})
    tables: list[tuple[str, Mapping[str, Component], _Counted, _Held]] = []
    if len(requesters) > 1:
        tables.append(("requester", requesters, "requests", "in_flight_mean"))
    tables.append(("memory", memories, "requests", "queue_mean"))
    if engines:
        tables.append(("I/O engine", engines, "packets", "in_flight_mean"))
    homes = {name: values for name, values in summary.get("per_home", {}).items() if _lookups(values)}
    parts: list[RenderableType] = [_headline(summary, blocks), "", _performance(summary)]
    parts += ["", _breakdown(summary, blocks)]
    for title, devices, column, occupancy in tables:
        parts += ["", _devices(title, devices, column, occupancy, rows)]
    if waits := fences.rows(summary):
        parts += ["", fences.with_rows(_table(*fences.HEADS), waits, max(rows, 2))]
    if homes:
        parts += ["", *_coherence(homes, summary["coherence"], max(rows, 3))]
    if pairs := pair_rows(summary):
        parts += ["", with_pairs(_table(PAIRS, *COUNTS), pairs, max(rows, 2))]
    if tiered := tiering.tierings(summary):
        parts += ["", tiering.with_rows(_table(*tiering.HEADS), tiered, max(rows, 2))]
    busiest = _busiest(summary, min(rows, _BUSIEST), blocks)
    if busiest is not None:
        parts += ["", busiest]
    if events:
        parts += ["", _events(events, max(rows, _EVENTS))]
    if removed := removals.rows(summary):
        parts += ["", removals.with_rows(_table(*removals.HEADS), removed, max(rows, 2))]
    if replicated := replications.rows(summary):
        parts += ["", replications.with_rows(_table(*replications.HEADS), replicated, max(rows, 2))]
    for part in parts:
        if isinstance(part, Table):
            _keep_figures(part, width)
    return Group(*parts, *_troubles(summary), "", _provenance(summary))


def _of_tasks(summary: Summary, tasks: SummaryTasks, blocks: str, rows: int, width: int) -> Group:
    """A graph of tasks is what is measured; of requests it is said where the time of theirs went."""
    from cxloom.tasks import table as task_table

    parts: list[RenderableType] = [Text(task_table.headline(tasks), style="bold")]
    if summary["truncated"]:
        parts.insert(0, Text.assemble(("TRUNCATED", "bold red"), f" ({summary['stop_reason']})"))
    for each in task_table.tables(tasks, rows):
        parts += ["", each]
    if summary["requests"]:
        parts += ["", _performance(summary)]
    if (busiest := _busiest(summary, min(rows, _BUSIEST), blocks)) is not None:
        parts += ["", busiest]
    for part in parts:
        if isinstance(part, Table):
            _keep_figures(part, width)
    return Group(*parts, *_troubles(summary), "", _provenance(summary))


def _headline(summary: Summary, blocks: str) -> Text:
    measured = f"{counted(summary['requests'], 'request')} in {duration(summary['simulated_time_ns'])}"
    if summary["truncated"] and not summary["requests"]:
        return Text.assemble(
            ("TRUNCATED", "bold red"), f" ({summary['stop_reason']}) before anything was measured"
        )
    if summary["truncated"]:
        return Text.assemble(
            ("TRUNCATED", "bold red"), f" ({summary['stop_reason']}): {measured} measured so far"
        )
    interval = summary["latency_ns"].get("ci95")
    if interval is None:
        return Text(f"{measured} of simulated time")
    mean, sign = summary["latency_ns"]["mean"], "+-" if len(blocks) == 1 else "±"
    width = margin(mean, interval, f"{sign} ")
    known = f"{measured} of simulated time, mean {narrow(mean, 4)}{width} ns"
    unsteady = ", not stationary" if summary.get("stationary") is False else ""
    return Text.assemble(known, (unsteady, "bold yellow"))


def _performance(summary: Summary) -> Table:
    table = _table("", "requests", "GB/s", "mean ns", "p50", "p99", "p99.9", "max")
    parts: dict[str, Summary | SummaryRead] = {"all": summary, **by_kind(summary)}
    for name, part in parts.items():
        if name == "all" or part["requests"]:
            measures = _measures(part, "mean", "p50", "p99", "p999", "max")
            table.add_row(Text(name, style="bold"), f"{part['requests']:,}", *measures)
    return table


def _measures(part: Summary | SummaryRead | Component, *keys: _Latency) -> list[str]:
    values = [part["latency_ns"][key] for key in keys]  # none where all were answered without data
    latency = ["-" if value is None else narrow(value, 4) for value in values]
    bandwidth = part.get("bandwidth_gb_per_s")  # an I/O engine of a plug-in need not measure it
    return ["-" if bandwidth is None else f"{bandwidth:.2f}", *latency]


def _breakdown(summary: Summary, blocks: str) -> Table:
    segments = {name: value for name, value in summary["breakdown_ns"].items() if value > 0}
    table = _table("where a request's time went", "mean ns", "share")
    table.add_column(no_wrap=True, min_width=_GAP)
    largest = max(segments.values(), default=1.0)
    for name, value in segments.items():
        bar = Text(" " * _GAP + _bar(value / largest, blocks), style="cyan")
        table.add_row(Text(name), narrow(value, 4), percent(value / summary["latency_ns"]["mean"]), bar)
    return table


def _devices(
    title: str, devices: Mapping[str, Component], column: _Counted, occupancy: _Held, limit: int
) -> Table:
    """A row for each device that was used, or those with most errors, then with most of `column`.

    `occupancy` is a key: the mean of its queue.
    """
    active = {name: values for name, values in devices.items() if _was_used(values, column)}
    errors = any(error_count(values) for values in devices.values())
    heads = [column, *(["errors"] if errors else []), "GB/s", "mean ns", "p99", "max"]
    table = _table(title, *heads, occupancy.replace("_", " "))
    shown = active
    if len(active) > limit:
        most = sorted(active.items(), key=lambda item: (-error_count(item[1]), -item[1][column]))
        shown = dict(most[: limit - 1])
    for name, values in shown.items():
        measures = _measures(values, "mean", "p99", "max")
        wrong = [f"{error_count(values):,}"] if errors else []
        held = narrow(values[occupancy], 3) if occupancy in values else "-"
        table.add_row(Text(name), f"{values[column]:,}", *wrong, *measures, held)
    if len(active) > limit:
        table.add_row(Text(f"and {len(active) - len(shown)} more", style="dim"))
    return table


def _was_used(values: Component, column: _Counted) -> bool:
    return bool(values.get(column) or values.get("reads") or values.get("writes") or error_count(values))


def _lookups(home: Component | SummaryCoherence) -> int:
    return int(home["filter_hits"] + home["filter_misses"])


def _coherence(homes: Mapping[str, Component], total: SummaryCoherence, limit: int) -> tuple[Table, Text]:
    """A row for each home of coherent lines that was asked, or for those that were asked most, and one for all."""
    table = _table("home", "lookups", "hits", "snoops", "invalidated", "evictions", "entries")

    def add(name: str | Text, home: Component | SummaryCoherence) -> None:
        table.add_row(
            Text(name) if isinstance(name, str) else name,
            f"{_lookups(home):,}",
            percent(home["filter_hits"] / _lookups(home)),
            f"{home['snoops_sent']:,}",
            f"{home['lines_invalidated']:,}",
            f"{home['filter_evictions']:,}",
            f"{home['filter_entries']:,}",
        )

    most = (
        homes if len(homes) < limit else sorted(homes, key=lambda name: -_lookups(homes[name]))[: limit - 2]
    )
    for name in homes:
        if name in most:
            add(name, homes[name])
    if len(most) < len(homes):
        table.add_row(Text(f"and {len(homes) - len(most)} more", style="dim"))
    if len(homes) > 1:
        add(Text("all", style="bold"), total)
    given_up = counted(total["lines_invalidated_live"], "line")
    wait = narrow(total["invalidation_wait_ns"], 4)
    return table, Text(f"caches gave up {given_up} that they held; invalidations took {wait} ns", style="dim")


def _events(events: Mapping[str, SummaryEvents], limit: int) -> Table:
    """A row for each failure and repair, in the order of time, or for those that cost most messages."""
    table = _table("event", "rerouted", "error answers", "lost", "lasted")

    def cost(name: str) -> int:
        return int(events[name]["rerouted"] + events[name]["failed"] + events[name]["lost"])

    most = list(events) if len(events) <= limit else sorted(events, key=cost, reverse=True)[: limit - 1]
    for name, values in events.items():
        if name in most:
            counts = (f"{each:,}" for each in (values["rerouted"], values["failed"], values["lost"]))
            table.add_row(Text(name), *counts, duration(values["lasted_ns"]) if values["lasted_ns"] else "-")
    if len(most) < len(events):
        table.add_row(Text(f"and {len(events) - len(most)} more", style="dim"))
    return table


def _busiest(summary: Summary, limit: int, blocks: str) -> Table | None:
    """Directions of links and buses, the fullest first; what a bus sends is in its own row."""
    shown = fullest(summary)[:limit]
    if not shown:
        return None
    in_flits = any(each.slots is not None for each in shown)
    heads = ["slots in use"] if in_flits else []
    table = _table("busiest links and buses", "GB/s", "queue mean", *heads, "busy")
    table.add_column(no_wrap=True, min_width=_GAP)
    for each in shown:
        slots = ["-" if each.slots is None else percent(each.slots)] if in_flits else []
        style = "yellow" if each.in_use < 0.9 else "red"
        bar = Text(" " * _GAP + _bar(each.in_use, blocks), style=style)
        rate, queue = f"{each.payload:.2f}", narrow(each.queue, 3)
        table.add_row(Text(each.name), rate, queue, *slots, percent(each.busy), bar)
    return table


def _troubles(summary: Summary) -> list[Text]:
    """What kept links from being used: credits, retries, failed requests. The worst directions, a line each."""
    length = summary["simulated_time_ns"]
    if not length:
        return []
    ways = used(summary)
    found = [
        (share, f"credits: {name} waited {percent(share)} of the time for those of {kind}")
        for name, values in ways
        for kind, time in values["credit_blocked_ns_by_class"].items()
        if (share := time / length) >= _NOTABLE
    ]
    for name, values in ways:
        flits = values.get("flits", {})
        if flits.get("errors"):
            again, share = flits["errors"], flits["retry_share"]
            found.append(
                (share, f"retries: {name} sent {counted(again, 'flit')} again, {percent(share)} of the time")
            )
    lines = [line for _, line in sorted(found, reverse=True)[:_TROUBLES]]
    if said := error_sentence(summary):
        lines.insert(0, f"errors: {said}")
    lines += _refused(summary)
    return [Text(line, style="yellow") for line in lines]


def _refused(summary: Summary) -> list[str]:
    """Devices that answered requests with errors, a line for each reason. The worst ones."""
    switches, memories = summary["per_switch"].items(), summary["per_memory"].items()
    counts = [(name, each.get("isolation_errors"), "their devices were not bound") for name, each in switches]
    counts += [
        (name, each.get("removal_errors"), "their devices had been removed") for name, each in switches
    ]
    counts += [(name, each.get("extent_errors"), "outside their extents") for name, each in memories]
    found = [
        (count, f"refused: {name} answered {counted(count, 'request')} with an error: {why}")
        for name, count, why in counts
        if count
    ]
    return [line for _, line in sorted(found, reverse=True)[:_TROUBLES]]


def _provenance(summary: Summary) -> Text:
    cost = summary["cost"]
    speed = cost["events"] / cost["cpu_seconds"] if cost["cpu_seconds"] else 0.0
    notes = "".join(f"note: {note}\n" for note in folded(summary.get("notes", [])))
    threads = "".join(f"\n{line}" for line in threads_lines(cost))
    return Text(
        f"{notes}seed {summary['seed']}, spec {summary['spec_hash']}, cxloom {summary['version']}\n"
        f"{counted(cost['events'], 'event')} in {cost['wall_seconds']:.2f} s "
        f"({speed / 1e6:.2f} million per CPU second), {size(cost['peak_memory_bytes'])}"
        f"{threads}",
        style="dim",
    )


def _table(first: str, *numbers: str) -> Table:
    table = Table(box=None, header_style="dim", padding=0)
    table.add_column(first, overflow="ellipsis", min_width=_NAME)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _blocks(encoding: str | None) -> str:
    """What bars are made of: eighths of a block where they can be shown, otherwise number signs."""
    try:
        "█▏".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "#"
    return " ▏▎▍▌▋▊▉█"


def _bar(share: float, blocks: str) -> str:
    if len(blocks) == 1:
        return blocks * max(1, round(share * _BAR))
    eighths = max(1, round(share * _BAR * 8))
    return blocks[-1] * (eighths // 8) + blocks[eighths % 8].strip()
