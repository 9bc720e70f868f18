"""Memories that fail under load: docs/model/failures.md."""

from __future__ import annotations

from typing import Any

import pytest
from validation.systems import Run, Spec, run

READ = {"pattern": "random", "footprint": "1MiB", "size": "64B"}


def around(outcome: Run, event: str, host: str) -> dict[str, Any]:
    """A host before an event and after it."""
    return dict(outcome.summary["events"][event]["requesters"][host])


def pool(queueing: str) -> Spec:
    """A host that saturates two interleaved memories, and a probe with one of its own behind the same switch."""
    names = ("busy", "probe", "mem0", "mem1", "own")
    return {
        "devices": {
            "busy": {"kind": "host", "queue": 64, "completion_timeout": "3us"},
            "probe": {"kind": "host", "queue": 1},
            "sw": {"kind": "switch", "queueing": queueing, "port_bandwidth": "16GB/s"},
            "mem0": {"kind": "memory", "capacity": "1MiB"},
            "mem1": {"kind": "memory", "capacity": "1MiB"},
            "own": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [{"between": [name, "sw"], "credits": 8} for name in names],
        "address_map": [{"to": ["mem0", "mem1"]}, {"to": ["own"]}],
        "workload": {
            "busy": {**READ, "footprint": "2MiB", "requests": 6000},
            "probe": {**READ, "base": "2MiB", "requests": 60},
        },
        "events": [
            {"at": "5us", "fail": {"device": "mem1", "reroute_time": "1us"}},
            {"at": "12us", "repair": {"device": "mem1", "cleared": True}},
        ],
    }


@pytest.mark.parametrize("queueing", ["output", "voq"])
def test_neighbours_of_a_memory_that_fails_go_on(queueing: str) -> None:
    """The probe has no error, and waits no longer than before; the other host is whole again after the reset."""
    outcome = run(pool(queueing))
    assert outcome.completed == outcome.expected
    failure, reset = list(outcome.summary["events"])
    probe = around(outcome, failure, "probe")
    assert probe["errors"] == 0
    assert probe["requests"] > 5
    assert probe["latency_ns"] <= probe["latency_before_ns"] + 1
    during, after = around(outcome, failure, "busy"), around(outcome, reset, "busy")
    assert during["errors"] > 0
    # What was lost may end behind the reset; nothing else fails there.
    assert during["errors"] + after["errors"] == outcome.summary["errors"]["requests"]
    assert after["latency_ns"] == pytest.approx(during["latency_before_ns"], rel=0.1)
    assert "poison_consumed" not in outcome.summary["per_requester"]["busy"]


def test_a_memory_that_is_added_is_used_from_then_on() -> None:
    """Absent from the beginning, with errors at once; from its time on all is served."""
    spec = pool("voq")
    spec["events"] = [
        {"at": "1ps", "fail": {"device": "mem1", "reroute_time": "0ns"}},
        {"at": "6us", "repair": {"device": "mem1", "cleared": True}},
    ]
    outcome = run({**spec, "outputs": {"requests": True}})
    absent, added = (around(outcome, event, "busy") for event in outcome.summary["events"])
    assert absent["errors"] > 0
    assert outcome.summary["events"]["1ps fail device mem1"]["lost"] == 0
    rows = outcome.requests
    late = rows["created_ps"] > 6_000_000
    assert late.sum() > 100
    assert not rows["error"][late].any()
    assert added["requests"] > absent["requests"]


@pytest.mark.parametrize("heads", [1, 2])
def test_both_hosts_of_a_shared_memory_lose_it_and_get_it_back(heads: int) -> None:
    """By a switch, and by a head for each: the same accounts of what failed."""
    devices: Spec = {
        "host0": {"kind": "host", "queue": 4, "completion_timeout": "2us"},
        "host1": {"kind": "host", "queue": 4, "completion_timeout": "2us"},
        "mem": {"kind": "memory", "capacity": "1MiB", "heads": heads},
    }
    links = [{"between": [host, "mem"]} for host in ("host0", "host1")]
    if heads == 1:
        devices["sw"] = {"kind": "switch"}
        links = [{"between": [name, "sw"]} for name in ("host0", "host1", "mem")]
    outcome = run(
        {
            "devices": devices,
            "links": links,
            "address_map": [{"to": ["mem"]}],
            "workload": {host: {**READ, "requests": 1500} for host in ("host0", "host1")},
            "events": [
                {"at": "2us", "fail": {"device": "mem", "reroute_time": "500ns"}},
                {"at": "3us", "repair": {"device": "mem"}},
            ],
            "run": {"warmup": 0},
        }
    )
    assert outcome.completed == outcome.expected
    for host in ("host0", "host1"):
        failure, reset = (around(outcome, event, host) for event in outcome.summary["events"])
        assert failure["errors"] + reset["errors"] >= 4  # what was under way
        # Nothing is written, so that all that is read after the reset is poison.
        assert reset["requests"] == 0
        assert outcome.summary["per_requester"][host]["poison_consumed"] > 0
