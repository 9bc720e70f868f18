"""Tools see devices of plug-ins as they see ours: they go by what is declared, and know no kind by its name."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from plugin_support import PLUGINS, built, run
from tools_of_plugins import LONG
from validation.examples import WHOLE, some

Spec = dict[str, Any]


@pytest.fixture(scope="module")
def library() -> Path:
    """The plug-in of a requester, a switch and two memories."""
    return built(PLUGINS / "own_parts.cpp")


def system(ours: bool, host: Spec, switch: Spec, memory: Spec) -> Spec:
    """A requester, a switch and a memory with these parameters: of our kinds, or of the plug-in's."""
    store = {
        "capacity": "1GiB",
        "controller_time": "20ns",
        "media": {"kind": "fixed", "latency": "50ns", "bandwidth": "200GB/s"},
        **memory,
    }
    ports = {"switching_time": "0ns", "port_delay": "0ns", "port_bandwidth": "200GB/s", **switch}
    return {
        "name": "parts",
        "devices": {
            "host": {"kind": "host" if ours else "client", "process_time": "10ns", **host},
            "sw": {"kind": "switch" if ours else "crossbar", **ports},
            "mem": {"kind": "memory", **store} if ours else {"kind": "store", "store": store},
        },
        "links": [
            {"between": [end, "sw"], "bandwidth": "200GB/s", "delay": "10ns"} for end in ("host", "mem")
        ],
        "address_map": [{"to": "mem"}],
        "workload": {"host": {"pattern": "random", "requests": 1500, "footprint": "256MiB"}},
        "run": {"warmup": 500},
    }


