"""Systems side by side, on a terminal."""

from __future__ import annotations

import string

from rich.text import Text

from cxloom.display.console import output
from cxloom.display.notes import folded
from cxloom.display.plain_table import print_whole
from cxloom.results.comparison import Comparison
from cxloom.results.comparison_table import has_doubtful, tables

_LETTERS = string.ascii_uppercase
"""The names of systems in the tables, which have no room for longer ones."""


def show_comparison(comparison: Comparison) -> None:
    """Prints a sentence for each system but the first, and tables of the measures and of the parts that changed."""
    out = output()
    for sentence in comparison.sentences:
        out.print(Text(sentence, style="bold"))
    out.print()
    letters = _LETTERS[: len(comparison.names)]
    for letter, name in zip(letters, comparison.names, strict=True):
        out.print(Text.assemble((letter, "bold"), f"  {name}"), soft_wrap=True)
    for table in tables(comparison.rows, letters):
        out.print()
        print_whole(table)
    if has_doubtful(comparison.rows):
        out.print(Text("\n?: as far as the runs tell, no change", style="dim"))
    for note in folded(comparison.notes_by(letters)):
        out.print(Text(f"\nnote: {note}", style="dim"))
