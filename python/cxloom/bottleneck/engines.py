"""What I/O engines take of the wires and buses that requests use, too.

Their traffic does not grow with that of requests, so that it is no part of what requests need of a resource. It takes
no places of memories and no time of media (docs/model/io_engine.md).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cxloom import _core
from cxloom.base.buses import ways_of
from cxloom.base.words import direction_name, ends_of
from cxloom.bottleneck.engine_links import Ends, between, certain
from cxloom.bottleneck.resource import Resource
from cxloom.bottleneck.resources import Spec
from cxloom.spec.parts import Part, links_of, part_of, quantity

if TYPE_CHECKING:
    from cxloom.base.summary import Component, Summary

_SURE = 10
"""Requests must have moved so many times the bytes of the packets under way: packets are counted where they end, so
that up to so many more or fewer passed within the window. Own choice: a bound is then right to a tenth."""


_MEASURED = {"packets", "bandwidth_gb_per_s", "in_flight_mean"}
"""Measures by which the bytes of an engine are known. One of a plug-in need not have them."""


@dataclass(frozen=True)
class _Medium:
    """A wire or a bus, in one direction."""

    sizes: Part
    """Where its `header` and `data_header` stand."""
    moved: float
    """Bytes that passed in the window."""
    most: float
    """Bytes that could have passed."""

    def size(self, key: str) -> float:
        return quantity("bytes", self.sizes.text(key))


@dataclass(frozen=True)
class _Engine:
    """The packets of an engine that ended in the window."""

    name: str
    target: str
    writes: bool
    """Its packets bring data there; otherwise completions bring them back."""
    packets: float
    payload: float
    """Bytes of a packet."""
    under_way: float
    """Packets, on average over time."""

    @property
    def legs(self) -> tuple[bool, ...]:
        """Its ways to the target (False) and back (True) on which it puts something on wires."""
        return (False,) if self.writes else (False, True)

    def bytes_on(self, medium: _Medium | None, legs: Collection[bool] | None) -> float | None:
        """What a packet puts on a wire or a bus that it passes on these legs; None where either is unknown."""
        if legs is None or (legs and medium is None):
            return None
        return sum(
            self.payload + medium.size("data_header") if back != self.writes else medium.size("header")
            for back in legs
            if medium is not None
        )


def beside_engines(
    spec: Spec, summary: Summary, inventory: _core.Inventory, resources: Iterable[Resource]
) -> list[Resource]:
    """Resources, each with what I/O engines take of it.

    It is known where all ways between an engine and its target pass, if links have no flits and nothing fails.
    """
    found = list(resources)
    taken = {each.name: _Taken() for each in found if each.kind in ("the wire", "the bus")}
    for device in inventory["devices"]:
        name, mine = device["name"], summary["per_io"].get(device["name"])
        if mine is None or (mine.get("packets") == 0 and not mine.get("in_flight_mean")):
            continue  # it did nothing in the window
        engine = _engine(spec, summary, inventory, name, device["io"])
        if engine is None:
            for each in taken.values():
                each.known = False
            continue
        for resource, medium, each_packet in _passed(spec, summary, inventory, engine):
            if resource in taken:
                taken[resource].add(engine, medium, each_packet)
    return [
        replace(each, beside=taken[each.name].share(each.busy)) if each.name in taken else each
        for each in found
    ]


@dataclass
class _Taken:
    """What all engines take of a resource."""

    medium: _Medium | None = None
    bytes: float = 0.0
    doubt: float = 0.0
    """Bytes of the packets under way."""
    known: bool = True

    def add(self, engine: _Engine, medium: _Medium | None, each: float | None) -> None:
        if each is None:
            self.known = False
        elif each:
            self.medium = medium
            self.bytes += engine.packets * each
            self.doubt += engine.under_way * each

    def share(self, busy: float) -> float | None:
        """All but what requests need at the full rate: a message from a slower wire may hold a wire for longer."""
        if not self.known:
            return None
        if self.medium is None:
            return 0.0
        others = self.medium.moved - self.bytes
        return max(0.0, min(1.0, busy) - others / self.medium.most) if others > _SURE * self.doubt else None


def _engine(
    spec: Spec, summary: Summary, inventory: _core.Inventory, name: str, traffic: _core.IoTraffic | None
) -> _Engine | None:
    """None where nothing is known of what its packets pass, or of how many did."""
    mine = summary["per_io"][name]
    if traffic is None or traffic["data"] is None or not mine.keys() >= _MEASURED or not mine["packets"]:
        return None
    if spec.get("events") or inventory["detours"]:
        return None  # a packet may pass what is not on a way between its ends
    payload = mine["bandwidth_gb_per_s"] * summary["simulated_time_ns"] / mine["packets"]
    writes = traffic["data"] == "out"
    return _Engine(name, traffic["target"], writes, mine["packets"], payload, mine["in_flight_mean"])


def _passed(
    spec: Spec, summary: Summary, inventory: _core.Inventory, engine: _Engine
) -> Iterator[tuple[str, _Medium | None, float | None]]:
    """The name of each resource that packets may pass, what it is, and their bytes there; None where not known."""
    every = {name: _ends(ways) for name, ways in summary["per_link"].items()}
    possible = between(every, set(summary["per_switch"]), engine.name, engine.target)
    sure = certain(possible, engine.name, engine.target)
    parts = {link["name"]: part for link, part in zip(inventory["links"], links_of(spec), strict=True)}
    for link, ends in possible.items():
        for way in (ends, ends[::-1]):
            medium = _wire(spec, summary, parts[link], link, way)
            legs = [back for back in engine.legs if (sure[link] != way) == back] if link in sure else None
            yield f"the wire {direction_name(link, '->'.join(way))}", medium, engine.bytes_on(medium, legs)
        yield f"the wire {link}", None, None  # of half duplex: turns are of nobody's bytes
    passed = {end for ends in sure.values() for end in ends}
    roots = {device["name"] for device in inventory["devices"] if device["is_root"]}
    upstream = {False: engine.target in roots, True: engine.name in roots}
    for device in {end for ends in possible.values() for end in ends}:
        for named in ("downstream", "upstream"):
            legs = [back for back in engine.legs if upstream[back] == (named == "upstream")]
            known = device in passed or not legs
            medium = _bus(spec, summary, device, named)
            yield f"the bus {device}, {named}", medium, engine.bytes_on(medium, legs if known else None)
        yield f"the bus {device}", None, None


def _ends(ways: Iterable[str]) -> Ends:
    return ends_of(next(iter(ways)))


def _wire(spec: Spec, summary: Summary, sizes: Part, link: str, ends: Ends) -> _Medium | None:
    """None of a link of flits: how many packets share one is not known."""
    if sizes.get("phy"):
        return None
    back = sizes.below("reverse") if list(ends) != list(sizes.written["between"]) else None
    own = back.get("bandwidth") if back is not None else None
    rates = [own or sizes.text("bandwidth")]
    switches = (part_of(spec, end, "switch") for end in ends)
    rates += [switch.text("port_bandwidth") for switch in switches if switch is not None]
    most = min(quantity("bandwidth", rate) for rate in rates)
    return _medium(sizes, summary["per_link"][link]["->".join(ends)]["bytes"], most, summary)


def _bus(spec: Spec, summary: Summary, name: str, way: str) -> _Medium | None:
    """None where messages from slower wires hold it for longer than their bytes take: then these are not known."""
    sizes = part_of(spec, name, "bus")
    mine: Component = summary["per_switch"].get(name, {})
    if sizes is None or not mine.get("efficiency"):
        return None
    most = quantity("bandwidth", sizes.text("bandwidth"))
    time = summary["simulated_time_ns"]
    ways = {each.name: each for each in ways_of(mine)}
    moved = sum(each.payload for each in ways.values()) * time / mine["efficiency"]
    fits = sum(each.utilization for each in ways.values()) * most / 1e9 * time
    if not math.isclose(moved, fits, rel_tol=1e-3):
        return None
    return _medium(sizes, ways[way].utilization * most / 1e9 * time, most, summary)


def _medium(sizes: Part, moved: float, rate: float, summary: Summary) -> _Medium:
    return _Medium(sizes, moved, rate / 1e9 * summary["simulated_time_ns"])
