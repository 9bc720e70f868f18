"""Tables that never cut a figure: columns of texts give way to columns of figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_GAP = "  "
_LEAST = 8
"""Texts are not made shorter than this."""


class Column(NamedTuple):
    """A column: its head, what stands in it, whether that may be shortened, and on which side it stands."""

    head: str
    cells: list[str]
    may_shrink: bool
    right: bool = False


def of_texts(values: Sequence[object]) -> bool:
    """Whether values are texts that begin with no digit, or maps or lists: a quantity such as 45ns is a figure."""
    return any(
        isinstance(value, (dict, list)) or (isinstance(value, str) and not value[:1].isdigit())
        for value in values
    )


def laid_out(columns: Sequence[Column], width: int | None = None) -> list[str]:
    """The lines of a table, as wide as they have to be; texts are shortened as far as a `width` asks for."""
    heads = [_folded(column) for column in columns]
    widths = [
        max([*map(len, head), *map(len, column.cells)], default=0)
        for head, column in zip(heads, columns, strict=True)
    ]
    if width is not None:
        widths = _narrowed(columns, widths, width - len(_GAP) * (len(columns) - 1))
    height = max(map(len, heads), default=0)
    rows = [[head[line] if line < len(head) else "" for head in heads] for line in range(height)]
    rows += [list(row) for row in zip(*(column.cells for column in columns), strict=True)]
    return [
        _GAP.join(
            shortened(cell, room).rjust(room) if column.right else shortened(cell, room).ljust(room)
            for column, cell, room in zip(columns, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def shortened(text: str, room: int) -> str:
    """A text in so many columns; what is left out of its middle is an ellipsis."""
    if len(text) <= room:
        return text
    tail = (room - 1) // 2
    return f"{text[: room - 1 - tail]}…{text[len(text) - tail :]}"


def _folded(column: Column) -> list[str]:
    """The head in as many lines as it takes to be as narrow as its figures, broken behind dots and underscores."""
    room = max([_LEAST, *map(len, column.cells)])
    lines = [""]
    for word in column.head.replace(".", ".\0").replace("_", "_\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) > room:
            lines.append("")
        lines[-1] += word
    return lines


def _narrowed(columns: Sequence[Column], widths: list[int], room: int) -> list[int]:
    """Widths that take so much room, if texts can be shortened that far and told apart: the widest give way first."""
    widths = list(widths)
    free = {place for place, column in enumerate(columns) if column.may_shrink}
    while sum(widths) > room and free:
        place = max(free, key=widths.__getitem__)
        narrower = widths[place] - 1
        cells = set(columns[place].cells)
        if narrower < _LEAST or len({shortened(cell, narrower) for cell in cells}) < len(cells):
            free.remove(place)
        else:
            widths[place] = narrower
    return widths
