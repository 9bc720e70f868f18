"""The parameters of replicated regions in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, rows
from validation.turns import FALLS, RISES, Turn, bandwidth, latency


def replicated(reads: float, *events: Spec, **replicas: Any) -> Spec:
    """A host before a switch with three memories, of which the last is slow."""
    media = {"kind": "fixed", "bandwidth": "8GB/s"}
    memory = {"kind": "memory", "capacity": "64KiB", "media": media}
    spec = rows(
        {
            "devices": {
                "host": {"kind": "host", "queue": 128},
                "sw": {"kind": "switch"},
                "mem0": memory,
                "mem1": memory,
                "mem2": {**memory, "media": {**media, "latency": "900ns"}},
            },
            "links": [
                {"between": [end, "sw"], "port_delay": "25ns", "bandwidth": "10GB/s"}
                for end in ("host", "mem0", "mem1", "mem2")
            ],
            "address_map": [{"to": ["mem0"], "replicas": {"on": ["mem1"], **replicas}}],
            "workload": {
                "host": {
                    "pattern": "random",
                    "requests": 2000,
                    "footprint": "64KiB",
                    "size": "64B",
                    "reads": reads,
                }
            },
        }
    )
    return {**spec, "events": list(events)} if events else spec


def degraded(outcome: Run) -> float:
    """How long a copy was not whole."""
    return float(outcome.summary["replication"]["mem0+mem1"]["degraded_ns"])


def copies(outcome: Run) -> int:
    """Writes that were sent to memories."""
    (region,) = outcome.summary["replication"].values()
    return int(region["copies"])


def replica_rows() -> Iterator[Turn]:
    """A turn of each parameter."""
    at = "address_map.0.replicas"
    one = {"on": ["mem1"]}
    two = {"on": ["mem1", "mem2"]}
    yield Turn("region.replicas", replicated(0.5), at, (one, two), RISES, copies)
    yield Turn("region.replicas.on", replicated(0.0), f"{at}.on", (["mem1"], ["mem2"]), RISES, latency)
    yield Turn("region.replicas.switch", replicated(0.0), f"{at}.switch", ("none", "sw"), RISES, bandwidth)
    wide = replicated(1.0)
    for link in wide["links"]:
        link["bandwidth"] = "30GB/s"
    yield Turn("region.replicas.read", wide, f"{at}.read", ("primary", "spread"), RISES, bandwidth)
    yield Turn(
        "region.replicas.entries", replicated(0.0, switch="sw"), f"{at}.entries", (2, 32), RISES, bandwidth
    )
    early = replicated(0.0, on=["mem2"])
    early["devices"]["host"]["queue"] = 8
    yield Turn("region.replicas.acknowledge", early, f"{at}.acknowledge", (1, 2), RISES, latency)
    fails = {"at": "500ns", "fail": {"device": "mem1", "reroute_time": "0ns"}}
    back = {"at": "600ns", "repair": {"device": "mem1"}}
    spec = replicated(1.0, fails, back)
    spec["workload"]["host"]["requests"] = 20000
    yield Turn(
        "region.replicas.resync_rate", spec, f"{at}.resync_rate", ("100MB/s", "10GB/s"), FALLS, degraded
    )
