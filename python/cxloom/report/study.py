"""The outcome of a study as a table: simulated beside expected."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from cxloom.report.console import output
from cxloom.report.numbers import significant
from cxloom.study.compare import Comparison
from cxloom.study.expect import Expectation
from cxloom.study.points import described_point
from cxloom.study.runner import Outcome
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
    for measure, comparisons in itertools.groupby(outcome.comparisons, measure_text):
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
            along = comparison.expectation.along
            table.add_row(
                *("all" if axis == along else str(comparison.point[axis]) for axis in axes), *_row(comparison)
            )
        out.print(table)
    if not outcome.comparisons:
        return
    out.print()
    for source in dict.fromkeys(source_text(comparison) for comparison in outcome.comparisons):
        out.print(Text(f"expected: {source}", style="dim"))
    if study.explain:
        out.print(Text(f"\n{study.explain}\n"))
    count = len(outcome.comparisons)
    expectations = counted(count, "expectation")
    failed = sum(not comparison.passed for comparison in outcome.comparisons)
    if failed:
        out.print(Text(f"{failed:,} of {expectations} failed", style="bold red"))
    else:
        met = f"All {expectations} are met" if count > 1 else "The expectation is met"
        out.print(Text(met, style="green"))


def show_outcomes(title: str, outcomes: Mapping[str, Outcome]) -> None:
    """Prints a line for each study of a collection."""
    out = output()
    out.print(Text(title, style="bold"))
    table = Table(box=None, header_style="dim")
    table.add_column("study", style="bold", no_wrap=True)
    for name in ("runs", "expectations", "met"):
        table.add_column(name, justify="right")
    table.add_column("")
    for name, outcome in outcomes.items():
        met = sum(comparison.passed for comparison in outcome.comparisons)
        counts = (len(outcome.study.points), len(outcome.comparisons), met)
        mark = Text("ok", style="green") if outcome.passed else Text("FAIL", style="bold red")
        table.add_row(name, *map(str, counts), mark)
    out.print(table)


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
    small = f"{comparison.deviation:+.3g}"
    percent = f"{100 * comparison.deviation:+.2f} %"
    return [
        significant(comparison.simulated, 4),
        expected_text(expectation),
        small if expectation.value == 0 else percent,
        allowed_text(expectation),
        Text("ok", style="green") if comparison.passed else Text("FAIL", style="bold red"),
    ]


def expected_text(expectation: Expectation) -> str:
    """What is expected, as one reads it: a value, bounds, or a direction."""
    if expectation.value is not None:
        return significant(expectation.value, 4)
    if expectation.along is not None:
        return "rises" if expectation.rises else "falls"
    if expectation.least == -math.inf:
        return f"at most {significant(expectation.most, 4)}"
    if expectation.most == math.inf:
        return f"at least {significant(expectation.least, 4)}"
    return f"{significant(expectation.least, 4)} to {significant(expectation.most, 4)}"


def allowed_text(expectation: Expectation) -> str:
    """How far from it a value may be, as one reads it; nothing beside bounds."""
    if expectation.value is None and (expectation.along is None or not expectation.tolerance):
        return ""
    return f"{100 * expectation.tolerance:g} %" if expectation.relative else f"{expectation.tolerance:g}"


def measure_text(comparison: Comparison) -> str:
    """What is compared: rows of the same measure stand in one table."""
    expectation = comparison.expectation
    if expectation.along is not None:
        axis = expectation.along.rpartition(".")[2]
        which = "least" if expectation.rises else "greatest"
        return f"{expectation.measure}, {which} ratio of neighbours along {axis}"
    if expectation.relative_to is None:
        return expectation.measure
    return f"{expectation.measure}, relative to {described_point(expectation.relative_to)}"


def source_text(comparison: Comparison) -> str:
    """Where what is expected comes from, and how it follows."""
    expectation = comparison.expectation
    derived = f"derived: {expectation.derived}" if expectation.derived else ""
    return f"{expectation.source} ({derived})" if derived else expectation.source
