"""The outcome of a study as a table: simulated beside expected."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cxloom.report.numbers import significant
from cxloom.study.runner import Outcome, described_point


def show_outcome(outcome: Outcome) -> None:
    """Prints the table on standard output."""
    out = Console(highlight=False)
    study = outcome.study
    out.print(Text(study.title, style="bold"))
    if study.source:
        out.print(Text(study.source))
    if study.about:
        out.print(Text(f"\n{study.about}"))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("point")
    table.add_column("measure")
    for name in ("simulated", "expected", "deviation", "allowed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for comparison in outcome.comparisons:
        expectation = comparison.expectation
        allowed = (
            f"{100 * expectation.tolerance:g} %" if expectation.relative else f"{expectation.tolerance:g}"
        )
        deviation = (
            f"{100 * comparison.deviation:+.2f} %" if expectation.value else f"{comparison.deviation:+.3g}"
        )
        measure = expectation.measure + (" (relative)" if expectation.relative_to is not None else "")
        table.add_row(
            Text(described_point(comparison.point)),
            Text(measure),
            significant(comparison.simulated, 4),
            significant(expectation.value, 4),
            deviation,
            allowed,
            Text("ok", style="green") if comparison.passed else Text("FAIL", style="bold red"),
        )
    out.print()
    out.print(table)
    failed = sum(not comparison.passed for comparison in outcome.comparisons)
    out.print()
    if failed:
        out.print(Text(f"{failed} of {len(outcome.comparisons)} expectations failed", style="bold red"))
    else:
        out.print(Text(f"All {len(outcome.comparisons)} expectations are met", style="green"))
