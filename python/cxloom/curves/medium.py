"""A measured curve as a medium: its table, and what of its latency is the way to the memory."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

from cxloom.base.errors import InputError
from cxloom.curves.points import Point
from cxloom.spec.names import listed, nearest
from cxloom.spec.parts import entry, part_of
from cxloom.system.system import System

_INSTANT_NS = 1
"""A medium without waiting, whose time is taken off again."""


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
    sections = ("devices", "links")
    spec: dict[str, Any] = copy.deepcopy({key: whole[key] for key in sections if key in whole})
    entry(spec, parts[memory])["media"] = {"kind": "fixed", "latency": f"{_INSTANT_NS}ns"}
    spec["address_map"] = [{"to": [memory]}]
    routes = System.from_yaml(json.dumps(spec)).check()["routes"]
    reads = {
        route["requester"]: float(route["idle_read_ns"]["least"]) - _INSTANT_NS
        for route in routes
        if route.get("idle_read_ns")
    }
    if not reads:
        raise InputError(
            f"no requester has a way to '{memory}'", allowed="a memory that is read", path="--memory"
        )
    return dict(sorted(reads.items(), key=lambda each: each[1]))


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
