"""A table on a terminal: a dim head and no lines, as all commands show theirs."""

from __future__ import annotations

from rich.table import Table


def plain_table() -> Table:
    """A table without columns."""
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
