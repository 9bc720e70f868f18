"""Graphs of tasks: closed forms, order, the critical path, who used which link, and what is refused."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom import _core
from cxloom.results.terminal import to_text
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolve import resolve

Spec = dict[str, Any]
LINE = 64
RATE = 64.0  # bytes a nanosecond: a line each
LATENCY = 100.0
MIB = 1 << 20


def system(*graph: Spec, queue: int = 256, **tasks: Any) -> Spec:
    """A host beside a memory of 100 ns and 64 B a nanosecond, and another one; nothing else takes time.

    Links are as fast as the memories, and add the nanosecond of the last line.
    """
    medium = {"kind": "fixed", "latency": "100ns", "bandwidth": "64GB/s"}
    memory = {"kind": "memory", "capacity": "64MiB", "controller_time": "0ns", "queue": 1024, "media": medium}
    free = {"port_delay": "0ns", "bandwidth": "64GB/s", "header": "0B", "data_header": "0B"}
    return {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns", "queue": queue},
            "pool": dict(memory),
            "other": dict(memory),
        },
        "links": [{"between": ["host", "pool"], **free}, {"between": ["host", "other"], **free}],
        "address_map": [{"to": "pool"}, {"to": "other"}],
        "tasks": {
            "objects": [
                {"name": "a", "size": "4MiB", "addresses": {"kind": "bind", "nodes": ["pool"]}},
                {"name": "b", "size": "4MiB", "addresses": {"kind": "bind", "nodes": ["other"]}},
            ],
            "processors": [{"name": "p", "flops": 1e12}, {"name": "q", "flops": 2e12}],
            "graph": list(graph),
            **tasks,
        },
    }


def compute(name: str, time: str, *after: str, on: str = "p", **more: Any) -> Spec:
    return {"name": name, "kind": "compute", "on": on, "time": time, "after": list(after), **more}


def load(name: str, *after: str, size: str = "1MiB", **more: Any) -> Spec:
    reads = [{"object": "a", "bytes": size}]
    return {"name": name, "kind": "kernel", "on": "host", "reads": reads, "after": list(after), **more}


def played(spec: Spec, exact: bool = True) -> Spec:
    """What became of the tasks."""
    spec = copy.deepcopy(spec)
    if exact:
        spec["tasks"]["exact"] = True
    return summary_of(spec)["tasks"]


def summary_of(spec: Spec) -> Spec:
    simulation = _core.Simulation(resolve(from_plain(spec, Origin())).plain(), {})
    while not simulation.advance(1_000_000):
        pass
    return dict(simulation.summary())


def ends(tasks: Spec) -> dict[str, float]:
    return {name: task["end_ns"] for name, task in tasks["per_task"].items()}


def transfer(size: int) -> float:
    """A load of so many bytes, alone: the latency, and a line each nanosecond."""
    return LATENCY + size / RATE


def sound(tasks: Spec, graph: list[Spec]) -> None:
    """What holds of every graph: times telescope, nothing starts early, lanes do one task at a time."""
    per_task = tasks["per_task"]
    assert sum(round(1000 * part["time_ns"]) for part in tasks["critical_path"]) == round(
        1000 * tasks["time_ns"]
    )
    for task in graph:
        mine = per_task[task["name"]]
        assert mine["start_ns"] <= mine["end_ns"] <= tasks["time_ns"]
        before = [per_task[name]["end_ns"] for name in task.get("after", [])]
        assert all(mine["start_ns"] >= end for end in before)
        waited = mine["waited_for"]
        assert mine["start_ns"] == (0.0 if waited is None else per_task[waited]["end_ns"])
    for lane in tasks["per_lane"]:
        own = sorted((t["start_ns"], t["end_ns"]) for t in per_task.values() if t["lane"] == lane)
        assert all(first[1] <= second[0] for first, second in pairwise(own))


def test_a_chain_takes_the_sum_of_its_tasks() -> None:
    graph = [compute("one", "10us"), compute("two", "5us", "one", on="q"), compute("three", "1us", "two")]
    tasks = played(system(*graph))
    sound(tasks, graph)
    assert tasks["time_ns"] == 16_000
    assert [part["task"] for part in tasks["critical_path"]] == ["one", "two", "three"]


def test_a_fork_takes_the_longest_of_its_ways() -> None:
    graph = [
        compute("begin", "1us"),
        compute("short", "2us", "begin", on="q"),
        compute("long", "7us", "begin", stream=1),
        compute("end", "1us", "short", "long"),
    ]
    tasks = played(system(*graph))
    sound(tasks, graph)
    assert tasks["time_ns"] == 9_000
    assert tasks["per_task"]["end"]["waited_for"] == "long"
    assert tasks["per_lane"]["p"] == {"tasks": 2, "busy_ns": 2_000}


def test_a_graph_says_all_that_became_of_it() -> None:
    tasks = played(system(load("l"), compute("c", "1us", "l")))
    whole = {
        "time_ns",
        "error_ns",
        "skipped_ns",
        "per_task",
        "critical_path",
        "per_lane",
        "per_link",
        "windows",
    }
    assert set(tasks) == whole
    assert tasks["error_ns"] == tasks["skipped_ns"] == 0
    assert tasks["windows"] == []
    assert tasks["per_task"]["c"] == {
        "kind": "compute",
        "lane": "p",
        "start_ns": transfer(MIB),
        "end_ns": transfer(MIB) + 1_000,
        "waited_for": "l",
        "bytes": 0,
    }
    assert tasks["per_task"]["l"]["waited_for"] is None


def test_a_task_whose_bytes_are_lost_has_failed() -> None:
    spec = system(load("l"), compute("c", "1us", "l"))
    spec["links"][0] |= {"outage": {"at": "5us", "length": "3us", "fail": True}, "phy": "pcie5-x16"}
    for key in ("bandwidth", "header", "data_header"):
        del spec["links"][0][key]
    tasks = played(spec)
    assert tasks["per_task"]["l"]["failed"] is True
    assert "failed" not in tasks["per_task"]["c"]


def test_operations_take_what_the_processor_s_rate_says() -> None:
    work = {"name": "t", "kind": "compute", "flops": 3e6}
    assert played(system({**work, "on": "p"}))["time_ns"] == 3_000
    assert played(system({**work, "on": "q"}))["time_ns"] == 1_500


def test_loads_from_a_pool_and_compute_behind_them_end_when_they_must() -> None:
    """Two loads of 1 MiB on one lane, and compute behind each: 16 484, 32 968, 26 484 and 37 968 ns."""
    graph = [load("l1"), load("l2"), compute("c1", "10us", "l1"), compute("c2", "5us", "l2")]
    tasks = played(system(*graph))
    sound(tasks, graph)
    assert ends(tasks) == {"l1": 16_484, "l2": 32_968, "c1": 26_484, "c2": 37_968}
    assert tasks["per_link"] == {"pool->host": {"a": 2 * MIB}}


def test_two_loads_of_one_memory_at_once_take_twice_as_long() -> None:
    graph = [load("l1"), load("l2", stream=1)]
    tasks = played(system(*graph, queue=512))
    sound(tasks, graph)
    assert tasks["time_ns"] == transfer(2 * MIB)
    assert min(ends(tasks).values()) > 0.98 * tasks["time_ns"]


def test_compute_beside_a_load_takes_nothing_of_it() -> None:
    tasks = played(system(load("l"), compute("c", "3us")))
    assert ends(tasks) == {"l": transfer(MIB), "c": 3_000}


def with_second(spec: Spec, name: str) -> Spec:
    """The same with another host beside both memories."""
    spec["devices"][name] = spec["devices"]["host"]
    for link in spec["links"][:2]:
        memory = link["between"][1]
        spec["devices"][memory]["heads"] = 2
        spec["links"].append({**link, "between": [name, memory]})
    return spec


def test_two_hosts_share_a_memory() -> None:
    tasks = played(with_second(system(load("l1"), {**load("l2"), "on": "host2"}), "host2"))
    assert tasks["time_ns"] == pytest.approx(transfer(2 * MIB), rel=0.01)
    assert tasks["per_link"] == {"pool->host": {"a": MIB}, "pool->host2": {"a": MIB}}


def test_a_workload_beside_a_graph_contends_with_it_and_ends_with_it() -> None:
    spec = system(load("l"))
    alone = played(spec)["time_ns"]
    spec = with_second(spec, "noise")
    spec["workload"] = {"noise": {"pattern": "sequential", "requests": 10_000_000, "footprint": "1MiB"}}
    assert played(spec)["time_ns"] == pytest.approx(2 * alone, rel=0.02)


@pytest.mark.parametrize("cores", [False, True])
def test_a_kernel_takes_the_longer_of_its_cores_and_its_memory(cores: bool) -> None:
    """Its last line is made when its cores are done, or just before."""
    spec = system(load("l", time="40us"))
    if cores:
        spec["devices"]["host"]["core"] = {"clock": "4G/s", "mshrs": 256, "window": 4096}
    assert played(spec)["time_ns"] == pytest.approx(40_000 + LATENCY, abs=10)
    spec["tasks"]["graph"][0]["time"] = "2us"
    assert played(spec)["time_ns"] == pytest.approx(transfer(MIB), rel=0.01)


def test_threads_have_cores_of_their_own() -> None:
    """A core has one line at a time with one miss register; four cores have four."""
    spec = system(load("l", size="64KiB"))
    spec["devices"]["host"]["core"] = {"mshrs": 1}
    one = played(spec)["time_ns"]
    spec["tasks"]["graph"][0]["threads"] = 4
    assert one == pytest.approx(1024 * (LATENCY + LINE / RATE), rel=0.01)
    assert played(spec)["time_ns"] == pytest.approx(one / 4, rel=0.01)


def test_a_core_begins_a_kernel_when_it_starts_and_not_when_it_had_time() -> None:
    """Time in which a core has nothing to do is not saved up for later work."""
    spec = system(
        load("first", time="10us"), compute("between", "50us", "first"), load("last", "between", time="10us")
    )
    spec["devices"]["host"]["core"] = {"mshrs": 256, "window": 4096}
    for task in (0, 2):
        spec["tasks"]["graph"][task]["reads"][0]["bytes"] = "64KiB"
    tasks = played(spec)["per_task"]
    assert tasks["last"]["end_ns"] - tasks["last"]["start_ns"] == pytest.approx(10_000, rel=0.02)


@pytest.mark.parametrize("cores", [False, True])
def test_a_copy_reads_each_line_and_writes_it(cores: bool) -> None:
    spec = system({"name": "c", "kind": "copy", "from": "a", "to": "b", "on": "host"}, exact=True)
    if cores:
        spec["devices"]["host"]["core"] = {"mshrs": 64}
    summary = summary_of(spec)
    assert summary["tasks"]["per_link"] == {"host->other": {"b": 4 * MIB}, "pool->host": {"a": 4 * MIB}}
    memories = summary["per_memory"]
    assert memories["pool"]["reads"] == memories["other"]["writes"] == 4 * MIB // LINE
    assert memories["pool"]["writes"] == memories["other"]["reads"] == 0


def test_bytes_are_conserved() -> None:
    """What tasks say that they move is what memories served."""
    graph = [
        {
            "name": "k",
            "kind": "kernel",
            "on": "host",
            "reads": ["a", "b"],
            "writes": [{"object": "a", "bytes": "1MiB"}],
        },
        {
            "name": "c",
            "kind": "copy",
            "from": "b",
            "to": "a",
            "on": "host",
            "bytes": "65KiB",
            "offset": "3KiB",
        },
    ]
    summary = summary_of(system(*graph, exact=True))
    assert summary["tasks"]["per_task"]["k"]["bytes"] == 9 * MIB
    assert summary["tasks"]["per_task"]["c"]["bytes"] == 65 << 10
    lines = 9 * MIB // LINE + 2 * (65 << 10) // LINE
    assert summary["requests"] == lines
    assert sum(sum(link.values()) for link in summary["tasks"]["per_link"].values()) == lines * LINE


@pytest.mark.parametrize("page", ["4KiB", "64KiB"])
def test_objects_are_where_their_placement_says(page: str) -> None:
    """Interleaved 3 : 1, and what has no room in the first memory goes to the second."""
    spec = system(load("l", size="4MiB"), page=page)
    spec["tasks"]["objects"][0]["addresses"] = {
        "kind": "interleave",
        "nodes": ["pool", "other"],
        "weights": [3, 1],
    }
    assert played(spec)["per_link"] == {"other->host": {"a": MIB}, "pool->host": {"a": 3 * MIB}}
    spec["tasks"]["objects"][0] |= {"size": "66MiB", "addresses": {"kind": "preferred", "nodes": ["pool"]}}
    spec["tasks"]["graph"][0]["reads"] = [{"object": "a", "offset": "63MiB", "bytes": "3MiB"}]
    assert played(spec)["per_link"] == {"other->host": {"a": 2 * MIB}, "pool->host": {"a": MIB}}


def test_a_full_memory_leaves_its_turns_to_the_other() -> None:
    """100 MiB interleaved over two memories of 64 MiB, of which another object has 32 MiB of the first."""
    spec = system(load("l", size="100MiB"))
    spec["tasks"]["objects"][0] |= {"name": "x", "size": "32MiB"}
    both = {"kind": "interleave", "nodes": ["pool", "other"]}
    spec["tasks"]["objects"][1] |= {"name": "a", "size": "90MiB", "addresses": both}
    spec["tasks"]["graph"][0]["reads"] = ["a"]
    assert played(spec, exact=False)["per_link"] == {
        "other->host": {"a": 58 * MIB},
        "pool->host": {"a": 32 * MIB},
    }


def test_every_run_gives_the_same_bytes() -> None:
    graph = [load(f"l{i}", pattern="random", stream=i % 3) for i in range(6)]
    for exact in (True, False):
        spec = system(*graph, exact=exact)
        assert json.dumps(summary_of(spec)) == json.dumps(summary_of(spec))


def refused(tmp_path: Path, spec: Spec) -> str:
    """What is said of it, from a file."""
    path = tmp_path / "graph.yaml"
    path.write_text(json.dumps(spec, indent=1))
    with pytest.raises(cx.InputError) as raised:
        cx.run(cx.load(path))
    assert raised.value.line is not None
    return str(raised.value)


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([compute("x", "1us", "y"), compute("y", "1us", "x", on="q")], "tasks wait for each other"),
        ([compute("x", "1us", "y"), compute("y", "1us")], "of one stream"),
        ([compute("x", "1us"), compute("x", "1us")], "two tasks have one name"),
        ([compute("x", "1us", "why")], "no task 'why'"),
        ([compute("x", "-1us")], "-1us"),
        ([compute("x", "1us", on="host")], "'host' is no processor"),
        ([{**load("x"), "on": "pool"}], "'pool' makes no requests"),
        ([{**load("x"), "threads": 2}], "threads need cores"),
        ([{**load("x"), "reads": ["c"]}], "no object 'c'"),
        ([{**load("x"), "reads": [{"object": "a", "offset": "4MiB"}]}], "behind the end of 'a'"),
        ([{"name": "x", "kind": "copy", "from": "a", "to": "pool"}], "'pool' has no DMA engine"),
        ([{"name": "x", "kind": "copy", "from": "a", "to": "b"}], "needs somebody"),
        ([{"name": "x", "kind": "copy", "from": "a", "to": "b", "on": "host", "bytes": "5MiB"}], "more than 'a' has"),
        ([{**load("x"), "flops": 1e6}], "no rate is known of 'host'"),
        ([{**compute("x", "1us"), "flops": 1.0}], "leave one out"),
        ([], "a graph without tasks"),
    ],
)  # fmt: skip
def test_mistakes_are_refused_with_their_place(tmp_path: Path, tasks: list[Spec], said: str) -> None:
    assert said in refused(tmp_path, system(*tasks))


def test_a_cycle_is_named(tmp_path: Path) -> None:
    graph = [compute("x", "1us", "z"), compute("y", "1us", "x", on="q"), compute("z", "1us", "y", stream=1)]
    assert "x, y, z, x" in refused(tmp_path, system(*graph))


def test_an_object_that_no_node_can_hold_is_refused(tmp_path: Path) -> None:
    spec = system(load("l"))
    spec["tasks"]["objects"][1]["size"] = "65MiB"
    said = refused(tmp_path, spec)
    assert "object 'b' is larger than the memory" in said
    assert "at most 64MiB" in said


def test_a_host_with_a_workload_has_no_tasks(tmp_path: Path) -> None:
    spec = system(load("l"))
    spec["workload"] = {"host": {"pattern": "random", "requests": 10, "footprint": "1MiB"}}
    assert "has a workload" in refused(tmp_path, spec)


def test_a_graph_has_no_warm_up(tmp_path: Path) -> None:
    assert "no warm-up" in refused(tmp_path, {**system(load("l")), "run": {"warmup": 10}})


def test_a_graph_is_read_from_json_lines_and_from_yaml(tmp_path: Path) -> None:
    built = cx.TaskGraph()
    built.compute("one", "p", time="1us")
    built.compute("two", "p", flops=1e6, after=["one"])
    built.write(tmp_path / "graph.jsonl")
    (tmp_path / "graph.yaml").write_text(
        "- {name: one, kind: compute, on: p, time: 1us}\n"
        "- {name: two, kind: compute, on: p, flops: 1e6, after: [one]}\n"
    )
    for name in ("graph.jsonl", "graph.yaml"):
        spec = system(file=name)
        del spec["tasks"]["graph"]
        (tmp_path / "spec.yaml").write_text(json.dumps(spec))
        assert cx.run(cx.load(tmp_path / "spec.yaml"))["tasks"]["time_ns"] == 2_000


GOOD = '{"name": "a", "kind": "compute", "on": "p", "time": "1us"}'
GOOD_YAML = "- {name: a, kind: compute, on: p, time: 1us}"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("graph.jsonl", GOOD + '\n{"name": "b"\n', 2),
        ("graph.jsonl", GOOD + "\n" + GOOD.replace('"a"', '"b"').replace('"p"', '"x"'), 2),
        ("graph.jsonl", "\n[1]\n", 2),
        ("graph.yaml", GOOD_YAML + "\n" + GOOD_YAML.replace(": a", ": b").replace("1us", "-1us"), 2),
    ],
)
def test_mistakes_in_a_file_of_tasks_have_its_line(tmp_path: Path, name: str, text: str, line: int) -> None:
    spec = system(file=name)
    del spec["tasks"]["graph"]
    (tmp_path / "spec.yaml").write_text(json.dumps(spec))
    (tmp_path / name).write_text(text)
    with pytest.raises(cx.InputError) as raised:
        cx.run(cx.load(tmp_path / "spec.yaml"))
    assert Path(str(raised.value.file)).name == name
    assert raised.value.line == line


def test_the_builder_makes_what_a_spec_says() -> None:
    graph = cx.TaskGraph()
    graph.object("a", "1MiB", addresses={"kind": "bind", "nodes": ["pool"]})
    graph.processor("p", 1e12)
    first = graph.kernel("k", "host", reads=["a"])
    graph.compute("c", "p", flops=1e6, after=[first])
    spec = system()
    assert len(graph) == 2
    spec["tasks"] = graph.section()
    assert played(spec)["time_ns"] == transfer(MIB) + 1_000


def test_the_table_says_how_long_and_what_of_it_was_the_path() -> None:
    result = cx.run(
        cx.System.from_yaml(json.dumps(system(load("l1"), compute("c1", "10us", "l1"), exact=True)))
    )
    text = to_text(result.summary)
    assert "2 tasks in 26.5 us, every line simulated" in text
    assert "critical path" in text
    assert "pool->host" in text


def test_the_table_tells_rates_of_lines_from_processors_alone() -> None:
    alone = cx.run(cx.System.from_yaml(json.dumps(system(compute("c1", "10us"), compute("c2", "5us", "c1")))))
    assert "2 tasks in 15.0 us, none of which moves a line" in to_text(alone.summary)
    both = cx.run(cx.System.from_yaml(json.dumps(system(load("l1"), compute("c1", "10us", "l1")))))
    stood = sum(window["stood_for_ns"] for window in both.summary["tasks"]["windows"])
    share = f"{100 * stood / both.summary['tasks']['time_ns']:.1f} % of it at rates"
    assert (share if stood else "every line simulated") in " ".join(to_text(both.summary).split())
