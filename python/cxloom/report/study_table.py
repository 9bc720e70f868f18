"""The outcome of a study as a table: simulated beside expected."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from cxloom.base.words import counted
from cxloom.display.console import output
from cxloom.display.numbers import significant
from cxloom.results.caveats import error_count, errors_of_points
from cxloom.study.compare import Comparison
from cxloom.study.expect import Expectation
from cxloom.study.points import described_point
from cxloom.study.runner import Outcome
from cxloom.study.state import State, tally

_LOOKS = {
    State.MET: "green",
    State.FITTED: "yellow",
    State.BRACKET: "cyan",
    State.OPEN: "magenta",
    State.FAILED: "bold red",
}


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
    if (wrong := errors_of_points(map(error_count, outcome.summaries))) is not None:
        out.print(Text(f"\nnote: {wrong}", style="dim"))
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
    for state, reason in dict.fromkeys((each.state, each.reason) for each in outcome.comparisons):
        if reason:
            out.print(Text(f"{state}: {reason}", style=_LOOKS[state]))
    expectations = counted(len(outcome.comparisons), "expectation")
    style = "green" if outcome.passed else "bold red"
    out.print(Text(f"{expectations}: {tally_of(outcome.comparisons)}", style=style))


def show_outcomes(title: str, outcomes: Mapping[str, Outcome]) -> None:
    """Prints a line for each study of a collection."""
    out = output()
    out.print(Text(title, style="bold"))
    table = Table(box=None, header_style="dim")
    table.add_column("study", style="bold", no_wrap=True)
    for name in ("runs", "expectations", *State):
        table.add_column(name, justify="right")
    for name, outcome in outcomes.items():
        states = Counter(comparison.state for comparison in outcome.comparisons)
        counts = [str(states[state]) if states[state] else "-" for state in State]
        style = "" if outcome.passed else "bold red"
        table.add_row(
            name, str(len(outcome.study.points)), str(len(outcome.comparisons)), *counts, style=style
        )
    out.print(table)
    every = [comparison for outcome in outcomes.values() for comparison in outcome.comparisons]
    out.print(Text(f"\n{counted(len(every), 'expectation')}: {tally_of(every)}"))


def tally_of(comparisons: Iterable[Comparison]) -> str:
    """How many stand how, in words."""
    return tally((each.state, bool(each.expectation.derived)) for each in comparisons)


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
        Text(
            "FAILED" if comparison.state is State.FAILED else comparison.state, style=_LOOKS[comparison.state]
        ),
    ]


def expected_text(expectation: Expectation) -> str:
    """The expectation as one reads it: a value, bounds (and the published one, if known), or a direction."""
    if expectation.value is not None:
        return significant(expectation.value, 4)
    if expectation.along is not None:
        return "rises" if expectation.rises else "falls"
    if expectation.least == -math.inf:
        bounds = f"at most {significant(expectation.most, 4)}"
    elif expectation.most == math.inf:
        bounds = f"at least {significant(expectation.least, 4)}"
    else:
        bounds = f"{significant(expectation.least, 4)} to {significant(expectation.most, 4)}"
    return bounds if expectation.published is None else f"{significant(expectation.published, 4)}; {bounds}"


def allowed_text(expectation: Expectation) -> str:
    """How far from it a value may be, as one reads it; nothing beside bounds."""
    if expectation.value is None and (expectation.along is None or not expectation.tolerance):
        return ""
    return f"{100 * expectation.tolerance:g} %" if expectation.relative else f"{expectation.tolerance:g}"


def measure_text(comparison: Comparison) -> str:
    """The measure that is compared: rows of one measure stand in one table."""
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
    more = "; ".join(filter(None, (derived, expectation.note)))
    return f"{expectation.source} ({more})" if more else expectation.source
