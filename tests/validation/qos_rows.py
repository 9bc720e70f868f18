"""The parameters of quality of service in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed
from validation.turns import FALLS, RISES, Measure, Turn


def shared_port(**weighted: Any) -> Spec:
    """Two hosts, of which the second comes over a switch of its own, write to a memory behind a slow link."""
    switch = {"kind": "switch", "queueing": "voq"}
    devices = {
        "near": {"kind": "host", "queue": 256},
        "far": {"kind": "host", "queue": 256},
        "before": switch,
        "hub": {**switch, "arbitration": {"kind": "weighted", **weighted}},
        "mem": {"kind": "memory", "capacity": "1GiB"},
    }
    work = {"pattern": "random", "reads": 0.0, "requests": 2000, "footprint": "1MiB"}
    return {
        "devices": devices,
        "links": [
            {"between": ["far", "before"]},
            {"between": ["before", "hub"]},
            {"between": ["near", "hub"]},
            {"between": ["hub", "mem"], "bandwidth": "4GB/s"},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"near": work, "far": work},
        "run": {"warmup": 200},
    }


def part_of(host: str) -> Measure:
    """The share of the bandwidth that a host has."""

    def share(outcome: Run) -> float:
        rates = {name: part["bandwidth_gb_per_s"] for name, part in outcome.summary["per_requester"].items()}
        return float(rates[host] / sum(rates.values()))

    return share


def weighted_rows() -> Iterator[Turn]:
    """Arbitration by weight."""
    at, name = "devices.hub.arbitration", "arbitration.weighted"
    weights = {"near": 1}, {"near": 4}
    yield Turn(f"{name}.weights", shared_port(), f"{at}.weights", weights, RISES, part_of("near"))
    others = shared_port(weights={"near": 2})
    yield Turn(f"{name}.default", others, f"{at}.default", (1, 4), FALLS, part_of("near"))
    # The host that comes over the other switch has the weight of that one.
    by = changed(shared_port(weights={"far": 4}), (f"{at}.by", "requester"))
    also = ((f"{at}.weights", {"before": 1}),)
    yield Turn(f"{name}.by", by, f"{at}.by", ("requester", "input"), FALLS, part_of("far"), also)


def qos_rows() -> Iterator[Turn]:
    """All of them."""
    yield from weighted_rows()
