"""KV caches whose blocks move over a simulated fabric: closed forms, contention, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kv_support import write_trace

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec.override import Override

WIRE, HEAD, PACKET = 28.425, 24, 256
"""GB/s of the link of a GPU, and bytes of headers and of data of its packets."""
RATE = WIRE * PACKET / (PACKET + HEAD)
BLOCK = 512 * 131_072
"""Bytes of a block of llama-3-8b."""


def fabric(gpus: int = 1, pool: str = "28.425GB/s") -> dict[str, Any]:
    """GPUs that reach a pool behind a switch, by packets that pass no host; none of the links has a switch's limits."""
    return {
        "devices": {
            "host": {"kind": "host"},
            "sw": {"kind": "switch"},
            f"gpu[0-{gpus - 1}]": {"kind": "gpu", "peer_to_peer": True, "streams": 4, "posted": 1024},
            "pool": {"kind": "memory", "capacity": "64GiB"},
        },
        "links": [
            {"between": ["host", "sw"], "bandwidth": "64GB/s", "port_delay": "20ns"},
            {
                "between": ["gpu[*]", "sw"],
                "bandwidth": f"{WIRE}GB/s",
                "header": "24B",
                "data_header": "24B",
                "port_delay": "20ns",
            },
            {
                "between": ["sw", "pool"],
                "bandwidth": pool,
                "header": "24B",
                "data_header": "24B",
                "port_delay": "20ns",
            },
        ],
        "address_map": [{"to": "pool"}],
    }


def serving(trace: Path, servers: int = 1, **values: Any) -> dict[str, Any]:
    """Servers that load a prefix before they compute the rest, from a pool in the fabric."""
    return {
        "model": "llama-3-8b",
        "requests": {"trace": str(trace)},
        "servers": {
            "count": servers,
            "flops": "2496TFLOP/s",
            "memory_bandwidth": "16TB/s",
            "devices": [f"gpu{i}" for i in range(servers)],
        },
        "tiers": [{"name": "pool", "blocks": 200, "shared": True, "devices": ["pool"]}],
        "fabric": fabric(servers),
        "loads": "first",
        "recompute": "never",
        **values,
    }


def prompts(servers: int, blocks: int = 16) -> list[tuple[float, int, int, list[int]]]:
    """One prompt for each server, and a long time afterwards each of them again with a block more, all at once."""
    first = [(0.0, blocks * 512, 1, list(range(100 * i, 100 * i + blocks))) for i in range(servers)]
    again = [
        (100.0, (blocks + 1) * 512, 1, [*range(100 * i, 100 * i + blocks), 5000 + i]) for i in range(servers)
    ]
    return first + again


def load_time(found: dict[str, Any]) -> float:
    """The mean time of a load: half of the prompts have none."""
    return 2 * float(found["ttft_s"]["parts"]["load"])


def test_one_load_alone_takes_the_closed_form_of_a_copy(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, prompts(1))
    found = cx.kv.serve(serving(trace)).found
    size = 16 * BLOCK
    # The launch, the packets of 256 B, and the way of one request.
    form = 5.8e-6 + size / (RATE * 1e9)
    assert 0 < load_time(found) - form < 1.5e-6 + 0.005 * form
    assert load_time(found) == pytest.approx(form, rel=0.005)


def test_one_load_alone_takes_what_a_copy_takes_line_by_line(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, prompts(1, blocks=1))
    found = cx.kv.serve(serving(trace)).found
    spec = {
        **fabric(),
        "tasks": {
            "objects": [{"name": "kv", "size": "1GiB"}],
            "graph": [{"name": "load", "kind": "copy", "from": "kv", "to": "gpu0", "bytes": f"{BLOCK}B"}],
            "exact": True,
        },
    }
    file = tmp_path / "alone.yaml"
    file.write_text(json.dumps(spec))
    alone = cx.run(file).plain()["tasks"]["time_ns"] * 1e-9
    assert load_time(found) == pytest.approx(alone, rel=0.003)


