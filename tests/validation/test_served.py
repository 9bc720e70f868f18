"""Who served what: memories have what they answered, all the same keys, and what nobody answered has no latency."""

from __future__ import annotations

import pytest
from validation.systems import LINE, Run, Spec, host_bus_memories, run

FAILING = {"phy": "pcie5-x16", "outage": {"at": "2us", "length": "3us", "fail": True}}
CACHED = {"queue": 16, "cache": {"size": "4KiB", "access_time": "4ns"}}


def broken(**host: object) -> Spec:
    """A host, a bus, and two memories, of which the second is cut off for a while."""
    spec = host_bus_memories(
        memories=2, host=host, work={"requests": 4000, "reads": 0.5, "footprint": "64KiB"}
    )
    spec["links"][-1] |= FAILING
    return {**spec, "outputs": {"requests": True}}


def test_a_memory_never_used_has_the_keys_of_the_others() -> None:
    spec = host_bus_memories(memories=3, work={"footprint": "512B"})
    memories = run(spec).summary["per_memory"]
    assert memories["mem0"]["requests"] > 0
    idle = memories["mem2"]
    assert idle.keys() == memories["mem0"].keys()
    assert {idle[key] for key in ("requests", "reads", "writes", "write_backs", "bandwidth_gb_per_s")} == {0}
    for part in ("latency_ns", "breakdown_ns"):
        assert idle[part].keys() == memories["mem0"][part].keys()
        assert set(idle[part].values()) == {None}


def test_there_is_no_latency_without_requests() -> None:
    summary = run(host_bus_memories(work={"reads": 1.0})).summary
    assert summary["write"]["requests"] == 0
    assert set(summary["write"]["latency_ns"].values()) == {None}
    assert set(summary["write"]["breakdown_ns"].values()) == {None}
    assert None not in summary["read"]["latency_ns"].values()


def check_parts(outcome: Run) -> None:
    """Requests and bytes of the parts are those of the whole, and a memory's accesses those of what it served."""
    summary = outcome.summary
    memories, hosts = summary["per_memory"].values(), summary["per_requester"].values()
    for parts in (memories, hosts):
        moved = sum(part["bandwidth_gb_per_s"] for part in parts)
        assert moved == pytest.approx(summary["bandwidth_gb_per_s"], rel=1e-12)
    for memory in memories:
        assert memory["reads"] + memory["writes"] == memory["requests"] + memory["write_backs"]
        moved = memory["read_gb_per_s"] + memory["write_gb_per_s"]
        assert moved == pytest.approx(memory["bandwidth_gb_per_s"], rel=1e-12)
    for parts in (memories, hosts):
        assert sum(part.get("write_backs", 0) for part in parts) == summary["write_backs"]


def test_what_failed_is_no_memorys() -> None:
    outcome = run(broken(queue=16))
    rows, summary = outcome.requests, outcome.summary
    check_parts(outcome)
    failed = rows["controller_ps"] == 0
    assert failed.sum() == summary["errors"]["requests"] > 0
    # The bus in front of the dead link says so, and the row names it.
    assert {outcome.nodes[node] for node in rows["target"][failed]} == {"bus"}
    assert sum(memory["requests"] for memory in summary["per_memory"].values()) == (~failed).sum()


def test_a_line_that_never_came_is_not_cached_and_one_lost_is_not_written_back() -> None:
    outcome = run(broken(**CACHED))
    rows, summary = outcome.requests, outcome.summary
    check_parts(outcome)
    assert summary["failed_write_backs"] > 0
    # Whoever waited for a line that failed has failed with it.
    failed = rows["target"] == outcome.nodes.index("bus")
    assert failed.sum() == summary["errors"]["requests"] > 0
    # A hit is of a line that was read before.
    line, host = rows["address"] // LINE, outcome.nodes.index("host")
    read = rows["controller_ps"] > 0
    first_read = {at: rows["completed_ps"][read & (line == at)].min() for at in set(line[read].tolist())}
    hits = rows["target"] == host
    assert hits.sum() > 100
    assert all(first_read[at] < when for at, when in zip(line[hits], rows["completed_ps"][hits], strict=True))
