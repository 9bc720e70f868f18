"""The course of a graph of tasks as a Gantt chart: a row for each lane, a bar for each task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cxloom.display import palette
from cxloom.display.numbers import duration
from cxloom.report.plots import Figure, layout, titled

if TYPE_CHECKING:
    from cxloom.base.summary import SummaryTasks

MOST = 2000
"""Tasks that are drawn, the longest: more bars are no picture."""

_COLOURS = {"compute": palette.SKY, "copy": palette.ORANGE, "kernel": palette.GREEN}
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


def gantt(tasks: SummaryTasks) -> Figure:
    """Bars from the start of each task to its end, on the row of who did it; those of the critical path have a rim."""
    divisor, unit = next(((d, u) for d, u in _UNITS if tasks["time_ns"] >= d), _UNITS[-1])
    critical = {part["task"] for part in tasks["critical_path"]}
    ended = [(name, task) for name, task in tasks["per_task"].items() if "end_ns" in task]
    longest = sorted(ended, key=lambda item: item[1]["start_ns"] - item[1]["end_ns"])[:MOST]
    data: list[Figure] = []
    for kind, colour in _COLOURS.items():
        rows = [(name, task) for name, task in longest if task["kind"] == kind]
        if not rows:
            continue
        told = [
            f"{duration(task['end_ns'] - task['start_ns'])}, after {task['waited_for'] or 'nothing'}"
            for _, task in rows
        ]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": kind,
                "y": [task["lane"] for _, task in rows],
                "base": [task["start_ns"] / divisor for _, task in rows],
                "x": [(task["end_ns"] - task["start_ns"]) / divisor for _, task in rows],
                "text": [name for name, _ in rows],
                "custom": told,
                "tip": "{text}: {custom}",
                "marker": {
                    "color": colour,
                    "line": {
                        "color": palette.BLACK,
                        "width": [2 if name in critical else 0 for name, _ in rows],
                    },
                },
            }
        )
    lanes = list(tasks["per_lane"])
    return {
        "data": data,
        "layout": layout(
            "The course of the tasks",
            titled(f"time ({unit})", rangemode="tozero"),
            {"type": "category", "categories": lanes},
            height=70 + 34 * min(len(lanes), 40),
            barmode="overlay",
        ),
    }
