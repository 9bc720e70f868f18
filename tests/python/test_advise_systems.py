"""Advice on systems with cores, switches, logical devices, dynamic capacity and root ports, with memory of a plug-in,
and for recorded programs."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plugin_support import PLUGINS, built
from test_advise import TWO, advised, near_and_far
from test_offered_memory import SYSTEMS, system
from validation.examples import slow

import cxloom as cx
from cxloom.advising.nodes import profiles
from cxloom.advising.objects import objects_of_program
from cxloom.base.errors import InputError
from cxloom.execution.objects import ObjectUse
from cxloom.measure.bench import Bench

SHARED = Path(__file__).parents[2] / "examples" / "share.yaml"


def check(found: Any) -> None:
    """What advice has to be, whatever the system."""
    assert [each.policy for each in found.outcomes] == ["first-touch", "uniform", "oli", "optimum"]
    assert found.notes == []
    assert found.recipe.count("numactl") >= 1
    for shares in (each.proposal.shares for each in found.outcomes if each.proposal):
        for share in shares:
            assert sum(share.values()) == pytest.approx(1)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_advice_on_memory_behind_switches(kind: str) -> None:
    """Virtual switches, logical devices, extents, a failing link, a host's own memory, a fabric."""
    spec = system(kind, {"kind": "preferred"}, at_first=True)
    spec.set(
        "workload.h",
        {
            "pattern": "objects",
            "requests": 3000,
            "objects": [
                {"name": "hot", "size": "64KiB", "accesses": 9},
                {"name": "cold", "size": "32KiB", "pattern": "pointer-chase"},
            ],
        },
    )
    found = cx.advise(spec, jobs=1)
    check(found)
    assert {node.name for node in found.nodes} == {
        "logical device": {"a", "b ld 0"},
        "local memory": {"h", "b"},
    }.get(kind, {"a", "b"})


@pytest.mark.parametrize("core", [{"mshrs": 8}, {"mshrs": 8, "cores": 4}], ids=["a core", "four cores"])
def test_advice_for_cores(core: dict[str, Any]) -> None:
    spec = near_and_far(objects=TWO)
    spec["devices"]["host"]["core"] = core
    if "cores" in core:
        spec["workload"]["host"] |= {"threads": 4, "shared_footprint": True}
    found = advised(spec)
    check(found)
    # Each core waits for so many lines at most: 64 B of each in a latency, unless a link of 30 or of 10 GB/s is full.
    lines = core["mshrs"] * core.get("cores", 1)
    for node, link in zip(found.nodes, (30, 10), strict=True):
        bound = min(link, 64 * lines / node.latency["host"])
        assert node.bandwidth == pytest.approx(bound, rel=0.1)


# A recording has no entry in the workload: its threads measure a peak. 4 misses of a core are in flight.
def test_nodes_of_a_recording_are_measured_by_its_threads() -> None:
    spec = near_and_far(objects=TWO)
    spec["devices"]["host"]["core"] = {"mshrs": 4}
    bench = Bench(cx.System.from_yaml(json.dumps(spec)), jobs=1)
    found = {}
    for threads in (1, 4):
        objects = objects_of_program("host", [ObjectUse("table", 1 << 24, 1000)], threads)
        nodes, in_flight = profiles(bench, objects, {})
        assert in_flight["host"] == pytest.approx(4 * threads, rel=0.05)
        found[threads] = nodes[0]
    assert found[1].bandwidth == pytest.approx(4 * 64 / found[1].latency["host"], rel=0.05)
    assert found[4].bandwidth > 3 * found[1].bandwidth


def test_advice_behind_a_root_port() -> None:
    spec = near_and_far(objects=TWO)
    spec["devices"]["root"] = {"kind": "root-port"}
    spec["links"][1:] = [{"between": ["host", "root"]}, {**spec["links"][1], "between": ["root", "far"]}]
    check(advised(spec))


