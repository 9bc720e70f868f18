"""How a result shows itself: sentences, tables and notes, as text where it is printed and as HTML in a notebook."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from cxloom.display.notes import folded

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a result, in this order."""

    sentences: Sequence[str]
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()

    def to_text(self) -> str:
        """All of it in lines that are as long as the widest table needs, without colours."""
        from rich.measure import Measurement

        from cxloom.display.console import plain

        file = io.StringIO()
        out = plain(file, 1000)
        needed = [Measurement.get(out, out.options, table).maximum for table in self.tables]
        out = plain(file, max(needed, default=0))
        for sentence in self.sentences:
            out.print(sentence)
        for table in self.tables:
            out.print()
            out.print(table)
        for note in folded(self.notes):
            out.print(f"\nnote: {note}")
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())

    def to_html(self) -> str:
        """What is shown, for a notebook."""
        parts = [f"<p><strong>{escape(sentence)}</strong></p>" for sentence in self.sentences]
        parts += [_of_rich(table) for table in self.tables]
        return "\n".join([*parts, *(f"<p>note: {escape(note)}</p>" for note in folded(self.notes))])


class ShowsItself(ABC):
    """A result that is printed as text, and shown as HTML by Jupyter."""

    __slots__ = ()

    @abstractmethod
    def shown(self) -> Shown:
        """What is shown of it."""

    def __str__(self) -> str:
        return self.shown().to_text()

    def _repr_html_(self) -> str:
        return self.shown().to_html()


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """A table of HTML.

    Args:
        head: the titles of its columns.
        rows: its cells, as plain text.
        right: for each column whether it stands at the right; as the notebook has them if left out.
    """
    styles = [f' style="text-align: {"right" if each else "left"}"' for each in right] or [""] * len(head)

    def line(cells: Sequence[str], tag: str) -> str:
        made = (f"<{tag}{style}>{escape(cell)}</{tag}>" for cell, style in zip(cells, styles, strict=True))
        return f"<tr>{''.join(made)}</tr>"

    return "\n".join(["<table>", line(head, "th"), *(line(row, "td") for row in rows), "</table>"])


def _of_rich(table: Table) -> str:
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    heads = [str(column.header) for column in table.columns]
    right = [column.justify == "right" for column in table.columns]
    return html_table(heads, list(zip(*columns, strict=True)), right)
