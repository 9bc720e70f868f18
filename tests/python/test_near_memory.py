"""Kernels of a device on its own memory: closed forms of a launch, of the work, and of the data from which it pays."""

from __future__ import annotations

import copy
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx

Spec = dict[str, Any]

ROOT = Path(__file__).parents[2]
MEDIA = 64 / 100  # ns of a line at 100 GB/s
LINK = 64 / 25
NEAR = 10 + 20 + 60  # process, controller, media
FAR = NEAR + 2 * 20  # there and back
RING = FAR + LINK  # a line of data one way

DEVICE: Spec = {
    "kind": "accelerator",
    "queue": 4096,
    "process_time": "10ns",
    "memory": {
        "capacity": "16MiB",
        "controller_time": "20ns",
        "media": {"kind": "fixed", "latency": "60ns", "bandwidth": "100GB/s"},
    },
}
LINE: Spec = {
    "bandwidth": "25GB/s",
    "header": "0B",
    "data_header": "0B",
    "delay": "20ns",
    "port_delay": "0ns",
}


def kernel(name: str, on: str, after: list[str], **moves: list[tuple[str, int]]) -> Spec:
    """A kernel that reads and writes so many bytes of objects."""
    parts = {way: [{"object": o, "bytes": f"{n}B"} for o, n in those] for way, those in moves.items()}
    return {"name": name, "kind": "kernel", "on": on, "after": after, **parts}


def launched(lines: int) -> Spec:
    """A launch, the work and its result, and the same work by the host."""
    table = [("table", 64 * lines)]
    objects = [
        {"name": name, "size": size, "addresses": {"kind": "bind", "nodes": ["near"]}}
        for name, size in (("table", "8MiB"), ("mailbox", "4KiB"), ("result", "4KiB"))
    ]
    return {
        "devices": {
            "host": {"kind": "host", "queue": 4096, "process_time": "10ns"},
            "local": {"kind": "memory", "capacity": "1MiB"},
            "near": copy.deepcopy(DEVICE),
        },
        "links": [{"between": ["host", "local"]}, {"between": ["host", "near"], **LINE}],
        "address_map": [{"to": "local"}, {"to": "near"}],
        "tasks": {
            "exact": True,
            "objects": objects,
            "graph": [
                kernel("ring", "host", [], writes=[("mailbox", 64)]),
                kernel("command", "near", ["ring"], reads=[("mailbox", 64)]),
                kernel("work", "near", ["command"], reads=table),
                kernel("store", "near", ["work"], writes=[("result", 64)]),
                kernel("collect", "host", ["store"], reads=[("result", 64)]),
                kernel("far", "host", ["collect"], reads=table),
            ],
        },
    }


def times(spec: Spec) -> dict[str, float]:
    """How long each task took, ns."""
    tasks = cx.run(cx.System.from_yaml(json.dumps(spec))).summary["tasks"]
    return {name: task["end_ns"] - task["start_ns"] for name, task in tasks["per_task"].items()}


LAUNCH = {"ring": RING, "command": NEAR, "store": NEAR, "collect": RING}


@pytest.mark.parametrize("lines", [1, 7, 1000])
def test_a_launch_and_its_work_by_hand(lines: int) -> None:
    expected = {**LAUNCH, "work": NEAR + (lines - 1) * MEDIA, "far": RING + (lines - 1) * LINK}
    assert times(launched(lines)) == pytest.approx(expected)


def test_it_pays_from_the_lines_on_that_the_closed_form_says() -> None:
    least = (sum(LAUNCH.values()) + NEAR - RING) / (LINK - MEDIA) + 1
    for lines, pays in ((math.floor(least), False), (math.ceil(least), True)):
        took = times(launched(lines))
        assert (sum(took.values()) - took["far"] < took["far"]) is pays


