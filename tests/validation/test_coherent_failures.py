"""Systems with coherent regions parts of which fail: docs/model/failures.md. test_failures.py has those without.

`failures_random_test.cpp` follows the values of lines in such systems; here every statistic is judged by its law.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.coherent_systems import coherent_systems
from validation.examples import examples
from validation.laws import LAWS, Path, flattened
from validation.laws.failures import OF_HOMES
from validation.laws.look import Look
from validation.systems import SEGMENTS, Spec, run
from validation.test_failures import failures

from cxloom import _core
from cxloom.base.errors import InputError

JUDGED = {*OF_HOMES, "poisoned_lines", "poison_consumed", "dirty_lines_lost"}


@st.composite
def failing_systems(draw: st.DrawFn) -> Spec:
    """Requesters around a switch or a bus, and homes of all kinds but bias; links and the switch fail."""
    spec = draw(coherent_systems())
    spec["events"] = draw(failures(spec))
    for device in spec["devices"].values():
        timeout = f"{draw(st.integers(1, 9))}us"
        if device["kind"] in ("host", "accelerator"):
            device["completion_timeout"] = timeout
            if "home_agent" in device:
                device["home_agent"]["answer_timeout"] = f"{draw(st.integers(1, 9))}us"
        elif device["kind"] == "dcoh":
            device["answer_timeout"] = timeout
        elif "dcoh" in device:
            device["dcoh"]["answer_timeout"] = timeout
    return spec


def judge(spec: Spec, decided: Counter[Path]) -> None:
    """Plays it. All is answered, every picosecond is accounted for, and the laws of losses hold."""
    outcome = run(spec)
    assert outcome.summary["completed"]
    assert outcome.completed == outcome.expected
    rows = outcome.requests
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{name}_ps"] for name in SEGMENTS), latency)
    events = outcome.summary["events"].values()
    troubled = (
        sum(each["lost"] + each["failed"] for each in events) + outcome.summary["coherence"]["lines_poisoned"]
    )
    assert troubled > 0 or outcome.summary["errors"]["requests"] == 0
    look = Look(outcome)
    for path, value in flattened(outcome.summary):
        if path[-1] in JUDGED:
            obey(look, path, value, decided)


def obey(look: Look, path: Path, value: float | None, decided: Counter[Path]) -> None:
    """One number, by its law."""
    pattern = next(
        p for p in LAWS if len(p) == len(path) and all(a in ("*", b) for a, b in zip(p, path, strict=True))
    )
    look.path, look.decisive = path, False
    LAWS[pattern](look, value, *(b for a, b in zip(pattern, path, strict=True) if a == "*"))
    decided[pattern] += look.decisive and bool(value)


def cut_off_and_back(requesters: int = 1, **fail: object) -> Spec:
    """A host that loses lines which it has changed, and reads some of them again."""
    names = [f"h{i}" for i in range(requesters)]
    work: Spec = {"pattern": "random", "requests": 600, "footprint": "4KiB", "size": "64B", "reads": 0.5}
    host: Spec = {"kind": "host", "cache": {"size": "2KiB", "ways": 0}, "completion_timeout": "2us"}
    return {
        "devices": {
            **{name: dict(host) for name in names},
            "hub": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1MiB", "dcoh": {"answer_timeout": "3us"}},
        },
        "links": [{"between": [name, "hub"]} for name in (*names, "mem")],
        "address_map": [{"to": ["mem"], "coherence": "hdm-db"}],
        "workload": {name: dict(work) for name in names},
        "run": {"warmup": 0, "seed": 3},
        "outputs": {"requests": True},
        "events": [
            {"at": "400ns", "fail": {"link": ["h0", "hub"], "reroute_time": "50ns", **fail}},
            {"at": "700ns", "repair": {"link": ["h0", "hub"]}},
        ],
    }


def test_every_request_is_answered_and_losses_are_what_they_may_be() -> None:
    decided: Counter[Path] = Counter()
    for requesters in (1, 2):
        judge(cut_off_and_back(requesters), decided)

    @settings(max_examples=examples(240), deadline=None)
    @given(spec=failing_systems())
    def play(spec: Spec) -> None:
        judge(spec, decided)

    play()
    assert decided["per_home", "*", "poisoned_lines"] > 0
    assert decided["coherence", "poison_delivered"] > 0


def test_a_host_that_was_cut_off_reads_poison_where_it_had_written() -> None:
    outcome = run(cut_off_and_back())
    host, home = outcome.summary["per_requester"]["h0"], outcome.summary["coherence"]
    # A host does not know of a write-back without an answer whether its data have come.
    assert host["dirty_lines_lost"] >= home["lines_poisoned"] > 0
    assert 0 < host["poison_consumed"] <= home["poison_delivered"]  # who writes a whole line does not mind
    assert home["snoops_timed_out"] == 0  # nobody else asked for them
    assert (
        "lines_poisoned" not in run({**cut_off_and_back(), "events": []} | no_timeouts()).summary["coherence"]
    )


def no_timeouts() -> Spec:
    """The devices of `cut_off_and_back` where nothing fails."""
    devices = cut_off_and_back()["devices"]
    del devices["h0"]["completion_timeout"], devices["mem"]["dcoh"]["answer_timeout"]
    return {"devices": devices}


@pytest.mark.parametrize(
    ("dcoh", "host"), [({"answer_timeout": "1us"}, {}), ({}, {"completion_timeout": "1us"})]
)
def test_a_timeout_where_nothing_fails_is_refused(dcoh: Spec, host: Spec) -> None:
    spec = {**cut_off_and_back(), "events": []}
    spec["devices"] |= {
        "h0": {"kind": "host", "cache": {"size": "2KiB"}, **host},
        "mem": {"kind": "memory", "capacity": "1MiB", "dcoh": dcoh},
    }
    with pytest.raises(InputError, match="nothing fails in this system"):
        _core.Simulation(spec, {})


def beside_other_homes(coherence: str) -> Spec:
    """Two requesters, one of which is the home of the lines that both use; the other is cut off and comes back."""
    spec = cut_off_and_back(2)
    del spec["devices"]["mem"]
    spec["links"].pop()
    home = {"answer_timeout": "3us"}
    own: Spec = {"home_agent": home} if coherence == "hdm-h" else {"kind": "accelerator"}
    memory: Spec = {"capacity": "1MiB"} | ({"bias": home} if coherence == "hdm-d" else {})
    spec["devices"]["h1"] |= {**own, "memory": memory}
    spec["address_map"] = [{"to": ["h1"], "coherence": coherence}]
    return spec


@pytest.mark.parametrize("coherence", ["hdm-h", "hdm-d"])
def test_a_host_that_is_cut_off_from_another_home_loses_lines(coherence: str) -> None:
    """The laws of losses hold, and what was lost is what HDM-DB would lose: lines that others write again."""
    decided: Counter[Path] = Counter()
    judge(beside_other_homes(coherence), decided)
    outcome = run(beside_other_homes(coherence))
    home = outcome.summary["coherence"]
    assert outcome.summary["per_requester"]["h0"]["dirty_lines_lost"] > 0
    assert home["lines_poisoned"] > 0
    assert home["lines_cured"] > 0
    assert home["snoops_timed_out"] > 0


@pytest.mark.parametrize("agent", ["bias", "dcoh", "home_agent"])
def test_what_crashes_takes_the_lines_of_its_memory_with_it(agent: str) -> None:
    """Those in the cache of another, too, which writes none of them back; what it asks for afterwards is an error."""
    spec = beside_other_homes("hdm-h" if agent == "home_agent" else "hdm-d")
    memory = spec["devices"]["h1"]["memory"]
    if agent == "dcoh":
        memory["dcoh"] = memory.pop("bias")
        spec["address_map"][0]["coherence"] = "hdm-db"
    spec["events"] = [{"at": "400ns", "fail": {"device": "h1", "reroute_time": "100ns"}}]
    decided: Counter[Path] = Counter()
    outcome = run(spec)
    assert outcome.summary["completed"]
    for path, value in flattened(outcome.summary):
        if path[-1] in JUDGED:
            obey(Look(outcome), path, value, decided)
    assert outcome.summary["per_requester"]["h0"]["dirty_lines_lost"] > 0
    rows = outcome.requests
    assert (rows["requester"] == 0).sum() == 600
    late = (rows["requester"] == 0) & (rows["created_ps"] > 500_000)
    assert late.sum() > 100
    assert rows["error"][late].all()
    assert rows["created_ps"][rows["requester"] == 1].max() <= 400_000


def test_lines_that_nobody_keeps_coherent_outlast_a_link() -> None:
    """The memory has a plain region, too, and its lines stay in the cache of a host that is cut off and comes back."""
    spec = cut_off_and_back()
    del spec["devices"]["mem"]["dcoh"]["answer_timeout"]
    spec["devices"]["h0"]["cache"] = {"size": "64KiB"}  # nothing leaves it by itself
    spec["workload"]["h0"] |= {"requests": 3000, "base": "0x0"}
    lost = {}
    for coherence in ("none", "hdm-db"):
        spec["address_map"] = [
            {"to": ["mem"], "size": "512KiB", "coherence": coherence},
            {"to": ["mem"], "size": "512KiB", "coherence": "hdm-db"},
        ]
        lost[coherence] = run(spec).summary["per_requester"]["h0"].get("dirty_lines_lost", 0)
    assert lost["none"] == 0
    assert lost["hdm-db"] > 0


def test_events_of_one_instant_have_one_window() -> None:
    """Both ends lose their link at once: what was lost then stands with both events, and is lost once."""
    spec = cut_off_and_back()
    spec["events"] = [
        {"at": "400ns", "fail": {"link": [name, "hub"], "reroute_time": "0ns"}} for name in ("h0", "mem")
    ]
    outcome = run(spec)
    one, other = (event["requesters"]["h0"] for event in outcome.summary["events"].values())
    assert one == other
    assert min(one[key] for key in ("requests_before", "errors", "dirty_lines_lost")) > 0
    assert one["dirty_lines_lost"] == outcome.summary["per_requester"]["h0"]["dirty_lines_lost"]
    look = Look(outcome)
    decided: Counter[Path] = Counter()
    for path, value in flattened(outcome.summary):
        if path[0] == "events" and path[2] == "requesters":
            obey(look, path, value, decided)
    assert decided["events", "*", "requesters", "*", "errors"] > 0


def test_a_host_that_crashes_in_the_warm_up_is_waited_for_by_nobody() -> None:
    spec = cut_off_and_back(2)
    spec["events"] = [{"at": "100ns", "fail": {"device": "h0"}}]
    spec["run"]["warmup"] = 200
    outcome = run(spec)
    assert outcome.summary["completed"]
    assert outcome.summary["per_requester"]["h1"]["requests"] > 0


def test_a_host_that_will_crash_is_described() -> None:
    """Its idle reads are those of the system before anything fails: `check` refused it, as it drives each host."""
    spec = cut_off_and_back(2)
    fails = {"device": "h0"}
    idle = []
    for event in ({"link": ["h0", "hub"]}, fails):
        spec["events"] = [{"at": "100ns", "fail": event}]
        routes = _core.check(spec, {})["routes"]
        idle.append([route["idle_read_ns"] for route in routes])
    assert len(idle[0]) == 2
    assert idle[0] == idle[1]


def test_crashes_beside_what_would_wait_for_ever_are_refused() -> None:
    spec = cut_off_and_back(2)
    spec["events"] = [{"at": "100ns", "fail": {"device": "h0"}}]
    tasks = {
        "exact": True,
        "objects": [{"name": "a", "size": "4KiB"}],
        "graph": [{"name": "k", "kind": "kernel", "on": "h1", "reads": [{"object": "a", "bytes": "4KiB"}]}],
    }
    with pytest.raises(InputError, match="crashes beside tasks") as caught:
        _core.Simulation({**spec, "workload": {}, "tasks": tasks}, {})
    assert caught.value.path == "events[0].fail.device"


def test_a_timeout_of_a_home_without_a_region_is_refused() -> None:
    spec = cut_off_and_back()
    spec["address_map"] = [{"to": ["mem"]}]
    with pytest.raises(InputError, match="no region of hdm-db has this home"):
        _core.Simulation(spec, {})
