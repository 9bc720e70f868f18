"""Bundled ports: the links of one logical port carry what each of them carries, by the blocks of their addresses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from validation.systems import Run, Spec, changed, run
from validation.test_flits import bound

import cxloom as cx
from cxloom import InputError, _core

ROUTINGS = ["deterministic", "flow-hash", "random", "adaptive", "valiant", "ugal"]


def accelerator(ports: int, phy: str = "pcie7-x2", **link: Any) -> Spec:
    """A host that reads and writes the memory of an accelerator, with more in flight than the links can hold."""
    bundle = {"count": ports, "bundle": True} if ports > 1 else {}
    return {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns", "queue": 2048},
            "gpu": {
                "kind": "accelerator",
                "memory": {"capacity": "16GiB", "media": {"kind": "fixed", "latency": "10ns"}},
            },
        },
        "links": [{"between": ["host", "gpu"], "phy": phy, "port_delay": "10ns", **bundle, **link}],
        "address_map": [{"to": ["gpu"]}],
        "workload": {"host": {"pattern": "random", "reads": 1.0, "requests": 30_000, "footprint": "1GiB"}},
        "run": {"warmup": 8000},
    }


def used(outcome: Run, way: str) -> list[bool]:
    """Whether each link carried something in a direction."""
    return [link[way]["messages"] > 0 for link in outcome.summary["per_link"].values() if way in link]


def use_of(link: Spec) -> list[int]:
    """Messages of each direction of a link."""
    return [way["messages"] for way in link.values() if isinstance(way, dict) and "messages" in way]


@pytest.mark.parametrize("reads", [0.0, 1.0])
@pytest.mark.parametrize("ports", [1, 2, 3, 4])
def test_a_bundle_has_the_bandwidth_of_all_its_links(ports: int, reads: float) -> None:
    # Blocks are drawn: of 2048 lines in flight each link has a part that varies, so that one is empty now and then.
    outcome = run(changed(accelerator(ports), ("workload.host.reads", reads)))
    assert outcome.bandwidth == pytest.approx(ports * bound("256B", "pcie7-x2", reads), rel=0.01)
    assert len(used(outcome, "host->gpu")) == ports


@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_pair_of_devices_has_all_links_whatever_the_routing(routing: str) -> None:
    outcome = run(changed(accelerator(2), ("run.routing", routing)))
    assert outcome.bandwidth == pytest.approx(2 * bound("256B", "pcie7-x2", 1.0), rel=0.01)


def test_the_bound_of_each_link_is_that_of_the_bundle() -> None:
    # Each carries its part of the blocks: full, all of them are.
    found = cx.explain(cx.System.from_yaml(json.dumps(accelerator(2))), jobs=1)
    bounds = {each.name: found.bound(each) for each in found.resources}
    expected = 2 * bound("256B", "pcie7-x2", 1.0)
    for name in ("the wire gpu->host", "the wire gpu->host#2"):
        assert bounds[name] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("reads", [0.0, 1.0])
def test_one_request_takes_what_it_takes_over_one_link(reads: float) -> None:
    alone = {"pattern": "random", "reads": reads, "requests": 100, "footprint": "1MiB"}
    times = []
    for ports in (1, 2, 4):
        spec = changed(accelerator(ports), ("devices.host.queue", 1), ("workload.host", alone), ("run", {}))
        times.append(run(spec).summary["latency_ns"])
    assert times[0]["min"] == times[0]["max"] > 0
    assert times[0] == times[1] == times[2]


@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_block_has_one_link_there_and_back(routing: str) -> None:
    spec = changed(
        accelerator(4),
        ("workload.host", {"pattern": "random", "reads": 0.5, "requests": 400, "footprint": "256B"}),
        ("run", {"routing": routing}),
    )
    outcome = run(spec)
    there = used(outcome, "host->gpu")
    assert there == used(outcome, "gpu->host")
    assert sum(there) == 1


@pytest.mark.parametrize("routing", ROUTINGS)
def test_cxl_io_keeps_to_the_first_link(routing: str) -> None:
    # The block of the host's requests has one or the other of two links to the switch; packets have the first.
    spec: Spec = {
        "devices": {
            "host": {"kind": "host"},
            "sw": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1GiB"},
            "nic": {"kind": "io-engine", "target": "host", "traffic": "dma-write", "rate": "2GB/s"},
        },
        "links": [
            {"between": ["host", "sw"], "phy": "pcie7-x4", "count": 3, "bundle": True},
            {"between": ["sw", "mem"]},
            {"between": ["nic", "sw"], "bandwidth": "16GB/s"},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "requests": 3000, "footprint": "256B"}},
        "run": {"routing": routing},
    }
    outcome = run(spec)
    packets = [
        link["sw->host"]["flits"]["io_bytes"] for link in list(outcome.summary["per_link"].values())[:3]
    ]
    assert packets[0] > 0
    assert packets[1:] == [0, 0]


def test_idle_links_of_a_bundle_are_named_with_its_rule() -> None:
    # One block has one link: the other of the two is idle in both directions, whatever run.routing is.
    outcome = run(changed(accelerator(2), ("workload.host.footprint", "256B"), ("run", {})))
    notes = [note for note in outcome.summary["notes"] if "carried nothing" in note]
    idle = [name for name, link in outcome.summary["per_link"].items() if not any(use_of(link))]
    assert len(idle) == 1
    assert len(notes) == 2
    for note in notes:
        assert note.startswith(f"{idle[0]} carried nothing")
        assert "one block of 256 B" in note
        assert "whatever run.routing is" in note


def test_a_bundle_fails_as_a_whole_and_is_repaired() -> None:
    spec = accelerator(2)
    spec["workload"]["host"] |= {"requests": 4000}
    spec["run"] = {}
    spec["events"] = [
        {"at": "1us", "fail": {"link": ["host", "gpu"], "reroute_time": "50us"}},
        {"at": "3us", "repair": {"link": ["host", "gpu"]}},
    ]
    outcome, without = run(spec), run({key: value for key, value in spec.items() if key != "events"})
    assert outcome.completed == outcome.expected == 4000
    assert outcome.summary["errors"]["requests"] == 0
    times = [each.summary["simulated_time_ns"] for each in (without, outcome)]
    assert times[1] == pytest.approx(times[0] + 2000, rel=0.05)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            ("events", [{"at": "1us", "fail": {"link": ["host", "gpu"], "number": 2}}]),
            ["events[0].fail.number", "fails alone", "not published"],
        ),
        (
            ("links", [accelerator(2)["links"][0], {"between": ["gpu", "host"], "bandwidth": "1GB/s"}]),
            ["links[1]", "another link beside bundled ports", "links[0]"],
        ),
    ],
)
def test_what_is_not_known_of_bundles_is_refused(change: tuple[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        run(changed(accelerator(2), change))
    for word in words:
        assert word in str(refused.value)


def test_bundles_are_still_checked_for_circles() -> None:
    names = range(5)
    link = {"phy": "pcie7-x4", "credits": 1}
    spec: Spec = {
        "devices": {
            **{f"sw{i}": {"kind": "switch", "queueing": "voq"} for i in names},
            **{f"host{i}": {"kind": "host"} for i in names},
            **{f"mem{i}": {"kind": "memory", "capacity": "1MiB"} for i in names},
        },
        "links": [
            {"between": [f"sw{i}", f"sw{(i + 1) % 5}"], "count": 2, "bundle": True, **link} for i in names
        ]
        + [{"between": [f"{kind}{i}", f"sw{i}"], **link} for kind in ("host", "mem") for i in names],
        "address_map": [{"to": [f"mem{i}" for i in names], "policy": "weighted", "weights": [1] * 5}],
        "workload": {f"host{i}": {"pattern": "random", "requests": 10, "footprint": "1MiB"} for i in names},
    }
    assert _core.check(spec, {})["deadlock"]["possible"]


def test_bundles_are_one_way_each_to_two_neighbours() -> None:
    """Two memories behind two spines have a spine each, with one link to it as with two."""
    bandwidths = []
    for ports in ({}, {"count": 2, "bundle": True}):
        spec: Spec = {
            "devices": {
                "host": {"kind": "host", "queue": 4096},
                "leaf[0-1]": {"kind": "switch"},
                "spine[0-1]": {"kind": "switch"},
                "mem[0-1]": {
                    "kind": "memory",
                    "capacity": "4GiB",
                    "queue": 4096,
                    "media": {"kind": "fixed", "latency": "10ns"},
                },
            },
            "links": [
                {"between": ["host", "leaf0"]},
                {"between": ["leaf[*]", "spine[*]"], "phy": "pcie7-x2", **ports},
                {"between": ["leaf1", "mem[*]"]},
            ],
            "address_map": [{"to": "mem[*]", "interleave": "4KiB"}],
            "workload": {
                "host": {"pattern": "random", "reads": 0.0, "requests": 20_000, "footprint": "1GiB"}
            },
            "run": {"warmup": 10_000},
        }
        bandwidths.append(cx.run(cx.System.from_yaml(json.dumps(spec))).bandwidth)
    one = bound("256B", "pcie7-x2", 0.0)
    assert bandwidths == [pytest.approx(2 * one, rel=0.01), pytest.approx(4 * one, rel=0.01)]


def test_a_bundle_at_a_root_port_is_refused() -> None:
    spec = accelerator(2)
    spec["devices"]["port"] = {"kind": "root-port"}
    spec["links"][0]["between"] = ["port", "gpu"]
    spec["links"].append({"between": ["host", "port"]})
    with pytest.raises(InputError, match="bundled ports at a device that has each link by itself") as raised:
        run(spec)
    assert "bundle" in str(raised.value)
