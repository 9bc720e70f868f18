"""Systems parts of which fail and are repaired: docs/model/failures.md."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from validation.examples import examples, some
from validation.random_systems import may_deadlock, systems
from validation.rich_systems import flit_links
from validation.systems import SEGMENTS, Run, Spec, changed, generated, run

from cxloom import _core
from cxloom.base.errors import InputError, SimulationError


@st.composite
def failures(draw: st.DrawFn, spec: Spec) -> list[Spec]:
    """Links, switches and memories that fail during the traffic, most of them to be repaired."""
    devices = [name for name, device in spec["devices"].items() if device["kind"] in ("switch", "memory")]
    ends = [link["between"] for link in spec["links"]]
    parts: list[Spec] = [{"link": between} for between in draw(st.permutations(ends))[:3]]
    parts += [{"device": name} for name in draw(st.permutations(devices))[: draw(st.integers(0, 2))]]
    times: list[tuple[int, Spec]] = []
    for part in draw(st.permutations(parts))[: draw(st.integers(1, 3))]:
        at = draw(st.integers(1, 4000))
        for _ in range(draw(st.integers(1, 2))):
            reroute = f"{draw(st.sampled_from([0, 1, 50, 400, 3000]))}ns"
            times.append((at, {"fail": {**part, "reroute_time": reroute}}))
            at += draw(st.integers(0, 2000))
            if draw(st.integers(0, 3)) == 0:
                break
            memory = spec["devices"].get(part.get("device"), {}).get("kind") == "memory"
            cleared = {"cleared": True} if memory and draw(st.booleans()) else {}
            times.append((at, {"repair": {**part, **cleared}}))
            at += draw(st.integers(0, 1000))
    times.sort(key=lambda entry: entry[0])
    return [{"at": f"{at}ns", **action} for at, action in times]


@st.composite
def failing_systems(draw: st.DrawFn) -> Spec:
    spec = draw(systems())
    credits = any("credits" in link for link in spec["links"])
    if draw(st.booleans()):
        for link in spec["links"]:
            if draw(st.booleans()):
                flits = {key: value for key, value in draw(flit_links(credits)).items() if key != "outage"}
                between = link["between"]
                link.clear()
                link |= {"between": between, **flits}
    spec["events"] = draw(failures(spec))
    for device in spec["devices"].values():
        if device["kind"] in ("host", "accelerator") and draw(st.booleans()):
            device["completion_timeout"] = f"{draw(st.integers(1, 9))}us"
    return spec


@settings(max_examples=examples(150), deadline=None)
@given(spec=failing_systems())
def test_every_request_is_answered_once_whatever_fails(spec: Spec) -> None:
    try:
        outcome = run(spec)
    except SimulationError:
        assert may_deadlock(spec)
        return
    rows = outcome.requests
    # Nothing is left over, nothing came twice: the run itself ends with an error otherwise.
    assert outcome.summary["completed"]
    assert outcome.completed == outcome.expected
    for requester in set(rows["requester"]):
        ids = rows["id"][rows["requester"] == requester]
        assert len(set(ids)) == len(ids)
    # Every picosecond is accounted for.
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{name}_ps"] for name in SEGMENTS), latency)
    events = outcome.summary["events"].values()
    lost, failed = (sum(each[what] for each in events) for what in ("lost", "failed"))
    assert lost + failed > 0 or outcome.summary["errors"]["requests"] == 0
    for what in ("lost", "failed", "rerouted"):
        event(f"{what}: {any(each[what] for each in events)}")
    event(f"flits: {any('phy' in link for link in spec['links'])}")


@settings(max_examples=examples(25), deadline=None)
@given(spec=failing_systems())
def test_the_same_failures_give_the_same_bytes(spec: Spec) -> None:
    assume(not may_deadlock(spec))
    assert run(spec).canonical() == run(spec, slice_events=77).canonical()


@settings(max_examples=examples(40), deadline=None)
@given(spec=systems())
def test_events_that_come_too_late_change_nothing(spec: Spec) -> None:
    assume(not may_deadlock(spec))
    late = {**spec, "events": [{"at": "10s", "fail": {"link": spec["links"][0]["between"]}}]}
    before, after = run(spec), run(late)
    assert after.summary.pop("events") == {}
    notes = before.summary.pop("notes")
    assert [note for note in after.summary.pop("notes") if "did not happen" not in note] == notes
    # A wire without a limit counts a message when it is handed over, one that may fail when it leaves.
    for outcome in (before, after):
        outcome.summary.pop("per_link")
        outcome.summary.pop("unlimited")
        outcome.series.clear()
    assert before.canonical() == after.canonical()


WORK = {"pattern": "random", "requests": 3000, "footprint": "1MiB", "size": "64B", "reads": 0.7}
CREDITS = {"bandwidth": "16GB/s", "port_delay": "25ns", "credits": 2}
WIRES: dict[str, Spec] = {
    "bytes": CREDITS,
    "68B": {"phy": "pcie4-x8", "port_delay": "25ns", "credits": 2},
    "256B": {"phy": "pcie6-x2", "port_delay": "25ns", "credits": 2},
    "retries": {"phy": "pcie4-x8", "port_delay": "25ns", "credits": 2, "errors": {"every": 9}},
    "checks": {"phy": "pcie6-x2", "port_delay": "25ns", "credits": 2, "ide": {"mode": "containment"}},
}


def before_and_after_failures(spec: Spec, part: Spec) -> tuple[Run, Run]:
    """Plays it as it is, and with a part that fails and is repaired three times before the window opens."""
    events = []
    cleared = {"cleared": True} if part.get("device") == "mem" else {}
    for start in (1, 5, 9):
        events.append({"at": f"{start}us", "fail": {**part, "reroute_time": "500ns"}})
        events.append({"at": f"{start + 2}us", "repair": {**part, **cleared}})
    before = run(spec)
    spec["devices"]["host"]["completion_timeout"] = "2us"
    return before, run({**spec, "events": events})


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
@pytest.mark.parametrize(
    "part", [{"link": ["sw0", "mem"]}, {"device": "sw0"}, {"device": "mem"}, {"link": ["host", "sw0"]}]
)
@pytest.mark.parametrize("wire", WIRES)
def test_credits_are_whole_again_after_a_repair(wire: str, queueing: str, part: Spec) -> None:
    """Saturated, with so few credits that each counts: the rate after the repair is that before."""
    spec: Spec = {
        "devices": {
            "host": {"kind": "host", "queue": 32},
            "sw0": {"kind": "switch", "queueing": queueing},
            "mem": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [{"between": ends, **WIRES[wire]} for ends in (["host", "sw0"], ["sw0", "mem"])],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": WORK},
        "run": {"warmup_time": "20us"},
    }
    before, after = before_and_after_failures(spec, part)
    assert sum(each["lost"] + each["failed"] for each in after.summary["events"].values()) > 0
    # Which flits are sent again depends on what went before; one credit of two that is gone would cost half.
    tolerance = 0.05 if wire == "retries" else 0.02
    assert after.bandwidth == pytest.approx(before.bandwidth, rel=tolerance)
    assert after.summary["errors"]["requests"] == 0


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
@pytest.mark.parametrize("other", [{"device": "sw1"}, {"link": ["sw0", "sw1"]}])
@pytest.mark.parametrize("wire", ["bytes", "68B", "256B"])
def test_a_repaired_switch_waits_for_a_link_that_is_still_down(wire: str, queueing: str, other: Spec) -> None:
    """Nobody has found yet that the link fails: what a repaired switch sends over it waits until somebody does."""
    spec: Spec = {
        "devices": {
            "host": {"kind": "host", "completion_timeout": "3us"},
            "sw0": {"kind": "switch", "queueing": queueing},
            "sw1": {"kind": "switch", "queueing": queueing},
            "mem": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [
            {"between": ends, **WIRES[wire]} for ends in (["host", "sw0"], ["sw0", "sw1"], ["sw1", "mem"])
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": WORK},
        "events": [
            {"at": "1us", "fail": {"device": "sw0", "reroute_time": "4us"}},
            {"at": "1001ns", "fail": {**other, "reroute_time": "4us"}},
            {"at": "2us", "repair": {"device": "sw0"}},
            {"at": "20us", "repair": other},
        ],
    }
    outcome = run(spec)
    assert outcome.summary["completed"]
    assert outcome.summary["errors"]["requests"] > 0
    costs = outcome.summary["events"].values()
    assert sum(each["lost"] + each["failed"] for each in costs) >= outcome.summary["errors"]["requests"]


SHAPES: list[tuple[str, Spec]] = [
    ("ring", {"switches": 5}),
    ("mesh", {"size": [3, 3]}),
    ("spine-leaf", {"leaves": 3, "spines": 2, "devices_per_leaf": 4}),
]


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
@pytest.mark.parametrize(("kind", "shape"), SHAPES)
@pytest.mark.parametrize("wire", [{}, {"phy": "pcie5-x2"}, {"phy": "pcie6-x1"}])
def test_a_fabric_goes_on_around_a_failed_link(wire: Spec, kind: str, shape: Spec, queueing: str) -> None:
    """In topologies where every pair of switches has two ways, a link between switches that fails costs no request."""
    work = {"pattern": "random", "requests": 1500, "footprint": "1MiB", "size": "64B"}
    switch = {"kind": "switch", "port_bandwidth": "8GB/s", "queueing": queueing}
    spec = generated(kind, work, placement="paired", switch=switch, **shape)
    inner = [
        link
        for link in spec["links"]
        if all(spec["devices"][end]["kind"] == "switch" for end in link["between"])
    ]
    spec["events"] = [{"at": "3us", "fail": {"link": inner[0]["between"], "reroute_time": "300ns"}}]
    outcome = run(spec)
    (cost,) = outcome.summary["events"].values()
    assert outcome.summary["errors"]["requests"] == cost["failed"] == cost["lost"] == 0
    assert cost["rerouted"] > 0
    assert outcome.segment("retry") > 0
    steady = run({key: value for key, value in spec.items() if key != "events"})
    assert outcome.latency > steady.latency


def fails(**action: Any) -> Spec:
    return {"at": "1us", "fail": action}


LINK = {"link": ["host", "sw"]}


def test_who_repairs_all_links_repairs_each_of_them() -> None:
    both = {"link": ["s0", "s1"]}
    one = {**both, "number": 1}
    spec: Spec = {
        "devices": {
            "h": {"kind": "host", "queue": 4},
            "s0": {"kind": "switch"},
            "s1": {"kind": "switch"},
            "m": {"kind": "memory", "capacity": "1GiB"},
        },
        "links": [
            {"between": ["h", "s0"], "bandwidth": "32GB/s"},
            {"between": ["s0", "s1"], "bandwidth": "32GB/s", "count": 2},
            {"between": ["s1", "m"], "bandwidth": "32GB/s"},
        ],
        "address_map": [{"to": ["m"]}],
        "workload": {"h": {"pattern": "random", "requests": 3000, "footprint": "1MiB"}},
        "events": [
            {"at": "1us", "fail": {**one, "reroute_time": "100ns"}},
            {"at": "2us", "fail": {**both, "reroute_time": "100ns"}},
            {"at": "3us", "repair": both},
            {"at": "4us", "fail": {**one, "reroute_time": "100ns"}},
        ],
    }
    events = run(spec).summary["events"]
    assert len(events) == 4
    # The second link is up at 4 us, and the first one was.
    assert [part["failed"] > 0 for part in events.values()] == [False, True, False, False]
    again: Spec = {**spec, "events": [*spec["events"][:3], {"at": "4us", "repair": one}]}
    with pytest.raises(InputError, match="it has not failed"):
        run(again)


@pytest.mark.parametrize(
    ("events", "path", "problem"),
    [
        ([{"at": "0us", "fail": LINK}], "events[0].at", "more than 0 s"),
        ([{"fail": LINK}], "events[0]", "'at' is missing"),
        ([{"at": "1us"}], "events[0]", "exactly one action"),
        ([{"at": "1us", "fail": LINK, "repair": LINK}], "events[0]", "exactly one action"),
        ([fails(link=["host", "nowhere"])], "events[0].fail.link[1]", "unknown device"),
        ([fails(link=["host", "mem"])], "events[0].fail.link", "no link joins"),
        ([fails(link=["host"])], "events[0].fail.link", "two devices"),
        ([fails(device="card")], "events[0].fail.device", "cannot fail"),
        ([fails(device="nowhere")], "events[0].fail.device", "unknown device"),
        ([fails()], "events[0].fail", "exactly one of link and device"),
        ([fails(**LINK, device="sw")], "events[0].fail", "exactly one of link and device"),
        ([fails(device="sw", number=1)], "events[0].fail.number", "has no effect"),
        ([fails(**LINK, number=2)], "events[0].fail.number", "no such link"),
        ([{"at": "1us", "repair": LINK}], "events[0].repair", "has not failed"),
        ([fails(**LINK), fails(**LINK)], "events[1].fail", "has failed already"),
        ([{**fails(**LINK), "at": "2us"}, {"at": "1us", "repair": LINK}], "events[1].at", "order"),
    ],
)
def test_wrong_events_are_refused(events: list[Spec], path: str, problem: str) -> None:
    spec: Spec = {
        "devices": {
            "host": {"kind": "host"},
            "sw": {"kind": "switch"},
            "mem": {"kind": "memory"},
            "card": {"kind": "dcoh"},
        },
        "links": [{"between": ["host", "sw"]}, {"between": ["sw", "mem"]}, {"between": ["sw", "card"]}],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": WORK},
    }
    with pytest.raises(InputError) as caught:
        _core.Simulation({**spec, "events": events}, {})
    assert caught.value.path == path
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {
                "devices": {
                    "host": {"kind": "host", "external_cache": True},
                    "mem": {"kind": "memory", "dcoh": {}},
                },
                "address_map": [{"to": ["mem"], "coherence": "hdm-db"}],
            },
            "outside and coherent",
        ),
        (
            {"links": [{"between": ["host", "mem"], "phy": "pcie5-x16", "outage": {"at": "2us"}}]},
            "no outage of its own",
        ),
    ],
)
def test_what_cannot_live_with_a_failure_is_refused_beside_it(change: Spec, reason: str) -> None:
    spec: Spec = {
        "devices": {"host": {"kind": "host"}, "mem": {"kind": "memory", "dcoh": {}}},
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": WORK},
        "events": [fails(link=["host", "mem"])],
    }
    with pytest.raises(InputError, match=reason):
        _core.Simulation({**spec, **change}, {})


ENGINES = product(
    ["dma-write", "dma-read", "config-read"],
    ["output", "voq", "fifo"],
    ["bytes", "68B", "retries", "checks"],
    [{"link": ["sw1", "mem"]}, {"device": "sw1"}, {"link": ["sw0", "sw1"]}],
)


@pytest.mark.parametrize(
    ("traffic", "queueing", "wire", "part"), some(ENGINES, 5)
)  # each value with most others
def test_an_engine_goes_on_after_a_repair(traffic: str, queueing: str, wire: str, part: Spec) -> None:
    """What it loses ends by itself: else the run would end with an error. Tags and credits are whole again."""
    spec: Spec = {
        "devices": {
            "host": {"kind": "host", "queue": 8},
            "nic": {"kind": "io-engine", "target": "mem", "traffic": traffic, "rate": "2GB/s"},
            "sw0": {"kind": "switch", "queueing": queueing},
            "sw1": {"kind": "switch", "queueing": queueing},
            "mem": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [
            {"between": ends, **WIRES[wire]}
            for ends in (["host", "sw0"], ["nic", "sw0"], ["sw0", "sw1"], ["sw1", "mem"])
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {**WORK, "requests": 4000, "rate": "10M/s"}},
        "run": {"warmup_time": "200us"},
    }
    before, after = before_and_after_failures(spec, part)
    assert after.summary["completed"]
    packets = [outcome.summary["per_io"]["nic"]["packets"] for outcome in (before, after)]
    assert packets[1] == pytest.approx(packets[0], rel=0.05)
    assert sum(each["lost"] for each in after.summary["events"].values()) > 0


def test_a_read_that_is_lost_keeps_its_tag_for_the_completion_timeout() -> None:
    """A tag that is lost is back 50 us after its read was made, and a credit of a write at once."""
    spec: Spec = {
        "devices": {
            "host": {"kind": "host"},
            "nic": {"kind": "io-engine", "target": "mem", "outstanding": 4},
            "sw": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1MiB"},
            "aside": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [
            {"between": [name, "sw"], "bandwidth": "16GB/s"} for name in ("host", "nic", "mem", "aside")
        ],
        "address_map": [{"to": ["aside"]}],
        "workload": {"host": {**WORK, "requests": 1000, "rate": "10M/s"}},
        "events": [
            {"at": "10us", "fail": {"link": ["sw", "mem"], "reroute_time": "1us"}},
            {"at": "12us", "repair": {"link": ["sw", "mem"]}},
        ],
    }

    def lost(traffic: str) -> tuple[int, float]:
        outcome = run(changed(spec, ("devices.nic.traffic", traffic)))
        assert outcome.summary["errors"]["requests"] == 0
        (cost,) = [each for each in outcome.summary["events"].values() if each["lost"]]
        return cost["lost"], outcome.summary["per_io"]["nic"]["bandwidth_gb_per_s"]

    count, few = lost("dma-read")
    assert count == 4  # all of its tags, up to 60 us
    assert few == pytest.approx(lost_share(spec), rel=0.05)
    count, _ = lost("dma-write")
    assert count > 4  # one after the other, as each credit is back


def lost_share(spec: Spec) -> float:
    """The engine's reads go on for 50 of the 100 us of the run: the others wait for their timeouts."""
    sound = {key: value for key, value in spec.items() if key != "events"}
    outcome = run(changed(sound, ("devices.nic.traffic", "dma-read")))
    return 0.5 * outcome.summary["per_io"]["nic"]["bandwidth_gb_per_s"]


def test_a_timeout_without_anything_to_fail_is_refused() -> None:
    spec: Spec = {
        "devices": {"host": {"kind": "host", "completion_timeout": "1ms"}, "mem": {"kind": "memory"}},
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": WORK},
    }
    with pytest.raises(InputError, match="nothing fails"):
        _core.Simulation(spec, {})
