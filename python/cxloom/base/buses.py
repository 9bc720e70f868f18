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
    """Busy share of the time."""
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
    return (
        BusWay(
            "downstream",
            bus["downstream_utilization"],
            bus["downstream_payload_gb_per_s"],
            bus["downstream_queue_mean"],
            bus["downstream_queue_p99"],
            bus["downstream_queue_max"],
        ),
        BusWay(
            "upstream",
            bus["upstream_utilization"],
            bus["upstream_payload_gb_per_s"],
            bus["upstream_queue_mean"],
            bus["upstream_queue_p99"],
            bus["upstream_queue_max"],
        ),
    )
