"""KV caches on fabrics of other kinds: virtual switches, several ways, refusals, and errors of rates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kv_support import write_trace
from plugin_support import PLUGINS, built, run
from test_kv_fabric import BLOCK, load_time, prompts, serving

import cxloom as cx
from cxloom.base.errors import InputError

Spec = dict[str, Any]

CXL = {"phy": "pcie5-x16", "flit": "68B", "port_delay": "20ns"}
PCIE = {"phy": "pcie4-x16", "flit": "none", "port_delay": "20ns"}
READS = 31.508 * 0.902 * 256 / 276
"""GB/s that PCIe's completions of 256 B leave."""
GPU = {"kind": "gpu", "streams": 4, "posted": 1024}
MEMORY = {"kind": "memory", "capacity": "64GiB"}


def virtual(*binds: list[Any], **memories: Spec) -> Spec:
    """Two hosts with a GPU each on a switch of two virtual ones, which bind that."""
    hosts = [{"upstream": f"host{i}", "vppbs": 4, "bind": bind} for i, bind in enumerate(binds)]
    regions = [
        {"to": name, **({"ld": number} if "logical_devices" in memory else {})}
        for name, memory in memories.items()
        for number in range(len(memory.get("logical_devices", [0])))
    ]
    return {
        "devices": {
            "host[0-1]": {"kind": "host"},
            **{f"gpu{i}": {**GPU, "host": f"host{i}"} for i in range(2)},
            "sw": {"kind": "switch", "vcs": hosts},
            **memories,
        },
        "links": [
            {"between": ["host[*]", "sw"], **CXL},
            *({"between": [f"host{i}", f"gpu{i}"], **PCIE} for i in range(2)),
            *({"between": ["sw", name], **CXL} for name in memories),
        ],
        "address_map": regions,
    }


def behind(**changes: Spec) -> Spec:
    """Two GPUs and a host on a leaf, a pool on another, and two spines between them."""
    return {
        "devices": {
            "host": {"kind": "host"},
            "leaf[0-1]": {"kind": "switch"},
            "spine[0-1]": {"kind": "switch"},
            "gpu[0-1]": {**GPU, "peer_to_peer": True},
            "pool": MEMORY,
        },
        "links": [
            {"between": ["host", "leaf0"], **CXL},
            {"between": ["gpu[*]", "leaf0"], **PCIE},
            {"between": ["leaf[*]", "spine[*]"], **PCIE},
            {"between": ["leaf1", "pool"], **CXL},
        ],
        "address_map": [{"to": "pool"}],
        **changes,
    }


def asked(folder: Path, fabric: Spec, tier: Spec) -> Spec:
    return serving(
        write_trace(folder, prompts(2)), 2, fabric=fabric, tiers=[{"name": "t", "blocks": 200, **tier}]
    )


def test_servers_of_virtual_switches_have_memories_of_their_own(tmp_path: Path) -> None:
    """Each loads from what its host is bound to, at the rate of its own PCIe, and disturbs nobody."""
    fabric = virtual(["m0"], ["m1"], m0=MEMORY, m1=MEMORY)
    found = cx.kv.serve(asked(tmp_path, fabric, {"devices": ["m0", "m1"]})).found
    assert load_time(found) == pytest.approx(5.8e-6 + 16 * BLOCK / (READS * 1e9), rel=0.005)


OWN: Spec = {"name": "t", "devices": ["m"], "blocks": 200}
LOGICAL = {"kind": "memory", "logical_devices": [{"capacity": "32GiB"}, {"capacity": "32GiB"}]}


@pytest.mark.parametrize(
    ("fabric", "tier", "device"),
    [
        (virtual(["m0"], ["m1"], m0=MEMORY, m1=MEMORY), {"devices": ["m1", "m0"]}, "gpu0"),
        (virtual(["m0"], ["m1"], m0=MEMORY, m1=MEMORY), {"devices": ["m0"], "shared": True}, "gpu1"),
        (
            virtual([{"to": "m", "ld": 0}], [{"to": "m", "ld": 1}], m=LOGICAL),
            {"devices": ["m"], "shared": True},
            "gpu1",
        ),
    ],
    ids=["crossed", "shared", "logical devices"],
)
def test_memory_of_another_host_is_refused(tmp_path: Path, fabric: Spec, tier: Spec, device: str) -> None:
    file = tmp_path / "kv.json"
    file.write_text(json.dumps(asked(tmp_path, fabric, tier)))
    with pytest.raises(InputError, match=f"'{device}' has no access to all of the tier 't'") as caught:
        cx.kv.serve(file)
    assert caught.value.path == "tiers[0].devices"
    assert caught.value.line == 1
    assert "virtual switch" in caught.value.allowed


