"""What several threads have brought to a run, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OTHERS = {
    "system_events": "at events of the system, and until what they do is over",
    "watched": "as every message is logged",
    "few_in_a_window": "where a part has fewer than 50 in a window",
    "near_an_end": "where the measured window, the run or a task may begin or end",
    "mean_looked_at": "where the mean may be known well enough",
}
"""Where one thread plays all parts, by the key of `cost.threads.events_in_one_thread`."""
_SHORT = "rates are measured in short runs, which are not divided"
_MOST = 0.9
"""A share of events side by side from which on nobody asks for the others."""


def in_one_thread(asked: int) -> dict[str, Any]:
    """What the `cost` of short runs within a command says of so many threads: these runs have one each."""
    return {"threads": {"parts": 1, "reason": _SHORT}} if asked > 1 else {}


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
