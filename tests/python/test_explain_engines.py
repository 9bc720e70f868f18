"""Bounds beside I/O engines: what requests alone would get of a wire or a bus, and none where that is not known.

A line takes 16 B where it has no data, and 80 B where it has. So a wire of 8 GB/s carries requests of reads for
8 x 64 / 16 = 32 GB/s, and their data for 8 x 64 / 80 = 6.4 GB/s, whatever an engine puts beside them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx
from cxloom.bottleneck.shared_limits import all_resources

Spec = dict[str, Any]


def beside(
    engine: Spec,
    hub: Spec | None = None,
    host: Spec | None = None,
    memory_link: Spec | None = None,
    **more: Any,
) -> Spec:
    """Reads of a host, and an engine: both by one hub and one link to the memory."""
    return {
        "devices": {
            "h": {"kind": "host", "queue": 1024},
            "nic": {"kind": "io-engine", "target": "mem", **engine},
            "hub": hub or {"kind": "switch"},
            "mem": {
                "kind": "memory",
                "capacity": "1GiB",
                "queue": 64,
                "heads": 2,
                "media": {"kind": "fixed", "latency": "50ns"},
            },
        },
        "links": [
            {"between": ["h", "hub"], "bandwidth": "16GB/s"},
            {"between": ["nic", "hub"], "bandwidth": "16GB/s"},
            {"between": ["hub", "mem"], **(memory_link or {"bandwidth": "8GB/s"})},
        ],
        "address_map": [{"to": "mem"}],
        "workload": {
            "h": {"pattern": "random", "requests": 4000, "footprint": "1MiB", "rate": "10M/s", **(host or {})}
        },
        **more,
    }


def bounds(spec: Spec) -> tuple[float, dict[str, float | None]]:
    """The throughput of the requests, and what bounds it by the name of the resource."""
    system = cx.System.from_yaml(json.dumps(spec))
    summary = cx.run(system).summary
    throughput = summary["bandwidth_gb_per_s"]
    resources = all_resources(system.resolve().plain(), summary)
    return throughput, {each.name: each.bound(throughput) for each in resources}


WRITES: Spec = {"rate": "7GB/s", "outstanding": 16}
READS: Spec = {"traffic": "dma-read", "rate": "5GB/s", "outstanding": 16}
BUS: Spec = {"kind": "bus", "bandwidth": "8GB/s"}


def test_no_bound_is_below_what_passes_when_more_is_asked_for() -> None:
    """Also an engine with a rate yields: what a wire cannot take of its packets is not made."""
    found = [
        bounds(beside(WRITES, host={"rate": rate}))
        for rate in ("2M/s", "10M/s", "20M/s", "40M/s", "unlimited")
    ]
    most = max(throughput for throughput, _ in found)
    assert most > 4
    for _, of in found:
        assert of["the wire hub->mem"] == pytest.approx(32, rel=0.1)
        assert all(
            bound >= most for name, bound in of.items() if bound is not None and name.startswith("the wire")
        )


@pytest.mark.parametrize(
    ("spec", "name", "bound"),
    [
        (beside(WRITES), "the wire mem->hub", 6.4),  # the engine puts nothing there
        (beside(READS), "the wire mem->hub", 6.4),
        (beside(READS), "the wire hub->mem", 32),
        (beside({"traffic": "config-read"}), "the wire mem->hub", 6.4),
        (beside({"outstanding": 4}), "the wire hub->mem", 32),  # without a rate
        (beside(WRITES, hub=BUS), "the bus hub, downstream", 32),
        (beside(WRITES, hub=BUS), "the bus hub, upstream", 6.4),
        (beside({**WRITES, "rate": "3GB/s", "target": "h"}, hub=BUS), "the bus hub, upstream", 6.4),
        (beside({**WRITES, "rate": "3GB/s", "target": "h"}), "the wire hub->h", 12.8),
        (beside({"start": "1s", "rate": "1GB/s"}), "the wire hub->mem", 32),
    ],
)
def test_what_requests_alone_would_get(spec: Spec, name: str, bound: float) -> None:
    assert bounds(spec)[1][name] == pytest.approx(bound, rel=0.02)


def test_engines_take_no_places_of_a_memory() -> None:
    """A read holds a place for as long beside an engine as without it: the bound is the same."""
    alone = beside(WRITES)
    del alone["devices"]["nic"], alone["links"][1]
    (_, with_engine), (_, without) = bounds(beside({**WRITES, "rate": "1GB/s"})), bounds(alone)
    assert with_engine["the slots of mem"] == pytest.approx(without["the slots of mem"], rel=0.02)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (beside(WRITES), "the wire nic->hub"),  # no request passes it
        (beside(WRITES, memory_link={"bandwidth": "8GB/s", "count": 2}), "the wire hub->mem"),
        (beside(WRITES, memory_link={"phy": "pcie5-x4"}), "the wire hub->mem"),
        (beside(WRITES, run={"routing": "valiant"}), "the wire hub->mem"),
        # The packets come at 2 GB/s and hold the bus for as long as that takes.
        (
            beside({"rate": "1GB/s"}, hub=BUS)
            | {
                "links": [
                    {"between": ["h", "hub"], "bandwidth": "16GB/s"},
                    {"between": ["nic", "hub"], "bandwidth": "2GB/s"},
                    {"between": ["hub", "mem"], "bandwidth": "8GB/s"},
                ]
            },
            "the bus hub, downstream",
        ),
        # Packets turn them, too.
        (beside(WRITES, memory_link={"bandwidth": "8GB/s", "duplex": "half"}), "the wire hub-mem"),
        (beside(WRITES, hub={**BUS, "duplex": "half", "turnaround": "1ns"}), "the bus hub"),
        # More packets are under way than requests pass.
        (
            beside({**WRITES, "outstanding": 127}, host={"requests": 100, "rate": "unlimited"}),
            "the wire hub->mem",
        ),
    ],
)
def test_no_bound_where_their_part_is_not_known(spec: Spec, name: str) -> None:
    assert bounds(spec)[1][name] is None
