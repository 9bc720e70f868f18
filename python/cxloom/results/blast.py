"""Whom a failure or a repair hit: the requesters around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxloom.display.numbers import duration


def hit_hardest(event: Mapping[str, Any]) -> str | None:
    """The requester whose mean latency grew most with the event, with both means: "h1: 341 ns to 1.2 us".

    ``event`` is one of ``summary["events"]``. None where nobody's grew, or nobody had answers on both sides.
    """
    grew = {
        name: (each["latency_ns"] / each["latency_before_ns"], each)
        for name, each in event["requesters"].items()
        if each["latency_before_ns"] and each["latency_ns"]
    }
    if not grew:
        return None
    name, (factor, each) = max(grew.items(), key=lambda item: item[1][0])
    if factor <= 1:
        return None
    return f"{name}: {duration(each['latency_before_ns'])} to {duration(each['latency_ns'])}"
