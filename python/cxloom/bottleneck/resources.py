"""What may limit a system: each resource, how much of it is in use, and what would be twice as much of it.

The order is that of a request's way: its requester, the links and switches, the memory. Of a chain of full resources
the last one is the cause: those before it wait for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cxloom.base.words import direction_name
from cxloom.bottleneck.resource import FULL, Resource, Stage
from cxloom.spec import declared
from cxloom.spec.parts import Part, part_of, quantity

Spec = Mapping[str, Any]

_DATA_BUS_FULL = 0.85
"""Of a DRAM data bus: what refreshes and turns of direction leave of it."""
_WAITING = 0.3
"""Of the time of a request at a memory: from this share of waiting on its banks are full."""


def resources_of(spec: Spec, summary: Spec) -> list[Resource]:
    """What requests take themselves, in the order of their way; the fuller first of each stage."""
    found = [*_requesters(spec, summary), *_ways(spec, summary), *_memories(spec, summary)]
    return sorted(found, key=lambda each: (each.stage, -each.busy))


def cause(resources: list[Resource]) -> Resource | None:
    """The last full resource on the way, the fullest of its stage; None if none is full."""
    full = [each for each in resources if each.full]
    # Of wires that are as busy the one that is nearer to the memory: a slow one keeps a fast one behind it busy, too.
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
        twice=f"{first.twice} each",
        place=max(each.place for each in resources),
    )


def chain(resources: list[Resource], limit: Resource | None = None) -> list[Resource]:
    """The full resources from the requester to the cause: each waits for the next."""
    last = limit or cause(resources)
    if last is None:
        return []
    before = [each for each in resources if each.full and each.stage < last.stage]
    stages = {each.stage: each for each in reversed(before)}
    return [stages[stage] for stage in sorted(stages)] + [last]


# --- requesters ------------------------------------------------------------------------------------------------------


def _requesters(spec: Spec, summary: Spec) -> Iterator[Resource]:
    time = summary["simulated_time_ns"]
    for name, mine in summary["per_requester"].items():
        work = (spec.get("workload") or {}).get(name, {})
        rate = mine["requests"] / time if time else 0.0
        given = Part(f"workload.{name}", work, declared.fields(declared.declarations()["workload"])).get(
            "rate"
        )
        offered = math.inf if given is None else quantity("frequency", given) / 1e9
        if offered < math.inf:
            yield Resource(
                "the rate that is offered at",
                name,
                Stage.REQUESTER,
                _share(rate, offered),
                f"{1e3 * rate:.4g} of {1e3 * offered:.4g} M/s",
                {f"workload.{name}.rate": doubled(given)},
                "twice the rate",
                0.98,
            )
        if _depends(work) and mine["in_flight_mean"] < 1.5:
            words = f"the latency, as each access of {name} waits for the one before it"
            yield Resource(words, "", Stage.REQUESTER, mine["in_flight_mean"], "1 of 1")
            continue
        device = part_of(spec, name, "requester")
        if device is None:
            continue
        interval = quantity("time", device.get("issue_interval") or "0ns")
        if interval > 0:
            yield Resource(
                "the time between two issues of",
                name,
                Stage.REQUESTER,
                rate * interval,
                str(device.get("issue_interval")),
                {f"{device.at}.issue_interval": _scaled(device.get("issue_interval"), 0.5)},
                "half the time",
            )
        queue = device.count("queue")
        if queue is not None:
            yield Resource(
                "the queue of",
                name,
                Stage.REQUESTER,
                mine["in_flight_mean"] / queue,
                f"{mine['in_flight_mean']:.1f} of {queue}",
                {f"{device.at}.queue": 2 * queue},
                f"{2 * queue} in flight",
            )
        yield from _registers(device, name, mine, summary)


def _registers(device: Part, name: str, mine: Spec, summary: Spec) -> Iterator[Resource]:
    """What limits how many lines are asked for at the same time: registers of a cache, and those of cores."""
    cache, core = device.below("cache"), device.below("core")
    registers = None if cache is None else cache.count("mshrs")
    if cache is not None and registers is not None and len(summary["per_requester"]) == 1:
        taken = _missing(summary)
        yield Resource(
            "the miss registers (MSHRs) of",
            name,
            Stage.REGISTERS,
            taken / registers,
            f"{taken:.1f} of {registers}",
            {f"{cache.at}.mshrs": 2 * registers},
            f"{2 * registers} registers",
            0.95,
        )
    threads = (mine.get("core") or {}).get("threads")
    registers = None if core is None else core.count("mshrs")
    if core is not None and registers is not None and threads:
        every = registers * threads
        yield Resource(
            f"the miss registers (MSHRs) of the {'cores' if threads > 1 else 'core'} of",
            name,
            Stage.REQUESTER,
            mine["in_flight_mean"] / every,
            f"{mine['in_flight_mean']:.1f} of {every}",
            {f"{core.at}.mshrs": 2 * registers},
            f"{2 * registers} registers each" if threads > 1 else f"{2 * registers} registers",
            0.95,
        )


def _depends(work: Spec) -> bool:
    return work.get("pattern") in ("pointer-chase", "cycle")


def _missing(summary: Spec) -> float:
    """Lines that are asked for, on average over time, by Little's law."""
    time = summary["simulated_time_ns"]
    return sum(
        float(mine["requests"] / time)
        * sum(
            float(mine["breakdown_ns"][part])
            for part in mine["breakdown_ns"]
            if part not in ("requester_queue", "process", "cache", "mshr")
        )
        for mine in summary["per_memory"].values()
        if mine["requests"]
    )