def test_a_tier_has_room_in_the_logical_device_of_its_host(tmp_path: Path) -> None:
    """200 blocks of 64 MiB are in its 32 GiB, and 600 are not, though the whole device has 64 GiB."""
    fabric = virtual([{"to": "m", "ld": 0}], [{"to": "m", "ld": 1}], m=LOGICAL)
    found = cx.kv.serve(serving(write_trace(tmp_path, prompts(1)), 1, fabric=fabric, tiers=[OWN])).found
    assert load_time(found) == pytest.approx(5.8e-6 + 16 * BLOCK / (READS * 1e9), rel=0.005)
    large = {**OWN, "blocks": 600}
    with pytest.raises(
        InputError, match="'host0' has no way to, or no extent of its own of, m ld 1"
    ) as caught:
        cx.kv.serve(serving(write_trace(tmp_path, prompts(1)), 1, fabric=fabric, tiers=[large]))
    assert caught.value.path == "tiers[0].capacity"


def test_a_tier_lies_in_the_extents_of_its_host(tmp_path: Path) -> None:
    """Each host has 16 GiB of a global memory: 200 blocks of 64 MiB have room there, and 300 have none."""
    extents = [{"base": f"{16 * i}GiB", "size": "16GiB", "host": f"host{i}"} for i in range(2)]
    fabric = virtual([], [], m={**MEMORY, "dynamic_capacity": {"extents": extents}})
    del fabric["devices"]["sw"]["vcs"]
    found = cx.kv.serve(serving(write_trace(tmp_path, prompts(2)), 2, fabric=fabric, tiers=[OWN])).found
    assert load_time(found) == pytest.approx(5.8e-6 + 16 * BLOCK / (READS * 1e9), rel=0.005)
    large = {**OWN, "blocks": 300}
    with pytest.raises(InputError, match="at most 16GiB in whole pages") as caught:
        cx.kv.serve(serving(write_trace(tmp_path, prompts(2)), 2, fabric=fabric, tiers=[large]))
    assert caught.value.path == "tiers[0].capacity"
    shared = {**OWN, "shared": True}
    with pytest.raises(InputError, match="'gpu1' has no access to all of the tier 't'"):
        cx.kv.serve(serving(write_trace(tmp_path, prompts(2)), 2, fabric=fabric, tiers=[shared]))
    extents[0]["host"] = "gpu0"  # whose packets of CXL.io a host answers
    with pytest.raises(InputError, match=r"requests of CXL\.mem, found 'gpu0'"):
        cx.kv.serve(serving(write_trace(tmp_path, prompts(2)), 2, fabric=fabric, tiers=[OWN]))


@pytest.mark.parametrize("routing", ["deterministic", "flow-hash", "random", "adaptive", "valiant"])
def test_equally_short_ways_are_taken_as_the_routing_has_it(tmp_path: Path, routing: str) -> None:
    """Two loads have both spines, whichever way each message takes, so that each is as fast as its own link."""
    fabric = behind(run={"routing": routing})
    found = cx.kv.serve(asked(tmp_path, fabric, {"devices": ["pool"], "shared": True})).found
    form = 5.8e-6 + 16 * BLOCK / (READS * 1e9)
    assert load_time(found) == pytest.approx(form, rel=0.005 + found["fabric"]["largest_error"])


OTHERS: list[tuple[str, Spec, str, str]] = [
    (
        "io",
        {
            "devices": {"nic": {"kind": "io-engine", "target": "pool"}},
            "links": [{"between": ["nic", "leaf0"]}],
        },
        "and 'nic' makes packets of CXL.io",
        "fabric.devices.nic",
    ),
    (
        "cache",
        {"devices": {"host": {"kind": "host", "cache": {"size": "64KiB"}}}},
        "beside caches that may hold its lines",
        "servers.devices[0]",
    ),
    (
        "events",
        {"events": [{"at": "1us", "fail": {"link": ["leaf1", "pool"]}}]},
        "the blocks of a KV cache are all that moves over a fabric",
        "fabric.events",
    ),
    (
        "tasks",
        {"tasks": {"graph": [{"name": "x", "kind": "compute", "on": "p", "time": "1us"}]}},
        "the blocks of a KV cache are all that moves over a fabric",
        "fabric.tasks",
    ),
]


@pytest.mark.parametrize(
    ("more", "words", "where"), [each[1:] for each in OTHERS], ids=[each[0] for each in OTHERS]
)
def test_other_traffic_and_memory_that_moves_are_refused(
    tmp_path: Path, more: Spec, words: str, where: str
) -> None:
    fabric = behind()
    fabric["devices"] |= more.get("devices", {})
    fabric["links"] += more.get("links", [])
    fabric |= {key: value for key, value in more.items() if key in ("events", "tasks")}
    with pytest.raises(InputError) as caught:
        cx.kv.serve(asked(tmp_path, fabric, {"devices": ["pool"], "shared": True}))
    assert words in caught.value.problem
    assert caught.value.path == where