def explained(spec: Spec, file: Path, library: Path) -> Spec:
    """What `cxloom explain` says of a spec, but for the paths of what it tried."""
    file.write_text(json.dumps(spec))
    done = run("explain", str(file), "--plugin", str(library), "--json", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    said: Spec = json.loads(done.stdout)
    for tried in said["what_ifs"]:
        tried["set"] = list(tried["set"].values())
    return said


LIMITS: dict[str, tuple[Spec, Spec, Spec, str]] = {
    "requests in flight, by default": ({}, {}, {}, "the queue of host"),
    "miss registers of a core": (
        {"core": {"mshrs": 4}},
        {},
        {},
        "the miss registers (MSHRs) of the core of host",
    ),
    "a port": ({"queue": 256}, {"port_bandwidth": "16GB/s"}, {}, "the wire sw->host"),
    "slots": ({}, {}, {"queue": 8}, "the slots of mem"),
    "media": ({}, {}, {"media": {"kind": "fixed", "bandwidth": "15GB/s"}}, "the data path of mem"),
}


@pytest.mark.parametrize("name", some(LIMITS))
def test_what_limits_a_plugins_device_is_what_limits_ours(name: str, library: Path, tmp_path: Path) -> None:
    host, switch, memory, limit = LIMITS[name]
    ours, theirs = (
        explained(system(own, host, switch, memory), tmp_path / "system.yaml", library)
        for own in (True, False)
    )
    assert ours["limit"] == limit
    assert ours == theirs
    assert theirs["what_ifs"][0]["gain"] > 0.5
    assert not theirs["notes"]


def test_what_no_parameter_sets_is_seen_all_the_same(library: Path, tmp_path: Path) -> None:
    """Four slots are full; as no parameter gives more of them, no run tries that."""
    spec = system(True, {"queue": 64}, {}, {})
    spec["devices"]["mem"] = {"kind": "silent"}
    said = explained(spec, tmp_path / "system.yaml", library)
    assert said["limit"] == "the slots of mem"
    assert not any("slots" in each["twice"] for each in said["what_ifs"])
    assert not said["notes"]


def test_a_device_may_declare_what_of_it_fills_up(library: Path, tmp_path: Path) -> None:
    spec = system(True, {"queue": 64}, {}, {})
    spec["devices"]["mem"] = {"kind": "slotted"}
    said = explained(spec, tmp_path / "system.yaml", library)
    assert said["limit"] == "the slots of mem"
    best = said["what_ifs"][0]
    assert (best["twice"], best["set"]) == ("the slots of mem", [8])
    assert best["gain"] == pytest.approx(1.0, abs=0.1)


def test_links_that_a_plugins_routing_leaves_empty_are_seen(tmp_path: Path) -> None:
    """Always the first of two links: spread over both, answers are twice as many."""
    spec = system(True, {"queue": 64}, {}, {"heads": 2})
    spec["links"][1] |= {"bandwidth": "10GB/s", "count": 2}
    spec["run"]["routing"] = "first"
    said = explained(spec, tmp_path / "system.yaml", built(PLUGINS / "first.cpp"))
    assert said["limit"] == "the wire mem->sw"
    best = said["what_ifs"][0]
    assert best["set"] == ["deterministic"]
    assert best["gain"] == pytest.approx(1.0, abs=0.1)


def test_a_plugins_devices_are_drawn_as_ours(library: Path, tmp_path: Path) -> None:
    """Shapes, colours and places are equal."""
    found = []
    for ours in (True, False):
        file, out = tmp_path / "system.yaml", tmp_path / "system.svg"
        spec = system(ours, {}, {}, {})
        if ours:
            spec["devices"]["host"]["kind"] = "accelerator"  # a client is no root complex either
        file.write_text(json.dumps(spec))
        done = run("draw", str(file), "--out", str(out), "--plugin", str(library))
        assert done.returncode == 0, done.stderr
        found.append(
            re.findall(r'<g data-tip[^>]*transform="([^"]*)".*?<use ([^>]*)/>', out.read_text(), re.S)
        )
    assert len(found[0]) == 3
    assert found[0] == found[1]


def test_measuring_tools_measure_a_plugins_devices(library: Path, tmp_path: Path) -> None:
    """Idle 10 + 10 + 10 + 20 + 50 + 10 + 10 ns and the wires; and 8 in flight of these."""
    file = tmp_path / "system.yaml"
    found = []
    for ours in (True, False):
        file.write_text(json.dumps(system(ours, {"queue": 8}, {}, {})))
        tools = []
        for tool in ("latency", "bandwidth"):
            done = run("measure", str(file), tool, "--plugin", str(library), "--json", "--jobs", "1")
            assert done.returncode == 0, done.stderr
            tools.append(json.loads(done.stdout)["rows"])
        found.append(tools)
    assert found[0] == found[1]
    assert found[0][0][0]["latency_ns"] == pytest.approx(120, abs=2)


def test_systems_of_a_plugin_are_compared(library: Path, tmp_path: Path) -> None:
    """It is loaded once, for all of them."""
    file = tmp_path / "system.yaml"
    file.write_text(json.dumps(system(False, {}, {}, {})))
    slower = "devices.host.process_time=20ns"
    done = run("compare", str(file), "--with", slower, "--plugin", str(library), "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert slower in json.dumps(json.loads(done.stdout))


# --- all tools --------------------------------------------------------------------------------------------------------

THEIRS: dict[str, tuple[str, Spec]] = {
    "memory": ("mem", system(False, {}, {}, {})["devices"]["mem"]),
    "requester": ("host", {"kind": "client", "process_time": "10ns"}),
    "nested requester": ("host", {"kind": "tenant", "asking": {"process_time": "10ns"}}),
    "switch": ("sw", system(False, {}, {}, {})["devices"]["sw"]),
    "silent memory": ("mem", {"kind": "silent"}),
}
REFUSED = {
    ("import", "silent memory"): "'mem' is a device whose kind declares no medium",
    ("boot", "requester"): "no host that could boot, found 0 hosts",  # it is no root complex
    ("enumeration", "requester"): "no host that could boot, found 0 hosts",
    ("offload", "requester"): "no host completes the DMA requests of 'gpu'",
    ("offload", "nested requester"): "no host completes the DMA requests of 'gpu'",
    ("epochs", "silent memory"): "whose kind does not declare its capacity has no small copy",
}
"""Tools that cannot use a device, each with the reason that it gives."""
OTHERS = {(tool, "silent memory") for tool in ("sample", "measure", "energy", *LONG)}
"""Results that differ for a reason: the medium takes another time, and may keep anything."""


@pytest.fixture(scope="module")
def of_tools(library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Spec]:
    """What each tool gives for our system, and for it with a device of the plug-in each."""
    ours = system(True, {}, {}, {})
    systems = {"ours": ours}
    for name, (device, values) in THEIRS.items():
        systems[name] = copy.deepcopy(ours)
        systems[name]["devices"][device] = values
    file = tmp_path_factory.mktemp("tools") / "systems.json"
    file.write_text(json.dumps(systems))
    script = Path(__file__).with_name("tools_of_plugins.py")
    done = subprocess.run(
        [sys.executable, script, library, file, *(["whole"] if WHOLE else [])],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Spec] = json.loads(done.stdout)
    return found


TOOLS = ("import", "measure", "boot", "enumeration", "exec", "sample", "offload", "epochs", "crash", "energy")
PAIRS = [(tool, theirs) for tool in TOOLS for theirs in THEIRS]
PAIRS += [(tool, theirs) for tool in LONG for theirs in (THEIRS if WHOLE else ("nested requester",))]


@pytest.mark.parametrize(("tool", "theirs"), PAIRS)
def test_a_tool_works_on_a_plugins_device_as_on_ours_or_says_why_not(
    tool: str, theirs: str, of_tools: dict[str, Spec]
) -> None:
    ours, found = of_tools[tool]["ours"], of_tools[tool][theirs]
    assert "refused" not in str(ours)
    if (reason := REFUSED.get((tool, theirs))) is not None:
        assert reason in str(found)
    elif (tool, theirs) not in OTHERS:
        assert found == ours
    else:
        assert "refused" not in str(found)
        assert found != ours


def test_a_throttle_is_spoken_of_where_it_stands(library: Path, tmp_path: Path) -> None:
    """Two hosts with a logical device each in one memory, of which one holds back."""
    throttled = {"queue": 256, "throttle": {"rate": "24GB/s"}}
    halves = [{"capacity": "1GiB", "host": name} for name in ("one", "two")]
    spec = {
        "devices": {
            "one": {"kind": "host"},
            "two": {"kind": "tenant", "asking": throttled},
            "sw": {"kind": "switch"},
            "mem": {
                "kind": "memory",
                "queue": 32,
                "media": {"kind": "fixed", "bandwidth": "8GB/s"},
                "qos": {"optimal": 2, "moderate": 4, "severe": 8},
                "logical_devices": halves,
            },
        },
        "links": [{"between": [end, "sw"], "bandwidth": "32GB/s"} for end in ("one", "two", "mem")],
        "address_map": [{"to": "mem", "ld": 0}, {"to": "mem", "ld": 1}],
        "workload": {
            "one": {"pattern": "random", "requests": 200, "rate": "10M/s", "footprint": "1MiB"},
            "two": {"pattern": "random", "requests": 2000, "footprint": "1MiB", "base": "0x40000000"},
        },
    }
    (note,) = [
        each for each in explained(spec, tmp_path / "system.yaml", library)["notes"] if "throttle" in each
    ]
    assert "% of the mean latency is the throttle of two, which slows down by the loads" in note
    assert note.endswith("--set devices.two.asking.throttle=null shows what is asked for without")
