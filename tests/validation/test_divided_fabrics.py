"""Fabrics whose parts run side by side, with routing by load and failures: results are those of one queue of events."""

from __future__ import annotations

import pytest
from validation.systems import Spec, generated
from validation.test_divided import apart, assert_same, both


@pytest.mark.parametrize("routing", ["adaptive", "ugal", "valiant", "random"])
def test_routing_by_load(routing: str) -> None:
    """Few lines, so that many messages of a stream are under way, and overtake each other."""
    spec = generated(
        "spine-leaf",
        {"requests": 1500, "footprint": "4KiB", "reads": 0.7},
        leaves=4,
        spines=3,
        devices_per_leaf=2,
        placement="split",
        switch={"kind": "switch", "queueing": "voq"},
        link={"bandwidth": "16GB/s", "credits": 4},
        edge_link={"bandwidth": "32GB/s", "credits": 8},
    )
    spec["run"] = {"routing": routing, "warmup": 100}
    whole, divided = both(apart(spec))
    assert divided["partitions"] > 6
    assert divided["side_by_side"] > 100
    if routing in ("adaptive", "ugal"):
        assert whole["requests"]["reorder_ps"].sum() > 0
    assert_same(whole, divided)


FAILURES: dict[str, list[Spec]] = {
    "link": [
        {"at": "3us", "fail": {"link": ["leaf0", "spine0"], "reroute_time": "300ns"}},
        {"at": "6us", "repair": {"link": ["leaf0", "spine0"]}},
    ],
    "switch": [
        {"at": "3us", "fail": {"device": "spine1"}},
        {"at": "4us", "repair": {"device": "spine1"}},
    ],
    "switch, for good": [{"at": "3us", "fail": {"device": "spine1", "reroute_time": "100ns"}}],
    "link, for good": [{"at": "3us", "fail": {"link": ["leaf0", "spine0"], "reroute_time": "100ns"}}],
    "host": [
        {"at": "3us", "fail": {"device": "host0"}},
        {"at": "4us", "repair": {"device": "host0", "restart": True}},
    ],
}


@pytest.mark.parametrize("routing", ["deterministic", "adaptive"])
@pytest.mark.parametrize("what", FAILURES)
def test_failures(what: str, routing: str) -> None:
    """Parts run side by side before them, and once all that failed is known and a way leads everywhere."""
    spec = generated(
        "spine-leaf",
        {"requests": 1500, "footprint": "1MiB", "reads": 0.7},
        leaves=4,
        spines=2,
        devices_per_leaf=2,
        placement="split",
        switch={"kind": "switch", "queueing": "voq"},
        requester={"kind": "host", "completion_timeout": "2us"},
        link={"bandwidth": "16GB/s", "credits": 8},
        edge_link={"bandwidth": "8GB/s", "credits": 8},
    )
    spec |= {"events": FAILURES[what], "run": {"routing": routing, "warmup": 100}}
    whole, divided = both(apart(spec))
    assert whole["summary"]["events"]
    assert divided["side_by_side"] > 0.6 * divided["windows"]
    assert_same(whole, divided)


@pytest.mark.parametrize("exact", [True, False])
def test_tasks(exact: bool) -> None:
    """Each host copies its part to the next one, twice, and works on what has come: tasks begin with ends elsewhere."""
    spec = generated(
        "spine-leaf",
        leaves=4,
        spines=2,
        devices_per_leaf=2,
        placement="split",
        switch={"kind": "switch", "queueing": "voq"},
        link={"bandwidth": "16GB/s", "credits": 8},
        edge_link={"bandwidth": "8GB/s", "credits": 8},
    )
    hosts = list(spec["workload"])
    count = len(hosts)
    objects = [
        {"name": f"part{i}", "size": "256KiB", "addresses": {"kind": "bind", "nodes": [f"mem{i}"]}}
        for i in range(count)
    ]
    graph: list[Spec] = []
    for turn in range(2):
        for i, host in enumerate(hosts):
            behind = [f"work {turn - 1} {i}"] if turn else []
            ends = {"from": f"part{i}", "to": f"part{(i + 1) % count}"}
            graph.append(
                {"name": f"copy {turn} {i}", "kind": "copy", "on": host, "bytes": "64KiB", "after": behind}
                | ends
            )
        for i, host in enumerate(hosts):
            come = [f"copy {turn} {(i - 1) % count}"]
            reads = [{"object": f"part{i}", "bytes": f"{32 + 8 * i}KiB"}]
            graph.append(
                {"name": f"work {turn} {i}", "kind": "kernel", "on": host, "reads": reads, "after": come}
            )
    spec |= {"workload": {}, "tasks": {"exact": exact, "objects": objects, "graph": graph}}
    whole, divided = both(apart(spec))
    assert divided["side_by_side"] > 0.5 * divided["windows"]
    assert len(whole["summary"]["tasks"]["per_task"]) == 4 * count
    assert_same(whole, divided)
