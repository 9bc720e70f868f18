"""Two explanations side by side: whether the limit moved, and which resources fill up more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cxloom.display.plain_table import plain_table
from cxloom.explaining.shown_rows import IN_USE, Row, rows

if TYPE_CHECKING:
    from rich.table import Table

    from cxloom.explaining.explanation import Explanation


def sentence(base: Explanation, found: Explanation) -> str:
    """How the throughput differs, of graphs of tasks their time, and whether what limits does."""
    what, now, was = "Throughput", found.throughput, base.throughput
    if found.tasks_ns is not None and base.tasks_ns is not None:
        what, now, was = "Time of the tasks", found.tasks_ns, base.tasks_ns
    rate = f"{what} {100 * (now / was - 1 if was else 0.0):+.1f} %"
    before, after = ("nothing" if each.limit is None else each.limit.name for each in (base, found))
    if before == after:
        return (
            f"{rate}: the limit is {after} in both."
            if after != "nothing"
            else f"{rate}: nothing is full in either."
        )
    return f"{rate}: the limit moved from {before} to {after}."


def table(base: Explanation, found: Explanation) -> Table:
    """The resources in use, in the order of a request's way; of Rich. A: `base`, B: `found`, ``*``: the limit."""
    made = plain_table()
    for title, right in (
        ("resource", False),
        ("A in use", True),
        ("B in use", True),
        ("A if doubled", True),
        ("B if doubled", True),
    ):
        made.add_column(title, justify="right" if right else "left")
    both = (base, found)
    shown = {row.first.name for one in both for row in _rows(one) if row.resources == 1}
    names = dict.fromkeys(each.name for one in both for each in one.resources)
    for name in names:
        if name not in shown:
            continue
        seen = [next((each for each in one.resources if each.name == name), None) for one in both]
        levels = [
            "-" if each is None else ("* " if one.limit is each else "") + each.level
            for one, each in zip(both, seen, strict=True)
        ]
        gains = [
            next((each.gain for each in one.what_ifs if each.resource.name == name), None) for one in both
        ]
        made.add_row(
            name.removeprefix("the "),
            *levels,
            *("-" if gain is None else f"{100 * gain:+.0f} %" for gain in gains),
        )
    hidden = {
        each.name for one in both for each in one.resources if each.busy >= IN_USE and each.name not in shown
    }
    if hidden:
        made.add_row(f"and {len(hidden)} more that are as full or less", *[""] * 4)
    return made


def _rows(one: Explanation) -> Iterator[Row]:
    limit = set() if one.limit is None else {one.limit.name}
    return rows(one.resources, limit, {each.resource.name for each in one.what_ifs})
