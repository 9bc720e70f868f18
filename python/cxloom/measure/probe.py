"""A probe: one more core of a host, beside its load. It uses the memory that its host may use, and no other."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from cxloom.errors import InputError
from cxloom.measure.bench import Bench, Spec, size_text, written
from cxloom.spec.parts import quantity

PROBE = "-probe"
"""What the name of a requester's probe ends in."""
_PAGE = 4096


def with_probe(bench: Bench, spec: Spec, requester: str) -> Spec:
    """The system with another requester beside one: a core of the same host.

    Both hang on the host's links by a bus that takes no time. Raises InputError if the host has memory of its own, to
    which the bus would be no way.
    """
    spec = copy.deepcopy(spec)
    own = [role for role in ("memory", "home") if role in bench.roles[requester]]
    if own:
        raise InputError(
            "a probe beside a requester with memory of its own has no way there that is as short",
            found=f"'{requester}' with {'a home agent' if own == ['home'] else 'memory'}",
            allowed="memory as a device",
        )
    junction = f"{requester}-cores"
    probe = requester + PROBE
    spec["devices"][probe] = copy.deepcopy(spec["devices"][requester])
    written(spec, bench.part(requester), probe)["queue"] = 1
    spec["devices"][junction] = {"kind": "bus", "bus_time": "0ns", "bandwidth": "unlimited"}
    for other in spec["devices"].values():
        _admit(other, requester, probe, junction)
    for link in spec["links"]:
        link["between"] = [junction if end == requester else end for end in link["between"]]
    spec["links"] += [{"between": [name, junction]} for name in (requester, probe)]
    return spec


def _admit(device: Spec, requester: str, probe: str, junction: str) -> None:
    """Lets the probe use what a device gives to its host."""
    for hierarchy in _mappings(device.get("vcs")):
        if hierarchy.get("upstream") == requester:
            hierarchy["upstream"] = junction
    for logical in _mappings(device.get("logical_devices")):
        if logical.get("host") == requester:
            del logical["host"]  # two requesters have it; others send nothing there
    capacity = device.get("dynamic_capacity")
    if isinstance(capacity, dict) and capacity.get("extents"):
        capacity["extents"] = [
            part for extent in capacity["extents"] for part in _halves(extent, requester, probe)
        ]


def _halves(extent: Spec, requester: str, probe: str) -> list[Spec]:
    """An extent of the host in two, of which the probe has the second: two requesters share none."""
    if extent.get("host") != requester:
        return [extent]
    base, size = (int(quantity("bytes", extent[key])) for key in ("base", "size"))
    half = size // 2 // _PAGE * _PAGE
    if half == 0:
        return [extent]
    return [
        {**extent, "size": size_text(half)},
        {**extent, "base": size_text(base + half), "size": size_text(size - half), "host": probe},
    ]


def _mappings(values: Any) -> Iterable[Spec]:
    return values or ()
