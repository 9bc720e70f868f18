"""What goes through the buses among the switches, by direction: of each measure of a bus there are two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cxloom.base.summary import Component, Summary


class BusWay(NamedTuple):
    """One direction of a bus."""

    name: str
    """``downstream`` or ``upstream``."""
    utilization: float
    """The share of the time in which it moves something."""
    busy: float
    """The share of the time in which its medium is taken: of half duplex by both directions and by turning."""
    payload: float
    """GB/s."""
    queue_mean: float
    queue_p99: float
    queue_max: float


def buses(summary: Summary) -> dict[str, Component]:
    """The buses among the switches, by name."""
    return {
        name: values for name, values in summary["per_switch"].items() if "upstream_utilization" in values
    }


def ways_of(bus: Component) -> tuple[BusWay, BusWay]:
    """Both directions of a bus, downstream first."""
    shared = min(1.0, bus["utilization"] + bus["turnaround"]) if "turnaround" in bus else None
    return (
        BusWay(
            "downstream",
            bus["downstream_utilization"],
            bus["downstream_utilization"] if shared is None else shared,
            bus["downstream_payload_gb_per_s"],
            bus["downstream_queue_mean"],
            bus["downstream_queue_p99"],
            bus["downstream_queue_max"],
        ),
        BusWay(
            "upstream",
            bus["upstream_utilization"],
            bus["upstream_utilization"] if shared is None else shared,
            bus["upstream_payload_gb_per_s"],
            bus["upstream_queue_mean"],
            bus["upstream_queue_p99"],
            bus["upstream_queue_max"],
        ),
    )
