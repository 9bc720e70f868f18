"""How much of a wire is taken: of half duplex by both directions and by turning, in flits by the slots in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cxloom.base.summary import LinkDirection

_MORE_THAN_A_FLIT = 8
"""The median of the messages that wait from which on more of them wait than a flit may carry of a class: two groups of
four, by the largest counts of 256 B (68 B: four)."""


def busy(way: LinkDirection, ways: Mapping[str, LinkDirection]) -> float:
    """The share of the time in which the wire of a direction is taken.

    Half duplex: what the other of its `ways` sends takes it, too, and so does turning.
    """
    if "turnaround" not in way:
        return float(way["utilization"])
    return min(1.0, float(sum(each["utilization"] for each in ways.values()) + way["turnaround"]))


def slots_in_use(way: Mapping[str, Any]) -> float | None:
    """The share of the slots that a direction could have sent which carried something; None of a link without flits.

    A flit goes when something is there, and need not be full: a wire that sends flits all the time may have room for
    much more. Flits of CXL.io and the time of retries count as taken.
    """
    flits = way.get("flits")
    if flits is None:
        return None
    slots: float = sum(flits["slots"].values())
    sent: float = sum(flits["flits"].values())
    empty = flits["slots"].get("empty", 0.0) / slots if slots else 0.0
    packed = 1.0 - flits["flits"].get("io", 0.0) / sent if sent else 1.0
    return float(way["utilization"] - max(0.0, way["utilization"] - flits["retry_share"]) * packed * empty)


def in_use(way: LinkDirection, ways: Mapping[str, LinkDirection]) -> float:
    """The share of what a direction could carry: of its slots where it sends flits, else of the time.

    Where more messages wait than a flit may carry, the largest counts of messages keep slots empty, and flits that go
    all the time carry all that they may.
    """
    slots = slots_in_use(way)
    return busy(way, ways) if slots is None or way["queue_p50"] >= _MORE_THAN_A_FLIT else slots
