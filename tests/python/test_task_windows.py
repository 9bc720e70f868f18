"""Windows of lines beside every line: ten graphs, the time within 1 %, and within the error that the result states."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from validation.examples import slow, some

from cxloom import _core
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolve import resolve

Spec = dict[str, Any]


def server(*graph: Spec, interleaved: bool = False, dram: bool = False) -> Spec:
    """Two hosts and two memories around a switch."""
    near: Spec = {"kind": "fixed", "latency": "80ns", "bandwidth": "40GB/s"}
    if dram:
        near = {"kind": "dram", "preset": "DDR5-4800"}
    both = {"kind": "interleave", "nodes": ["near", "far"], "weights": [2, 1]}
    far = {"kind": "bind", "nodes": ["far"]}
    place = both if interleaved else {"kind": "bind", "nodes": ["near"]}
    memory = {"kind": "memory", "capacity": "256MiB"}
    return {
        "devices": {
            "host": {"kind": "host", "queue": 64},
            "gpu": {"kind": "host", "queue": 96},
            "sw": {"kind": "switch"},
            "near": {**memory, "media": near},
            "far": {**memory, "media": {"kind": "fixed", "latency": "150ns", "bandwidth": "16GB/s"}},
        },
        "links": [
            {"between": ["host", "sw"], "bandwidth": "32GB/s"},
            {"between": ["gpu", "sw"], "bandwidth": "26GB/s", "delay": "100ns"},
            {"between": ["near", "sw"], "bandwidth": "40GB/s"},
            {"between": ["far", "sw"], "bandwidth": "16GB/s", "delay": "50ns"},
        ],
        "address_map": [{"to": ["near"]}, {"to": ["far"]}],
        "tasks": {
            "objects": [
                {"name": "a", "size": "64MiB", "addresses": place},
                {"name": "b", "size": "64MiB", "addresses": far},
            ],
            "processors": [{"name": "p", "flops": 1e12}],
            "graph": list(graph),
            "window": "20us",
        },
    }  # fmt: skip


def reads(name: str, what: str, size: str, *after: str, **more: Any) -> Spec:
    work = {"name": name, "kind": "kernel", "on": "host", "reads": [{"object": what, "bytes": size}]}
    return {**work, "after": list(after), **more}


def copies(name: str, size: str, *after: str, **more: Any) -> Spec:
    work = {"name": name, "kind": "copy", "from": "b", "to": "a", "on": "gpu", "bytes": size}
    return {**work, "after": list(after), **more}


def compute(name: str, time: str, *after: str) -> Spec:
    return {"name": name, "kind": "compute", "on": "p", "time": time, "after": list(after)}


def updates(name: str, size: str, *after: str, **more: Any) -> Spec:
    """Sixteen bytes read for twelve written, as Adam does."""
    part = {"object": "a", "bytes": size}
    work = {
        "name": name,
        "kind": "kernel",
        "on": "host",
        "reads": [part, {**part, "object": "b"}],
        "writes": [part],
    }
    return {**work, "after": list(after), **more}


GRAPHS = {
    "one": server(reads("r", "a", "8MiB")),
    "random": server(reads("r", "a", "8MiB", pattern="random")),
    "interleaved": server(reads("r", "a", "8MiB"), interleaved=True),
    "two": server(reads("r", "a", "8MiB"), copies("c", "4MiB")),
    "chain": server(copies("c1", "4MiB"), updates("u", "4MiB", "c1"), copies("c2", "4MiB", "u")),
    "beside": server(reads("r", "b", "6MiB"), compute("x", "100us"), reads("s", "a", "6MiB", "x", stream=1)),
    "paced": server(updates("u", "4MiB", time="900us"), copies("c", "6MiB")),
    "fork": server(compute("x", "50us"), updates("u", "4MiB", "x"), copies("c", "4MiB", "x"),
                   compute("y", "1ms", "u", "c")),
    "again": server(*(copies(f"c{i}", "3MiB", *([f"x{i - 1}"] if i else [])) for i in range(4)),
                    *(compute(f"x{i}", "80us", f"c{i}") for i in range(4))),
    "dram": server(updates("u", "6MiB"), copies("c", "4MiB"), dram=True),
}  # fmt: skip


def played(spec: Spec, exact: bool) -> Spec:
    spec = copy.deepcopy(spec)
    if exact:
        spec["tasks"]["exact"] = True
        del spec["tasks"]["window"]
    return dict(summary(spec)["tasks"])


def summary(spec: Spec) -> Spec:
    simulation = _core.Simulation(resolve(from_plain(spec, Origin())).plain(), {})
    while not simulation.advance(1_000_000):
        pass
    return dict(simulation.summary())


@pytest.mark.parametrize("name", some(GRAPHS))
def test_windows_of_lines_give_what_every_line_does(name: str) -> None:
    lines, windows = played(GRAPHS[name], exact=True), played(GRAPHS[name], exact=False)
    apart = abs(windows["time_ns"] - lines["time_ns"])
    print(f"{name}: {lines['time_ns']:.0f} ns, apart {apart:.1f}, stated {windows['error_ns']:.1f}, "
          f"skipped {windows['skipped_ns'] / windows['time_ns']:.2f}")  # fmt: skip
    assert lines["error_ns"] == lines["skipped_ns"] == 0
    assert windows["skipped_ns"] > 0.25 * windows["time_ns"]
    assert apart < 0.01 * lines["time_ns"]
    assert apart <= windows["error_ns"]
    assert all(window["relative_error"] <= 0.005 for window in windows["windows"])
    assert windows["per_link"]
    assert windows["per_link"] == lines["per_link"]


def test_a_window_is_kept_for_the_same_set() -> None:
    """Four copies alone have one window, which stood four times."""
    windows = played(GRAPHS["again"], exact=False)["windows"]
    (window,) = windows
    assert window["used"] == 4
    (transfer,) = window["transfers"]
    assert transfer["transfer"].startswith("copy on gpu")
    # Four copies of 3 MiB, but for what was simulated.
    moved = window["stood_for_ns"] * transfer["gb_per_s"]
    assert 0.25 * 4 * 3 * 2**20 < moved < 4 * 3 * 2**20


def remembering(where: str) -> Spec:
    """A copy, time of a processor, and a kernel that reads what was copied twice; something remembers lines."""
    spec = server(
        copies("c", "4MiB"),
        compute("x", "1ms", "c"),
        reads("r", "a", "4MiB", "x"),
        reads("s", "a", "4MiB", "r"),
    )
    fast = {"kind": "fixed", "latency": "50ns", "bandwidth": "20GB/s"}
    slow = {"kind": "fixed", "latency": "2us", "bandwidth": "4GB/s"}
    flash = {"kind": "flash", "preset": "z-nand", "channels": 4}
    if where == "near":
        spec["devices"]["near"]["media"] = {"kind": "cached", "size": "32MiB", "cache": fast, "backing": slow}
    if where == "near, flash":
        spec["devices"]["near"]["media"] = flash
    if where == "near, flash behind a cache":
        spec["devices"]["near"]["media"] = {"kind": "cached", "size": "1MiB", "cache": fast, "backing": flash}
    if where == "the cache of host":
        spec["devices"]["host"]["cache"] = {"size": "8MiB"}
    return spec


@pytest.mark.parametrize("where", ["near", "near, flash", "near, flash behind a cache", "the cache of host"])
def test_no_lines_are_passed_over_beside_what_remembers_them(where: str) -> None:
    """What a copy has written is in the cache of the medium, and what a kernel has read in that of its host: every line
    has been there. Flash goes on programming pages while processors alone are busy."""
    spec = remembering(where)
    lines, windows = played(spec, exact=True), summary(spec)
    passed, what = (0, "no time") if "flash" in where else (1e6, "no time of transfers")
    assert windows["tasks"]["time_ns"] == pytest.approx(lines["time_ns"], rel=1e-9)
    assert windows["tasks"]["skipped_ns"] == pytest.approx(passed)
    assert windows["tasks"]["error_ns"] == 0
    assert (
        f"{what} was passed over: {where.partition(',')[0]} remembers what it has served"
        in windows["notes"][-1]
    )


def test_a_cache_without_work_is_nobody_s_memory() -> None:
    """A host that makes no accesses fills no cache."""
    spec = remembering("")
    spec["devices"]["idle"] = {"kind": "host", "cache": {"size": "8MiB"}}
    spec["links"].append({"between": ["idle", "sw"], "bandwidth": "1GB/s"})
    assert summary(spec)["tasks"]["skipped_ns"] > 1.2e6


def test_time_in_which_processors_alone_are_busy_is_passed_over() -> None:
    tasks = played(server(compute("x", "10s")), exact=False)
    assert tasks["time_ns"] == tasks["skipped_ns"] == 1e10
    assert tasks["error_ns"] == 0


def test_an_object_that_spills_has_a_window_for_each_of_its_memories() -> None:
    """Its first part is in the near memory and the rest in the far one: two rates, and the time of both."""
    spec = server(reads("r", "a", "12MiB"))
    spec["devices"]["near"]["capacity"] = "6MiB"
    spec["tasks"]["objects"][0]["addresses"] = {"kind": "preferred", "nodes": ["near"]}
    lines, windows = played(spec, exact=True), played(spec, exact=False)
    assert len(windows["windows"]) == 2
    assert windows["time_ns"] == pytest.approx(lines["time_ns"], rel=0.01)


def inside(spec: Spec) -> Spec:
    """What windows give of a graph, which lies within their stated error of what every line gives."""
    lines, windows = played(spec, exact=True), played(spec, exact=False)
    assert abs(windows["time_ns"] - lines["time_ns"]) <= windows["error_ns"]
    return windows


def test_a_rate_is_that_of_its_host() -> None:
    """One kernel on two hosts, of which one has a sixteenth of the queue: two windows."""
    spec = server(reads("r", "a", "8MiB"), reads("s", "a", "8MiB", "r", on="gpu"))
    spec["devices"]["gpu"]["queue"] = 4
    windows = inside(spec)
    assert [window["used"] for window in windows["windows"]] == [1, 1]
    assert windows["skipped_ns"] > 0.8 * windows["time_ns"]


@pytest.mark.parametrize("pages", some([255, 300, 2000]))
def test_pages_in_long_turns_are_no_mix(pages: int) -> None:
    """So many pages of 4 KiB in one node and then in the other: what a window sees is not what comes then."""
    spec = server(reads("r", "a", "48MiB"), interleaved=True)
    spec["tasks"]["objects"][0]["addresses"]["weights"] = [pages, pages]
    windows = inside(spec)
    assert (windows["skipped_ns"] > 0) == (pages > 255)


@slow
def test_threads_that_turn_together_are_steady_before_two_hundred_turns_of_all() -> None:
    """A turn of pages of two nodes is 128 lines of each part of each thread: 200 of them are all that is moved."""
    threads = 32
    spec = server(updates("u", "48MiB", threads=threads), interleaved=True)
    spec["tasks"]["objects"][0]["addresses"]["weights"] = [1, 1]
    spec["devices"]["host"]["core"] = {"cores": threads, "mshrs": 8, "fill_buffers": 8}
    assert 200 * 3 * 128 * threads > 3 * (48 << 20) / 64
    windows = inside(spec)
    assert windows["skipped_ns"] > 0.2 * windows["time_ns"]


def test_large_pages_in_turns_are_no_mix() -> None:
    spec = server(reads("r", "a", "48MiB"), interleaved=True)
    spec["tasks"]["page"] = "2MiB"
    assert inside(spec)["skipped_ns"] == 0


def test_lines_that_are_drawn_are_in_all_the_memories_of_their_part() -> None:
    """The first kernel draws from near memory, the second mostly from far memory, from the same offset on."""
    spec = server(reads("r", "a", "4MiB", pattern="random"), reads("s", "a", "16MiB", "r", pattern="random"))
    spec["devices"]["near"]["capacity"] = "4MiB"
    spec["tasks"]["objects"][0]["addresses"] = {"kind": "preferred", "nodes": ["near"]}
    windows = inside(spec)
    assert len(windows["windows"]) == 2
    assert windows["skipped_ns"] > 0.5 * windows["time_ns"]


def test_a_kernel_that_catches_up_does_not_go_on_at_that_rate() -> None:
    """It falls behind beside two copies, and is then faster than its pace until it is on it again."""
    spec = server(
        reads("r", "b", "24MiB", time="3ms"),
        compute("x", "500us"),
        copies("c", "4MiB", "x"),
        copies("d", "4MiB", "x", stream=1),
    )
    spec["devices"]["far"]["media"]["bandwidth"] = "11GB/s"
    assert inside(spec)["skipped_ns"] > 0


def test_no_time_is_passed_over_beside_a_workload_that_ends() -> None:
    """Thirty thousand requests beside the first half of a kernel: no rate beside them is one behind them."""
    spec = server(reads("r", "a", "24MiB"))
    spec["workload"] = {
        "gpu": {"pattern": "random", "footprint": "16MiB", "requests": 30000, "addresses": "as-is"}
    }
    windows = inside(spec)
    assert 0 < windows["skipped_ns"] < 0.95 * windows["time_ns"]
    spec["workload"]["gpu"]["requests"] = 10**6
    assert played(spec, exact=False)["skipped_ns"] == 0


def test_a_long_kernel_of_few_lines_is_cheap_to_look_at() -> None:
    """Five hundred lines in 300 ms: too few for a window, however often somebody looks."""
    tasks = played(server(reads("r", "a", "32KiB", time="300ms")), exact=False)
    assert tasks["time_ns"] == pytest.approx(3e8, rel=1e-4)


def test_a_large_graph_takes_seconds() -> None:
    """Gigabytes of transfers, of which a window is simulated."""
    spec = server(*(copies(f"c{i}", "60MiB", *([f"c{i - 1}"] if i else [])) for i in range(200)))
    tasks = played(spec, exact=False)
    assert tasks["skipped_ns"] > 0.95 * tasks["time_ns"]
    assert sum(sum(each.values()) for each in tasks["per_link"].values()) == 4 * 200 * 60 * 2**20


@slow
def test_a_copy_whose_ends_are_in_step_is_another_sort() -> None:
    """Objects over two memories: read and write are in the same one at a time, or in different ones."""
    memory = {"kind": "memory", "capacity": "1GiB", "media": {"kind": "fixed", "latency": "60ns"}}
    both = {"kind": "interleave", "nodes": ["a", "b"]}
    copy = {"kind": "copy", "from": "x", "to": "y", "bytes": "16MiB", "on": "host"}
    spec: Spec = {
        "devices": {"host": {"kind": "host", "queue": 64}, "a": memory, "b": memory},
        "links": [
            {"between": ["host", "a"], "bandwidth": "40GB/s"},
            {"between": ["host", "b"], "phy": "pcie4-x4", "flit": "68B", "port_delay": "50ns"},
        ],
        "address_map": [{"to": ["a"]}, {"to": ["b"]}],
        "tasks": {
            "objects": [{"name": name, "size": "256MiB", "addresses": both} for name in ("x", "y")],
            "graph": [
                {"name": "one", **copy},
                {"name": "other", **copy, "from_offset": "64MiB", "to_offset": f"{(64 << 20) + 4096}B"},
            ],
            "window": "100us",
        },
    }
    lines, windows = played(spec, exact=True), played(spec, exact=False)
    assert windows["skipped_ns"] > 0.2 * windows["time_ns"]
    for name in ("one", "other"):
        took = [
            each["per_task"][name]["end_ns"] - each["per_task"][name]["start_ns"] for each in (lines, windows)
        ]
        assert took[1] == pytest.approx(took[0], rel=0.005)
    assert abs(windows["time_ns"] - lines["time_ns"]) <= windows["error_ns"]
