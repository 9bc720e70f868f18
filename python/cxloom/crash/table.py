"""The outcome of a loss of power, for a person to read: what is lost, and the shortest history that shows it."""

from __future__ import annotations

from collections.abc import Iterator

from cxloom.base.words import counted
from cxloom.crash.power_failures import Crashes, History, LostLine, Step
from cxloom.display.numbers import duration

_LINES = 20
_RULES = {
    "answered": "version {needed} had been answered, and was written after version {recovered} had taken effect",
    "read": "version {needed} had been read, and is known to have followed version {recovered}",
}
_NO_VERSION = "reads"
"""The words for a step, before the version is known."""


def to_text(crashes: Crashes) -> str:
    """All of it, without a line break at its end."""
    return "\n".join(_report(crashes))


def _report(crashes: Crashes) -> Iterator[str]:
    what = "power failed" if crashes.lose is None else f"{crashes.lose} was lost"
    head = f"{what} at {counted(crashes.instants, 'instant')}, and "
    if crashes.first_ns is None:
        yield f"{head}nothing that had been answered or read was lost"
    else:
        yield (
            f"{head}at {crashes.lost_instants:,} of them lines were lost, up to {crashes.most_lines:,}; "
            f"first at {crashes.first_ns:.3f} ns:"
        )
        yield from (f"  {_lost(line)}" for line in crashes.lines[:_LINES])
        if len(crashes.lines) > _LINES:
            yield f"  and {counted(len(crashes.lines) - _LINES, 'line')} more"
    if crashes.recoveries:
        yield (
            f"{counted(crashes.recoveries, 'recovery')}, the longest of {duration(crashes.longest_recovery_ns)}; "
            f"power failed again up to {counted(crashes.cuts, 'time')} in a row"
        )
    if crashes.other_ends:
        yield f"at {counted(crashes.other_ends, 'instant')} a recovery that was cut short came to another end"
    if crashes.history is not None:
        yield ""
        yield from _history(crashes.history, crashes.lose)
    if crashes.past_end_ns is not None:
        yield f"note: the run had ended before, at {crashes.past_end_ns:.3f} ns: nothing was under way any more"
    if crashes.stopped is not None:
        yield f"not all instants were looked at: {crashes.stopped}"


def _lost(line: LostLine) -> str:
    why = _RULES[line.rule].format(needed=line.needed_version, recovered=line.recovered_version)
    return f"line {line.address:#x}: version {line.recovered_version} is left; {why}"


def _history(history: History, lose: str | None) -> Iterator[str]:
    devices = list(dict.fromkeys(request.device for request in history.requests))
    shortest = "The shortest history that shows it" if history.shortest else "A shorter history that shows it"
    yield (
        f"{shortest}: {counted(len(history.requests), 'request')} of {', '.join(devices)} (of "
        f"{history.of_requests:,}; found in {counted(history.runs, 'run')})"
    )
    for request in history.requests:
        fence = ", behind a fence" if request.fence else ""
        yield f"  {request.device}: {request.kind} of {request.size} B at {request.address:#x}{fence}"
    yield ""
    rows = [_row(step) for step in history.steps]
    who, happens = ("power", "fails") if lose is None else (lose, "is lost")
    rows.append((f"{history.lost_at_ns:.3f}", who, happens, "", ""))
    left = [(f"{line.address:#x}", f"{line.recovered_version}") for line in history.lines]
    rows += [("", "recovery", "leaves", *line) for line in left]
    head = ("ns", "who", "does", "line", "version")
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        yield "  " + " ".join(_aligned(cell, column, widths) for column, cell in enumerate(row)).rstrip()
    yield ""
    yield from (f"  {_lost(line)}" for line in history.lines)


def _row(step: Step) -> tuple[str, str, str, str, str]:
    version = "" if step.does == _NO_VERSION else f"{step.version}"
    return f"{step.time_ns:.3f}", step.device, step.does, f"{step.address:#x}", version


def _aligned(cell: str, column: int, widths: list[int]) -> str:
    return cell.ljust(widths[column]) if column in (1, 2) else cell.rjust(widths[column])
