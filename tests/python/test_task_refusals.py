"""Graphs of tasks: what a device cannot do is refused, and what looks like a mistake and is none is played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_tasks import compute, load, played, refused, system

import cxloom as cx
from cxloom.measure.bench import Bench

Spec = dict[str, Any]


def with_gpu(*graph: Spec) -> Spec:
    spec = system(*graph)
    spec["devices"]["gpu"] = {"kind": "gpu", "hbm": {"capacity": "1MiB", "bandwidth": "600GB/s"}}
    spec["links"].append({"between": ["host", "gpu"], "bandwidth": "32GB/s"})
    return spec


def test_a_gpu_makes_no_kernels_and_no_copies_between_objects(tmp_path: Path) -> None:
    between = {"name": "c", "kind": "copy", "from": "a", "to": "b", "on": "gpu"}
    assert "'gpu' moves blocks by a DMA engine, and makes no kernels" in refused(
        tmp_path, with_gpu(load("l") | {"on": "gpu"})
    )
    assert "makes no copies between objects" in refused(tmp_path, with_gpu(between))


def test_copies_that_caches_could_miss_are_refused_beforehand(tmp_path: Path, cxloom: Any) -> None:
    spec = with_gpu({"name": "c", "kind": "copy", "from": "a", "to": "gpu", "bytes": "64KiB"})
    spec["devices"]["host"]["cache"] = {"size": "64KiB"}
    assert "nobody keeps coherent" in refused(tmp_path, spec)
    checked = cxloom("check", tmp_path / "graph.yaml")
    assert checked.code == 2
    assert "tasks.graph[0]" in checked.err


def test_all_of_a_copy_is_looked_at_beforehand(tmp_path: Path) -> None:
    """An object in one memory, half of which caches may hold while nobody keeps it coherent."""
    spec = with_gpu({"name": "c", "kind": "copy", "from": "a", "to": "gpu", "bytes": "1MiB"})
    spec["devices"]["host"]["cache"] = {"size": "64KiB"}
    spec["devices"]["pool"]["dcoh"] = {"filter": {"entries": 65536}}
    first = {"to": ["pool"], "size": "512KiB", "coherence": "hdm-db"}
    spec["address_map"] = [first, *spec["address_map"]]
    said = refused(tmp_path, spec)
    assert "nobody keeps coherent" in said
    assert "tasks.graph[0]" in said


def test_a_copy_fits_into_the_memory_of_its_device(tmp_path: Path) -> None:
    into: Spec = {"name": "c", "kind": "copy", "from": "a", "to": "gpu", "bytes": "2MiB"}
    assert "at most 1MiB, its hbm.capacity" in refused(tmp_path, with_gpu(into))
    assert played(with_gpu(into | {"bytes": "1MiB"}))["time_ns"] > 0


def halves() -> Spec:
    """An object of two halves of 64 MiB, each in a memory of its own, and a small one."""
    spec = system({"name": "c", "kind": "copy", "from": "a", "to": "b", "bytes": "1MiB"})
    spec["tasks"]["objects"][0] |= {
        "size": "128MiB",
        "addresses": {"kind": "preferred", "nodes": ["pool"]},
    }
    spec["devices"]["other"]["capacity"] = "128MiB"
    spec["tasks"]["objects"][1]["size"] = "1MiB"
    return spec


@pytest.mark.parametrize(
    ("offsets", "read"),
    [
        ({}, "pool"),
        ({"from_offset": "64MiB"}, "other"),
        ({"offset": "64MiB", "to_offset": "0B"}, "other"),
        ({"offset": "64MiB", "from_offset": "0B", "to_offset": "0B"}, "pool"),
    ],
)
@pytest.mark.parametrize("engine", [True, False])
def test_each_end_of_a_copy_has_its_offset(offsets: Spec, read: str, engine: bool) -> None:
    spec = halves()
    copied = spec["tasks"]["graph"][0] | offsets
    if engine:  # an engine moves it to memory without addresses
        copied = {key: value for key, value in copied.items() if key != "to_offset"} | {"to": "gpu"}
        wider = with_gpu()
        spec["devices"]["gpu"] = wider["devices"]["gpu"]
        spec["links"] = wider["links"]
    else:
        copied["on"] = "host"
    spec["tasks"]["graph"] = [copied]
    spec["tasks"]["exact"] = True
    links = cx.run(cx.System.from_yaml(json.dumps(spec))).summary["per_link"]
    brought = {name: links[f"host-{name}"][f"{name}->host"]["bytes"] for name in ("pool", "other")}
    assert brought == {"pool": 0, "other": 0} | {read: 1 << 20}


def test_offsets_that_cannot_be_are_refused(tmp_path: Path) -> None:
    copied: Spec = {"name": "c", "kind": "copy", "from": "a", "to": "b", "on": "host", "bytes": "64B"}
    behind = refused(tmp_path, system(copied | {"to_offset": "4MiB"}))
    assert "graph[0].to_offset: behind the end of 'b'" in behind
    assert "graph[0].from_offset: behind the end of 'a'" in refused(
        tmp_path, system(copied | {"from_offset": "4MiB"})
    )
    within = refused(tmp_path, system(copied | {"from_offset": "32B"}))
    assert "other places of a line" in within
    assert "0B" in within
    assert played(system(copied | {"from_offset": "32B", "to_offset": "96B"}))["time_ns"] > 0
    into: Spec = {"name": "c", "kind": "copy", "from": "a", "to": "gpu", "bytes": "64B"}
    assert "has no addresses" in refused(tmp_path, with_gpu(into | {"to_offset": "0B"}))
    assert "unless kind is copy" in refused(tmp_path, system(compute("x", "1us") | {"from_offset": "0B"}))


def test_events_are_played_beside_every_line_alone(tmp_path: Path) -> None:
    spec = system(compute("x", "2us"))
    spec["events"] = [{"at": "1us", "fail": {"link": ["host", "other"]}}]
    assert "tasks.exact: true" in refused(tmp_path, spec)
    assert played(spec, exact=True)["time_ns"] == 2000


def test_a_dependence_that_is_named_twice_is_one() -> None:
    tasks = played(system(compute("x", "1us"), compute("y", "1us", "x", "x", on="q")))
    assert tasks["time_ns"] == 2000


def test_a_processor_with_the_name_of_a_host_has_a_lane_of_its_own() -> None:
    spec = system(compute("x", "1us", on="host"), load("l"))
    spec["tasks"]["processors"].append({"name": "host", "flops": 1e12})
    assert set(played(spec)["per_lane"]) == {"host", "host (processor)"}


def test_times_that_sum_to_months_are_refused(tmp_path: Path) -> None:
    chain = [compute(f"x{i}", "3600s", *([f"x{i - 1}"] if i else [])) for i in range(1400)]
    assert "run out of their 64 bits" in refused(tmp_path, system(*chain))


def test_exact_wins_over_a_window_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(json.dumps(system(load("l"), window="20us")))
    spec = cx.load(tmp_path / "spec.yaml").set("tasks.exact", True)
    assert cx.run(spec)["tasks"]["skipped_ns"] == 0


def test_exact_without_a_graph_is_refused(tmp_path: Path, cxloom: Any) -> None:
    """Each line is simulated anyway, and who gives the option thinks of another spec."""
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}\nlinks: [{between: [host, mem]}]\n"
        "address_map: [{to: mem}]\nworkload: {host: {pattern: random, requests: 10, footprint: 1MiB}}\n"
    )
    done = cxloom("run", spec, "--exact")
    assert done.code == 2
    assert "the spec has no graph of tasks" in done.err
    assert cxloom("run", spec).code == 0


def test_a_check_of_a_graph_says_nothing_of_requests(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(json.dumps(system(load("l"))))
    notes = cx.load(tmp_path / "spec.yaml").check()["notes"]
    assert not any("nobody makes requests" in note for note in notes)


def test_a_graph_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(json.dumps(system(load("l"))))
    with pytest.raises(cx.InputError, match="tasks are not measured") as raised:
        Bench(tmp_path / "spec.yaml")
    assert raised.value.line is not None


@pytest.mark.parametrize("command", ["explain", "advise"])
def test_tools_of_workloads_say_that_there_are_tasks(tmp_path: Path, cxloom: Any, command: str) -> None:
    (tmp_path / "spec.yaml").write_text(json.dumps(system(load("l")), indent=1))
    done = cxloom(command, tmp_path / "spec.yaml")
    assert done.code == 2
    assert "tasks" in done.err
    assert "cxloom run" in done.err
    assert "nobody makes requests" not in done.err
