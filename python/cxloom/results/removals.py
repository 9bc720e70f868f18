"""How memories were taken out of use, as rows for tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from cxloom.display.numbers import duration, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from cxloom.base.summary import Summary, SummaryRemovals

HEADS = ("taken out of use", "took", "moved", "pages left", "slower meanwhile")
"""The heads of the columns of `rows`."""

Row: TypeAlias = tuple[str, str, str, str, str]


def rows(summary: Summary) -> list[Row]:
    """A row for each event that took a memory out of use, or tried to, in the order of the summary."""
    return [
        (
            name,
            "-" if each["took_ns"] is None else duration(each["took_ns"]),
            size(each["moved_bytes"]),
            f"{each['pages_left']:,}",
            slowed_most(each) or "-",
        )
        for name, each in (summary.get("removals") or {}).items()
    ]


def slowed_most(removal: SummaryRemovals) -> str | None:
    """The requester whose mean latency grew most while the memory was being emptied, "h1: 341 ns to 1.2 us".

    None where nobody's grew, or nobody has one from before and one of that time.
    """
    grew = {
        name: (each["latency_during_ns"] / each["latency_before_ns"], each)
        for name, each in removal["requesters"].items()
        if each["latency_before_ns"] and each["latency_during_ns"]
    }
    if not grew:
        return None
    name, (factor, most) = max(grew.items(), key=lambda item: item[1][0])
    if factor <= 1:
        return None
    return f"{name}: {duration(most['latency_before_ns'])} to {duration(most['latency_during_ns'])}"


def with_rows(table: Table, removals: Sequence[Row], limit: int) -> Table:
    """A table with these rows, or with as many as there is room for, and how many more there are."""
    shown = removals if len(removals) <= limit else removals[: limit - 1]
    for name, *figures in shown:
        table.add_row(Text(name), *figures)
    if len(shown) < len(removals):
        table.add_row(Text(f"and {len(removals) - len(shown)} more", style="dim"))
    return table
