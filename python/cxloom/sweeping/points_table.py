"""The points of a sweep as a table of one screen, or of a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

from cxloom.base.words import counted
from cxloom.display.console import output
from cxloom.display.numbers import significant
from cxloom.display.shown import html_table
from cxloom.display.tables import Column, laid_out, of_texts
from cxloom.results.caveats import errors_of_points, notes_of_points
from cxloom.sweeping.interval import aggregated
from cxloom.sweeping.labels import headings, labels
from cxloom.sweeping.space import SEED, described_setting
from cxloom.sweeping.table import ERRORS, Columns, notes_in

TASKS = "tasks.time_ns"
MEASURES = {
    TASKS: "tasks ns",
    "bandwidth_gb_per_s": "GB/s",
    "latency_ns.mean": "mean ns",
    "latency_ns.p99": "p99 ns",
    ERRORS: "errors",
}
"""The columns of every sweep, with their heads; errors are shown where there are any.

Of graphs of tasks their time, and the others only if lines were moved.
"""
_ROWS = 40
_ERRORS = 5


class PointResults(Protocol):
    """What a table has of a sweep."""

    @property
    def points(self) -> Sequence[Mapping[str, Any]]:
        """The settings of each point."""

    @property
    def columns(self) -> Columns:
        """Settings and measures, of all points."""

    @property
    def statuses(self) -> Sequence[str]:
        """How each point ended."""

    @property
    def errors(self) -> Sequence[str | None]:
        """Why a point did not finish."""

    @property
    def has_seeds(self) -> bool:
        """Whether points differ in their seeds."""

    def __len__(self) -> int: ...


def show_sweep(result: PointResults, measures: Sequence[str]) -> None:
    """Prints the table on standard output: measures of each point, or their means over the seeds.

    Args:
        result: what there is.
        measures: those that were asked for, besides the usual ones; of one with a star, the columns are in the file.
    """
    out = output()
    print(to_text(result, measures, out.width if out.is_terminal else None))
    _show_failed(result)


def to_text(result: PointResults, measures: Sequence[str], width: int | None = None) -> str:
    """The table as text.

    Figures are never shortened. Where a line has a `width`, texts are, as far as they can still be told apart.
    """
    columns, remarks = _table(result, measures)
    return "\n".join([*laid_out(columns, width), *remarks])


def to_html(result: PointResults, measures: Sequence[str]) -> str:
    """The table for a notebook."""
    columns, remarks = _table(result, measures)
    rows = list(zip(*(column.cells for column in columns), strict=True))
    made = html_table([column.head for column in columns], rows, [column.right for column in columns])
    return "\n".join([made, *(f"<p>{escape(remark)}</p>" for remark in remarks)])


def _table(result: PointResults, measures: Sequence[str]) -> tuple[list[Column], list[str]]:
    """The columns of the table, and what is to be said below it."""
    shown: Columns = aggregated(result.columns) if result.has_seeds else result.columns
    axes = [path for path in _axes(result) if path in shown]
    varying = [path for path in axes if len({repr(value) for value in shown[path]}) > 1] or axes
    wrong = errors_of_points(result.columns.get(ERRORS, ()))
    usual = [name for name in MEASURES if name != ERRORS or wrong is not None]
    known = [name for name in dict.fromkeys((*usual, *measures)) if name in shown]
    if TASKS in known:
        known = [name for name in known if name in measures or any(shown[name])]
    count = len(shown[known[0]] if known else result)
    rows = range(min(count, _ROWS))
    short = headings(varying) | {SEED: SEED}
    columns = [
        Column(short[path], labels(shown[path][: len(rows)]), of_texts(shown[path])) for path in varying
    ]
    columns += [
        Column(MEASURES.get(name, name), [_cell(shown, name, row) for row in rows], False, right=True)
        for name in known
    ]
    statuses = [] if result.has_seeds else result.statuses
    if any(status != "finished" for status in statuses):
        columns.append(Column("", [statuses[row] for row in rows], False))
    remarks = []
    if count > _ROWS:
        remarks.append(f"and {counted(count - _ROWS, 'more row')}")
    if result.has_seeds:
        remarks.append("± is half of the 95 % interval of the mean over the seeds")
    if wrong is not None:
        remarks.append(f"note: {wrong}")
    found, rest = notes_of_points(notes_in(result.columns))
    remarks += [f"note{f' {where}' if where else ''}: {note}" for where, note in found]
    return columns, remarks + ([f"and {counted(rest, 'other note')}: see the column notes"] if rest else [])


def _show_failed(result: PointResults) -> None:
    from rich.text import Text

    out = output()
    failed = [row for row, status in enumerate(result.statuses) if status not in ("finished", "missing")]
    if not failed:
        return
    out.print()
    alike: dict[tuple[str, str], list[int]] = {}
    for row in failed:
        error = (result.errors[row] or "").partition("\n")[0]
        alike.setdefault((result.statuses[row], error), []).append(row)
    for (status, error), those in list(alike.items())[:_ERRORS]:
        where = described_setting(result.points[those[0]])
        others = f" and {counted(len(those) - 1, 'other point')}" if len(those) > 1 else ""
        out.print(Text.assemble((status, "bold yellow"), f" at {where}{others}: {error}"), soft_wrap=True)
    rest = sum(map(len, list(alike.values())[_ERRORS:]))
    if rest:
        out.print(f"and {counted(rest, 'more point')} that did not finish: see the column error")


def _axes(result: PointResults) -> list[str]:
    return list(dict.fromkeys(path for point in result.points for path in point))


def _cell(shown: Columns, name: str, row: int) -> str:
    value = shown[name][row]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return "" if value is None else str(value)
    low = shown.get(f"{name}:low", [None] * (row + 1))[row]
    half = "" if low is None else f" ± {significant(value - low)}"
    return f"{significant(value)}{half}"
