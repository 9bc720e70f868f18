"""How busy the parts of a system were in a run, for its picture and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cxloom.base.buses import buses, ways_of
from cxloom.base.wires import busy, in_use, slots_in_use
from cxloom.base.words import direction_name, ends_of
from cxloom.display.numbers import percent, significant
from cxloom.draw.picture import Load

if TYPE_CHECKING:
    from cxloom.base.summary import Summary


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of a link or of a bus."""

    link: str
    name: str
    sender: str
    busy: float | None
    """The share of the time in which its wire or medium is taken: of half duplex by both directions and by turning.
    None without a bandwidth."""
    slots: float | None
    """The share of its slots that carried something; None of what has no flits."""
    payload: float
    """GB/s."""
    efficiency: float | None
    queue_mean: float
    queue_p99: float
    queue_max: float
    credit_blocked: float
    """Share of the time in which something waited for credits, summed over the classes."""
    in_use: float | None
    """The share of what it could carry: of its slots where it sends flits, else of the time."""


def directions(summary: Summary) -> Iterator[Direction]:
    """Every direction of the links and buses of a run."""
    free = set(summary.get("unlimited", {}).get("links", ()))
    free_buses = set(summary.get("unlimited", {}).get("buses", ()))
    length = summary["simulated_time_ns"] or 1
    for link, ways in summary["per_link"].items():
        for name, values in ways.items():
            yield Direction(
                link,
                direction_name(link, name),
                ends_of(name)[0],
                None if direction_name(link, name) in free else busy(values, ways),
                slots_in_use(values),
                values["payload_gb_per_s"],
                values["efficiency"],
                values["queue_mean"],
                values["queue_p99"],
                values["queue_max"],
                values["credit_blocked_ns"] / length,
                None if direction_name(link, name) in free else in_use(values, ways),
            )
    for name, bus in buses(summary).items():
        for way in ways_of(bus):
            yield Direction(
                name,
                f"{name} {way.name}",
                name,
                None if {name, f"{name} {way.name}"} & free_buses else way.busy,
                None,
                way.payload,
                bus["efficiency"],
                way.queue_mean,
                way.queue_p99,
                way.queue_max,
                0.0,
                None if {name, f"{name} {way.name}"} & free_buses else way.busy,
            )


def load_of(summary: Summary) -> Load:
    """What the picture of a system shows of a run.

    The queue of a memory is that of its controller and media; of a requester, the requests on their way; of a switch or
    bus, what waits at its ports.
    """
    found = list(directions(summary))
    of_buses = buses(summary)
    links = {(way.link, way.sender): way.in_use for way in found if way.link not in of_buses}
    nodes: dict[str, float] = {}
    queues: dict[str, float] = {}
    about: dict[str, list[str]] = {}
    for way in found:
        share = "no bandwidth given" if way.busy is None else f"{percent(way.busy)} busy"
        share += "" if way.slots is None else f" (slots {percent(way.slots)})"
        text = f"{way.name}: {share}, {significant(way.payload)} GB/s, queue {significant(way.queue_mean)}"
        about.setdefault(way.link, []).append(text)
        if way.link in of_buses:
            nodes[way.link] = max(nodes.get(way.link, 0.0), way.busy or 0.0)
            queues[way.link] = queues.get(way.link, 0.0) + way.queue_mean
    for name, values in summary["per_switch"].items():
        if name not in of_buses:
            queues[name] = float(values.get("queue_mean") or 0)
            about.setdefault(name, []).append(f"queue {significant(queues[name])}")
    for name, values in summary["per_memory"].items():
        queues[name] = queues.get(name, 0.0) + float(values.get("queue_mean") or 0)
        mean = values["latency_ns"]["mean"]
        about.setdefault(name, []).append(
            f"{significant(values['bandwidth_gb_per_s'])} GB/s, queue {significant(values['queue_mean'])}"
            + ("" if mean is None else f", mean {significant(mean, 4)} ns")
        )
    for name, values in summary["per_requester"].items():
        queues[name] = queues.get(name, 0.0) + float(values.get("in_flight_mean") or 0)
        mean = values["latency_ns"]["mean"]
        about.setdefault(name, []).append(
            f"{significant(values['bandwidth_gb_per_s'])} GB/s, {significant(values['in_flight_mean'])} in flight"
            + ("" if mean is None else f", mean {significant(mean, 4)} ns")
        )
    known = {key: share for key, share in links.items() if share is not None}
    return Load(known, nodes, queues, lambda name: "\n".join(about.get(name, ())))
