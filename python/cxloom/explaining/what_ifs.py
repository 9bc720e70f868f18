"""What twice of a resource gains: which resources are tried, the runs, and what limits by them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.bottleneck.resource import Resource
from cxloom.bottleneck.resources import cause, together
from cxloom.bottleneck.shared_limits import all_resources
from cxloom.spec.override import Override
from cxloom.sweeping.at_points import Watch, summaries_at
from cxloom.system.system import System

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

GAIN = 0.03
"""What a what-if run has to gain, as a share, so that what it had twice of counts as a limit."""
_TRIED = 0.5
"""Resources that are busier than this are tried."""
_MOST_TRIED = 12
_MOST_AFTERWARDS = 6
"""What is full with twice of the limit and is doubled, too, at most; several of a kind as one come first."""


@dataclass(frozen=True)
class WhatIf:
    """A run with one resource doubled."""

    resource: Resource
    gain: float
    """Throughput over that of the system as it is, less one; of a graph of tasks its speed."""
    then: Resource | None
    """What is full then, last on the way; of the limit what gains the most then, if that is more than what counts."""
    limits: bool = True
    """Whether `then` limits: nothing else is full, or it gains."""
    full: Sequence[Resource] = ()
    """All that is full then."""
    rate: float = 0.0
    """What is done per nanosecond: requests, beside a GPU bytes, or of a graph of tasks a part of it."""


def lost(summary: Summary) -> int:
    """Messages on the way where something failed: who waits for them waits for a timeout, which may be all of a run."""
    return sum(int(event["lost"]) for event in (summary.get("events") or {}).values())


def worth_trying(resources: Sequence[Resource], most: int = _MOST_TRIED) -> list[Resource]:
    """The busy ones, each once; and of each kind of which there are several, all that are busy as one."""
    tried: dict[str, Resource] = {}
    kinds: dict[str, list[Resource]] = {}
    for each in sorted(resources, key=lambda each: -each.busy):
        if not each.relief or each.busy < _TRIED:
            continue
        key = json.dumps(each.relief, sort_keys=True)
        if key not in tried:  # the two ways of a link have one
            tried[key] = each
            kinds.setdefault(each.kind, []).append(each)
    groups = [together(several) for several in kinds.values() if len(several) > 1]
    return [*groups, *list(tried.values())[: max(4, most - len(groups))]]


def _summaries(
    whole: System, points: Sequence[Mapping[str, Any]], jobs: int | None, watch: Watch
) -> list[Summary | None]:
    """What runs with other values gave; None where there is no rate to compare."""
    if not points:
        return []
    try:
        found = summaries_at(whole, points, jobs=jobs, watch=watch)
    except InputError:  # none of them can be built: twice as much of them there is not
        return [None] * len(points)
    return [None if each.summary is None or not _has_rate(each.summary) else each.summary for each in found]


def _has_rate(summary: Summary) -> bool:
    """A window that has a length; and nothing waits for timeouts, which is no rate of the system."""
    return bool(summary["requests"] and summary["simulated_time_ns"]) and not lost(summary)


def what_ifs_of(
    whole: System,
    before: Summary,
    tried: Sequence[Resource],
    jobs: int | None,
    watch: Watch,
) -> list[WhatIf]:
    what_ifs = []
    found = _summaries(whole, [each.relief for each in tried], jobs, watch)
    for resource, summary in zip(tried, found, strict=True):
        if summary is None:
            continue
        gain = _rate(summary) / _rate(before) - 1
        changed = whole.resolve([Override.of(path, value) for path, value in resource.relief.items()])
        then = all_resources(changed.plain(), summary)
        full = [each for each in then if each.full]
        what_ifs.append(WhatIf(resource, gain, cause(then), True, full, _rate(summary)))
    return what_ifs


def followed(whole: System, what_if: WhatIf, jobs: int | None, watch: Watch) -> WhatIf:
    """A what-if run with what limits then, found as the limit was: where several are full, each is doubled, too.

    The last full one on the way may hold up only a part of the requests.
    """
    tried = worth_trying(what_if.full, _MOST_AFTERWARDS)
    if len(what_if.full) < 2 or not tried:
        return what_if
    before = what_if.resource.relief
    found = _summaries(whole, [{**before, **each.relief} for each in tried], jobs, watch)
    gains = [
        WhatIf(resource, _rate(summary) / what_if.rate - 1, None)
        for resource, summary in zip(tried, found, strict=True)
        if summary is not None
    ]
    gains = best_first(gains)
    if not gains or gains[0].gain < GAIN:
        return replace(what_if, limits=False)
    return replace(what_if, then=limit_of([], gains))


def best_first(what_ifs: Iterable[WhatIf]) -> list[WhatIf]:
    """The most gain first; of equally good changes the smallest, a resource before all of its kind."""
    return sorted(what_ifs, key=lambda each: (-round(each.gain, 2), len(each.resource.relief)))


def limit_of(resources: Sequence[Resource], what_ifs: Sequence[WhatIf]) -> Resource | None:
    """What gains the most if there is twice of it; without a gain what is last of the full ones on the way.

    Of several of a kind the one alone, where the others gain no more than counts.
    """
    best = next(iter(what_ifs), None)
    if best is not None and best.gain >= GAIN:
        alike = [each for each in what_ifs if each.resource.kind == best.resource.kind]
        as_good = [each for each in alike if each.gain > best.gain - GAIN]
        return min(as_good, key=lambda each: len(each.resource.relief)).resource
    return cause(list(resources))


def _rate(summary: Summary) -> float:
    """Requests per nanosecond; of a graph of tasks graphs, as work beside it makes more requests in a longer time.

    Beside a GPU, whose requests are longer than those of a host, bytes: of two that share a link one makes the more
    requests the less it moves. By Little's law from what was in flight and how long that took, where both are known of
    all requests: requests that a window cuts at its edges do not count then. Otherwise those that were answered in it.
    """
    if summary.get("tasks"):
        return float(1.0 / summary["simulated_time_ns"])
    if any("tags_mean" in each for each in summary["per_requester"].values()):
        return float(summary["bandwidth_gb_per_s"])
    held = [each.get("in_flight_mean") for each in summary["per_requester"].values()]
    waited = (summary["latency_ns"]["mean"] or 0.0) - summary["breakdown_ns"]["requester_queue"]
    if waited > 0 and not summary["errors"]["requests"] and None not in held:
        return float(sum(each for each in held if each is not None) / waited)
    return float(summary["requests"] / summary["simulated_time_ns"])
