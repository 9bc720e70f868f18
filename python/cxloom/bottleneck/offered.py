"""What the work of a requester lets it ask for: a rate, or one access at a time where each needs the last."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cxloom.spec import declared
from cxloom.spec.parts import Part, quantity

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

Spec = Mapping[str, Any]

_ALONE = 1.5
"""The mean number in flight, at most, of accesses that wait for each other."""
_IN_TURN = 0.97
"""The mean number in flight from which on accesses in turn leave no time between them."""


def offered_rates(spec: Spec, summary: Summary) -> dict[str, tuple[float, float, str]]:
    """The requests of each requester whose work has a rate: answered a second, offered, and twice the rate."""
    time = summary["simulated_time_ns"]
    found = {}
    for name, mine in summary["per_requester"].items():
        given = _work(spec, name).get("rate")
        offered = math.inf if given is None else quantity("frequency", given)
        if offered < math.inf:
            rate = 1e9 * mine["requests"] / time if time else 0.0
            found[name] = (rate, offered, f"{2 * offered:.12g}/s")
    return found


def waits_for_itself(spec: Spec, summary: Summary, requester: str) -> bool:
    """Each access needs the one before it, or is held back until that is answered, and does not merely wait for a
    place."""
    pattern = declared.kinds("patterns").get(str(_work(spec, requester).get("pattern")), {})
    in_flight: float = summary["per_requester"][requester]["in_flight_mean"]
    if "dependent" in pattern.get("traits", ()):
        return in_flight < _ALONE
    return _IN_TURN <= in_flight < _ALONE and _uncacheable(spec, summary)


def _uncacheable(spec: Spec, summary: Summary) -> bool:
    """Requests go to uncacheable memory, in which no access begins before the one ahead is answered."""
    asked = {name for name, memory in summary["per_memory"].items() if memory["requests"]}
    regions = spec.get("address_map") or ()
    return any(region.get("type") == "uc" and not asked.isdisjoint(region["to"]) for region in regions)


def _work(spec: Spec, requester: str) -> Part:
    written = (spec.get("workload") or {}).get(requester, {})
    return Part(f"workload.{requester}", written, declared.fields(declared.declarations()["workload"]))
