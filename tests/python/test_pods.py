"""Servers with memory of their own beside a pool: no way leads to a neighbour's, which is not in their maps."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.system.simulation import describe

Spec = dict[str, Any]

POD: Spec = {
    "name": "pod",
    "devices": {
        "h[0-1]": {"kind": "host", "queue": 4, "process_time": "20ns"},
        "l[0-1]": {
            "kind": "memory",
            "capacity": "1MiB",
            "controller_time": "10ns",
            "media": {"kind": "fixed", "latency": "60ns"},
        },
        "pool": {
            "kind": "memory",
            "capacity": "2MiB",
            "controller_time": "10ns",
            "media": {"kind": "fixed", "latency": "100ns"},
        },
        "sw": {"kind": "switch", "switching_time": "30ns", "port_delay": "0ns"},
    },
    "links": [
        {"between": ["h0", "l0"], "delay": "5ns", "port_delay": "0ns"},
        {"between": ["h1", "l1"], "delay": "5ns", "port_delay": "0ns"},
        {"between": ["h[*]", "sw"], "delay": "7ns", "port_delay": "0ns"},
        {"between": ["pool", "sw"], "delay": "7ns", "port_delay": "0ns"},
    ],
    "address_map": [{"to": "l0"}, {"to": "l1"}, {"to": "pool"}],
    "workload": {
        "h0": {"pattern": "random", "footprint": "1MiB", "requests": 50},
        "h1": {"pattern": "random", "base": "0x100000", "footprint": "3MiB", "requests": 400},
    },
}
SMALL = {"pattern": "random", "footprint": "64KiB", "requests": 5}
NEAR = 20 + 2 * 5 + 10 + 60  # process, there and back, controller, media
FAR = 20 + 4 * 7 + 2 * 30 + 10 + 100


def system(**changes: Any) -> cx.System:
    """The pod, with these values at dotted paths (`__` between the keys)."""
    spec = copy.deepcopy(POD)
    for path, value in changes.items():
        *above, last = path.split("__")
        place = spec
        for key in above:
            place = place[key]
        place[last] = value
    return cx.System.from_yaml(json.dumps(spec))


def test_each_server_has_its_own_memory_and_the_pool() -> None:
    """Latencies by hand: nothing queues with banks and bandwidth without end."""
    summary = cx.run(system()).summary
    assert summary["errors"]["requests"] == 0
    assert summary["per_requester"]["h0"]["latency_ns"]["mean"] == pytest.approx(NEAR)
    counts = {name: memory["requests"] for name, memory in summary["per_memory"].items()}
    assert counts["l0"] == 50
    assert sum(counts.values()) == summary["requests"]
    there = summary["per_requester"]["h1"]
    expected = (NEAR * counts["l1"] + FAR * counts["pool"]) / (counts["l1"] + counts["pool"])
    assert there["latency_ns"]["mean"] == pytest.approx(expected)
    assert 0 < counts["l1"] < counts["pool"]


def test_pages_of_a_program_go_to_what_its_server_has() -> None:
    work = {"pattern": "random", "requests": 50, "addresses": "first-touch"}
    both = system(
        workload={"h0": {**work, "footprint": "1536KiB"}, "h1": {**work, "footprint": "1536KiB"}},
    )
    pages = {name: each["pages"] for name, each in cx.run(both).summary["per_requester"].items()}
    assert pages == {"h0": {"l0": 256, "pool": 128}, "h1": {"l1": 256, "pool": 128}}


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"workload__h1__base": "0x0"}, "workload.h1.base", "all that 'h1' reaches"),
        ({"workload__h0__footprint": "2MiB"}, "workload.h0.footprint", "hole"),
        (
            {
                "workload__h1": {**SMALL, "addresses": {"kind": "bind", "nodes": ["l0"]}},
            },
            "workload.h1.addresses.nodes[0]",
            "no way leads to this memory from the device",
        ),
        (
            {"address_map": [{"to": ["l0", "pool"]}, {"to": "l1"}], "workload": {"h1": SMALL}},
            "links",
            "'h1' cannot reach 'l0'",
        ),
        ({"address_map": [{"to": "l0"}], "workload": {"h1": SMALL}}, "links", "'h1' cannot reach 'l0'"),
    ],
    ids=["base", "footprint", "bind", "half a region", "nothing"],
)
def test_what_a_server_cannot_reach_is_refused(changes: Spec, path: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        cx.run(system(**changes))
    assert path in str(caught.value)
    assert words in str(caught.value)


def test_a_trace_that_leaves_its_server_is_told_where(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0x200000 R\n0x40 R\n")
    spec = tmp_path / "pod.yaml"
    spec.write_text(json.dumps({**POD, "workload": {"h1": {"trace": "t.txt"}}}))
    with pytest.raises(InputError, match=r"(?s)access 1.*0x40.*all that 'h1' reaches"):
        cx.run(cx.load(spec))


KERNEL = {"name": "k", "kind": "kernel", "reads": [{"object": "a", "bytes": "8KiB"}]}


@pytest.mark.parametrize("on", ["h0", "h1"])
def test_a_task_on_what_its_device_cannot_reach_is_refused_before_the_run(on: str) -> None:
    """The first host places an object of which nobody says whose it is."""
    tasks = {"exact": True, "objects": [{"name": "a", "size": "64KiB"}], "graph": [{**KERNEL, "on": on}]}
    made = system(workload={}, tasks=tasks)
    if on == "h0":
        assert cx.run(made).summary["tasks"]["per_task"]["k"]["bytes"] == 8192
        return
    for action in (cx.run, lambda spec: describe(spec.resolve([]))):
        with pytest.raises(InputError, match="no way leads from 'h1' to some of 'a'") as caught:
            action(made)
        assert caught.value.path == "tasks.graph[0].reads[0].object"


def test_an_idle_server_that_reaches_a_part_of_a_region_is_no_mistake() -> None:
    made = system(address_map=[{"to": ["l0", "pool"]}, {"to": "l1"}], workload={"h0": SMALL})
    assert cx.run(made).summary["requests"] == 5
    routes = {route["requester"]: route.get("idle_read_ns") for route in describe(made.resolve([]))["routes"]}
    assert routes["h0"] is not None
    assert routes["h1"] is None


def test_links_that_lead_to_no_home_are_not_asked_for_snoops() -> None:
    """68B flits between h0 and the switch carry no snoops of l1, which only h1 reaches."""
    links = [dict(link) for link in POD["links"]]
    links[2:3] = [
        {"between": ["h0", "sw"], "phy": "pcie5-x8", "flit": "68B"},
        {"between": ["h1", "sw"], "delay": "7ns"},
    ]
    cached = {**POD["devices"]["h[0-1]"], "cache": {"size": "16KiB", "ways": 4}}
    made = system(
        **{"devices__h[0-1]": cached, "devices__l[0-1]": {**POD["devices"]["l[0-1]"], "dcoh": {}}},
        links=links,
        address_map=[{"to": "l1", "coherence": "hdm-db"}, {"to": "pool"}],
        workload={"h1": {"pattern": "random", "footprint": "64KiB", "requests": 50}},
    )
    assert cx.run(made).summary["errors"]["requests"] == 0


def test_stream_places_pages_for_a_server_that_has_their_nodes() -> None:
    pages = {"kind": "interleave", "nodes": ["l1", "pool"]}
    found = cx.measure.stream(system(workload={}), pages=pages, jobs=1)
    assert found.rows


def test_servers_whose_home_agents_keep_their_own_memory_coherent() -> None:
    """A neighbour asks the home, which no link to the memory itself need pass by."""
    server = {**POD["devices"]["h[0-1]"], "cache": {"size": "16KiB", "ways": 4}, "home_agent": {}}
    made = system(
        **{"devices__h[0-1]": server},
        address_map=[
            {"to": "l0", "coherence": "hdm-h", "home": "h0"},
            {"to": "l1", "coherence": "hdm-h", "home": "h1"},
            {"to": "pool"},
        ],
        workload={"h0": SMALL, "h1": {**SMALL, "footprint": "1MiB", "addresses": "first-touch"}},
    )
    summary = cx.run(made).summary
    assert summary["errors"]["requests"] == 0
    assert summary["per_requester"]["h1"]["pages"] == {"l0": 0, "l1": 256, "pool": 0}


def test_tools_leave_out_pairs_without_a_way() -> None:
    found = cx.measure.matrix(system(), jobs=1)
    assert found.rows == [
        {"requester": "h0", "l0": NEAR, "pool": FAR, "l1": None},
        {"requester": "h1", "l0": None, "pool": FAR, "l1": NEAR},
    ]
    # Nodes are in the order of the address map, as the numbers of a recipe are.
    assert list(found.rows[0]) == ["requester", "l0", "l1", "pool"]
    assert "is limited by the queue of" in cx.explain(system(), jobs=1).sentence


def test_two_servers_share_what_a_home_keeps_coherent_beside_their_own() -> None:
    """A filter of the pool snoops both, and asks nobody about their own memory."""
    caches = {"cache": {"size": "16KiB", "ways": 4}}
    spec = system(
        **{
            "devices__h[0-1]": {**POD["devices"]["h[0-1]"], **caches},
            "devices__pool__dcoh": {"filter": {"entries": 1024}},
            "address_map": [{"to": "l0"}, {"to": "l1"}, {"to": "pool", "coherence": "hdm-db"}],
            "workload": {
                "h0": {
                    "pattern": "random",
                    "base": "0x200000",
                    "footprint": "16KiB",
                    "reads": "50%",
                    "requests": 400,
                },
                "h1": {
                    "pattern": "random",
                    "base": "0x200000",
                    "footprint": "16KiB",
                    "reads": "50%",
                    "requests": 400,
                },
            },
        }
    )
    summary = cx.run(spec).summary
    assert summary["errors"]["requests"] == 0
    assert summary["per_home"]["pool"]["snoops_sent"] > 0
    assert set(summary["per_home"]) == {"pool"}


@pytest.mark.parametrize("servers", [2, 5])
def test_more_servers_change_nothing_for_the_first(servers: int) -> None:
    """Beside neighbours that use their own memory alone, a server is as fast as alone, on several threads too."""
    means = []
    for threads, count in itertools.product((1, 2), (1, servers)):
        spec = copy.deepcopy(POD)
        spec["devices"] = {
            f"h[0-{count - 1}]": POD["devices"]["h[0-1]"],
            f"l[0-{count - 1}]": POD["devices"]["l[0-1]"],
            "pool": POD["devices"]["pool"],
            "sw": POD["devices"]["sw"],
        }
        spec["links"] = [
            {"between": [f"h{i}", f"l{i}"], "delay": "5ns", "port_delay": "0ns"} for i in range(count)
        ] + POD["links"][2:]
        spec["address_map"] = [{"to": f"l{i}"} for i in range(count)] + [{"to": "pool"}]
        spec["workload"] = {
            f"h{i}": {"pattern": "random", "base": i << 20, "footprint": "1MiB", "requests": 300}
            for i in range(count)
        }
        spec["run"] = {"threads": threads}
        means.append(
            cx.run(cx.System.from_yaml(json.dumps(spec))).summary["per_requester"]["h0"]["latency_ns"]
        )
    assert all(each == means[0] for each in means)


@pytest.mark.parametrize("work", [None, 5, [1]], ids=str)
@pytest.mark.parametrize("tool", [cx.run, cx.explain, cx.advise])
def test_what_is_no_workload_is_refused_by_each_tool(tool: Any, work: Any) -> None:
    with pytest.raises(InputError, match=r"workload\.h1: not a (workload|map)"):
        tool(system(workload={"h0": SMALL, "h1": work}))
