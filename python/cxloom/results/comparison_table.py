"""Systems side by side, on a terminal."""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from cxloom.display.console import output
from cxloom.display.numbers import narrow
from cxloom.display.plain_table import plain_table, print_whole
from cxloom.display.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cxloom.results.comparison import Comparison, Row

_LETTERS = string.ascii_uppercase
"""The names of systems in the tables on a terminal."""


def show_comparison(comparison: Comparison) -> None:
    """Prints a sentence for each system but the first, and tables of the measures and of the parts that changed."""
    out = output()
    for sentence in comparison.sentences:
        out.print(Text(sentence, style="bold"))
    out.print()
    for letter, name in zip(_LETTERS, comparison.names, strict=False):
        out.print(Text.assemble((letter, "bold"), f"  {name}"), soft_wrap=True)
    for table in tables(comparison, _LETTERS[: len(comparison.names)]):
        out.print()
        print_whole(table)
    if _has_doubtful(comparison):
        out.print(Text("\n?: as far as the runs tell, no change", style="dim"))
    for note in comparison.notes:
        out.print(Text(f"\nnote: {note}", style="dim"))


def shown(comparison: Comparison) -> Shown:
    """The same, in which tables name the systems."""
    marked = ["? marks what is no change, as far as the runs tell"] if _has_doubtful(comparison) else []
    notes = [*marked, *comparison.notes]
    return Shown(comparison.sentences, tables(comparison, comparison.names), notes)


def tables(comparison: Comparison, names: Sequence[str]) -> list[Table]:
    """The table of the measures, and that of the parts of the latency that changed, if there are any.

    Args:
        comparison: what is shown.
        names: what the systems are called in the heads of the columns.
    """
    of_all = [row for row in comparison.rows if not row.is_part]
    parts = [row for row in comparison.rows if row.is_part]
    found = [_table(comparison, of_all, "measure", names)]
    return found + ([_table(comparison, parts, "changed part of the latency", names)] if parts else [])


def _has_doubtful(comparison: Comparison) -> bool:
    changes = [
        row.change(at) for row in comparison.rows if not row.is_part for at in range(1, len(comparison.names))
    ]
    return any(not change.is_clear and not math.isnan(change.difference) for change in changes)


def _table(comparison: Comparison, rows: list[Row], title: str, letters: Sequence[str]) -> Table:
    table = plain_table()
    table.add_column(title, no_wrap=True)
    for letter in letters:
        table.add_column(Text(letter), justify="right", no_wrap=True)
    for letter in letters[1:]:
        table.add_column(Text(f"{letter} - {letters[0]}"), justify="right", no_wrap=True)
    for row in rows:
        values = [_value(row, at) for at in range(len(comparison.names))]
        changes = [_change(row, at) for at in range(1, len(comparison.names))]
        table.add_row(Text(f"{row.name}, {row.unit}" if row.unit else row.name), *values, *changes)
    return table


def _value(row: Row, at: int) -> str:
    if math.isnan(row.values[at]):
        return "-"
    interval = row.intervals[at]
    half = "" if interval is None else f" ±{narrow((interval[1] - interval[0]) / 2, 2)}"
    return f"{narrow(row.values[at])}{half}"


def _change(row: Row, at: int) -> str:
    change = row.change(at)
    if math.isnan(change.difference):
        return "-"
    if row.is_part or change.relative is None:
        return f"{'+' if change.difference > 0 else ''}{narrow(change.difference)}"
    return f"{100 * change.relative:+.1f} %" + ("" if change.is_clear else " ?")