def test_without_contention_declared_numbers_give_the_same(tmp_path: Path) -> None:
    requests = {"generate": {"chats": 10, "rate": "0.5/s", "turns": 3, "system_tokens": 2048}, "block": 512}
    simulated = serving(tmp_path, requests=requests, loads="layers")
    declared = json.loads(json.dumps(simulated))
    del declared["fabric"], declared["servers"]["devices"]
    declared["tiers"] = [
        {"name": "pool", "blocks": 200, "shared": True, "bandwidth": f"{RATE:.3f}GB/s", "latency": "7us"}
    ]
    one, other = cx.kv.serve(simulated).found, cx.kv.serve(declared).found
    assert one["hit_tokens"] == other["hit_tokens"] > 0
    assert one["ttft_s"]["mean"] == pytest.approx(other["ttft_s"]["mean"], rel=0.01)
    assert one["ttft_s"]["parts"]["load"] == pytest.approx(other["ttft_s"]["parts"]["load"], rel=0.02)
    assert one["fabric"]["largest_error"] <= 0.005


def test_servers_share_the_link_of_a_pool(tmp_path: Path) -> None:
    """At 28.4 GB/s of the pool's link, two loads at once take twice as long; at twice as much, no longer than one."""
    trace = write_trace(tmp_path, prompts(2))
    alone = 5.8e-6 + 16 * BLOCK / (RATE * 1e9)
    narrow = cx.kv.serve(serving(trace, 2)).found
    assert load_time(narrow) == pytest.approx(2 * alone, rel=0.01)
    wide = cx.kv.serve(serving(trace, 2, fabric=fabric(2, "56.85GB/s"))).found
    assert load_time(wide) == pytest.approx(alone, rel=0.02)
    # Only sets of moves that were there are measured, and which server it is makes no difference.
    assert narrow["fabric"]["sets"] <= 4
    loads = narrow["fabric"]["loads"]
    busy = (
        2 * 2 * 16 * BLOCK / (RATE * 1e9)
    )  # each block is written once and read once, and both ways are separate
    assert loads["link pool->sw"] * narrow["time_s"] == pytest.approx(busy / 2, rel=0.02)
    assert loads["link sw->gpu0 and 1 alike"] == pytest.approx(loads["link pool->sw"] / 2, rel=0.02)


def test_loads_that_overlap_for_a_while_take_what_they_take_line_by_line(tmp_path: Path) -> None:
    """The second begins a millisecond behind the first: alone, together, alone."""
    first = [(0.0, 512, 1, [1]), (0.0, 512, 1, [2])]
    again = [(100.0, 1024, 1, [1, 11]), (100.001, 1024, 1, [2, 12])]
    found = cx.kv.serve(serving(write_trace(tmp_path, first + again), 2)).found
    spec = {
        **fabric(2),
        "tasks": {
            "objects": [{"name": "kv", "size": "1GiB"}],
            "processors": [{"name": "clock", "flops": 1e12}],
            "graph": [
                {"name": "wait", "kind": "compute", "on": "clock", "time": "1ms"},
                {"name": "one", "kind": "copy", "from": "kv", "to": "gpu0", "bytes": f"{BLOCK}B"},
                {
                    "name": "other",
                    "kind": "copy",
                    "from": "kv",
                    "to": "gpu1",
                    "bytes": f"{BLOCK}B",
                    "offset": "512MiB",
                    "after": ["wait"],
                },
            ],
            "exact": True,
        },
    }
    file = tmp_path / "both.yaml"
    file.write_text(json.dumps(spec))
    tasks = cx.run(file).plain()["tasks"]["per_task"]
    lines = sum(tasks[name]["end_ns"] - tasks[name]["start_ns"] for name in ("one", "other")) / 2 * 1e-9
    assert lines > 1.4 * BLOCK / (RATE * 1e9)
    assert load_time(found) == pytest.approx(lines, rel=0.005)


def test_servers_that_differ_are_told_apart(tmp_path: Path) -> None:
    """One of three servers has a link of half the bandwidth: it is not exchanged for another."""
    slow = fabric(3, "100GB/s")
    slow["links"][1]["between"] = ["gpu[0-1]", "sw"]
    slow["links"].append({**slow["links"][1], "between": ["gpu2", "sw"], "bandwidth": "14.2125GB/s"})
    found = cx.kv.serve(serving(write_trace(tmp_path, prompts(3)), 3, fabric=slow)).found
    loads = found["fabric"]["loads"]
    assert loads["link sw->gpu2"] == pytest.approx(2 * loads["link sw->gpu0 and 1 alike"], rel=0.02)
    alone = 16 * BLOCK / (RATE * 1e9)
    assert load_time(found) == pytest.approx(alone * (1 + 1 + 2) / 3, rel=0.02)


