"""What requesters waited for before accesses behind a fence, which is part of no request, as rows for tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from cxloom.display.numbers import duration, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from cxloom.base.summary import Summary

HEADS = ("waited at fences", "fences", "mean", "of the time")
"""The heads of the columns of `rows`."""

Row: TypeAlias = tuple[str, str, str, str]


def rows(summary: Summary) -> list[Row]:
    """A row for each requester whose accesses waited behind fences, in the order of the summary.

    The last column is the share of the window that a requester waited so. Requests are made later for it, and are no
    slower. Requesters with cores count no fences: what their threads wait for stands in the account of the core.
    """
    time = summary["simulated_time_ns"]
    found = []
    for name, requester in summary.get("per_requester", {}).items():
        count, mean = requester.get("fences"), requester.get("fence_wait_ns")
        if count and mean and time:
            found.append((name, f"{count:,}", duration(mean), percent(count * mean / time)))
    return found


def with_rows(table: Table, waits: Sequence[Row], limit: int) -> Table:
    """A table with these rows, or with as many as there is room for, and how many more there are."""
    shown = waits if len(waits) <= limit else waits[: limit - 1]
    for name, *figures in shown:
        table.add_row(Text(name), *figures)
    if len(shown) < len(waits):
        table.add_row(Text(f"and {len(waits) - len(shown)} more", style="dim"))
    return table
