"""The section of a page on the slowest requests: which parts make them slow, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence
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
    shown = [tail for tail in tails if (1 - tail.share) * tail.of_count >= _FEWEST]
    if not shown:
        return ""
    said = "".join(f"<p>{escape(tail.sentence)}</p>" for tail in shown)
    return said + _parts(shown) + _groups(shown)


def _parts(tails: Sequence[Tail]) -> str:
    names = {part.name for tail in tails for part in tail.notable}
    of_tails = [{part.name: part.of_tail_ns for part in tail.parts} for tail in tails]
    rows = [
        [_text(part.name), _number(part.of_all_ns), *(_number(found[part.name]) for found in of_tails)]
        for part in tails[0].parts
        if part.name in names
    ]
    head = ["mean part of the latency", "all, ns", *(f"{_from(tail)}, ns" for tail in tails)]
    return table(head, rows, caption="Parts of the latency of the slowest requests, beside all") + "<br>"


def _groups(tails: Sequence[Tail]) -> str:
    if not tails[0].groups:
        return ""
    of_tails = [{(each.column, each.name): each.of_tail for each in tail.groups} for tail in tails]
    most = sorted(tails[0].groups, key=lambda group: -group.of_tail)[:_ROWS]
    rows = [
        [
            _text(f"{each.column} {each.name}"),
            _share(each.of_all),
            *(_share(found.get((each.column, each.name), 0.0)) for found in of_tails),
        ]
        for each in most
    ]
    head = ["share of requests", "all", *map(_from, tails)]
    return table(head, rows, caption="Whose the slowest requests are")


def _from(tail: Tail) -> str:
    return f"from p{100 * tail.share:g} on"


def _text(text: str) -> Cell:
    return Cell(text, look="text")


def _number(value: float) -> Cell:
    return Cell(significant(value), value)


def _share(value: float) -> Cell:
    return Cell(percent(value), value)
