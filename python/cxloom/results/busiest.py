"""The directions of links and buses that a run used, and how full they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cxloom.base.buses import buses, ways_of
from cxloom.base.wires import busy, in_use, slots_in_use
from cxloom.base.words import direction_name, ends_of

if TYPE_CHECKING:
    from cxloom.base.summary import LinkDirection, Summary


class UsedWay(NamedTuple):
    """A direction of a link or of a bus."""

    name: str
    busy: float
    """The share of the time in which its wire or medium is taken."""
    payload: float
    """GB/s."""
    queue: float
    slots: float | None
    """The share of the slots of its flits that carried something; None of what has no flits."""
    in_use: float
    """The share of what it could carry."""


def fullest(summary: Summary) -> list[UsedWay]:
    """Directions that carried something, the fullest first; what a bus sends is that of the bus, and not of a link."""
    every = buses(summary)
    found = [
        UsedWay(
            direction_name(link, name),
            busy(values, ways),
            values["payload_gb_per_s"],
            values["queue_mean"],
            slots_in_use(values),
            in_use(values, ways),
        )
        for link, name, values, ways in _used(summary)
        if ends_of(name)[0] not in every
    ]
    for name, bus in every.items():
        found += [
            UsedWay(f"{name} {way.name}", way.busy, way.payload, way.queue_mean, None, way.busy)
            for way in ways_of(bus)
        ]
    return sorted((each for each in found if each.busy > 0), key=lambda each: (-each.in_use, -each.busy))


def used(summary: Summary) -> list[tuple[str, LinkDirection]]:
    """The directions of links that carried something or held something up: of very many, most did not."""
    return [(direction_name(link, name), values) for link, name, values, _ in _used(summary)]


def _used(summary: Summary) -> Iterator[tuple[str, str, LinkDirection, Mapping[str, LinkDirection]]]:
    for link, ways in summary["per_link"].items():
        for name, values in ways.items():
            if values["messages"] or values["credit_blocked_ns"] or "flits" in values:
                yield link, name, values, ways
