"""What DMA engines move for tasks is counted as any other request: at memories, links and requesters."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from cxloom import _core
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolve import resolve

Spec = dict[str, Any]
KIB = 1024
IN, OUT = 1024 * KIB, 512 * KIB
"""Bytes of the copies: in from both memories page by page, out to the card."""
SPEC: Spec = {
    "devices": {
        "host": {"kind": "host"},
        "gpu": {"kind": "gpu", "streams": 2, "posted": 1024},
        "dram": {"kind": "memory", "capacity": "64MiB", "media": {"kind": "fixed", "latency": "90ns"}},
        "card": {"kind": "memory", "capacity": "64MiB", "media": {"kind": "dram", "preset": "DDR5-4800"}},
    },
    "links": [
        {"between": ["host", "gpu"], "phy": "pcie4-x16", "flit": "none", "port_delay": "75ns"},
        {"between": ["host", "dram"], "phy": "pcie5-x16", "flit": "68B"},
        {"between": ["host", "card"], "phy": "pcie5-x8", "flit": "68B"},
    ],
    "address_map": [{"to": ["dram"]}, {"to": ["card"]}],
    "tasks": {
        "objects": [
            {
                "name": "both",
                "size": "4MiB",
                "addresses": {"kind": "interleave", "nodes": ["dram", "card"]},
            },
            {"name": "far", "size": "4MiB", "addresses": {"kind": "bind", "nodes": ["card"]}},
        ],
        "graph": [
            {"name": "in", "kind": "copy", "from": "both", "to": "gpu", "bytes": f"{IN}B"},
            {"name": "out", "kind": "copy", "from": "gpu", "to": "far", "bytes": f"{OUT}B", "stream": 1},
        ],
        "exact": True,
    },
}


def played(spec: Spec) -> Spec:
    simulation = _core.Simulation(resolve(from_plain(spec, Origin())).plain(), {})
    while not simulation.advance(1_000_000):
        pass
    return dict(simulation.summary())


@pytest.fixture(scope="module")
def summary() -> Spec:
    return played(SPEC)


def test_requests_are_those_of_the_engine(summary: Spec) -> None:
    """Reads of 512 B and writes of 256 B, as max_read_request and max_payload have it."""
    assert (summary["reads"], summary["writes"]) == (IN // 512, OUT // 256)
    assert summary["requests"] == summary["reads"] + summary["writes"]


def test_bytes_of_copies_are_bytes_of_memories(summary: Spec) -> None:
    """Half of the first object is in each memory. A line is an access of 64 B."""
    time = summary["simulated_time_ns"]
    assert time == summary["tasks"]["time_ns"]
    moved = {"dram": (IN // 2, 0), "card": (IN // 2, OUT)}
    for name, (read, written) in moved.items():
        memory = summary["per_memory"][name]
        assert (memory["reads"], memory["writes"]) == (read // 64, written // 64)
        assert memory["read_gb_per_s"] * time == pytest.approx(read, rel=1e-9)
        assert memory["write_gb_per_s"] * time == pytest.approx(written, rel=1e-9)
    assert summary["bandwidth_gb_per_s"] * time == pytest.approx(IN + OUT, rel=1e-9)


@pytest.mark.parametrize(
    ("link", "way", "size"),
    [
        ("host-gpu", "host->gpu", IN),
        ("host-gpu", "gpu->host", OUT),
        ("host-dram", "dram->host", IN // 2),
        ("host-card", "card->host", IN // 2),
        ("host-card", "host->card", OUT),
    ],
)
def test_bytes_of_copies_are_bytes_of_links(summary: Spec, link: str, way: str, size: int) -> None:
    """What crossed the link as payload, and what the tasks say of it."""
    payload = summary["per_link"][link][way]["payload_gb_per_s"] * summary["simulated_time_ns"]
    assert payload == pytest.approx(size, rel=1e-9)
    assert sum(summary["tasks"]["per_link"][way].values()) == size


def test_the_time_of_each_request_is_accounted_for(summary: Spec) -> None:
    """Reads, writes, and what each memory has answered are looked at."""
    for group in (summary, summary["read"], summary["write"], *summary["per_memory"].values()):
        segments = sum(group["breakdown_ns"].values())
        assert segments == pytest.approx(group["latency_ns"]["mean"], rel=1e-9)
        assert segments > 0


def test_the_engine_is_a_requester_with_two_copies(summary: Spec) -> None:
    """The mean of a copy is that of the tasks, from its call to its end."""
    gpu, tasks = summary["per_requester"]["gpu"], summary["tasks"]["per_task"]
    assert gpu["requests"] == summary["requests"]
    assert (gpu["large_accesses"], gpu["copies_failed"]) == (2, 0)
    assert gpu["large_access_ns"] == pytest.approx(sum(each["end_ns"] for each in tasks.values()) / 2)
    assert 0 < gpu["tags_mean"] <= 256
    assert 0 < gpu["posted_mean"] <= 1024


def test_copies_beside_a_kernel_and_a_workload_are_counted_with_them() -> None:
    """A kernel of the host reads 256 KiB, line by line; the GPU's own work are four copies more."""
    spec = copy.deepcopy(SPEC)
    kernel = {"name": "k", "kind": "kernel", "on": "host", "reads": [{"object": "far", "bytes": "256KiB"}]}
    spec["tasks"]["graph"].append(kernel)
    found = played(spec)
    lines = 256 * KIB // 64
    assert found["requests"] == IN // 512 + OUT // 256 + lines
    assert found["per_requester"]["host"]["requests"] == lines
    assert found["per_memory"]["card"]["reads"] == IN // 2 // 64 + lines
    own = {"pattern": "transfer", "size": "4KiB", "footprint": "1MiB", "requests": 4, "addresses": "as-is"}
    spec["workload"] = {"gpu": own}
    spec["tasks"]["processors"] = [{"name": "p", "flops": 1e12}]
    wait = {"name": "wait", "kind": "compute", "on": "p", "time": "100us"}  # behind all of its own copies
    spec["tasks"]["graph"] = [wait, *({**each, "after": ["wait"]} for each in spec["tasks"]["graph"])]
    both = played(spec)
    assert both["per_requester"]["gpu"]["large_accesses"] == 2 + 4
    assert both["requests"] == found["requests"] + 4 * 4 * KIB // 512


