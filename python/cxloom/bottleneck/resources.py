"""What may limit a system: each resource that can fill up, how much is in use, and what would be twice as much of it.

What there is of them the core declares (core/component/resource.hpp), of devices of plug-ins as of ours; how much of
each is in use a summary says. The order is that of a request's way: its requester, the links and switches, the memory.
Of a chain of full resources the last one is the cause: those before it wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cxloom import _core
from cxloom.bottleneck import occupancy
from cxloom.bottleneck.offered import offered_rates, waits_for_itself
from cxloom.bottleneck.resource import Resource, Stage

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

Spec = Mapping[str, Any]

_STAGES = ("requester", "cache", "way", "places", "media")
"""The words of the core for `Stage`."""


def resources_of(spec: Spec, summary: Summary, inventory: _core.Inventory) -> list[Resource]:
    """What requests take themselves, in the order of their way; the fuller first of each stage."""
    waiting = {name for name in summary["per_requester"] if waits_for_itself(spec, summary, name)}
    found = [*_of_workload(spec, summary, waiting)]
    for device in inventory["devices"]:
        own = [*_declared(device["resources"], summary)]
        own = [each for each in own if each.stage != Stage.REQUESTER] if device["name"] in waiting else own
        measured = any(each.full and each.occupied and each.stage == Stage.MEDIA for each in own)
        # What is seen to be full explains that requests wait there.
        found += [each for each in own if each.occupied or each.stage != Stage.MEDIA or not measured]
        if "memory" in device["roles"] and not any(each.stage >= Stage.PLACES for each in own):
            found += _unknown_memory(device["name"], summary)
    for link in inventory["links"]:
        for each in _declared(link["resources"], summary):
            found.append(replace(each, place=link["entry"]))
    return sorted(found, key=lambda each: (each.stage, -each.busy))


def cause(resources: list[Resource]) -> Resource | None:
    """The last full resource on the way, the fullest of its stage; None if none is full."""
    full = [each for each in resources if each.full]
    # The nearer to the memory of equally busy wires: a slow one keeps a fast one behind it busy, too.
    return max(full, key=lambda each: (each.stage, round(each.busy, 2), each.place), default=None)


def together(resources: Sequence[Resource]) -> Resource:
    """Several of one kind as one: the queues of all hosts, the slots of memories that share addresses."""
    first = resources[0]
    names = [each.owner for each in resources]
    owner = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    relief: dict[str, Any] = {}
    for each in resources:
        relief |= each.relief
    busy = sum(each.busy for each in resources) / len(resources)
    return replace(
        first,
        owner=owner,
        busy=busy,
        level=f"{100 * busy:.0f} % on average",
        relief=relief,
        twice=_twice_of_each(resources),
        place=max(each.place for each in resources),
    )


def _twice_of_each(resources: Sequence[Resource]) -> str:
    """What twice of each is: ``8 in flight each``; of unlike ones ``8 in flight of a and 2 in flight of b``."""
    first = resources[0]
    if all(each.twice == first.twice for each in resources):
        return f"{first.twice} each"
    if len(resources) > 3:
        return "twice as much of each"
    *others, last = (f"{each.twice} of {each.owner}" for each in resources)
    return f"{', '.join(others)} and {last}"


def chain(resources: list[Resource], limit: Resource | None = None) -> list[Resource]:
    """The full resources from the requester to the cause: each waits for the next."""
    last = limit or cause(resources)
    if last is None:
        return []
    before = [each for each in resources if each.full and each.stage < last.stage]
    stages = {each.stage: each for each in reversed(before)}
    return [stages[stage] for stage in sorted(stages)] + [last]


def _declared(declared: Sequence[_core.InventoryResource], summary: Summary) -> Iterator[Resource]:
    """Declared resources with a limit, of which a run measured how much is in use; links only if they are used."""
    for each in declared:
        used = occupancy.of(each, summary)
        stage = Stage(_STAGES.index(each["stage"]))
        if used is None or (stage == Stage.WAY and not used.share):
            continue
        link = each["measures"][0] if each["measures"][0][0] == "per_link" else None
        relief, twice = each["twice"], each["twice_text"]
        yield Resource(
            each["kind"],
            each["owner"],
            stage,
            used.share,
            used.level,
            relief,
            twice if relief else "",
            each["full_from"],
            occupied=used.grows,
            wait=each["wait"],
            counts=each["counts"],
            way=None if link is None or each["occupancy"] != "share" else (link[1], link[2]),
        )


def _of_workload(spec: Spec, summary: Summary, waiting: set[str]) -> Iterator[Resource]:
    """What the work of requesters lets them ask for."""
    for name, (rate, offered, twice) in offered_rates(spec, summary).items():
        yield Resource(
            "the offered load of",
            name,
            Stage.REQUESTER,
            rate / offered,
            f"{rate / 1e6:.4g} of {offered / 1e6:.4g} M/s",
            {f"workload.{name}.rate": twice},
            "twice the rate",
            0.98,
        )
    for name in sorted(waiting):
        words = f"the latency, as each access of {name} waits for the one before it"
        yield Resource(words, "", Stage.REQUESTER, summary["per_requester"][name]["in_flight_mean"], "1 of 1")


def _unknown_memory(name: str, summary: Summary) -> Iterator[Resource]:
    """Memory that declares nothing of what it consists of: only that requests wait for it can be seen."""
    parts = summary["per_memory"].get(name, {}).get("breakdown_ns")
    used = occupancy.waiting(parts, "media_queue") if parts else None
    if used is not None:
        yield Resource(
            "the memory of", name, Stage.MEDIA, used.share, used.level, occupied=False, wait="media_queue"
        )
