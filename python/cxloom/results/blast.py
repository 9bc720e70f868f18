"""Whom a failure or a repair hit: the requesters around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cxloom.base.words import counted
from cxloom.display.numbers import duration

if TYPE_CHECKING:
    from cxloom.base.summary import SummaryEvents


def hit_hardest(event: SummaryEvents) -> str | None:
    """The requester with most errors behind the event, "h1: 1,052 errors", and modified lines that its cache lost, "h1:
    1,052 errors, 3 modified lines lost"; without either the one whose mean latency grew most, with both means: "h1:
    341 ns to 1.2 us".

    ``event`` is one of ``summary["events"]``. None where nobody had errors, and nobody's latency grew.
    """
    requesters = event["requesters"]
    if any(each["errors"] or each["dirty_lines_lost"] for each in requesters.values()):
        name, most = max(
            requesters.items(), key=lambda item: (item[1]["errors"], item[1]["dirty_lines_lost"])
        )
        lines = (
            counted(most["dirty_lines_lost"], "modified line") + " lost" if most["dirty_lines_lost"] else ""
        )
        errors = counted(most["errors"], "error") if most["errors"] else ""
        return f"{name}: {', '.join(filter(None, (errors, lines)))}"
    grew = {
        name: (each["latency_ns"] / each["latency_before_ns"], each)
        for name, each in requesters.items()
        if each["latency_before_ns"] and each["latency_ns"]
    }
    if not grew:
        return None
    name, (factor, each) = max(grew.items(), key=lambda item: item[1][0])
    if factor <= 1:
        return None
    return f"{name}: {duration(each['latency_before_ns'])} to {duration(each['latency_ns'])}"