def test_own_tiers_are_in_memories_of_their_own(tmp_path: Path) -> None:
    """Two servers whose memories are two do not meet; with a single one for both they share its link."""
    both = fabric(2, "28.425GB/s")
    both["devices"]["pool1"] = dict(both["devices"]["pool"])
    both["links"].append({**both["links"][2], "between": ["sw", "pool1"]})
    both["address_map"].append({"to": "pool1"})
    trace = write_trace(tmp_path, prompts(2))
    alone = 5.8e-6 + 16 * BLOCK / (RATE * 1e9)
    for devices, times in ((["pool", "pool1"], 1), (["pool"], 2)):
        tiers = [{"name": "own", "blocks": 200, "devices": devices}]
        found = cx.kv.serve(serving(trace, 2, fabric=both, tiers=tiers)).found
        assert load_time(found) == pytest.approx(times * alone, rel=0.01)
    # Spread over two memories, one tier has both of their links.
    tiers = [{"name": "both", "blocks": 200, "devices": ["pool*"], "shared": True}]
    spread = cx.kv.serve(serving(trace, 2, fabric=both, tiers=tiers)).found
    assert load_time(spread) == pytest.approx(alone, rel=0.03)


def test_the_link_that_limits_is_named(tmp_path: Path) -> None:
    """Prompts come so fast that servers do nothing but wait for the pool."""
    repeated = [(0.0, 4096, 1, list(range(8)))]
    repeated += [(0.1 + 0.01 * i, 4096 + 16, 1, [*range(8), 1000 + i]) for i in range(60)]
    trace = write_trace(tmp_path, repeated)
    spec = serving(trace, 2, fabric=fabric(2, "10GB/s"))
    found = cx.kv.serve(spec).found
    assert found["limit"]["resource"] == "link pool->sw"
    assert found["limit"]["busy"]["link pool->sw"] > 0.9
    assert found["tiers"]["pool"]["read_busy"] == pytest.approx(found["limit"]["busy"]["link pool->sw"])


def test_values_of_the_fabric_are_set_by_path(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, prompts(1))
    halved = Override.parse("fabric.links[1].bandwidth=14.2125GB/s")
    found = cx.kv.serve(serving(trace), overrides=[halved]).found
    assert load_time(found) == pytest.approx(2 * 16 * BLOCK / (RATE * 1e9), rel=0.01)


def test_a_path_of_the_fabric_that_is_none_is_named_as_it_was_given(tmp_path: Path) -> None:
    wrong = Override.parse("fabric.devices.gpu0.streems=4")
    with pytest.raises(InputError) as caught:
        cx.kv.serve(serving(write_trace(tmp_path, prompts(1)), fabric=fabric()), overrides=[wrong])
    assert "the path 'fabric.devices.gpu0.streems' matches nothing" in caught.value.problem
    assert caught.value.suggestion == "fabric.devices.gpu0.streams"
    for given, place, nearest in (
        ("links[9].delay=5ns", "'fabric' has no 'links[9]'", "fabric.links[0].delay"),
        ("link[0].delay=5ns", "'fabric' has no 'link[0]'", "fabric.links[0].delay"),
        ("run.sed=3", "'fabric.run' has no 'sed'", "fabric.run.seed"),
    ):
        wrong = Override.parse(f"fabric.{given}")
        with pytest.raises(InputError) as caught:
            cx.kv.serve(serving(write_trace(tmp_path, prompts(1)), fabric=fabric()), overrides=[wrong])
        assert f"matches nothing: {place}" in caught.value.problem
        assert caught.value.suggestion == nearest
    both = [Override.parse(f"fabric.devices.{name}=4") for name in ("gp.streams", "pol.capacity")]
    with pytest.raises(InputError) as caught:
        cx.kv.serve(serving(write_trace(tmp_path, prompts(1)), fabric=fabric()), overrides=both)
    for name in ("gp.streams", "pol.capacity"):
        assert f"the path 'fabric.devices.{name}' matches nothing" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words", "where"),
    [
        ({"servers": {"devices": []}}, "fewer devices than servers", "servers.devices"),
        ({"servers": {"devices": ["sw"]}}, "'sw' is no device with a DMA engine", "servers.devices[0]"),
        ({"tiers": {"devices": ["pol"]}}, "'pol' is no memory of the fabric", "tiers[0].devices[0]"),
        ({"tiers": {"bandwidth": "1GB/s"}}, "beside devices", "tiers[0].bandwidth"),
        ({"tiers": {"blocks": 2000}}, "larger than the memory", "tiers[0].capacity"),
        ({"tiers": {"devices": []}}, "no tier has devices", "fabric"),
        ({"fabric": None}, "there is no fabric", ""),
        ({"workload": True}, "all that moves over a fabric", "fabric.workload"),
        ({"streams": 1}, "one tier in one direction", "fabric.devices.gpu[0-0].streams"),
    ],
)
def test_what_is_refused(tmp_path: Path, change: dict[str, Any], words: str, where: str) -> None:
    spec = serving(write_trace(tmp_path, prompts(1)))
    spec["servers"] |= change.get("servers", {})
    spec["tiers"][0] |= change.get("tiers", {})
    if "fabric" in change:
        del spec["fabric"]
    if "workload" in change:
        spec["fabric"]["workload"] = {"host": {"pattern": "random", "footprint": "1GiB", "requests": 10}}
    if "streams" in change:
        spec["fabric"]["devices"]["gpu[0-0]"]["streams"] = 1
    with pytest.raises(InputError) as caught:
        cx.kv.serve(spec)
    assert words in str(caught.value)
    assert where in str(caught.value)


