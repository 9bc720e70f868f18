"""The latency of a request that meets nobody is the sum of its parts, to the picosecond."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from validation.examples import examples, some
from validation.graph import Graph
from validation.systems import (
    SEGMENTS,
    Run,
    Spec,
    changed,
    generated,
    host_and_memory,
    host_bus_memories,
    run,
)
from validation.unloaded import Unloaded

MEMORY = {
    "kind": "memory",
    "controller_time": "41ns",
    "media": {"kind": "fixed", "latency": "47ns", "write_latency": "61ns"},
}


def expect_sum_of_parts(spec: Spec, route_by: str = "hops") -> Run:
    """Plays the work of each requester alone, one request at a time, and compares every request, segment by segment."""
    model = Unloaded(spec)
    for requester in spec["workload"]:
        alone = changed(
            spec,
            ("workload", {requester: spec["workload"][requester]}),
            (f"devices.{requester}.queue", 1),
            ("outputs.requests", True),
            ("run.route_by", route_by),
        )
        outcome = run(alone)
        rows = outcome.requests
        assert len(rows["id"]) == alone["workload"][requester]["requests"]
        latency = rows["completed_ps"] - rows["created_ps"]
        seen = list(zip(*(rows[name].tolist() for name in ("target", "kind", "size")), strict=True))
        for key in set(seen):
            here = [index for index, other in enumerate(seen) if other == key]
            target = outcome.nodes[key[0]]
            total = model.request(requester, target, bool(key[1]), key[2], route_by)
            assert set(latency[here].tolist()) == {total}, (target, key)
            parts = {name: set(rows[f"{name}_ps"][here].tolist()) for name in SEGMENTS}
            assert parts == {name: {model.segments.get(name, 0)} for name in SEGMENTS}, (target, key)
            if route_by == "hops":
                assert set(rows["hops"][here].tolist()) == {model.hops(requester, target)}
        expected = set(spec["address_map"][0]["to"])
        assert {outcome.nodes[target] for target, _, _ in seen} == expected
    return outcome


def visits(memories: int, **work: Any) -> Spec:
    """Reads and writes that visit every memory of a 256-byte interleave in turn, well apart."""
    return {
        "pattern": "strided",
        "stride": "256B",
        "reads": 0.5,
        "requests": 16 * memories,
        "footprint": "64KiB",
        **work,
    }


WIRES: dict[str, Spec] = {
    "unlimited": {},
    "limited": {"bandwidth": "7.3GB/s", "delay": "3.7ns"},
    "uneven": {
        "bandwidth": "9GB/s",
        "delay": "1500ps",
        "port_delay": "13ns",
        "reverse": {"bandwidth": "31GB/s", "delay": "11ns"},
    },
    "half": {
        "bandwidth": "10GB/s",
        "duplex": "half",
        "turnaround": "1ns",
        "header": "24B",
        "data_header": "8B",
    },
    "credits": {"bandwidth": "8GB/s", "credits": 2, "delay": "5ns"},
}


@pytest.mark.parametrize("wire", WIRES)
def test_direct_link(wire: str) -> None:
    spec = host_and_memory(WIRES[wire], MEMORY, {"process_time": "9ns"}, visits(1))
    expect_sum_of_parts(spec)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "bus",
    [
        {},
        {"bandwidth": "5GB/s", "bus_time": "2ns"},
        {"bandwidth": "50GB/s", "duplex": "half", "port_delay": "6ns"},
    ],
)
def test_bus(wire: str, bus: Spec) -> None:
    spec = host_bus_memories(bus, 3, {"process_time": "9ns"}, visits(3))
    spec["links"] = [{"between": link["between"], **WIRES[wire]} for link in spec["links"]]
    expect_sum_of_parts(spec)


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
@pytest.mark.parametrize("forwarding", ["cut-through", "store-and-forward"])
@pytest.mark.parametrize("wire", WIRES)
def test_switch(wire: str, forwarding: str, queueing: str) -> None:
    switch = {
        "kind": "switch",
        "forwarding": forwarding,
        "queueing": queueing,
        "port_bandwidth": "6GB/s",
        "switching_time": "17ns",
    }
    spec = generated("spine-leaf", visits(4), leaves=2, spines=1, devices_per_leaf=4, switch=switch, memory=MEMORY,
                     link=WIRES[wire], edge_link={"bandwidth": "4GB/s"})  # fmt: skip
    expect_sum_of_parts(spec)


def test_wires_of_different_speed_in_a_row() -> None:
    # Cut-through: the tail of a fast message cannot overtake a slow wire before or behind it.
    for speeds in ((4, 16, 8), (16, 4, 8), (8, 16, 4)):
        for forwarding in ("cut-through", "store-and-forward"):
            switch = {"kind": "switch", "forwarding": forwarding}
            spec = {
                "devices": {"host": {"kind": "host"}, "a": switch, "b": {"kind": "switch"}, "mem": MEMORY},
                "links": [
                    {"between": list(ends), "bandwidth": f"{speed}GB/s"}
                    for ends, speed in zip((("host", "a"), ("a", "b"), ("b", "mem")), speeds, strict=True)
                ],
                "address_map": [{"to": ["mem"]}],
                "workload": {"host": visits(1)},
            }
            expect_sum_of_parts(spec)


def test_accelerator_serves_itself_and_others() -> None:
    memory = {key: value for key, value in MEMORY.items() if key != "kind"}
    spec = {
        "devices": {
            "host": {"kind": "host"},
            "sw": {"kind": "switch", "forwarding": "store-and-forward"},
            "acc0": {"kind": "accelerator", "process_time": "3ns", "memory": memory},
            "acc1": {"kind": "accelerator", "memory": {**memory, "controller_time": "20ns"}},
            "mem": MEMORY,
        },
        "links": [
            {"between": [name, "sw"], "bandwidth": "16GB/s", "delay": "2ns"}
            for name in ("host", "acc0", "acc1", "mem")
        ],
        "address_map": [{"to": ["acc0", "acc1", "mem"]}],
        "workload": {name: visits(3) for name in ("host", "acc0", "acc1")},
    }
    expect_sum_of_parts(spec)


def test_cache_miss_fetches_a_line() -> None:
    host = {"cache": {"size": "4KiB", "access_time": "5ns"}}
    spec = host_and_memory(
        WIRES["limited"],
        MEMORY,
        host,
        {"pattern": "sequential", "requests": 500, "size": "16B", "reads": 1.0},
    )
    spec = changed(spec, ("devices.host.queue", 1), ("outputs.requests", True))
    rows = run(spec).requests
    miss = Unloaded(spec).request("host", "mem", False)
    hit = 10_000 + 5_000
    # Four accesses of 16 bytes to each line: the first misses.
    latency = rows["completed_ps"] - rows["created_ps"]
    assert latency.tolist() == [miss, hit, hit, hit] * 125


SHAPES = [
    ("chain", {"switches": 6}),
    ("ring", {"switches": 6}),
    ("tree", {"leaves": 8}),
    ("tree", {"leaves": 8, "fan_out": 3, "root_degree": 4}),
    ("spine-leaf", {"leaves": 4, "spines": 3, "devices_per_leaf": 2}),
    ("fully-connected", {"switches": 6}),
    ("mesh", {"size": [2, 3]}),
    ("mesh", {"size": [2, 2, 3]}),
    ("torus", {"size": [4, 3]}),
    ("torus", {"size": [2, 3, 3]}),
    ("hypercube", {"dimensions": 3}),
    ("fat-tree", {"ports": 4, "levels": 3}),
    ("dragonfly", {"switches_per_group": 2, "global_links": 2, "devices_per_switch": 2, "groups": 5}),
]


PLACED = product(SHAPES, ["split", "paired"], [False, True], ["cut-through", "store-and-forward"])


@pytest.mark.parametrize(
    ("kind", "params", "placement", "limited", "forwarding"), some((*shape, *rest) for shape, *rest in PLACED)
)
def test_every_pair_of_a_generated_topology(
    kind: str, params: Spec, placement: str, limited: bool, forwarding: str
) -> None:
    spec = generated(
        kind,
        placement=placement,
        switch={"kind": "switch", "forwarding": forwarding},
        memory=MEMORY,
        link=WIRES["uneven"] if limited else {"delay": "3ns"},
        edge_link=WIRES["limited"] if limited else {},
        **params,
    )
    memories = len(spec["address_map"][0]["to"])
    spec["workload"] = {host: visits(memories) for host in spec["workload"]}
    expect_sum_of_parts(spec)


@pytest.mark.parametrize("seed", range(examples(4)))
def test_routes_by_latency(seed: int) -> None:
    # A mesh of switches and buses whose links differ: the fastest way is seldom the one with the fewest links.
    draw = random.Random(seed)
    spec = generated("mesh", size=[3, 4], placement="paired", memory=MEMORY)
    for name, device in spec["devices"].items():
        if device["kind"] == "switch":
            spec["devices"][name] = draw.choice(
                [
                    {"kind": "switch", "switching_time": f"{draw.randint(1, 60)}ns"},
                    {"kind": "bus", "bus_time": f"{draw.randint(1, 20)}ns", "bandwidth": "20GB/s"},
                ]
            )
    for link in spec["links"]:
        link.update(delay=f"{draw.randint(0, 99)}ns", bandwidth=f"{draw.randint(4, 40)}GB/s")
        if draw.random() < 0.5:
            link["reverse"] = {"delay": f"{draw.randint(0, 99)}ns"}
    memories = len(spec["address_map"][0]["to"])
    spec["workload"] = {host: visits(memories) for host in spec["workload"]}
    expect_sum_of_parts(spec, route_by="latency")
    # Alone, no host fares worse by this than by fewest links, and some fare better.
    gains = []
    for host, work in spec["workload"].items():
        alone = changed(spec, ("workload", {host: work}), (f"devices.{host}.queue", 1))
        by_latency = run(changed(alone, ("run.route_by", "latency")))
        by_hops = run(changed(alone, ("run.route_by", "hops")))
        gains.append(by_hops.latency - by_latency.latency)
        assert by_latency.summary["mean_hops"] >= by_hops.summary["mean_hops"]
    assert min(gains) >= 0.0
    assert max(gains) > 1.0


DIAMOND_BANDWIDTHS = [("4GB/s", "40GB/s"), ("10GB/s", "11GB/s"), ("40GB/s", "2GB/s"), ("8GB/s", "8GB/s")]


@pytest.mark.parametrize("forwarding", ["cut-through", "store-and-forward"])
@pytest.mark.parametrize("bandwidths", DIAMOND_BANDWIDTHS)
def test_by_latency_an_idle_read_takes_the_faster_of_two_ways(
    forwarding: str, bandwidths: tuple[str, str]
) -> None:
    # Two ways between a host and a memory, each of two links of one bandwidth and delay in both directions. A read
    # alone takes the time of the one that is faster for its data, as told from the system without the other.
    for delay in (0, 3, 8, 11, 17, 30, 60):
        spec: Spec = {
            "devices": {
                "host": {"kind": "host"},
                "mem": MEMORY,
                **{
                    name: {"kind": "switch", "forwarding": forwarding} for name in ("a", "left", "right", "b")
                },
            },
            "links": [{"between": ["host", "a"]}, {"between": ["b", "mem"]}],
            "address_map": [{"to": ["mem"]}],
            "workload": {"host": {"requests": 4, "pattern": "random", "reads": 1.0}},
            "run": {"route_by": "latency"},
        }
        links = {
            way: [
                {"between": ends, "bandwidth": bandwidth, "delay": time} for ends in (["a", way], [way, "b"])
            ]
            for way, bandwidth, time in zip(("left", "right"), bandwidths, ("5ns", f"{delay}ns"), strict=True)
        }
        alone = {}
        for way, other in (("left", "right"), ("right", "left")):
            only = changed(spec, ("links", [*spec["links"], *links[way]]))
            del only["devices"][other]
            # The closed form of the data's way back decides; the request of 16 B goes by the same one.
            wire = int(80 * 1000 / int(bandwidths[way == "right"].removesuffix("GB/s")))
            data = 4 * 25_000 + 2 * (5 if way == "left" else delay) * 1000
            data += wire * (1 if forwarding == "cut-through" else 2)
            alone[way] = data, Unloaded(only).request("host", "mem", write=False)
        both = changed(
            spec,
            ("links", [*spec["links"], *links["left"], *links["right"]]),
            ("devices.host.queue", 1),
            ("outputs.requests", True),
        )
        rows = run(both).requests
        _, expected = min(alone.values())
        for i in range(4):
            assert rows["completed_ps"][i] - rows["created_ps"][i] == expected, (delay, alone)


def test_mean_hops_follow_from_the_graph() -> None:
    spec = generated("torus", {"requests": 2000, "reads": 0.5}, size=[4, 4], placement="paired")
    graph = Graph.of(spec)
    outcome = run(changed(spec, ("outputs.requests", True)))
    rows = outcome.requests
    far = {memory: graph.hops_to(memory) for memory in spec["address_map"][0]["to"]}
    for i in range(len(rows["id"])):
        assert (
            rows["hops"][i] == 2 * far[outcome.nodes[rows["target"][i]]][outcome.nodes[rows["requester"][i]]]
        )
    assert outcome.summary["mean_hops"] == pytest.approx(rows["hops"].mean(), rel=1e-12)


def test_hops_beyond_what_a_byte_counts() -> None:
    # From the first of 300 switches in a row to the memories on the last 150: 151 to 300 links and one more to each
    # device, there and back.
    spec = generated("chain", switches=300, requester={"kind": "host", "queue": 1})
    spec["workload"] = {"host0": {"pattern": "random", "requests": 50, "footprint": "1MiB"}}
    spec["outputs"] = {"requests": True}
    hops = run(spec).requests["hops"]
    assert min(hops) >= 2 * 152
    assert max(hops) <= 2 * 301
    assert len(set(hops)) > 10
