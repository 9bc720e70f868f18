"""The result of a measurement: rows, for a table, for programs, and as a picture."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import file_name
from cxloom.base.temporary import written_whole
from cxloom.display.shown import Shown, ShowsItself

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure
    from rich.table import Table

PICTURES = ("svg", "png", "pdf")
FORMS = (*PICTURES, "json", "csv")
"""The forms that `Measurement.save` writes, by the ending of the file."""
_SHOWN = 5
"""The most cells without a number that are shown."""


@dataclass(frozen=True)
class Column:
    """A column of the table for people."""

    key: str
    title: str
    shown: Callable[[Any], str] = str
    right: bool = True


@dataclass(frozen=True)
class Measurement(ShowsItself):
    """The result of one of the tools. Its numbers are defined in ``docs/measure.md``."""

    tool: str
    """``latency``, ``matrix``, ``sizes``, ``loaded``, ``bandwidth`` or ``stream``."""
    system: str
    """The name of the system."""
    title: str
    rows: list[dict[str, Any]]
    """A dictionary for each row, its keys with their units."""
    columns: Sequence[Column]
    draw: Callable[[Measurement], Figure] = field(repr=False)
    note: str = ""
    """Remarks on the numbers."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Cells that have no number, and why: requests were answered without data, or not at all."""
    left_out: str = ""
    """What of the spec is not measured."""

    @property
    def notes(self) -> list[str]:
        """The note, and the first cells that have no number."""
        shown = [f"no number {cell}: {why}" for cell, why in list(self.without.items())[:_SHOWN]]
        if len(self.without) > _SHOWN:
            shown.append(f"no number in {len(self.without) - _SHOWN} more")
        return [*filter(None, [self.note, self.left_out]), *shown]

    def frame(self) -> pl.DataFrame:
        """The rows as a Polars DataFrame, which any form of table can hold.

        What has parts is a column for each, as in the table of a sweep: ``breakdown_ns.media``. It is null in rows that
        have no such part.
        """
        import polars as pl

        return pl.DataFrame([dict(_flat(row)) for row in self.rows], infer_schema_length=None)

    def to_json(self) -> dict[str, Any]:
        """The rows, and what they are, for programs."""
        return {
            "measure": self.tool,
            "system": self.system,
            "title": self.title,
            "note": self.note,
            "left_out": self.left_out,
            "rows": self.rows,
            "without_number": dict(self.without),
        }

    def figure(self) -> Figure:
        """The picture, as people know it from such a tool; of Matplotlib."""
        return self.draw(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the picture (.svg, .png, .pdf) or the rows (.json, .csv), whole or not at all; gives the path.

        Raises InputError for another ending, or if it cannot be written.
        """
        target = Path(file_name(path, f"a file of {', '.join(FORMS)}"))
        form = form_of(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if form in PICTURES:
                from cxloom.display import style

                return style.save(self.figure(), target)
            text = json.dumps(self.to_json(), indent=2, allow_nan=False) + "\n"
            if form == "csv":
                text = self.frame().write_csv()
            with written_whole(target) as temporary:
                temporary.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written: {reason_of(error)}", file=target) from None
        return target

    def table(self) -> Table:
        """The table for people, of Rich."""
        from rich.table import Table

        made = Table(box=None, header_style="dim", pad_edge=False)
        for column in self.columns:
            made.add_column(column.title, justify="right" if column.right else "left", no_wrap=True)
        for row in self.rows:
            made.add_row(*(_cell(column, row) for column in self.columns))
        return made

    def shown(self) -> Shown:
        """The title, the table and the notes, as ``cxloom measure`` prints them."""
        return Shown([f"{self.title}, {self.system}"], [self.table()], self.notes)


def form_of(path: Path) -> str:
    """The form that the ending of a file asks for. Raises InputError if there is none."""
    form = path.suffix.removeprefix(".")
    if form not in FORMS:
        raise InputError(
            "unsupported picture or table format",
            found=f"'{path.name}'",
            allowed=", ".join(f".{each}" for each in FORMS),
            path="--out",
        )
    return form


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a row, by their paths."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    value = row.get(column.key)
    return "-" if value is None else column.shown(value)


def one_decimal(value: float) -> str:
    """12.3"""
    return f"{value:.1f}"


def gb_per_s(value: float) -> str:
    """12.3, and 0.012: a slow device has a rate, too."""
    return f"{value:.1f}" if value >= 0.995 or not value else f"{value:.2g}"
