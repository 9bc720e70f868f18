"""What failures lose of CXL.io, engine by engine: docs/model/failures.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.random_systems import may_deadlock
from validation.systems import Run, Spec, changed, logged, run

from cxloom import _core

WINDOW = 1
"""The part of a run in which it is measured, in the log of the protocol."""
WIRES: list[Spec] = [
    {"bandwidth": "16GB/s", "port_delay": "25ns"},
    {"bandwidth": "16GB/s", "port_delay": "25ns", "credits": 2},
    {"phy": "pcie4-x8", "port_delay": "25ns", "credits": 2},
    {"phy": "pcie4-x8", "port_delay": "25ns", "errors": {"every": 9}},
]


@st.composite
def engines_at_a_failing_fabric(draw: st.DrawFn) -> Spec:
    """Engines whose targets are behind switches that fail, and a host whose memory is not."""
    last = draw(st.integers(1, 3))
    kinds = draw(st.lists(st.sampled_from(["dma-write", "dma-read", "config-read"]), min_size=1, max_size=3))
    pairs = [(f"sw{i}", f"sw{i + 1}") for i in range(last)]
    if last > 1 and draw(st.booleans()):
        pairs.append((f"sw{last}", "sw0"))
    failing: list[Spec] = [{"link": list(ends)} for ends in (*pairs, (f"sw{last}", "far"))]
    failing += [{"device": f"sw{i}"} for i in range(1, last + 1)]
    failing += [{"link": [f"nic{i}", "sw0"]} for i in range(len(kinds))]
    devices: Spec = {
        "host": {"kind": "host"},
        "near": {"kind": "memory", "capacity": "1MiB"},
        "far": {"kind": "memory", "capacity": "1MiB"},
    }
    queueing = draw(st.sampled_from(["output", "voq", "fifo"]))
    devices |= {f"sw{i}": {"kind": "switch", "queueing": queueing} for i in range(last + 1)}
    for i, kind in enumerate(kinds):
        devices[f"nic{i}"] = {
            "kind": "io-engine",
            "target": "far",
            "traffic": kind,
            "rate": f"{draw(st.integers(1, 9)) / 2:g}GB/s",
            "outstanding": draw(st.integers(1, 40)),
        }
        pairs.append((f"nic{i}", "sw0"))
    pairs += [("host", "sw0"), ("near", "sw0"), (f"sw{last}", "far")]
    events: list[Spec] = []
    down: list[Spec] = []
    at = 0
    for part in draw(st.lists(st.sampled_from(failing), min_size=1, max_size=4)):
        at += draw(st.integers(1, 4000))
        if part in down:
            continue
        reroute = f"{draw(st.sampled_from([0, 1, 50, 400, 3000]))}ns"
        events.append({"at": f"{at}ns", "fail": {**part, "reroute_time": reroute}})
        down.append(part)
        at += draw(st.integers(0, 4000))
        if draw(st.integers(0, 3)) > 0:
            events.append({"at": f"{at}ns", "repair": part})
            down.remove(part)
    wire = draw(st.sampled_from(WIRES))
    return {
        "devices": devices,
        "links": [{"between": list(ends), **wire} for ends in pairs],
        "address_map": [{"to": ["near"]}],
        # So slow that the run goes on until every timeout of the engines is over.
        "workload": {"host": {"pattern": "random", "rate": "1M/s", "requests": 120, "footprint": "1MiB"}},
        "events": events,
    }


def ended(outcome: Run, engine: str) -> np.ndarray:
    """In which part of the run its packets ended: writes with their target, reads with their completion."""
    rows, _ = outcome.protocol
    names = _core.Simulation.opcode_names()
    node = outcome.nodes.index(engine)
    completed = (rows["opcode"] == names.index("CplD")) & (rows["destination"] == node)
    arrived = (rows["opcode"] == names.index("MWr")) & (rows["source"] == node)
    return rows["part"][completed | arrived]


def counts(outcome: Run, engine: str) -> dict[str, int]:
    """What its entry of `per_io` counts."""
    return {key: outcome.summary["per_io"][engine][key] for key in ("sent", "packets", "lost", "unfinished")}


@settings(max_examples=examples(60), deadline=None)
@given(spec=engines_at_a_failing_fabric())
def test_every_packet_is_answered_lost_or_unfinished(spec: Spec) -> None:
    if may_deadlock(spec):
        return
    outcome = logged(spec)
    assert outcome.summary["errors"]["requests"] == 0
    lost = sum(each["lost"] for each in outcome.summary["events"].values())
    known = 0
    for engine in outcome.summary["per_io"]:
        count = counts(outcome, engine)
        assert count["sent"] == count["packets"] + count["lost"] + count["unfinished"]
        assert count["packets"] == np.count_nonzero(ended(outcome, engine) == WINDOW)
        if spec["devices"][engine]["traffic"] != "dma-write":
            assert count["unfinished"] <= spec["devices"][engine]["outstanding"]
        known += count["lost"]
    assert known <= lost
    event(f"lost: {lost > 0}")


@settings(max_examples=examples(60), deadline=None)
@given(spec=engines_at_a_failing_fabric(), stop=st.integers(1, 20))
def test_when_all_have_stopped_what_did_not_arrive_was_lost(spec: Spec, stop: int) -> None:
    if may_deadlock(spec):
        return
    for device in spec["devices"].values():
        if device["kind"] == "io-engine":
            device["stop"] = f"{stop}us"
    outcome = logged(spec)
    lost = 0
    for engine in outcome.summary["per_io"]:
        count = counts(outcome, engine)
        assert count["unfinished"] == 0
        assert count["sent"] == len(ended(outcome, engine)) + count["lost"]
        lost += count["lost"]
    assert lost == sum(each["lost"] for each in outcome.summary["events"].values())
    event(f"lost: {lost > 0}")


def one_engine(traffic: str, **run_params: Any) -> Spec:
    """An engine that makes a packet of 1 KiB each us, and its target behind a link that fails from 2.5 us to 5.5 us."""
    return {
        "devices": {
            "host": {"kind": "host"},
            "near": {"kind": "memory", "capacity": "1MiB"},
            "nic": {
                "kind": "io-engine",
                "target": "far",
                "traffic": traffic,
                "rate": "1.024GB/s",
                "size": "1024B",
                "stop": "9500ns",
            },
            "sw": {"kind": "switch"},
            "far": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [
            {"between": [name, "sw"], "bandwidth": "16GB/s"} for name in ("host", "near", "nic", "far")
        ],
        "address_map": [{"to": ["near"]}],
        "workload": {"host": {"pattern": "random", "rate": "1M/s", "requests": 120, "footprint": "1MiB"}},
        "events": [
            {"at": "2500ns", "fail": {"link": ["sw", "far"], "reroute_time": "0ns"}},
            {"at": "5500ns", "repair": {"link": ["sw", "far"]}},
        ],
        "run": run_params,
    }


@pytest.mark.parametrize("traffic", ["dma-write", "dma-read"])
def test_the_packets_of_the_time_without_a_way_are_lost(traffic: str) -> None:
    """Made at 0, 1, ..., 9 us: those of 3, 4 and 5 us have no way on, as each takes less than 0.5 us."""
    count = counts(logged(one_engine(traffic)), "nic")
    assert count == {"sent": 10, "packets": 7, "lost": 3, "unfinished": 0}


def test_a_read_is_unfinished_until_its_timeout_and_a_write_is_lost_at_once() -> None:
    """The window of 20 us ends before the 50 us for which an engine waits for a read."""
    for traffic, lost in (("dma-write", 3), ("dma-read", 0)):
        short = changed(one_engine(traffic), ("workload.host.requests", 20))
        assert counts(logged(short), "nic") == {
            "sent": 10,
            "packets": 7,
            "lost": lost,
            "unfinished": 3 - lost,
        }


def test_what_was_under_way_when_the_window_opened_is_among_what_was_sent() -> None:
    """It opens at 30 us, when the three lost reads still wait: of this engine nothing else is in the window."""
    count = counts(logged(one_engine("dma-read", warmup_time="30us")), "nic")
    assert count == {"sent": 3, "packets": 0, "lost": 3, "unfinished": 0}


def test_where_nothing_fails_there_are_no_such_counts() -> None:
    sound = {key: value for key, value in one_engine("dma-read").items() if key != "events"}
    assert not {"sent", "lost", "unfinished"} & run(sound).summary["per_io"]["nic"].keys()


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
@pytest.mark.parametrize("traffic", ["dma-write", "dma-read", "config-read"])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("part", [{"link": ["nic", "sw"]}, {"device": "sw"}])
def test_an_engine_whose_own_link_fails_goes_on_after_the_repair(
    part: Spec, wire: Spec, traffic: str, queueing: str
) -> None:
    """Credits and tags are whole again: long after the repairs it moves as much as without them."""
    spec = changed(
        one_engine(traffic, warmup_time="100us"),
        ("devices.nic", {"kind": "io-engine", "target": "far", "traffic": traffic, "rate": "2GB/s"}),
        ("devices.sw.queueing", queueing),
    )
    for link in spec["links"]:
        between = link["between"]
        link.clear()
        link |= {"between": between, **wire}
    spec["workload"]["host"]["requests"] = 200
    spec["events"] = []
    before = run(spec)
    for start in (1, 11, 21):
        spec["events"].append({"at": f"{start}us", "fail": {**part, "reroute_time": "500ns"}})
        spec["events"].append({"at": f"{start + 2}us", "repair": part})
    after = run(spec)
    assert sum(each["lost"] for each in after.summary["events"].values()) > 0
    speeds = [each.summary["per_io"]["nic"]["bandwidth_gb_per_s"] for each in (before, after)]
    assert speeds[1] == pytest.approx(speeds[0], rel=0.02)
    assert after.summary["errors"]["requests"] == 0


def test_what_an_engine_could_not_send_is_made_up_for() -> None:
    """A packet a us, up to 9 us. Those of 3, 4 and 5 us are late.

    What is made before the failure is known is lost when it is.
    """
    own = changed(
        one_engine("dma-write"),
        ("events.0.fail.link", ["nic", "sw"]),
        ("events.1.repair.link", ["nic", "sw"]),
    )
    for known_after, lost in (("0ns", 0), ("1us", 1), ("10us", 0)):
        count = counts(logged(changed(own, ("events.0.fail.reroute_time", known_after))), "nic")
        assert count == {"sent": 10, "packets": 10 - lost, "lost": lost, "unfinished": 0}
