"""What makes the slowest requests slow, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from cxloom.display.console import output
from cxloom.display.numbers import narrow, percent
from cxloom.display.plain_table import plain_table

if TYPE_CHECKING:
    from cxloom.results.tail import Tail

_ROWS = 6
"""Devices that are shown of each sort: those with the most of the slowest requests."""


def show_tail(tail: Tail) -> None:
    """Prints a sentence, and tables of the parts of the latency and of the devices."""
    out = output()
    out.print(Text(f"\n{tail.sentence}", style="bold"))
    parts = _table("part of the latency", "slowest, ns", "all, ns", "more, ns")
    for part in tail.notable:
        parts.add_row(part.name, narrow(part.of_tail_ns), narrow(part.of_all_ns), _signed(part.more_ns))
    parts.add_row(
        "mean",
        narrow(tail.mean_ns),
        narrow(tail.mean_of_all_ns),
        _signed(tail.mean_ns - tail.mean_of_all_ns),
    )
    out.print(parts)
    if tail.groups:
        groups = _table("whose they are", "of the slowest", "of all")
        for column in dict.fromkeys(group.column for group in tail.groups):
            of_column = sorted(
                (group for group in tail.groups if group.column == column), key=lambda group: -group.of_tail
            )
            for group in of_column[:_ROWS]:
                groups.add_row(Text(f"{column} {group.name}"), percent(group.of_tail), percent(group.of_all))
        out.print()
        out.print(groups)


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{narrow(value)}"


def _table(first: str, *others: str) -> Table:
    table = plain_table()
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table
