"""Routing strategies: what each keeps, and what each gains."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from validation.random_systems import ROUTING
from validation.systems import Spec, changed, generated, run

from cxloom.base.errors import InputError

FREE = {"header": "0B", "data_header": "0B"}
WIRE = {"bandwidth": "8GB/s", **FREE}
WIDE = {"bandwidth": "64GB/s", **FREE}


def busy_spine(routing: Any, **switch: Any) -> Spec:
    """A host that wants 60 % of a spine's link, and eight neighbours that saturate one of the two spines.

    The neighbours sit at the first spine itself, so that their reads can come by no other way. Ideally spread, the
    host has the second spine to itself.
    """
    memories = [f"mem{i}" for i in range(8)]
    neighbours = [f"near{i}" for i in range(8)]
    kind = {"kind": "switch", "port_delay": "1ns", "switching_time": "5ns", **switch}
    wire = {**WIRE, "credits": 16} if switch.get("queueing") == "voq" else WIRE
    between = [("leaf0", "spine0"), ("leaf0", "spine1"), ("leaf1", "spine0"), ("leaf1", "spine1")]
    return {
        "devices": {
            "host": {"kind": "host", "queue": 32},
            **{name: {"kind": "host", "queue": 32} for name in neighbours},
            **dict.fromkeys(("leaf0", "leaf1", "spine0", "spine1"), kind),
            **{name: {"kind": "memory", "media": {"kind": "fixed", "latency": "10ns"}} for name in memories},
        },
        "links": [
            *({"between": list(ends), **wire} for ends in between),
            {"between": ["host", "leaf0"], **WIDE},
            *({"between": [name, "spine0"], **WIDE} for name in neighbours),
            *({"between": [name, "leaf1"], **WIDE} for name in memories),
        ],
        "address_map": [{"to": memories, "interleave": "256B"}],
        "workload": {
            "host": {"pattern": "random", "reads": 1.0, "rate": "75M/s", "requests": 20_000},
            **{name: {"pattern": "random", "reads": 1.0, "requests": 20_000} for name in neighbours},
        },
        "run": {"routing": routing, "warmup": 500},
    }


def of_host(spec: Spec) -> float:
    return float(run(spec).summary["per_requester"]["host"]["bandwidth_gb_per_s"])


@pytest.mark.parametrize("switch", [{}, {"queueing": "voq"}], ids=["output", "voq"])
def test_adaptive_routing_keeps_a_demand_that_oblivious_routing_does_not(switch: Spec) -> None:
    demand = 75e6 * 64 / 1e9
    assert of_host(busy_spine("adaptive", **switch)) == pytest.approx(demand, rel=0.01)
    # Detours let the neighbours have their part of the second spine, too.
    assert of_host(busy_spine("ugal", **switch)) < 0.9 * demand
    for oblivious in ("deterministic", "random"):
        assert of_host(busy_spine(oblivious, **switch)) < 0.9 * demand


def test_no_routing_relieves_a_slow_endpoint() -> None:
    """The last link is the same for all ways."""
    shape = {"leaves": 4, "spines": 2, "devices_per_leaf": 2}
    spec = generated("spine-leaf", {"reads": 1.0, "requests": 3000}, link=WIDE, edge_link=WIRE, **shape)
    spec["address_map"] = [{"to": ["mem0"]}]
    for routing in ROUTING:
        assert run(changed(spec, ("run.routing", routing))).bandwidth == pytest.approx(8.0, rel=0.01)


@pytest.mark.parametrize("routing", ROUTING)
def test_an_isolated_request_goes_the_shortest_way_unless_it_is_sent_on_a_detour(routing: str) -> None:
    shape = {"size": [3, 3]}
    spec = generated(
        "torus", {"requests": 200}, placement="paired", requester={"kind": "host", "queue": 1}, **shape
    )
    first = next(iter(spec["workload"]))
    spec["workload"] = {first: spec["workload"][first]}
    shortest = run(spec).summary["latency_ns"]
    found = run(changed(spec, ("run.routing", routing))).summary["latency_ns"]
    assert found["min"] == shortest["min"]
    if routing == "valiant":
        assert found["mean"] > shortest["mean"]
    else:
        assert found == shortest


def distance(start: int, end: int, switches: int) -> int:
    return min((end - start) % switches, (start - end) % switches)


def arcs(start: int, end: int, switches: int) -> list[list[int]]:
    """The shortest ways on a ring, with both ends."""
    steps = {direction: (end - start) * direction % switches for direction in (1, -1)}
    shortest = min(steps.values())
    return [
        [(start + i * direction) % switches for i in range(count + 1)]
        for direction, count in steps.items()
        if count == shortest
    ]


def test_detours_are_as_long_as_the_ways_by_all_switches_of_a_ring() -> None:
    switches = 8
    spec = generated(
        "ring",
        {"requests": 4000, "footprint": "16GiB"},
        switches=switches,
        placement="paired",
        requester={"kind": "host", "queue": 1},
        link={"delay": "1us"},
        edge_link={"delay": "0ns"},
    )
    outcome = {
        routing: run(changed(spec, ("run.routing", routing))).segment("propagation")
        for routing in ("random", "valiant")
    }
    ways = {"random": 0.0, "valiant": 0.0}
    for start, via, end in product(range(switches), repeat=3):
        ways["random"] += distance(start, end, switches)
        for there in arcs(start, via, switches):
            # A message that comes by its destination's switch on the way gets off there.
            met = end in there
            length = there.index(end) if met else len(there) - 1 + distance(via, end, switches)
            ways["valiant"] += length / len(arcs(start, via, switches))
    for routing, total in ways.items():
        mean = total / switches**3
        assert outcome[routing] == pytest.approx(2 * 1000 * mean, rel=0.02)


def test_messages_to_a_line_that_overtake_each_other_are_put_in_order_again() -> None:
    spec = changed(busy_spine("adaptive"), ("links.0.delay", "1us"), ("devices.host.queue", 256))
    spec["workload"] = {"host": {"pattern": "random", "requests": 20_000, "footprint": "4KiB"}}
    outcome = run(spec)
    assert outcome.segment("reorder") > 0
    assert run(changed(spec, ("run.routing", "random"))).segment("reorder") == 0


def test_an_outage_that_fails_requests_is_refused_beside_routing_that_changes_the_order() -> None:
    spec = busy_spine("adaptive")
    for link in spec["links"][:4]:
        for key in ("bandwidth", "header", "data_header"):
            del link[key]
        link |= {"phy": "pcie5-x16", "outage": {"at": "1us", "length": "1us", "fail": True}}
    with pytest.raises(InputError, match="fails requests beside routing that changes their order"):
        run(spec)
    run(changed(spec, ("run.routing", "random")))
