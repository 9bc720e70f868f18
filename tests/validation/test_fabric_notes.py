"""What a person is told of a fabric that does otherwise than it looks, and two heads behind two switches."""

from __future__ import annotations

from typing import Any

import pytest
from validation.systems import Spec, run

from cxloom import _core
from cxloom.base.errors import InputError, SimulationError

WORK: Spec = {"pattern": "sequential", "requests": 1, "footprint": "4KiB", "reads": 1.0}


def two_hosts(**switch: Any) -> Spec:
    """Two hosts and a memory at a switch."""
    return {
        "devices": {
            "host0": {"kind": "host"},
            "host1": {"kind": "host"},
            "mem": {"kind": "memory", "capacity": "1MiB"},
            "sw": {"kind": "switch", **switch},
        },
        "links": [{"between": [name, "sw"]} for name in ("host0", "host1", "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host0": WORK, "host1": WORK},
    }


def notes(spec: Spec) -> list[str]:
    return list(_core.check(spec, {})["notes"])


def test_a_host_in_no_virtual_switch_is_noted() -> None:
    spec = two_hosts(vcs=[{"upstream": "host0", "bind": ["mem"]}])
    assert any("host1 is upstream of no virtual switch of sw" in note for note in notes(spec))
    assert run(spec).summary["errors"]["requests"] == 1
    spec["devices"]["sw"]["vcs"].append({"upstream": "host1"})
    assert not any("virtual switch" in note for note in notes(spec))


def test_a_throttle_that_hears_of_no_load_is_noted() -> None:
    spec = two_hosts()
    spec["devices"]["host1"]["throttle"] = {"rate": "1GB/s"}
    told = "host1 has a throttle, and no memory reports its load"
    assert [told in note for note in notes(spec)].count(True) == 1
    spec["devices"]["mem"]["qos"] = {"optimal": 2, "moderate": 8, "severe": 32}
    assert not any(told in note for note in notes(spec))


def test_one_link_too_many_of_a_memory_names_its_heads() -> None:
    spec = two_hosts()
    spec["links"].append({"between": ["mem", "sw"]})
    with pytest.raises(InputError, match="set heads of it for more"):
        _core.check(spec, {})
    spec["devices"]["mem"]["heads"] = 2
    _core.check(spec, {})


def test_a_standstill_speaks_of_write_backs_only_if_there_are_some() -> None:
    link = {"bandwidth": "16GB/s", "credits": 1}
    names = range(5)
    spec: Spec = {
        "devices": {
            **{f"sw{i}": {"kind": "switch", "queueing": "voq"} for i in names},
            **{f"host{i}": {"kind": "host"} for i in names},
            **{f"mem{i}": {"kind": "memory", "capacity": "1MiB"} for i in names},
        },
        "links": [{"between": [f"sw{i}", f"sw{(i + 1) % 5}"], **link} for i in names]
        + [{"between": [f"{kind}{i}", f"sw{i}"], **link} for kind in ("host", "mem") for i in names],
        "address_map": [{"to": [f"mem{i}" for i in names], "policy": "weighted", "weights": [1] * 5}],
        "workload": {f"host{i}": {**WORK, "pattern": "random", "requests": 3000} for i in names},
    }
    with pytest.raises(SimulationError, match="deadlock") as caught:
        run(spec)
    assert "write-backs" not in str(caught.value).splitlines()[0]


def test_each_head_of_a_memory_answers_by_the_switch_that_asked() -> None:
    """Two switches, each with a host and a head of the memory: both reads take the time of one that is alone.

    There 10 ns process, twice 50 ns of ports, 20 ns in the switch, and 4 ns for 16 B; 85 ns in the memory; back
    the same ports and switch, and 17 ns for 68 B.
    """
    wire = {"bandwidth": "4GB/s", "port_delay": "25ns", "header": "16B", "data_header": "4B"}
    memory = {"kind": "memory", "capacity": "1MiB", "heads": 2, "queue": 64, "controller_time": "40ns"}
    switch = {"kind": "switch", "switching_time": "20ns"}
    spec: Spec = {
        "devices": {
            "host0": {"kind": "host", "process_time": "10ns"},
            "host1": {"kind": "host", "process_time": "10ns"},
            "sw0": switch,
            "sw1": switch,
            "mem": {**memory, "media": {"kind": "fixed", "latency": "45ns"}},
        },
        "links": [
            {"between": ends, **wire}
            for ends in (["host0", "sw0"], ["host1", "sw1"], ["sw0", "mem"], ["sw1", "mem"])
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host0": WORK, "host1": WORK},
        "outputs": {"requests": True},
    }
    both = run(spec)
    alone = run({**spec, "workload": {"host0": WORK}})
    # Cut-through: bytes count once.
    expected = 10 + 2 * (50 + 20 + 50) + 4 + 17 + 40 + 45
    for outcome in (alone, both):
        rows = outcome.requests
        assert set((rows["completed_ps"] - rows["created_ps"]).tolist()) == {1000 * expected}
    assert both.summary["mean_hops"] == 4