# --- links, buses and switches ---------------------------------------------------------------------------------------


def _ways(spec: Spec, summary: Spec) -> Iterator[Resource]:
    time = summary["simulated_time_ns"]
    indices = link_indices(spec)
    for name, ways in summary["per_link"].items():
        index = indices.get(name)
        link = spec["links"][index] if index is not None else {}
        for way, mine in ways.items():
            if mine["utilization"] > 0:
                relief, twice = _beside(spec, summary, way) or _faster(spec, index, link)
                yield Resource(
                    "the wire",
                    direction_name(name, way),
                    Stage.WAY,
                    mine["utilization"],
                    f"{100 * mine['utilization']:.0f} % busy",
                    relief,
                    twice,
                    0.95,
                    index or 0,
                )
            blocked = max((mine.get("credit_blocked_ns_by_class") or {}).values(), default=0.0)
            if blocked and time:
                relief = {}
                if index is not None and link.get("credits") is not None:
                    relief = {f"links[{index}].credits": doubled(link["credits"])}
                yield Resource(
                    "the credits of the link",
                    direction_name(name, way),
                    Stage.WAY,
                    min(1.0, blocked / time),
                    f"none left {100 * blocked / time:.0f} % of the time",
                    relief,
                    "twice the credits",
                    0.9,
                    index or 0,
                    occupied=False,
                )
    for name, mine in summary["per_switch"].items():
        if "downstream_utilization" not in mine:
            continue
        relief = _more_of(part_of(spec, name, "bus"), "bandwidth")
        for way in ("downstream", "upstream"):
            busy = mine[f"{way}_utilization"]
            yield Resource(
                "the bus",
                f"{name}, {way}",
                Stage.WAY,
                busy,
                f"{100 * busy:.0f} % busy",
                relief,
                "twice the bandwidth",
                0.95,
            )


def _beside(spec: Spec, summary: Spec, way: str) -> tuple[dict[str, Any], str] | None:
    """What spreads messages over links that carry nothing beside this one; None if there are none, or nothing would."""
    uses = [ways[way]["messages"] for ways in summary["per_link"].values() if way in ways]
    if all(uses) or (spec.get("run") or {}).get("routing", "deterministic") != "flow-hash":
        return None
    return {"run.routing": "deterministic"}, f"all {len(uses)} links"


def link_indices(spec: Spec) -> dict[str, int]:
    """Which entry of the spec each link of a summary is."""
    uses: dict[str, int] = {}
    found = {}
    for index, link in enumerate(spec["links"]):
        name = "-".join(link["between"])
        for _ in range(int(link.get("count") or 1)):
            uses[name] = uses.get(name, 0) + 1
            found[name if uses[name] == 1 else f"{name}#{uses[name]}"] = index
    return found


def _faster(spec: Spec, index: int | None, link: Spec) -> tuple[dict[str, Any], str]:
    if index is None:
        return {}, ""
    phy = re.fullmatch(r"(pcie\d)-x(\d+)", str(link.get("phy") or ""))
    if phy and int(phy[2]) < 16:
        return {f"links[{index}].phy": f"{phy[1]}-x{2 * int(phy[2])}"}, f"{2 * int(phy[2])} lanes"
    settings = {}
    if link.get("bandwidth") not in (None, "unlimited"):
        settings[f"links[{index}].bandwidth"] = doubled(link["bandwidth"])
    for end in link["between"]:  # a link is as slow as its slowest part
        settings |= _more_of(part_of(spec, end, "switch"), "port_bandwidth")
    return settings, "twice the bandwidth"


