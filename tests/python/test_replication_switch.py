"""A switch that replicates a region fails: what is lost, who hears of it when, and how the copies become equal."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replicated import (
    LINE,
    READ,
    ROUND,
    SWITCH,
    WAY,
    WIRE,
    WRITE,
    each_is_answered_once,
    fail,
    latencies,
    memory,
    of_region,
    repair,
    run,
    system,
)

Spec = dict[str, Any]
EXAMPLES = int(os.environ.get("CXLOOM_REPLICA_EXAMPLES", "15"))

BY_SWITCH: Spec = {"rate": "1M/s", "host": {"queue": 64}, "replicas": {"switch": "sw"}}
# From the switch to a memory and back.
BRANCH = 2 * WAY + SWITCH
# All 1024 lines, 64 at a time.
RESYNC = 1024 / 64 * (2 * BRANCH + READ + WRITE)


@pytest.mark.parametrize("reads", ["0%", "100%"])
@pytest.mark.parametrize("queueing", ["output", "voq"])
def test_what_it_held_ends_with_its_timeout(reads: str, queueing: str) -> None:
    """It fails at 10.1 us, which is known 1 us later, and is repaired at 20.1 us."""
    events = (("10100ns", fail("sw")), ("20100ns", repair("sw")))
    result = run(system(*events, reads=reads, switch={"queueing": queueing}, **BY_SWITCH))
    found = latencies(result)
    idle = ROUND + (READ if reads == "100%" else WRITE)
    assert found[:10] == [idle] * 10
    # Made at 10 us: the memories have it, or serve it, and their answers do not reach the switch.
    assert found[10] == 5000
    # Made at 11 us: it waits at its host until the failure is known. Those after it are refused there.
    assert found[11] == 100
    assert found[12:21] == [0] * 9
    assert result.summary["errors"]["requests"] == 11
    region = of_region(result)
    assert (region["left"], region["resyncs"], region["given_up"]) == (1, 1, 0)
    assert region["resynced_bytes"] == 1024 * LINE
    assert region["state"] == {"mem0": "whole", "mem1": "whole"}
    if reads == "100%":
        assert found[21:] == [idle] * 79
        assert region["degraded_ns"] == pytest.approx(20_100 - 10_100 + RESYNC)
    # The answer of the read; those of both copies of the write, and with them the write.
    assert [each["lost"] for each in result.summary["events"].values()] == [1 if reads == "100%" else 3, 0]


def test_a_repair_before_it_is_known_saves_those_in_front_of_it() -> None:
    """Made at 10 us: its data come to a switch that knows nothing of it. Made at 11 us: it crosses at the repair."""
    events = (("10100ns", fail("sw", "2us")), ("11400ns", repair("sw")))
    result = run(system(*events, reads="100%", **BY_SWITCH))
    found = latencies(result)
    assert found[10] == 5000
    assert found[11] == 400 + ROUND + READ
    assert set(found[12:]) == {ROUND + READ}
    assert result.summary["errors"]["requests"] == 1
    assert of_region(result)["degraded_ns"] == pytest.approx(1300 + RESYNC)


def test_the_lines_of_writes_that_it_lost_are_copied_when_these_are_over() -> None:
    """A write of 10 us is over when its answers would have timed out, at 20 us: then its line is the last one."""
    spec = system(
        ("10100ns", fail("sw")),
        ("12100ns", repair("sw")),
        reads="0%",
        rate="1M/s",
        replicas={"switch": "sw"},
        requests=11,
    )
    spec["devices"]["host"] |= {"queue": 64, "completion_timeout": "10us"}
    spec["devices"]["other"] = {"kind": "host", "process_time": "0ns"}
    spec["links"].append({"between": ["other", "sw"], **WIRE})
    spec["workload"]["other"] = {**spec["workload"]["host"], "reads": "100%", "requests": 100}
    region = of_region(run(spec))
    assert region["resynced_bytes"] == 1024 * LINE
    assert region["degraded_ns"] == pytest.approx(20_000 + 2 * BRANCH + READ + WRITE - 10_100)


def test_a_write_that_waits_for_the_copying_of_its_line_is_lost_with_the_table() -> None:
    """The second memory comes back at 20.1 us by a slow link: the write of 21 us waits for its line until 21.5 us."""
    spec = system(
        ("10100ns", fail("mem1", "0ns")),
        ("20100ns", repair("mem1")),
        ("21500ns", fail("sw", "0ns")),
        ("40100ns", repair("sw")),
        reads="0%",
        **BY_SWITCH,
    )
    for link in spec["links"]:
        link["bandwidth"] = "0.1GB/s" if "mem1" in link["between"] else "unlimited"
    result = run(spec)
    found = latencies(result)
    assert found[21] == 5000
    assert found[22:41] == [0] * 19
    assert result.summary["completed"] is True


def test_another_copy_takes_over_when_the_first_fails_before_they_are_equal() -> None:
    """Both had every write that was answered. The first dies with the switch down: the second is as good."""
    events = (
        ("10100ns", fail("sw")),
        ("12100ns", fail("mem0")),
        ("20100ns", repair("sw")),
        ("30100ns", repair("mem0")),
    )
    result = run(system(*events, reads="50%", outputs={"versions": True}, **BY_SWITCH))
    region = of_region(result)
    # Nobody gets an error after the repair, though the first copy is gone.
    assert result.summary["errors"]["requests"] == 11
    assert region["state"] == {"mem0": "whole", "mem1": "whole"}
    assert (region["stale_reads"], region["differing_lines"]) == (0, 0)
    assert region["left"] == 2


def test_copies_that_differ_are_made_equal() -> None:
    """The way to the second memory is full of writes when the switch fails: they are in the first one only."""
    spec = system(
        ("2100ns", fail("sw", "100ns")),
        ("9100ns", repair("sw")),
        reads="0%",
        host={"queue": 32},
        replicas={"switch": "sw"},
        outputs={"versions": True},
        requests=1000,
        rate="40M/s",
    )
    for link in spec["links"]:
        link["bandwidth"] = "2GB/s" if "mem1" in link["between"] else "32GB/s"
    region = of_region(run(spec))
    assert region["resynced_bytes"] == 1024 * LINE
    assert region["differing_lines"] == 0
    # Without a repair they stay as they are, and the second is out.
    spec["events"].pop()
    region = of_region(run(spec))
    assert region["state"] == {"mem0": "whole", "mem1": "out"}


@pytest.mark.parametrize("at", [2100, 2500])
def test_no_read_goes_back_behind_a_write_that_was_lost(at: int) -> None:
    """The way to the first memory is slow: the second has a write, which the first never gets, when the switch fails.

    A line that is being written is read from the first copy. A reader that had the other one's would find older data
    after the repair.
    """
    spec = system(
        (f"{at}ns", fail("sw", "100ns")),
        ("9100ns", repair("sw")),
        replicas={"switch": "sw", "read": "spread"},
        outputs={"versions": True},
        footprint="128B",
        region={"size": "128B"},
        reads="0%",
        requests=1000,
    )
    spec["devices"]["host"] |= {"queue": 16, "process_time": "1ns"}
    spec["devices"]["reader"] = {"kind": "host", "queue": 64, "completion_timeout": "5us"}
    for link in spec["links"]:
        link["bandwidth"] = "0.2GB/s" if "mem0" in link["between"] else "32GB/s"
    spec["links"].append({"between": ["reader", "sw"], **WIRE})
    spec["workload"]["reader"] = {
        **spec["workload"]["host"],
        "reads": "100%",
        "base": "64B",
        "footprint": "64B",
        "rate": "20M/s",
        "requests": 1000,
    }
    region = of_region(run(spec))
    assert region["reads"] > 800
    assert region["state"] == {"mem0": "whole", "mem1": "whole"}
    assert (region["reversed_reads"], region["stale_reads"], region["differing_lines"]) == (0, 0, 0)


@st.composite
def failing(draw: st.DrawFn) -> Spec:
    """Hosts before a switch that replicates, and fails, as memories and links do; or it alone."""
    copies = draw(st.integers(2, 3))
    names = [f"mem{i}" for i in range(copies)]
    alone = draw(st.booleans())
    wire: Spec = {"port_delay": "25ns"}
    if draw(st.booleans()):
        wire |= {"bandwidth": "16GB/s", "credits": draw(st.integers(2, 8))}
    if draw(st.booleans()):
        wire |= {"duplex": "half", "bandwidth": "16GB/s"}
    replicas: Spec = {
        "on": names[1:],
        "switch": "sw",
        "read": draw(st.sampled_from(["primary", "spread"])),
        "entries": draw(st.integers(1, 16)),
    }
    if draw(st.booleans()):
        replicas["resync_rate"] = "4GB/s"
    events = []
    at = 0
    down: list[str] = []
    for _ in range(draw(st.integers(1, 8))):
        at += draw(st.one_of(st.integers(1, 6000), st.integers(1, 500)))
        kind = "switch" if alone else draw(st.sampled_from(["switch", "switch", "device", "link", "front"]))
        name = draw(st.sampled_from(names))
        part: Spec = {
            "switch": {"device": "sw"},
            "device": {"device": name},
            "link": {"link": [name, "sw"]},
            "front": {"link": ["host0", "sw"]},
        }[kind]
        key = str(part)
        if key in down:
            down.remove(key)
            events.append({"at": f"{at}ns", "repair": part})
        else:
            down.append(key)
            known = f"{draw(st.sampled_from([0, 1, 300, 2000]))}ns"
            events.append({"at": f"{at}ns", "fail": {**part, "reroute_time": known}})
    devices: Spec = {
        name: memory(draw(st.sampled_from([0.0, 10.0, 400.0])), capacity="8KiB") for name in names
    }
    devices["sw"] = {"kind": "switch", "queueing": draw(st.sampled_from(["output", "voq", "fifo"]))}
    workload = {}
    for i in range(draw(st.integers(1, 2))):
        timeout = f"{draw(st.sampled_from([1, 3]))}us"
        devices[f"host{i}"] = {
            "kind": "host",
            "queue": draw(st.integers(1, 8)),
            "completion_timeout": timeout,
        }
        if draw(st.booleans()):
            devices[f"host{i}"]["cache"] = {"size": "1KiB", "ways": 2}
        workload[f"host{i}"] = {
            "pattern": "random",
            "requests": draw(st.integers(50, 400)),
            "base": f"{4 * i}KiB",
            "footprint": draw(st.sampled_from(["256B", "4KiB"])),
            "reads": "50%",
        }
    return {
        "devices": devices,
        "links": [{"between": [name, "sw"], **wire} for name in devices if name != "sw"],
        "address_map": [{"to": "mem0", "replicas": replicas}],
        "workload": workload,
        "events": events,
        "outputs": {"versions": True},
        "run": {"warmup": 0, "seed": draw(st.integers(0, 1000))},
    }


def of_switch_alone(spec: Spec) -> bool:
    """Nothing else of the system fails."""
    parts = [event.get("fail") or event["repair"] for event in spec["events"]]
    return all(part.get("device") == "sw" for part in parts)


@settings(max_examples=EXAMPLES, deadline=None)
@given(spec=failing())
def test_every_request_is_answered_once_and_copies_are_equal(spec: Spec) -> None:
    result = run(spec)
    each_is_answered_once(result, spec)
    region = of_region(result)
    assert region["stale_reads"] == 0
    assert region["differing_lines"] == 0
    assert "whole" in region["state"].values()
    if of_switch_alone(spec):
        assert region["reversed_reads"] == 0