def test_a_fabric_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    spec = serving(write_trace(tmp_path, prompts(1)))
    (tmp_path / "fabric.yaml").write_text(json.dumps(spec["fabric"]))
    file = tmp_path / "kv.yaml"
    file.write_text(json.dumps({**spec, "fabric": "fabric.yaml"}))
    assert cx.kv.serve(file).found == cx.kv.serve(spec).found
    (tmp_path / "fabric.yaml").write_text(json.dumps(spec["fabric"]).replace('"posted"', '"postd"'))
    with pytest.raises(InputError, match=r"fabric\.yaml:1.*unknown key 'postd'"):
        cx.kv.serve(file)


FRAMED = {"header": "24B", "data_header": "24B", "port_delay": "20ns"}
ENGINE = {"kind": "gpu", "peer_to_peer": True, "streams": 4, "posted": 1024}


def apart(servers: int, blocks: int = 16) -> list[tuple[float, int, int, list[int]]]:
    """The prompts of `prompts`, each of those that load a long time after the one before."""
    asked = enumerate(prompts(servers, blocks))
    return [(at + 10 * (i % servers), tokens, out, hashes) for i, (at, tokens, out, hashes) in asked]


def test_a_server_far_from_a_shared_tier_is_not_like_one_beside_it(tmp_path: Path) -> None:
    """A mirror image but for the tier: gpu1 loads through the link in the middle."""
    sides = {
        "devices": {
            "host": {"kind": "host"},
            **{f"sw{i}": {"kind": "switch"} for i in range(2)},
            **{f"pool{i}": {"kind": "memory", "capacity": "64GiB"} for i in range(2)},
            "gpu[0-1]": ENGINE,
            "mid": {"kind": "switch"},
        },
        "links": [
            {"between": ["host", "mid"], "bandwidth": "64GB/s"},
            *({"between": [f"gpu{i}", f"sw{i}"], "bandwidth": f"{WIRE}GB/s", **FRAMED} for i in range(2)),
            *({"between": [f"pool{i}", f"sw{i}"], "bandwidth": f"{WIRE}GB/s", **FRAMED} for i in range(2)),
            *({"between": [f"sw{i}", "mid"], "bandwidth": "7GB/s", **FRAMED} for i in range(2)),
        ],
        "address_map": [{"to": "pool0"}, {"to": "pool1"}],
    }
    tiers = [{"name": "pool", "blocks": 200, "shared": True, "devices": ["pool0"]}]
    spec = serving(write_trace(tmp_path, apart(2)), 2, fabric=sides, tiers=tiers)
    seconds = [16 * BLOCK / (rate * 1e9) for rate in (RATE, 7 * PACKET / (PACKET + HEAD))]
    assert load_time(cx.kv.serve(spec).found) == pytest.approx(sum(seconds) / 2, rel=0.01)


