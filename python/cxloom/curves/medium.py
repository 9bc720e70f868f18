"""A measured curve as a medium: its table, and what of its latency is the way to the memory."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cxloom.base.errors import InputError
from cxloom.curves.points import Point
from cxloom.spec.ineffective import TIMEOUTS
from cxloom.spec.names import listed, nearest
from cxloom.spec.parts import Part, entry, part_of
from cxloom.system.system import System

_INSTANT_NS = 1
"""A medium without waiting, whose time is taken off again."""
_ELSEWHERE_NS = 1_000_000
"""Controllers of other memories, which no read of this one passes."""


def table_of(points: Iterable[Point], source: str) -> str:
    """The file of a `curve` medium (docs/model/curve.md), with its source as a comment."""
    rows = [
        f"{100 * point.reads:g}%, {point.bandwidth_gb_per_s:.6g}, {point.latency_ns:.6g}" for point in points
    ]
    return "\n".join([f"# {source}", "reads, bandwidth_gb_per_s, latency_ns", *rows]) + "\n"


def ways_ns(system: System, memory: str) -> dict[str, float]:
    """How long an idle read of a memory is on its way, outside of the medium, in ns, from each requester that has one;
    the nearest first.

    A curve that was measured at a core has this in each of its latencies; the rest of the system adds it again. It is
    what `cxloom check` says of an idle read, with a medium that takes no time.

    Raises InputError for a system that has no memory of this name with media of its own, or no way to it.
    """
    whole = system.resolve().plain()
    parts = {name: part for name in whole["devices"] if (part := part_of(whole, name, "memory")) is not None}
    if memory not in parts:
        known = memory in whole["devices"]
        raise InputError(
            f"'{memory}' is {'a device whose kind declares no medium' if known else 'no memory of the system'}",
            allowed=listed(list(parts)),
            suggestion=nearest(memory, list(parts)),
            path="--memory",
        )
    routes = _alone(_bare(whole, memory), parts, memory).check()["routes"]
    reads = {
        route["requester"]: float(route["idle_read_ns"]["least"]) - _INSTANT_NS
        for route in routes
        if route.get("idle_read_ns") and route["idle_read_ns"]["least"] < _ELSEWHERE_NS
    }
    if not reads:
        raise InputError(
            f"no requester has a way to '{memory}'", allowed="a memory that is read", path="--memory"
        )
    return dict(sorted(reads.items(), key=lambda each: each[1]))


def _bare(whole: Mapping[str, Any], memory: str) -> dict[str, Any]:
    """The system without work and events. All else is as it was: who keeps lines coherent, which logical devices there
    are, by which way a memory is read. One that has no addresses gets all of them."""
    kept = {key: whole[key] for key in ("devices", "links", "address_map") if key in whole}
    spec: dict[str, Any] = json.loads(json.dumps(kept))  # devices of a range are one object
    if (routing := whole.get("run", {}).get("routing")) is not None:
        spec["run"] = {"routing": routing}
    if not any(memory in region["to"] for region in spec.get("address_map", [])):
        spec["address_map"] = [{"to": [memory]}]
    _take_off(spec["devices"], TIMEOUTS)  # nothing fails without events
    return spec


def _alone(spec: dict[str, Any], parts: Mapping[str, Part], memory: str) -> System:
    """The system with a medium that takes no time in this memory, and all others so slow that what takes least is a
    read of this one."""
    own = entry(spec, parts[memory])
    if "capacity" not in own:
        found = System.from_yaml(json.dumps(spec)).check()["media"]
        for each in found:
            if each["memory"] == memory:
                own["capacity"] = each["capacity"]
    own["media"] = {"kind": "fixed", "latency": f"{_INSTANT_NS}ns"}
    for name, part in parts.items():
        if name != memory and "controller_time" in part.fields:
            entry(spec, part)["controller_time"] = f"{_ELSEWHERE_NS}ns"
    return System.from_yaml(json.dumps(spec))


def _take_off(values: Any, keys: Collection[str]) -> None:
    if isinstance(values, dict):
        for key in keys:
            values.pop(key, None)
        for below in values.values():
            _take_off(below, keys)


def refuse_longer_way(points: Iterable[Point], elsewhere: float, memory: str, file: str) -> None:
    """Raises InputError if the way alone takes as long as the least latency that was measured."""
    least = min(points, key=lambda point: point.latency_ns)
    if elsewhere >= least.latency_ns:
        raise InputError(
            f"the way to '{memory}' alone takes longer than was measured",
            found=f"{elsewhere:.4g} ns on the way, {least.latency_ns:.4g} ns measured",
            allowed="a system whose links, caches and controller are as fast as those of the machine",
            file=file,
            line=least.line,
        )
