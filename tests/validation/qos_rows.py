"""The parameters of quality of service in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed, direct, feed
from validation.turns import FALLS, RISES, Measure, Turn, bandwidth


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


def split_memory(first: Spec | None = None, second: Spec | None = None, **memory: Any) -> Spec:
    """Two hosts with a logical device each of a memory that serves an access in 100 ns."""
    each = {"capacity": "16MiB"}
    media = {"kind": "fixed", "latency": "100ns"}
    devices: Spec = {
        "one": {"kind": "host"},
        "two": {"kind": "host"},
        "hub": {"kind": "switch", "queueing": "voq"},
        "mem": {
            "kind": "memory",
            "queue": 1,
            "media": media,
            "logical_devices": [{**each, **(first or {})}, {**each, **(second or {})}],
            **memory,
        },
    }
    work = {"pattern": "random", "requests": 1000, "footprint": "1MiB"}
    return {
        "devices": devices,
        "links": [
            {"between": ["one", "hub"]},
            {"between": ["two", "hub"]},
            {"between": ["hub", "mem"], "credits": 8},
        ],
        "address_map": [{"to": ["mem"], "ld": 0}, {"to": ["mem"], "ld": 1}],
        "workload": {"one": work, "two": {**work, "base": "0x1000000"}},
        "run": {"warmup": 100},
    }


def failed(outcome: Run) -> int:
    """Requests that were answered with an error."""
    return int(outcome.summary["errors"]["requests"])


def of_ld(ld: int, name: str) -> Measure:
    """A measure of a logical device."""
    return lambda outcome: float(outcome.summary["per_memory"]["mem"]["logical_devices"][str(ld)][name])


def latency_of(host: str) -> Measure:
    """The mean latency of a host."""
    return lambda outcome: float(outcome.summary["per_requester"][host]["latency_ns"]["mean"])


def first_parts() -> dict[str, Any]:
    """A trace of the second host, of what lies in the first logical device."""
    return {"two": feed(64 * i for i in range(500))}


def in_runs() -> dict[str, Any]:
    """A trace of the second host: runs of 20 requests."""
    at = [8_000_000 * (i // 20) for i in range(400)]
    return {"two": feed((0x1000000 + 64 * i for i in range(400)), timestamp=at)}


def logical_device_rows() -> Iterator[Turn]:
    """Multi-logical and multi-headed memories."""
    at, name = "devices.mem.logical_devices", "devices.memory.logical_devices"
    part = {"capacity": "16MiB"}
    split = split_memory()
    owned = [{**part, "host": "one"}, part]
    intruding = changed(split, ("workload.two", {"trace": "in memory"}), ("workload.one", ...))
    yield Turn(name, intruding, at, ([part, part], owned), RISES, failed, feeds=first_parts)
    yield Turn(f"{name}.host", intruding, f"{at}.0.host", ("two", "one"), RISES, failed, feeds=first_parts)
    bandwidths = f"{at}.0.allocated_bandwidth"
    yield Turn(f"{name}.allocated_bandwidth", split, bandwidths, (1, 4), RISES, of_ld(1, "wait_ns"))
    speed = of_ld(0, "bandwidth_gb_per_s")
    yield Turn(
        f"{name}.bandwidth_limit", split, f"{at}.0.bandwidth_limit", ("100MB/s", "200MB/s"), RISES, speed
    )
    # The other has a run of 20 requests now and then, for which the limited one waits 3 us of 8.
    often = changed(
        split_memory({"bandwidth_limit": "200MB/s"}, {"allocated_bandwidth": 256}),
        ("workload.two", {"trace": "in memory", "replay": "timestamps"}),
        ("workload.one.requests", 2000),
    )
    yield Turn(
        f"{name}.limit_window", often, f"{at}.0.limit_window", ("0ns", "4us"), RISES, speed, feeds=in_runs
    )
    seldom = changed(split, ("workload.two.rate", "100k/s"), ("workload.two.requests", 100))
    yield Turn(f"{name}.queue", seldom, f"{at}.0.queue", (4, 64), FALLS, latency_of("two"))
    capacity = f"{at}.0.capacity"
    yield Turn(
        f"{name}.capacity",
        intruding,
        capacity,
        ("4KiB", "16MiB"),
        RISES,
        of_ld(0, "requests"),
        feeds=first_parts,
    )
    # The other way round, it is the second host that has the one with the limit.
    limited = split_memory({"bandwidth_limit": "100MB/s"})
    swapped = (("address_map.0.ld", 1),)
    yield Turn("region.ld", limited, "address_map.1.ld", (1, 0), RISES, latency_of("two"), swapped)
    headed: Spec = {
        "devices": {"one": {"kind": "host"}, "mem": {"kind": "memory"}},
        "links": [{"between": ["one", "mem"], "bandwidth": "1GB/s"}],
        "address_map": [{"to": ["mem"]}],
        "workload": {"one": {"pattern": "random", "requests": 500, "footprint": "1MiB"}},
        "run": {"routing": "random"},
    }
    links = (("links.0.count", 2),)
    yield Turn("devices.memory.heads", headed, "devices.mem.heads", (1, 2), RISES, bandwidth, links)


def overloaded(kind: str = "host", throttle: Spec | None = None, qos: Spec | None = None) -> Spec:
    """A requester that asks a memory for twice of what it serves, from a standing start."""
    media = {"kind": "fixed", "latency": "100ns"}
    memory = {"queue": 1, "media": media, "qos": {"optimal": 2, "moderate": 8, "severe": 400, **(qos or {})}}
    host = {"kind": kind, "queue": 500, "throttle": {"rate": "1280MB/s", **(throttle or {})}}
    return direct(host=host, memory=memory, work={"requests": 6000})


def longest_queue(outcome: Run) -> float:
    """The longest wait in front of the controller, ns."""
    return float(outcome.requests["media_queue_ps"].max()) / 1000


def waiting(outcome: Run) -> float:
    """The mean wait in front of the controller, ns."""
    return outcome.segment("media_queue")


def throttle_rows(kind: str) -> Iterator[Turn]:
    """Rates of a host or an accelerator for memories that say how loaded they are."""
    name, at = f"devices.{kind}.throttle", "devices.host.throttle"
    base = overloaded(kind)
    yield Turn(name, base, at, (..., {"rate": "1280MB/s"}), FALLS, waiting)
    yield Turn(f"{name}.rate", base, f"{at}.rate", ("200MB/s", "400MB/s"), RISES, bandwidth)
    yield Turn(f"{name}.window", base, f"{at}.window", ("500ns", "5us"), RISES, longest_queue)
    yield Turn(f"{name}.normal_delta", base, f"{at}.normal_delta", (1 / 64, 1 / 8), FALLS, longest_queue)
    severe = overloaded(kind, qos={"severe": 9})
    yield Turn(f"{name}.severe_delta", severe, f"{at}.severe_delta", (1 / 16, 1 / 2), FALLS, longest_queue)
    yield Turn(f"{name}.least", base, f"{at}.least", (1 / 16, 3 / 4), RISES, waiting)


def device_load_rows() -> Iterator[Turn]:
    """What a memory says of its load."""
    name, at = "devices.memory.qos", "devices.mem.qos"
    base = overloaded()
    said = {"optimal": 2, "moderate": 8, "severe": 400}
    yield Turn(name, base, at, (..., said), FALLS, waiting)
    yield Turn(f"{name}.optimal", base, f"{at}.optimal", (1, 8), RISES, waiting)
    yield Turn(f"{name}.moderate", base, f"{at}.moderate", (8, 64), RISES, waiting)
    yield Turn(f"{name}.severe", base, f"{at}.severe", (16, 400), RISES, longest_queue)


def qos_rows() -> Iterator[Turn]:
    """All of them."""
    yield from weighted_rows()
    yield from logical_device_rows()
    yield from device_load_rows()
    for kind in ("host", "accelerator"):
        yield from throttle_rows(kind)