@pytest.mark.parametrize("knob", ["memory", "link", "logic"])
def test_what_bounds_it(knob: str) -> None:
    """Faster media help the device alone, a faster link the host alone; logic that takes longer is what it takes."""
    before = times(launched(1000))
    spec = launched(1000)
    if knob == "memory":
        spec["devices"]["near"]["memory"]["media"]["bandwidth"] = "200GB/s"
    elif knob == "link":
        spec["links"][1]["bandwidth"] = "50GB/s"
    else:
        spec["tasks"]["graph"][2]["time"] = "5us"
    after = times(spec)
    assert after["work"] == pytest.approx(
        {"memory": NEAR + 999 * MEDIA / 2, "link": before["work"], "logic": 999 * 5 + NEAR}[knob], abs=MEDIA
    )
    assert after["far"] == pytest.approx(
        RING - LINK / 2 + 999 * LINK / 2 if knob == "link" else before["far"], abs=LINK
    )


def test_devices_add_up_and_the_port_of_a_host_does_not() -> None:
    spec = launched(1000)
    names = [f"near{i}" for i in range(4)]
    spec["devices"] = {
        "host": spec["devices"]["host"],
        "sw": {"kind": "switch", "switching_time": "0ns", "port_delay": "0ns"},
        "near[0-3]": DEVICE,
    }
    spec["links"] = [{"between": ["host", "sw"], **LINE}, {"between": ["sw", "near[*]"], **LINE}]
    spec["address_map"] = [{"to": name} for name in names]
    spec["tasks"]["objects"] = [
        {"name": f"t{i}", "size": "64KiB", "addresses": {"kind": "bind", "nodes": [name]}}
        for i, name in enumerate(names)
    ]
    tables = [(f"t{i}", 64000) for i in range(4)]
    spec["tasks"]["graph"] = [
        *(kernel(name, name, [], reads=[tables[i]]) for i, name in enumerate(names)),
        kernel("far", "host", names, reads=tables),
    ]
    took = times(spec)
    for name in names:
        assert took[name] == pytest.approx(NEAR + 999 * MEDIA)
    assert took["far"] == pytest.approx(4000 * LINK + FAR, rel=0.02)


def test_a_neighbour_takes_its_share_of_the_media() -> None:
    """A host that reads at 10 GB/s leaves the kernel nine tenths of 100."""
    spec = launched(20000)
    spec["tasks"]["graph"] = [kernel("work", "near", [], reads=[("table", 64 * 20000)])]
    spec["devices"]["near"]["queue"] = 512
    spec["workload"] = {
        "host": {
            "pattern": "random",
            "base": "0x100000",
            "footprint": "1MiB",
            "rate": "156.25M/s",
            "requests": 10**6,
        }
    }
    assert times(spec)["work"] == pytest.approx(20000 * MEDIA / 0.9, rel=0.02)


def test_lines_that_a_host_has_written_are_fetched_over_the_link() -> None:
    """Once in order of bytes on the link: the device asks for each, and each comes back with its data."""
    spec = launched(1000)
    spec["devices"]["host"]["cache"] = {"size": "1MiB", "ways": 16}
    spec["devices"]["near"]["memory"]["dcoh"] = {}
    spec["address_map"][1]["coherence"] = "hdm-db"
    table = [("table", 64000)]
    spec["tasks"]["graph"] = [
        kernel("clean", "near", [], reads=table),
        kernel("fill", "host", ["clean"], writes=table),
        kernel("dirty", "near", ["fill"], reads=table),
        kernel("again", "near", ["dirty"], reads=table),
    ]
    took = times(spec)
    assert took["clean"] < NEAR + 1001 * MEDIA + 20
    assert took["dirty"] > 1000 * LINK
    assert took["again"] < took["dirty"] / 3


def test_the_example_is_what_the_page_says() -> None:
    page = (ROOT / "docs/near-memory.md").read_text()
    example = (ROOT / "examples/near-memory.yaml").read_text()
    rows = re.findall(r"^\| (\d+ [KM]iB) \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 6
    for size, rest in rows[:5]:
        text = re.sub(r"(object: table, bytes: )16MiB", r"\g<1>" + size.replace(" ", ""), example)
        per = cx.run(cx.System.from_yaml(text)).summary["tasks"]["per_task"]
        took = {name: each["end_ns"] - each["start_ns"] for name, each in per.items()}
        launch = took["ring"] + took["command"] + took["collect"]
        near, far = launch + took["add up"], took["by the host"]
        assert (
            rest
            == f"{launch:,.0f} ns | {took['add up']:,.0f} ns | {near:,.0f} ns | {far:,.0f} ns | {far / near:.2f}"
        )
