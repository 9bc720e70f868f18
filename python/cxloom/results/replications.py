"""What became of replicated regions, as rows for tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from cxloom.display.numbers import duration, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from cxloom.base.summary import Summary

HEADS = ("replicated", "writes", "met failure", "failed", "degraded", "resynced", "at the end")
"""The heads of the columns of `rows`."""

Row: TypeAlias = tuple[str, str, str, str, str, str, str]


def rows(summary: Summary) -> list[Row]:
    """A row for each replicated region, in the order of the summary."""
    return [
        (
            name,
            f"{each['writes']:,}",
            f"{each['met_failure']:,}",
            f"{each['failed']:,}" + (f", {lost:,} lost" if (lost := each.get("lost_writes")) else ""),
            duration(each["degraded_ns"]),
            size(each["resynced_bytes"]),
            ", ".join(f"{memory} {state}" for memory, state in each["state"].items()),
        )
        for name, each in (summary.get("replication") or {}).items()
    ]


def with_rows(table: Table, regions: Sequence[Row], limit: int) -> Table:
    """A table with these rows, or with as many as there is room for, and how many more there are."""
    shown = regions if len(regions) <= limit else regions[: limit - 1]
    for name, *figures in shown:
        table.add_row(Text(name), *figures)
    if len(shown) < len(regions):
        table.add_row(Text(f"and {len(regions) - len(shown)} more", style="dim"))
    return table
