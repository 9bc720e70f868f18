"""What several threads have brought to a run, in words."""

from __future__ import annotations

from typing import Any


def threads_lines(cost: dict[str, Any]) -> list[str]:
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
    return [f"{division['parts']} threads{why}; {share:.0%} of the events side by side{busiest}"]
