"""The tables of a fit, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from cxloom.curves.points import KernelRate, SizePoint
from cxloom.display.numbers import size
from cxloom.display.plain_table import plain_table
from cxloom.fitting.fitted import Compared, Parameter, Peak
from cxloom.fitting.measured import Rated, Timed


def tables(
    parameters: Sequence[Parameter],
    together: Sequence[Sequence[str]],
    points: Sequence[Compared],
    peaks: Sequence[Peak],
) -> list[Table]:
    """The parameters; latencies, if some were measured; bandwidths, if some were measured.

    Args:
        parameters: what was fitted.
        together: groups of parameters, by their paths, of which the curve tells one number alone.
        points: latencies.
        peaks: bandwidths.
    """
    made = [_parameters(parameters, together)]
    if points:
        made.append(_points(points))
    if peaks:
        made.append(_peaks(peaks))
    return made


def _words(point: Timed | Rated) -> list[str]:
    """What was measured, in the cells of its columns."""
    if isinstance(point, SizePoint):
        return [size(point.bytes)]
    if isinstance(point, KernelRate):
        return [point.kernel]
    return [f"{100 * point.reads:.0f} %", f"{point.bandwidth_gb_per_s:.1f}"]


def _parameters(parameters: Sequence[Parameter], together: Sequence[Sequence[str]]) -> Table:
    table = plain_table()
    table.add_column("parameter", no_wrap=True)
    for title in ("fitted", "95 % interval", ""):
        table.add_column(title, justify="right", no_wrap=True)
    grouped = {path for group in together for path in group}
    for each in parameters:
        told = "" if each.is_told else "told with others" if each.path in grouped else "not told"
        table.add_row(Text(each.path), str(each.value), f"{each.low} to {each.high}", told)
    return table


def _points(points: Sequence[Compared]) -> Table:
    table = plain_table()
    names = ("size",) if isinstance(points[0].point, SizePoint) else ("reads", "GB/s")
    for title in (*names, "measured ns", "before ns", "fitted ns", "error", ""):
        table.add_column(title, justify="right", no_wrap=True)
    for each in points:
        table.add_row(
            *_words(each.point),
            f"{each.point.latency_ns:.1f}",
            f"{each.before_ns:.1f}",
            f"{each.after_ns:.1f}",
            f"{100 * (each.after_ns / each.point.latency_ns - 1):+.1f} %",
            "held back" if each.held_back else "",
        )
    return table


def _peaks(peaks: Sequence[Peak]) -> Table:
    table = plain_table()
    if isinstance(peaks[0].point, KernelRate):
        table.add_column("kernel")
        measured = "measured GB/s"
    else:
        table.add_column("reads", justify="right")
        measured = "measured peak GB/s"
    for title in (measured, "before", "fitted", "error"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in peaks:
        table.add_row(
            _words(each.point)[0],
            f"{each.point.bandwidth_gb_per_s:.1f}",
            f"{each.before_gb_per_s:.1f}",
            f"{each.after_gb_per_s:.1f}",
            f"{100 * (each.after_gb_per_s / each.point.bandwidth_gb_per_s - 1):+.1f} %",
        )
    return table
