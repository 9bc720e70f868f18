"""A probe: one more core of a host, beside its load. It uses the memory that its host may use, and no other."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.granules import PAGE
from cxloom.measure.bench import Bench, Spec, size_text
from cxloom.spec.parts import entry, quantity

PROBE = "-probe"
"""The end of the name of a requester's probe."""


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
    entry(spec, bench.part(requester), probe)["queue"] = 1
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
        capacity["extents"] = _shared_out(capacity["extents"], requester, probe)


def _shared_out(extents: Sequence[Spec], requester: str, probe: str) -> list[Spec]:
    """Extents of a memory, where the probe has the second half of each of its host's, and all that its host shares.

    Of an odd number of pages one of the two has one more, in turns, so that of those next to each other, such as all of
    a logical device, each has a half rounded down at least.
    """
    found = [extent for extent in extents if extent["host"] != requester or extent.get("tag")]
    found += [{**extent, "host": probe} for extent in found if extent["host"] == requester]
    pages = 0
    for extent in sorted((each for each in extents if each not in found), key=_base):
        base, size = _base(extent), int(quantity("bytes", extent["size"]))
        first = -(-base // PAGE) * PAGE
        before, whole = pages, max(0, (base + size - first) // PAGE)
        pages += whole
        own = pages // 2 - before // 2  # pages that the host keeps
        border = base + size if own == whole else first + own * PAGE if own else base
        if border > base:
            found.append({**extent, "size": size_text(border - base)})
        if border < base + size:
            size -= border - base
            found.append({**extent, "base": size_text(border), "size": size_text(size), "host": probe})
    return found


def _base(extent: Spec) -> int:
    return int(_core.parse("address", extent.get("base", 0)), 0)


def _mappings(values: Any) -> Iterable[Spec]:
    return values or ()
