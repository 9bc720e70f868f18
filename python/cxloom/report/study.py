"""The outcome of a study as a table: simulated beside expected."""

from __future__ import annotations

import itertools
from typing import Any

from rich.table import Table
from rich.text import Text

from cxloom.report.console import output
from cxloom.report.numbers import significant
from cxloom.study.runner import Comparison, Outcome, described_point
from cxloom.words import counted


def show_outcome(outcome: Outcome) -> None:
    """Prints the table on standard output."""
    out = output()
    study = outcome.study
    out.print(Text(study.title, style="bold"))
    if study.source:
        out.print(Text(study.source))
    if study.about:
        out.print(Text(f"\n{study.about}"))
    if outcome.study.columns:
        out.print(_table(outcome.table))
    for measure, comparisons in itertools.groupby(outcome.comparisons, _measure):
        table = Table(
            title=f"\n{measure}", title_justify="left", title_style="bold", box=None, header_style="dim"
        )
        axes = list(study.points[0])
        for axis in axes:
            table.add_column(axis.rpartition(".")[2], no_wrap=True)
        for name in ("simulated", "expected", "deviation", "allowed"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for comparison in comparisons:
            table.add_row(*(str(comparison.point[axis]) for axis in axes), *_row(comparison))
        out.print(table)
    if not outcome.comparisons:
        return
    out.print()
    for source in dict.fromkeys(_source(comparison) for comparison in outcome.comparisons):
        if source:
            out.print(Text(f"expected: {source}", style="dim"))
    count = len(outcome.comparisons)
    expectations = counted(count, "expectation")
    failed = sum(not comparison.passed for comparison in outcome.comparisons)
    if failed:
        out.print(Text(f"{failed:,} of {expectations} failed", style="bold red"))
    else:
        met = f"All {expectations} are met" if count > 1 else "The expectation is met"
        out.print(Text(met, style="green"))


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="dim")
    for name in rows[0]:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        cells = row.values()
        table.add_row(*map(_cell, cells))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return significant(value, 4) if isinstance(value, float) else str(value)


def _row(comparison: Comparison) -> list[Text | str]:
    expectation = comparison.expectation
    deviation = (
        f"{100 * comparison.deviation:+.2f} %" if expectation.value else f"{comparison.deviation:+.3g}"
    )
    return [
        significant(comparison.simulated, 4),
        significant(expectation.value, 4),
        deviation,
        f"{100 * expectation.tolerance:g} %" if expectation.relative else f"{expectation.tolerance:g}",
        Text("ok", style="green") if comparison.passed else Text("FAIL", style="bold red"),
    ]


def _measure(comparison: Comparison) -> str:
    """What is compared: rows of the same measure stand in one table."""
    expectation = comparison.expectation
    if expectation.relative_to is None:
        return expectation.measure
    return f"{expectation.measure}, relative to {described_point(expectation.relative_to)}"


def _source(comparison: Comparison) -> str:
    expectation = comparison.expectation
    derived = f"derived: {expectation.derived}" if expectation.derived else ""
    return (
        f"{expectation.source} ({derived})"
        if expectation.source and derived
        else expectation.source or derived
    )
