"""Accelerators without memory (Type 1) at downstream ports of virtual switches: they cache the memory of their host."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.systems import SEGMENTS, Run, Spec, run

from cxloom import InputError

LINES = 64 * 64  # bytes that a host and its accelerator share


def check(outcome: Run) -> None:
    """Every request is answered once, and every picosecond is accounted for."""
    rows = outcome.requests
    assert outcome.summary["completed"]
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{name}_ps"] for name in SEGMENTS), latency)


@st.composite
def type_1_systems(draw: st.DrawFn) -> Spec:
    """Two hosts with memory that they keep coherent, each with a virtual switch, and accelerators bound to either."""
    hosts = ["host0", "host1"]
    nics = [f"nic{i}" for i in range(draw(st.integers(1, 3)))]
    cache = {"size": draw(st.sampled_from(["256B", "4KiB"])), "ways": 0}
    agent = {"filter": {"entries": draw(st.sampled_from([16, 512]))}}
    devices: Spec = {name: {"kind": "accelerator", "cache": cache} for name in nics}
    for name in hosts:
        devices[name] = {
            "kind": "host",
            "memory": {"capacity": f"{LINES}B"},
            "home_agent": agent,
            "cache": cache,
        }
    owners = {nic: draw(st.sampled_from(hosts)) for nic in nics}
    devices["sw"] = {
        "kind": "switch",
        "vcs": [
            {"upstream": host, "vppbs": 4, "bind": [nic for nic in nics if owners[nic] == host]}
            for host in hosts
        ],
    }
    work = {"pattern": "random", "footprint": f"{LINES}B", "reads": "50%", "requests": 400}
    return {
        "devices": devices,
        "links": [{"between": [name, "sw"], "delay": "10ns"} for name in [*hosts, *nics]],
        "address_map": [{"to": [host], "coherence": "hdm-h"} for host in hosts],
        "workload": {nic: work | {"base": f"{LINES * hosts.index(owners[nic])}B"} for nic in nics}
        | {host: work | {"base": f"{LINES * i}B"} for i, host in enumerate(hosts)},
        "run": {"seed": draw(st.integers(0, 1000))},
        "outputs": {"requests": True},
    }


@settings(max_examples=examples(20), deadline=None)
@given(spec=type_1_systems())
def test_a_virtual_switch_takes_no_time_of_who_is_bound_to_it(spec: Spec) -> None:
    outcome = run(spec)
    check(outcome)
    assert not outcome.requests["error"].any()
    whole = copy.deepcopy(spec)
    del whole["devices"]["sw"]["vcs"]
    for name, column in run(whole).requests.items():
        assert np.array_equal(column, outcome.requests[name]), name


@settings(max_examples=examples(30), deadline=None)
@given(spec=type_1_systems(), data=st.data())
def test_lines_of_an_accelerator_are_taken_back_when_it_leaves(spec: Spec, data: st.DataObject) -> None:
    """Managed: nothing is lost. By surprise its modified lines are. What it asks while bound to nobody is an error."""
    surprise = data.draw(st.booleans())
    switch = {"switch": "sw", "vppb": 0}
    vcs = next(i for i, each in enumerate(spec["devices"]["sw"]["vcs"]) if each["bind"])
    nic = spec["devices"]["sw"]["vcs"][vcs]["bind"][0]
    left = data.draw(st.integers(1, 8))
    spec["events"] = [{"at": f"{left}us", "unbind": switch | {"vcs": vcs, "surprise": surprise}}]
    if again := data.draw(st.booleans()):
        spec["events"].append({"at": f"{left + 60}us", "bind": switch | {"vcs": vcs, "to": nic}})
    for name in spec["workload"]:
        spec["workload"][name] |= {"rate": "40M/s", "requests": 4000}
    outcome = run(spec)
    check(outcome)
    rows = outcome.requests
    errors, asked = rows["error"].astype(bool), rows["requester"] == outcome.nodes.index(nic)
    created = rows["created_ps"] / 1e6
    away = asked & (created > left + 55) & (created < left + 59)
    if not surprise:
        assert outcome.summary["per_requester"][nic].get("dirty_lines_lost", 0) == 0
        assert not errors[~asked].any()
    assert away.any()
    assert errors[away].all()
    if again and not surprise:  # a line that was poisoned stays so
        assert (asked & (created > left + 60)).any()
        assert not errors[asked & (created > left + 60)].any()


@pytest.mark.parametrize("memory", [False, True])
def test_a_host_without_memory_is_bound_to_no_virtual_switch(memory: bool) -> None:
    spec: Spec = {
        "devices": {
            "host": {"kind": "host"},
            "other": {"kind": "host"} | ({"memory": {"capacity": "1MiB"}} if memory else {}),
            "mem": {"kind": "memory", "capacity": "1MiB"},
            "sw": {"kind": "switch", "vcs": [{"upstream": "host", "vppbs": 2, "bind": ["mem", "other"]}]},
        },
        "links": [{"between": [name, "sw"]} for name in ("host", "other", "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "footprint": "1MiB", "requests": 10}},
    }
    if memory:
        assert not run(spec).requests["error"].any()
        return
    with pytest.raises(InputError, match="a host without memory"):
        run(spec)