def _more_of(part: Part | None, key: str) -> dict[str, Any]:
    """What sets twice a bandwidth; nothing if it has no limit."""
    value = None if part is None else part.get(key)
    if part is None or value is None or quantity("bandwidth", value) == math.inf:
        return {}
    return {f"{part.at}.{key}": doubled(value)}


# --- memories --------------------------------------------------------------------------------------------------------


def _memories(spec: Spec, summary: Spec) -> Iterator[Resource]:
    for name, mine in summary["per_memory"].items():
        memory = part_of(spec, name, "memory")
        if memory is None:  # of a kind that does not say what its memory consists of
            yield _waiting("the memory of", name, mine)
            continue
        places = (
            ("queue", "queue_mean", "the slots of"),
            ("read_buffer", "read_places_mean", "the read buffer of"),
            ("write_buffer", "write_places_mean", "the write buffer of"),
        )
        for key, measure, words in places:
            size = memory.count(key)
            if size is not None and mine.get(measure) is not None:
                yield Resource(
                    words,
                    name,
                    Stage.PLACES,
                    mine[measure] / size,
                    f"{mine[measure]:.1f} of {size}",
                    {f"{memory.at}.{key}": 2 * size},
                    f"{2 * size} places",
                )
        yield from _media(name, memory, mine, summary["simulated_time_ns"])


def _media(name: str, memory: Part, mine: Spec, time: float) -> Iterator[Resource]:
    kind, media = memory.kind("media")
    if kind == "fixed":
        yield from _fixed(name, media, mine, time)
    elif kind == "dram":
        busy = mine["data_bus_utilization"]
        channels = media.count("channels")
        relief = {} if channels is None else {f"{media.at}.channels": 2 * channels}
        twice = "" if channels is None else f"{2 * channels} channels"
        yield Resource(
            "the DRAM data bus of",
            name,
            Stage.MEDIA,
            busy,
            f"{100 * busy:.0f} % busy",
            relief,
            twice,
            _DATA_BUS_FULL,
        )
        if busy < _DATA_BUS_FULL:
            hits = f", {100 * (mine['row_hit_rate'] or 0):.0f} % hit an open row"
            yield _waiting("the DRAM banks (rows) of", name, mine, hits, relief, twice)
    else:
        yield _waiting(f"the {kind} media of", name, mine)


def _fixed(name: str, media: Part, mine: Spec, time: float) -> Iterator[Resource]:
    carried = mine["bandwidth_gb_per_s"]
    relief = _more_of(media, "bandwidth")
    if relief:
        most = quantity("bandwidth", media.get("bandwidth")) / 1e9
        yield Resource(
            "the data path of",
            name,
            Stage.MEDIA,
            _share(carried, most),
            f"{carried:.1f} of {most:.1f} GB/s",
            relief,
            "twice the bandwidth",
        )
    banks = media.count("banks")
    if banks is not None:
        served = (mine["reads"] + mine["writes"]) / time if time and mine["requests"] else 0.0
        taken = served * mine["breakdown_ns"]["media"] if served else 0.0
        yield Resource(
            "the banks of",
            name,
            Stage.MEDIA,
            taken / banks,
            f"{taken:.1f} of {banks}",
            {f"{media.at}.banks": 2 * banks},
            f"{2 * banks} banks",
            0.9,
        )


def _waiting(
    words: str, name: str, mine: Spec, more: str = "", relief: Spec | None = None, twice: str = ""
) -> Resource:
    """What is full where requests wait for it: the share of their time at the memory, by their segments."""
    parts = mine["breakdown_ns"]
    spent = sum(parts[part] or 0.0 for part in ("controller", "media_queue", "media"))
    share = _share(parts["media_queue"] or 0.0, spent)
    return Resource(
        words,
        name,
        Stage.MEDIA,
        min(1.0, share / _WAITING) * FULL,
        f"{100 * share:.0f} % of the time there is waiting{more}",
        relief or {},
        twice,
        occupied=False,
    )


# --- quantities ------------------------------------------------------------------------------------------------------

_QUANTITY = re.compile(r"\s*([0-9.]+(?:e-?[0-9]+)?)\s*([A-Za-z/%]*)\s*", re.IGNORECASE)


def doubled(value: Any) -> Any:
    """Twice a number, a quantity, or each of a table of them."""
    if isinstance(value, Mapping):
        return {key: doubled(each) for key, each in value.items()}
    return 2 * value if isinstance(value, int) else _scaled(value, 2)


def _scaled(value: Any, factor: float) -> str:
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        raise ValueError(f"no quantity: {value}")
    return f"{float(match[1]) * factor:.12g}{match[2]}"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
