"""The tables of a fit, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from cxloom.curves.points import KernelRate, SizePoint
from cxloom.display.numbers import size
from cxloom.display.plain_table import plain_table
from cxloom.fitting.measured import Rated, Timed

if TYPE_CHECKING:
    from cxloom.fitting.result import Fit


def tables(found: Fit) -> list[Table]:
    """The parameters; latencies, if some were measured; bandwidths, if some were measured."""
    made = [_parameters(found)]
    if found.points:
        made.append(_points(found))
    if found.peaks:
        made.append(_peaks(found))
    return made


def _words(point: Timed | Rated) -> list[str]:
    """What was measured, in the cells of its columns."""
    if isinstance(point, SizePoint):
        return [size(point.bytes)]
    if isinstance(point, KernelRate):
        return [point.kernel]
    return [f"{100 * point.reads:.0f} %", f"{point.bandwidth_gb_per_s:.1f}"]


def _parameters(found: Fit) -> Table:
    table = plain_table()
    table.add_column("parameter", no_wrap=True)
    for title in ("fitted", "95 % interval", ""):
        table.add_column(title, justify="right", no_wrap=True)
    grouped = {path for group in found.together for path in group}
    for each in found.parameters:
        told = "" if each.is_told else "told with others" if each.path in grouped else "not told"
        table.add_row(Text(each.path), str(each.value), f"{each.low} to {each.high}", told)
    return table


def _points(found: Fit) -> Table:
    table = plain_table()
    names = ("size",) if isinstance(found.points[0].point, SizePoint) else ("reads", "GB/s")
    for title in (*names, "measured ns", "before ns", "fitted ns", "error", ""):
        table.add_column(title, justify="right", no_wrap=True)
    for each in found.points:
        table.add_row(
            *_words(each.point),
            f"{each.point.latency_ns:.1f}",
            f"{each.before_ns:.1f}",
            f"{each.after_ns:.1f}",
            f"{100 * (each.after_ns / each.point.latency_ns - 1):+.1f} %",
            "held back" if each.held_back else "",
        )
    return table


def _peaks(found: Fit) -> Table:
    table = plain_table()
    if isinstance(found.peaks[0].point, KernelRate):
        table.add_column("kernel")
        measured = "measured GB/s"
    else:
        table.add_column("reads", justify="right")
        measured = "measured peak GB/s"
    for title in (measured, "before", "fitted", "error"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in found.peaks:
        table.add_row(
            _words(each.point)[0],
            f"{each.point.bandwidth_gb_per_s:.1f}",
            f"{each.before_gb_per_s:.1f}",
            f"{each.after_gb_per_s:.1f}",
            f"{100 * (each.after_gb_per_s / each.point.bandwidth_gb_per_s - 1):+.1f} %",
        )
    return table
