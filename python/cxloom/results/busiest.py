"""The directions of links and buses that a run used, and how full they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cxloom.base.buses import buses, ways_of
from cxloom.base.wires import busy, slots_in_use
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

    @property
    def in_use(self) -> float:
        """The share of what it could carry: of its slots where it sends flits, else of the time."""
        return self.busy if self.slots is None else self.slots


def fullest(summary: Summary) -> list[UsedWay]:
    """Directions that carried something, the fullest first; what a bus sends is that of the bus, and not of a link."""
    every = buses(summary)
    found = [
        UsedWay(name, taken, values["payload_gb_per_s"], values["queue_mean"], slots_in_use(values))
        for name, taken, values in used(summary)
        if ends_of(name)[0] not in every
    ]
    for name, bus in every.items():
        found += [
            UsedWay(f"{name} {way.name}", way.busy, way.payload, way.queue_mean, None) for way in ways_of(bus)
        ]
    return sorted((each for each in found if each.busy > 0), key=lambda each: (-each.in_use, -each.busy))


def used(summary: Summary) -> list[tuple[str, float, LinkDirection]]:
    """The directions of links that carried something or held something up: of very many, most did not.

    Each with how busy its wire is.
    """
    return [
        (direction_name(link, name), busy(values, ways), values)
        for link, ways in summary["per_link"].items()
        for name, values in ways.items()
        if values["messages"] or values["credit_blocked_ns"] or "flits" in values
    ]