def test_of_time_that_was_passed_over_the_requests_are_left_out() -> None:
    """16 MiB in windows: what is counted is what was simulated, and the tasks have all of it."""
    spec = copy.deepcopy(SPEC)
    spec["tasks"] |= {"window": "20us"}
    del spec["tasks"]["exact"]
    spec["tasks"]["objects"][0] |= {"size": "32MiB"}
    spec["tasks"]["graph"] = [{**spec["tasks"]["graph"][0], "bytes": "16MiB"}]
    found = played(spec)
    tasks = found["tasks"]
    assert tasks["skipped_ns"] > 0
    assert 0 < found["requests"] < (16 << 20) // 512
    assert found["simulated_time_ns"] == pytest.approx(tasks["time_ns"] - tasks["skipped_ns"])
    assert sum(tasks["per_link"]["host->gpu"].values()) == 16 << 20


def test_a_graph_is_measured_whole_and_has_no_warm_up_to_lengthen() -> None:
    """A copy, and then a kernel of other latencies: not stationary, as phases are, and nothing is to be turned."""
    spec = copy.deepcopy(SPEC)
    reads = [{"object": "both", "bytes": f"{IN}B"}]
    spec["tasks"]["graph"] = [
        *spec["tasks"]["graph"][:1],
        {"name": "read", "kind": "kernel", "on": "host", "reads": reads, "after": ["in"]},
    ]
    found = played(spec)
    assert found["stationary"] is False
    assert not any("warmup" in note or "measure more" in note for note in found["notes"])
    del spec["tasks"]["graph"][1]
    spec["tasks"]["graph"][0]["bytes"] = "64B"
    assert not any("measure more" in note for note in played(spec)["notes"])