def test_objects_of_several_hosts_share_the_nodes() -> None:
    spec = near_and_far(objects=TWO)
    spec["devices"]["sw"] = {"kind": "switch"}
    spec["devices"]["other"] = {"kind": "host"}
    spec["links"] = [{"between": [name, "sw"]} for name in ("host", "other", "near")]
    spec["links"].append({"between": ["far", "sw"], "delay": "100ns"})
    spec["workload"]["other"] = {"pattern": "random", "requests": 20000, "footprint": "8MiB"}
    found = advised(spec)
    check(found)
    assert [each.name for each in found.objects] == ["hot", "cold", "other"]


@slow
def test_memory_of_a_plugin_is_measured_as_any(subprocess_cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = near_and_far(objects=TWO)
    of = {"kind": "fixed", "latency": "100ns", "banks": 1}
    spec["devices"]["far"]["media"] = {"kind": "mirrored", "of": of}
    file = tmp_path / "system.yaml"
    file.write_text(json.dumps(spec))
    library = built(PLUGINS / "mirrored.cpp")
    done = subprocess_cxloom("advise", file, "--plugin", library, "--json", "--jobs", 1)
    assert done.code == 0, done.err
    far = next(node for node in json.loads(done.out)["nodes"] if node["name"] == "far")
    # One bank of 100 ns on each side: reads alternate between the two.
    assert far["bandwidth_gb_per_s"] == pytest.approx(2 * 0.64, rel=0.1)


@pytest.mark.parametrize("rate", ["100M/s"])
def test_what_arrives_at_a_rate_is_compared_by_latency(rate: str) -> None:
    found = advised(near_and_far(objects=TWO, rate=rate))
    assert found.proposed.policy == "first-touch"  # 6.4 GB/s of 30: the near memory is the nearest
    near, far = (node.latency["host"] for node in found.nodes)
    by = {each.policy: each.latency for each in found.outcomes}
    assert by["first-touch"] == by["optimum"] == pytest.approx(near, rel=0.05)
    assert by["uniform"] == pytest.approx((near + far) / 2, rel=0.05)


def test_objects_of_a_recorded_program(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    source, program, trace = (
        PLUGINS.parent / "programs" / "objects.c",
        tmp_path / "objects",
        tmp_path / "app.parquet",
    )
    include = Path(__file__).parents[2] / "include"
    subprocess.run([shutil.which("cc") or "gcc", "-O2", f"-I{include}", source, "-o", program], check=True)
    assert cxloom("exec", "--system", "memory/local-remote-cxl", "--record", trace, "--", program).code == 0
    beside = cx.load("memory/local-remote-cxl").resolve().plain()
    host = next(name for name, device in beside["devices"].items() if device["kind"] == "host")
    beside["devices"]["gpu"] = {"kind": "gpu"}
    beside["links"].append({"between": [host, "gpu"]})
    beside["workload"] = {"gpu": {"pattern": "transfer", "size": "4KiB", "footprint": "1MiB", "requests": 9}}
    (tmp_path / "beside.yaml").write_text(json.dumps(beside))
    done = cxloom(
        "advise", tmp_path / "beside.yaml", "--replay", trace, "--host", host, "--json", "--jobs", 1
    )
    assert done.code == 0, done.err
    said = json.loads(done.out)
    # Notes of `exec` end with its options, of which `advise` has none.
    assert "the program runs alone: the workload of gpu is not played" in said["notes"]
    assert not [note for note in said["notes"] if "--" in note]
    assert "data:table" in [each["name"] for each in said["objects"]]
    first, spread = said["placements"][0], said["placements"][1]
    assert first["near"] == 1.0
    assert spread["near"] == pytest.approx(1 / 3, abs=0.05)
    # Its table is larger than a tenth of all and has half of the accesses: half of it leaves the near node.
    table = next(each for each in said["objects"] if each["name"] == "data:table")
    assert table["weights"]["oli"] == {"local": 1, "cxl": 1}
    assert said["proposed"] == max(said["placements"], key=lambda each: each["gain"])["policy"]
    refused = cxloom("advise", "memory/local-remote-cxl", "--replay", trace, "--out", tmp_path / "a.yaml")
    assert refused.code == 2


def test_a_trace_of_a_workload_is_refused(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = near_and_far()
    (tmp_path / "t.txt").write_text("0x0 R 64\n")
    spec["workload"]["host"] = {"trace": "t.txt", "addresses": "first-touch"}
    file = tmp_path / "system.yaml"
    file.write_text(json.dumps(spec))
    done = cxloom("advise", file)
    assert done.code == 2
    assert "workload.host.trace" in done.err
    assert "--replay" in done.err


def test_the_weights_of_two_fast_nodes_are_those_of_their_bandwidths() -> None:
    """Form 2: B_near / (B_near + B_far), which a node that fills its queue while it is measured does not show."""
    memory = {"kind": "memory", "capacity": "1GiB", "controller_time": "20ns"}
    found = advised(
        {
            "devices": {
                "host": {"kind": "host", "process_time": "20ns", "queue": 4096},
                "hbm": {**memory, "media": {"kind": "fixed", "latency": "60ns", "bandwidth": "1000GB/s"}},
                "ddr": {**memory, "media": {"kind": "fixed", "latency": "80ns", "bandwidth": "300GB/s"}},
            },
            "links": [{"between": ["host", "hbm"]}, {"between": ["host", "ddr"]}],
            "address_map": [{"to": "hbm"}, {"to": "ddr"}],
            "workload": {"host": {"pattern": "random", "footprint": "64MiB", "requests": 20000}},
            "run": {"warmup": 20000},
        }
    )
    assert [node.bandwidth for node in found.nodes] == pytest.approx([1000, 300], rel=0.01)
    best = next(each for each in found.outcomes if each.policy == "optimum").proposal
    weights = best.weights(0)
    assert weights["hbm"] / sum(weights.values()) == pytest.approx(1000 / 1300, rel=0.02)


def test_one_node_is_too_small_for_what_nobody_can_choose(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    """Placed nowhere, two programs use the same addresses; what they would need if each had pages of its own is nothing
    that the user asked for."""
    file = tmp_path / "system.yaml"
    file.write_text(
        """
devices:
  host[0-1]: {kind: host}
  sw: {kind: switch}
  mem: {kind: memory, capacity: 1MiB}
links: [{between: ["host*", sw]}, {between: [sw, mem]}]
address_map: [{to: mem}]
workload:
  "host*": {pattern: random, requests: 200, footprint: 1MiB}
"""
    )
    done = cxloom("advise", file)
    assert done.code == 2
    assert "system.yaml:7" in done.err
    assert "nothing to choose" in done.err
    assert "out of memory" not in done.err


def test_what_hosts_share_has_no_place_to_advise() -> None:
    with pytest.raises(InputError, match=r"workload\.host\[\*\]\.pattern: what hosts share .*, found share"):
        cx.advise(cx.load(SHARED), jobs=1)


def test_one_node_is_refused_before_anything_is_played() -> None:
    """Memories of one entry are interleaved: they are one node, however many they are."""
    spec = near_and_far(objects=TWO)
    spec["address_map"] = [{"to": ["near", "far"], "interleave": "256B"}]
    seen: list[object] = []
    with pytest.raises(
        cx.InputError, match=r"nothing to choose.*found near\+far.*memories of one are one node"
    ):
        cx.advise(cx.System.from_yaml(json.dumps(spec)), watch=seen.append)
    assert not seen


def test_of_idle_latencies_no_summaries_of_components_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand devices have megabytes of them at each point, of which there are as many as requesters and nodes."""
    kept: list[set[str]] = []
    run = Bench.run

    def noted(self: Bench, *given: Any) -> Any:
        answers = run(self, *given)
        kept.append({key for each in answers for key in each if key.startswith("per_")})
        return answers

    monkeypatch.setattr(Bench, "run", noted)
    cx.advise("memory/local-remote-cxl")
    idle, loaded = kept
    assert not idle
    assert {"per_requester", "per_memory"} <= loaded
