"""What several threads have brought to a run, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cxloom.base.words import counted

_OTHERS = {
    "system_events": "at events of the system, and until what they do is over",
    "watched": "as every message is logged",
    "few_in_a_window": "where a part has fewer than 50 in a window",
    "near_an_end": "where the measured window, the run or a task may begin or end",
    "mean_looked_at": "where the mean may be known well enough",
}
"""Where one thread plays all parts, by the key of `cost.threads.events_in_one_thread`."""
_SHORT = "rates are measured in short runs, which are not divided"
OF_PROGRAM = "a program goes on while it is simulated"
"""Why a program has one thread, a replayed one too: what it does next is asked for as answers come."""
_MOST = 0.9
"""A share of events side by side from which on nobody asks for the others."""


def in_one_thread(asked: int, reason: str = _SHORT) -> dict[str, Any]:
    """What the `cost` of runs within a command says of so many threads: these runs have one each, for a reason."""
    return {"threads": {"parts": 1, "reason": reason}} if asked > 1 else {}


def lines_of_runs(costs: Sequence[Mapping[str, Any]]) -> list[str]:
    """As `threads_lines`, of several runs: one line of all that were to have several threads."""
    asked = [cost for cost in costs if "threads" in cost]
    if len(asked) < 2:
        return [line for cost in asked for line in threads_lines(cost)]
    divisions = [cost["threads"] for cost in asked]
    parts = sorted({division["parts"] for division in divisions})
    each = (
        f"{counted(parts[0], 'thread')} each"
        if len(parts) == 1
        else f"{parts[0]} to {parts[-1]} threads each"
    )
    reasons = list(dict.fromkeys(division["reason"] for division in divisions if "reason" in division))
    why = f": {'; '.join(reasons)}" if reasons else ""
    beside = sum(division.get("events_side_by_side", 0) for division in divisions)
    events = sum(cost.get("events", 0) for cost in asked)
    share = f"; {beside / events:.0%} of the events side by side" if parts[-1] > 1 and events else ""
    return [f"{counted(len(asked), 'run')}, {each}{why}{share}"]


def threads_lines(cost: Mapping[str, Any]) -> list[str]:
    """One line of the `cost` of a run that was to have several threads: docs/threads.md. None if it was not."""
    division = cost.get("threads")
    if division is None:
        return []
    why = f": {division['reason']}" if "reason" in division else ""
    if division["parts"] == 1:
        return [f"one thread{why}"]
    beside = division["events_side_by_side"]
    share = beside / cost["events"] if cost["events"] else 0.0
    busiest = (
        f", the busiest part with {division['events_of_busiest'] / beside:.0%} of them" if beside else ""
    )
    others = division.get("events_in_one_thread", {})  # results of before have none
    where = f"; of the others most {_OTHERS[max(others, key=others.__getitem__)]}" if others else ""
    line = f"{division['parts']} threads{why}; {share:.0%} of the events side by side{busiest}"
    return [line + (where if share < _MOST else "")]