def test_rates_that_are_less_certain_are_noted(tmp_path: Path) -> None:
    """Messages that take ways by chance have rates that scatter: above 1 % a note says how well they are known."""
    tier = {"devices": ["pool"], "shared": True}
    for routing, noted in (("deterministic", False), ("random", True)):
        fabric = behind(run={"routing": routing})
        found = cx.kv.serve(asked(tmp_path, fabric, tier)).found
        largest = found["fabric"]["largest_error"]
        assert 0 < found["fabric"]["relative_error"] <= largest <= 0.1
        assert (largest > 0.01) == noted
        notes = [note for note in found["notes"] if "Rates over the fabric" in note]
        assert len(notes) == noted
        if noted:
            assert f"{100 * largest:.2g} %" in notes[0] or f"{100 * largest:.3g} %" in notes[0]


def test_a_note_on_a_lone_move_speaks_of_no_others(tmp_path: Path) -> None:
    """One server writes a prompt, and loads it 100 s later: its moves are alone, and flits that are sent again make
    their rates scatter."""
    fabric = behind()
    fabric["links"][-1] = {**fabric["links"][-1], "errors": {"bit_error_rate": 2e-5}}
    tiers = [{"name": "t", "blocks": 200, "devices": ["pool"], "shared": True}]
    found = cx.kv.serve(serving(write_trace(tmp_path, prompts(1)), 1, fabric=fabric, tiers=tiers)).found
    assert found["fabric"]["largest_error"] > 0.01
    note = next(note for note in found["notes"] if "Rates over the fabric" in note)
    assert "one move that is alone" in note
    assert "disturb" not in note


def test_a_load_beside_a_write_is_within_the_stated_error(tmp_path: Path) -> None:
    """One link for both directions. While server 0 writes 64 blocks that it has computed, server 1 loads 16.

    What both take beside each other is what copies of either direction take, line by line.
    """
    fabric = behind()
    fabric["links"][3] = {"between": ["leaf1", "pool"], "bandwidth": "32GB/s", "duplex": "half"}
    prefill = cx.kv.first_token_seconds("llama-3-8b", tokens=64 * 512, cached=0, flops=2496e12, bandwidth=1e9)
    again = 100 + prefill + 0.01  # the write takes 0.17 s and more
    trace = [
        (0.0, 512, 1, [900]),
        (0.0, 16 * 512, 1, list(range(16))),
        (100.0, 64 * 512, 1, list(range(100, 164))),
        (again, 17 * 512, 1, [*range(16), 50]),
    ]
    found = cx.kv.serve(serving(write_trace(tmp_path, trace), 2, fabric=fabric)).found
    took = 4 * found["ttft_s"]["parts"]["load"]
    graph = [
        {"name": "in", "kind": "copy", "from": "kv", "to": "gpu1", "bytes": "16MiB", "offset": "512MiB"},
        {"name": "out", "kind": "copy", "from": "gpu0", "to": "kv", "bytes": "32MiB"},
    ]
    objects = [{"name": "kv", "size": "1GiB"}]
    file = tmp_path / "both.json"
    file.write_text(json.dumps({**fabric, "tasks": {"objects": objects, "graph": graph, "exact": True}}))
    tasks = cx.run(file).plain()["tasks"]["per_task"]
    assert tasks["out"]["end_ns"] > tasks["in"]["end_ns"]
    rate = (16 << 20) / (tasks["in"]["end_ns"] - 5800)
    alone = 16 * BLOCK / (READS * 1e9)
    beside = 16 * BLOCK / (rate * 1e9)
    assert beside > 1.2 * alone
    assert found["fabric"]["largest_error"] > 0
    assert took == pytest.approx(beside, rel=0.005 + found["fabric"]["largest_error"])


def test_a_tier_may_lie_in_a_memory_of_a_plugin(tmp_path: Path) -> None:
    """A switch that holds memory, of a kind of a plug-in: a load is bound by the GPU's PCIe, through the host."""
    fabric = {
        "devices": {
            "host": {"kind": "host"},
            "gpu[0-1]": GPU,
            "box": {"kind": "memory-switch", "memory": {"capacity": "64GiB"}},
        },
        "links": [
            {"between": ["host", "gpu[*]"], **PCIE},
            {"between": ["host", "box"], "bandwidth": "200GB/s", "port_delay": "20ns"},
        ],
        "address_map": [{"to": "box"}],
    }
    file, result = tmp_path / "kv.json", tmp_path / "found.json"
    file.write_text(json.dumps(asked(tmp_path, fabric, {"devices": ["box"], "shared": True})))
    library = built(PLUGINS / "memory_switch.cpp")
    done = run("kv", str(file), "--plugin", str(library), "--out", str(result))
    assert done.returncode == 0, done.stderr
    found = json.loads(result.read_text())
    form = 5.8e-6 + 16 * BLOCK / (READS * 1e9)
    assert load_time(found) == pytest.approx(form, rel=0.005 + found["fabric"]["largest_error"])
    refused = run("kv", str(file))
    assert refused.returncode == 2
    assert "memory-switch" in refused.stderr
