"""A measurement beside that of another system, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cxloom.display.plain_table import plain_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from cxloom.measure.measurement import Column, Measurement

_LABELS = ("bytes", "reads", "delay_ns")
"""Columns with numbers that say which row it is, as all columns of text do."""


def beside(base: Measurement, measured: Measurement) -> Table:
    """Both tables as one, of Rich. A: `base`, B: `measured`.

    Rows of the same name side by side, with ``-`` where one of them lacks one. If most rows have no other, as those of
    loads that are chosen by what a system can take, all of A and then all of B.
    """
    names = [each for each in base.columns if not each.right or each.key in _LABELS]
    rows = [{tuple(row.get(each.key) for each in names): row for row in one.rows} for one in (base, measured)]
    if 2 * len(rows[0].keys() & rows[1].keys()) < max(map(len, rows)):
        return _below(base, measured)
    values = dict.fromkeys(each for one in (base, measured) for each in one.columns if each not in names)
    made = plain_table()
    for column in names:
        made.add_column(column.title, justify="right" if column.right else "left", no_wrap=True)
    for column in values:
        for title in (f"A {column.title}", f"B {column.title}", "B - A"):
            made.add_column(title, justify="right", no_wrap=True)
    for label in dict.fromkeys([*rows[0], *rows[1]]):
        pair = [each.get(label, {}) for each in rows]
        cells = [column.shown(value) for column, value in zip(names, label, strict=True)]
        for column in values:
            before, now = (row.get(column.key) for row in pair)
            cells += [*(_cell(column, row) for row in pair), _change(before, now)]
        made.add_row(*cells)
    return made


def _below(base: Measurement, measured: Measurement) -> Table:
    made = plain_table()
    made.add_column("")
    # A matrix has a column for each memory: those of either.
    columns = list({column.key: column for one in (base, measured) for column in one.columns}.values())
    for column in columns:
        made.add_column(column.title, justify="right" if column.right else "left", no_wrap=True)
    for letter, one in (("A", base), ("B", measured)):
        for row in one.rows:
            made.add_row(letter, *(_cell(column, row) for column in columns))
    return made


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    value = row.get(column.key)
    return "-" if value is None else column.shown(value)


def _change(before: Any, now: Any) -> str:
    if before is None or now is None or not before:
        return "-"
    return f"{100 * (now / before - 1):+.1f} %"
