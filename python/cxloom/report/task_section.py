"""What a page says of a graph of tasks: its time, its course, its critical path, and who used which link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cxloom.base.words import counted
from cxloom.display.numbers import duration, percent, size
from cxloom.report.gantt import gantt
from cxloom.report.page import Cell, plot, table
from cxloom.tasks.table import how_known

if TYPE_CHECKING:
    from cxloom.base.summary import SummaryTasks

_ROWS = 500
"""The most rows of a table."""


def task_tiles(tasks: SummaryTasks) -> list[tuple[str, str, str]]:
    """How long the graph took, how well that is known, and what its critical path is made of."""
    ended = sum("end_ns" in task for task in tasks["per_task"].values())
    path = tasks["critical_path"]
    stood = any(window["stood_for_ns"] for window in tasks["windows"])
    known = f"± {duration(tasks['error_ns'])}" if stood else how_known(tasks)
    by_kind = dict.fromkeys(("compute", "copy", "kernel"), 0.0)
    for part in path:
        by_kind[tasks["per_task"][part["task"]]["kind"]] += part["time_ns"]
    shares = [f"{kind} {percent(time / tasks['time_ns'])}" for kind, time in by_kind.items() if time]
    return [
        ("time", duration(tasks["time_ns"]), known),
        ("tasks", f"{ended:,}", f"of {len(tasks['per_task']):,}"),
        ("critical path", counted(len(path), "task"), ", ".join(shares)),
    ]


def task_section(tasks: SummaryTasks) -> str:
    """The Gantt chart, the critical path as a table, and who used which link."""
    about = f"A bar for each task, on the row of who did it, from 0 to {duration(tasks['time_ns'])}."
    path = [
        (
            Cell(part["task"], look="text"),
            Cell(task["lane"], look="text"),
            Cell(duration(task["start_ns"]), task["start_ns"]),
            Cell(duration(part["time_ns"]), part["time_ns"]),
        )
        for part in tasks["critical_path"][:_ROWS]
        for task in (tasks["per_task"][part["task"]],)
    ]
    links = [
        (Cell(link, look="text"), Cell(name, look="text"), Cell(size(count), count))
        for link, objects in tasks["per_link"].items()
        for name, count in objects.items()
    ][:_ROWS]
    parts = [plot("gantt", gantt(tasks), about)]
    parts.append(table(("task", "lane", "starts", "takes"), path, caption="The critical path"))
    if links:
        parts.append(table(("link", "object", "bytes"), links, caption="Who used which link"))
    return "".join(parts)
