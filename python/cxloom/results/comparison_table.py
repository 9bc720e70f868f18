"""The tables of systems side by side, for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from cxloom.display.numbers import margin, narrow
from cxloom.display.plain_table import plain_table
from cxloom.results.comparison_rows import Row


def tables(rows: Sequence[Row], names: Sequence[str]) -> list[Table]:
    """The table of the measures, and that of the parts of the latency that changed, if there are any.

    Args:
        rows: what is shown.
        names: what the systems are called in the heads of the columns, each by its place in a row.
    """
    found = [_table([row for row in rows if not row.is_part], "measure", names)]
    parts = [row for row in rows if row.is_part]
    return found + ([_table(parts, "changed part of the latency", names)] if parts else [])


def has_doubtful(rows: Sequence[Row]) -> bool:
    """Whether a table has changes that may be none, which it marks with `?`."""
    changes = [row.change(at) for row in rows if not row.is_part for at in range(1, len(row.values))]
    return any(not change.is_clear and not math.isnan(change.difference) for change in changes)


def _table(rows: Sequence[Row], title: str, names: Sequence[str]) -> Table:
    table = plain_table()
    table.add_column(title, no_wrap=True)
    for name in names:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for name in names[1:]:
        table.add_column(Text(f"{name} - {names[0]}"), justify="right", no_wrap=True)
    for row in rows:
        values = [_value(row, at) for at in range(len(names))]
        changes = [_change(row, at) for at in range(1, len(names))]
        table.add_row(Text(f"{row.name}, {row.unit}" if row.unit else row.name), *values, *changes)
    return table


def _value(row: Row, at: int) -> str:
    if math.isnan(row.values[at]):
        return "-"
    interval = row.intervals[at]
    if interval is None:
        return narrow(row.values[at])
    return f"{narrow(row.values[at])}{margin(row.values[at], interval, '±')}"


def _change(row: Row, at: int) -> str:
    change = row.change(at)
    if math.isnan(change.difference):
        return "-"
    if row.is_part or change.relative is None:
        return f"{'+' if change.difference > 0 else ''}{narrow(change.difference)}"
    return f"{100 * change.relative:+.1f} %" + ("" if change.is_clear else " ?")
