"""What hosts that share memory without coherence missed of each other's stores, as rows for tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

    from cxloom.base.summary import Summary

PAIRS = "who missed whose stores"
"""The head of the first column of `pair_rows`."""
LINES = "line that was missed"
"""The head of the first column of `line_rows`."""
COUNTS = ("stale reads", "lost updates")
"""The heads of the others."""

Row = tuple[str, int, int]


def pair_rows(summary: Summary) -> list[Row]:
    """A row for each pair of requesters, with its stale reads and lost updates, most first; and one for all.

    Empty where stores are not followed (``outputs.sharing``).
    """
    if not (found := summary.get("sharing")):
        return []
    every: Row = ("all", found["stale_reads"], found["lost_updates"])
    pairs = _rows(found["per_pair"])
    return [*pairs, every] if len(pairs) != 1 else pairs


def line_rows(summary: Summary) -> list[Row]:
    """A row for each line that something befell, most first: those that the summary names."""
    found = summary.get("sharing")
    return _rows(found["per_line"]) if found else []


def with_pairs(table: Table, pairs: Sequence[Row], limit: int) -> Table:
    """A table with a row for each pair, or for those that missed most, and one for all."""
    for name, *counts in pairs if len(pairs) <= limit else [*pairs[: limit - 1], pairs[-1]]:
        table.add_row(Text(name), *(f"{count:,}" for count in counts))
    return table


def _rows(counted: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    rows = [(name, values["stale_reads"], values["lost_updates"]) for name, values in counted.items()]
    return sorted(rows, key=lambda row: -(row[1] + row[2]))
