"""The result of a graph of tasks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from cxloom.base.words import counted
from cxloom.display.numbers import duration, percent, size

if TYPE_CHECKING:
    from cxloom.base.summary import SummaryTasks


_NAMED = 3
"""Tasks that failed are named, so many of them."""


def headline(tasks: SummaryTasks) -> str:
    """How long the graph took, and how well that is known."""
    ended = sum("end_ns" in task for task in tasks["per_task"].values())
    said = f"{counted(ended, 'task')} in {duration(tasks['time_ns'])}"
    if ended < len(tasks["per_task"]):
        said = f"{ended} of {counted(len(tasks['per_task']), 'task')} ended, the last at {duration(tasks['time_ns'])}"
    failed = failures(tasks)
    return f"{said}, {how_known(tasks)}" + (f"; {failed}" if failed else "")


def failures(tasks: SummaryTasks) -> str:
    """How many tasks failed, of which memory answered lines without data, and the first; empty if there are none."""
    failed = [name for name, task in tasks["per_task"].items() if task.get("failed")]
    if not failed:
        return ""
    more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return f"{len(failed)} failed: {', '.join(failed[:_NAMED])}{more}"


def how_known(tasks: SummaryTasks) -> str:
    """How well the time is known, and for which part of it lines moved at rates from windows."""
    if not any(task["bytes"] for task in tasks["per_task"].values()):
        return "none of which moves a line"
    stood = sum(window["stood_for_ns"] for window in tasks["windows"])
    if not stood:
        return "every line simulated"
    share = percent(stood / tasks["time_ns"])
    return f"known to {duration(tasks['error_ns'])}; {share} of it at rates from windows of lines"


def tables(tasks: SummaryTasks, rows: int) -> list[Table]:
    """The critical path, who was busy, and who used which link: at most so many rows each."""
    return [each for each in (_path(tasks, rows), _lanes(tasks, rows), _links(tasks, rows)) if each.row_count]


def _table(first: str, *numbers: str) -> Table:
    """A table as those of all results are, whose columns of figures have room before them."""
    made = Table(box=None, header_style="dim", padding=0)
    made.add_column(first, overflow="ellipsis", min_width=16)
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def _path(tasks: SummaryTasks, rows: int) -> Table:
    """The longest parts of a long path, in their order."""
    made = _table("critical path", "lane", "starts", "takes", "share")
    path = tasks["critical_path"]
    longest = sorted(path, key=lambda part: -part["time_ns"])[: rows - 1] if len(path) > rows else path
    shown = {part["task"] for part in longest}
    for part in path:
        if part["task"] not in shown:
            continue
        task = tasks["per_task"][part["task"]]
        share = part["time_ns"] / tasks["time_ns"] if tasks["time_ns"] else 0.0
        made.add_row(
            Text(part["task"]),
            task["lane"],
            duration(task["start_ns"]),
            duration(part["time_ns"]),
            percent(share),
        )
    if len(shown) < len(path):
        rest = sum(part["time_ns"] for part in path if part["task"] not in shown)
        made.add_row(Text(f"and {len(path) - len(shown)} more", style="dim"), "", "", duration(rest), "")
    return made


def _lanes(tasks: SummaryTasks, rows: int) -> Table:
    made = _table("lane", "tasks", "busy", "share")
    lanes = sorted(tasks["per_lane"].items(), key=lambda item: -item[1]["busy_ns"])
    for name, lane in lanes[:rows]:
        share = lane["busy_ns"] / tasks["time_ns"] if tasks["time_ns"] else 0.0
        made.add_row(Text(name), f"{lane['tasks']:,}", duration(lane["busy_ns"]), percent(share))
    return made


def _links(tasks: SummaryTasks, rows: int) -> Table:
    made = _table("link", "object", "bytes")
    used = [
        (link, name, count) for link, objects in tasks["per_link"].items() for name, count in objects.items()
    ]
    for link, name, count in sorted(used, key=lambda row: -row[2])[:rows]:
        made.add_row(Text(link), name, size(count))
    return made
