"""The section of a page on the slowest requests: which parts make them slow, and whose they are."""

from __future__ import annotations

from html import escape

from cxloom.base.errors import InputError
from cxloom.display.numbers import percent, significant
from cxloom.report.page import Cell, table
from cxloom.results.result import Result
from cxloom.results.tail import Tail

_SHARES = (0.99, 0.999)
_FEWEST = 10
"""A percentile has a table if so many requests are beyond it."""
_ROWS = 40
"""The most devices in a table: those with the most of the slowest requests."""


def tail_section(result: Result) -> str:
    """What makes the requests beyond p99 and p99.9 slow; nothing for a run that recorded no requests, or few."""
    if "requests" not in result.tables:
        return ""
    try:
        tails = [result.tail(share) for share in _SHARES]
    except InputError:  # none was answered
        return ""
    rows = result.requests().height
    shown = [tail for tail in tails if (1 - tail.share) * rows >= _FEWEST]
    return "".join(_one(tail) for tail in shown)


def _one(tail: Tail) -> str:
    name = f"{100 * tail.share:g}th percentile"
    parts = [
        [_text(part.name), _number(part.of_tail_ns), _number(part.of_all_ns), _number(part.more_ns)]
        for part in tail.notable
    ]
    head = ["part of the latency", "slowest, ns", "all, ns", "more, ns"]
    tables = [
        table(head, parts, caption=f"Mean parts of the latency from the {name} on, beside all requests")
    ]
    if tail.groups:
        most = sorted(tail.groups, key=lambda group: -group.of_tail)[:_ROWS]
        groups = [
            [_text(f"{each.column} {each.name}"), _share(each.of_tail), _share(each.of_all)] for each in most
        ]
        head = ["whose they are", "of the slowest", "of all"]
        tables.append(table(head, groups, caption=f"Whose the requests from the {name} on are"))
    return f"<p>{escape(tail.sentence)}</p>{''.join(tables)}"


def _text(text: str) -> Cell:
    return Cell(text, look="text")


def _number(value: float) -> Cell:
    return Cell(significant(value), value)


def _share(value: float) -> Cell:
    return Cell(percent(value), value)
