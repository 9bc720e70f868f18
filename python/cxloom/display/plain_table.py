"""A table on a terminal: a dim head and no lines, as all commands show theirs."""

from __future__ import annotations

from rich.measure import Measurement
from rich.table import Table

from cxloom.display.console import output


def plain_table() -> Table:
    """A table without columns."""
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))


def print_whole(table: Table) -> None:
    """Prints a table in lines as long as it needs: a cut number says nothing."""
    out = output()
    needed = Measurement.get(out, out.options.update(max_width=1000), table).maximum
    output(at_least=needed).print(table)