def test_ways_by_the_number_of_a_device_make_servers_differ(tmp_path: Path) -> None:
    """Two of four servers behind two spines load: two with a spine each, or two that share one."""
    spines = {
        "devices": {
            "host": {"kind": "host"},
            "leaf[0-1]": {"kind": "switch"},
            "spine[0-1]": {"kind": "switch"},
            "gpu[0-3]": ENGINE,
            "pool": {"kind": "memory", "capacity": "64GiB"},
        },
        "links": [
            {"between": ["host", "leaf0"], "bandwidth": "64GB/s"},
            {"between": ["gpu[*]", "leaf0"], "bandwidth": f"{WIRE}GB/s", **FRAMED},
            {"between": ["leaf[*]", "spine[*]"], "bandwidth": f"{WIRE / 2}GB/s", **FRAMED},
            {"between": ["leaf1", "pool"], "bandwidth": "100GB/s", **FRAMED},
        ],
        "address_map": [{"to": "pool"}],
    }
    took = []
    for pair in ((0, 1), (0, 2)):
        # Requests go to servers in turn; who does not load computes a short prompt.
        short = [(100.0, 512, 1, [9000 + i]) for i in range(4)]
        asked = [each if i in pair else short[i] for i, each in enumerate(prompts(4)[4:])]
        spec = serving(write_trace(tmp_path, prompts(4)[:4] + asked), 4, fabric=spines)
        spec["tiers"][0]["blocks"] = 400
        took.append(float(cx.kv.serve(spec).found["ttft_s"]["parts"]["load"]))
    assert took[1] == pytest.approx(2 * took[0], rel=0.1)


def test_weights_by_the_name_of_a_device_make_servers_differ(tmp_path: Path) -> None:
    weighted = {
        "kind": "switch",
        "queueing": "voq",
        "arbitration": {"kind": "weighted", "weights": {"gpu0": 7, "gpu1": 1}},
    }
    shared = {
        "devices": {
            "host": {"kind": "host"},
            "swa": weighted,
            "swb": weighted,
            "gpu[0-1]": ENGINE,
            "pool[0-1]": {"kind": "memory", "capacity": "64GiB"},
        },
        "links": [
            {"between": ["host", "swa"], "bandwidth": "64GB/s"},
            {"between": ["gpu[*]", "swa"], "bandwidth": f"{WIRE}GB/s", **FRAMED},
            {"between": ["swa", "swb"], "bandwidth": f"{WIRE / 2}GB/s", **FRAMED},
            {"between": ["swb", "pool[*]"], "bandwidth": "100GB/s", **FRAMED},
        ],
        "address_map": [{"to": "pool0"}, {"to": "pool1"}],
    }
    tiers = [{"name": "own", "blocks": 200, "devices": ["pool0", "pool1"]}]
    spec = serving(write_trace(tmp_path, prompts(2)), 2, fabric=shared, tiers=tiers)
    bytes_each, rate = 16 * BLOCK, RATE / 2 * 1e9
    # gpu0 has 7/8 of the link until its end, and gpu1 all of it then.
    seconds = bytes_each / (rate * 7 / 8), 2 * bytes_each / rate
    assert load_time(cx.kv.serve(spec).found) == pytest.approx(sum(seconds) / 2, rel=0.02)


def test_a_device_of_two_servers_is_refused(tmp_path: Path) -> None:
    spec = serving(write_trace(tmp_path, prompts(2)), 2)
    spec["servers"]["devices"] = ["gpu0", "gpu0"]
    with pytest.raises(InputError, match="a device of two servers") as raised:
        cx.kv.serve(spec)
    assert "servers.devices[1]" in str(raised.value)


def test_a_tier_as_small_as_its_memory_fits(tmp_path: Path) -> None:
    spec = serving(write_trace(tmp_path, prompts(1, blocks=1)))
    spec["tiers"][0]["blocks"] = 1
    spec["fabric"]["devices"]["pool"]["capacity"] = "128MiB"
    assert cx.kv.serve(spec).found["requests"] == 2


@pytest.mark.parametrize("text", ["{}", "{links: []}", "{devices: {}}"])
def test_a_fabric_without_devices_is_refused_at_its_line(tmp_path: Path, text: str) -> None:
    spec = serving(write_trace(tmp_path, prompts(1)))
    del spec["fabric"]
    file = tmp_path / "serving.yaml"
    file.write_text(
        "".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items()) + f"fabric: {text}\n"
    )
    with pytest.raises(InputError, match="no devices") as caught:
        cx.kv.serve(file)
    assert (caught.value.file, caught.value.line, caught.value.path) == (
        str(file),
        len(spec) + 1,
        "fabric.devices",
    )
