"""Memories that are taken out of use while programs have pages there: how long it takes, and that nobody suffers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.results.removals import slowed_most

Spec = dict[str, Any]
Call = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
PAGE, LINE = 4096, 64
NEAR, FAR = 45.0, 245.0  # ns of a line, unloaded: 45 of the media, and 100 of the link each way
AT = "165us"
EVENT = f"{AT} offline far"
TOUCH = {"pattern": "strided", "stride": "4KiB", "requests": 40, "rate": "100k/s"}  # a page each 10 us
OUT = {"at": "300us", "fail": {"device": "far", "reroute_time": "0ns"}}
"""It is pulled out: long after the last page has left."""


def system(work: Spec, *events: Spec, **more: Any) -> cx.System:
    """A host with a near and a far memory of fixed latency, and its pages in the far one."""
    host: Spec = {"kind": "host", "process_time": "0ns", "queue": 16, **more.pop("host", {})}
    memory: Spec = {"kind": "memory", "controller_time": "0ns", "capacity": more.pop("capacity", "1MiB")}
    memory["media"] = {"kind": "fixed", "latency": "45ns", "bandwidth": "unlimited"}
    far_link = {"between": ["host", "far"], "delay": "100ns", **more.pop("link", {})}
    work = {"addresses": {"kind": "preferred", "nodes": ["far"]}, **work}
    if not work.keys() & {"phases", "trace"}:
        work.setdefault("footprint", "64KiB")
    spec = {
        "devices": {"host": host, "near": memory, "far": memory},
        "links": [{"between": ["host", "near"]}, far_link],
        "address_map": [{"to": "near"}, {"to": "far"}],
        "workload": {"host": work},
        "events": list(events),
        **more,
    }
    return cx.System.from_yaml(json.dumps(spec))


def offline(at: str = AT, **more: Any) -> Spec:
    return {"at": at, "offline": {"device": "far", **more}}


def removal(result: cx.Result, name: str = EVENT) -> Spec:
    found: Spec = result.summary["removals"][name]
    return found


def of_host(result: cx.Result) -> Spec:
    found: Spec = result.summary["per_requester"]["host"]
    return found


@pytest.mark.parametrize("rate", ["unlimited", "10GB/s", "2GB/s", "100MB/s"])
@pytest.mark.parametrize("pages", [2, 3, 16])
def test_it_takes_what_its_pages_take(rate: str, pages: int) -> None:
    # The reads of a page are g apart; the last of 64 is answered, and its line written. The next page begins then, and
    # its first read not before g has passed since the last one. The host's next access, at 170 us, waits if it must.
    gap = {"unlimited": 0.0, "10GB/s": 6.4, "2GB/s": 32.0, "100MB/s": 640.0}[rate]
    page = 63 * gap + NEAR + FAR
    expected = (pages - 1) * max(64 * gap, page) + page
    work = {**TOUCH, "footprint": f"{4 * pages}KiB", "requests": 400}
    result = cx.run(system(work, offline(rate=rate)))
    found = removal(result)
    if rate != "100MB/s":
        assert found["took_ns"] == pytest.approx(expected, rel=1e-9)
    else:  # an access that is under way is waited for before the next page
        assert expected <= found["took_ns"] <= expected + pages * FAR
    assert found["moved_bytes"] == pages * PAGE
    assert (found["pages_left"], found["flushed_lines"]) == (0, 0)
    assert of_host(result)["pages"] == {"near": pages, "far": 0}


def test_large_pages_leave_at_the_bandwidth_of_the_link() -> None:
    # 2 MiB at 8 GB/s, with 16 B of header to each line that comes back: a line each 10 ns, and once the way of the
    # first request, the media and the way back, and the write of the last line.
    link = {"bandwidth": "8GB/s", "header": "16B", "data_header": "16B"}
    work = {**TOUCH, "footprint": "4MiB", "page": "2MiB", "requests": 2000}
    result = cx.run(system(work, offline(), capacity="8MiB", link=link))
    lines = 2 * 1024 * 1024 // LINE
    page = 2 + FAR + lines * 10 + NEAR  # the first header takes 2 ns
    found = removal(result)
    assert found["moved_bytes"] == 4 << 20
    assert found["took_ns"] == pytest.approx(2 * page, rel=2e-3)  # accesses under way are waited for
    bandwidth = found["moved_bytes"] / found["took_ns"]
    assert bandwidth == pytest.approx(8 * 64 / 80, rel=2e-3)


def test_managed_removal_loses_nothing_and_surprise_removal_does() -> None:
    work = {"pattern": "random", "requests": 6000, "rate": "20M/s", "reads": "50%"}
    managed = cx.run(system(work, offline("100us"), {**OUT, "at": "200us"}))
    assert managed.summary["errors"]["requests"] == 0
    (event,) = managed.summary["events"].values()
    assert (event["failed"], event["lost"], event["rerouted"]) == (0, 0, 0)
    found = removal(managed, "100us offline far")
    assert found["pages_left"] == 0
    assert found["requesters"]["host"]["errors"] == 0
    surprise = cx.run(system(work, {**OUT, "at": "200us"}))
    assert surprise.summary["errors"]["requests"] > 1000
    too_early = cx.run(system(work, offline("100us", rate="100MB/s"), {**OUT, "at": "110us"}))
    assert too_early.summary["errors"]["requests"] > 1000
    assert removal(too_early, "100us offline far")["took_ns"] is None


def test_a_write_back_of_a_page_that_left_before_is_waited_for(tmp_path: Path) -> None:
    # The page has left at 10 us, and its modified line is still in the cache by its old address. At 20 us a read of the
    # same line at its new place throws that out, 45 ns later: memory has it 245 ns behind that.
    trace = tmp_path / "one.trace"
    trace.write_text("0x0 W 0\n0x0 R 20000000\n0x0 R 60000000\n")
    work = {"trace": str(trace), "replay": "timestamps", "tick": "1ps"}
    host = {"cache": {"size": "4KiB", "ways": 1, "access_time": "0ns"}}
    moved = {"at": "10us", "move_pages": {"requester": "host", "from": "far", "to": "near", "copy": False}}
    ends = 20_000 + NEAR + FAR
    for at in (20_100, 20_289, 20_290):
        result = cx.run(system(work, moved, offline(f"{at}ns"), {**OUT, "at": "20290ns"}, host=host))
        found = removal(result, f"{at}ns offline far")
        assert found["took_ns"] == pytest.approx(ends - at)
        assert (found["moved_bytes"], found["flushed_lines"]) == (0, 0)
        assert result.summary.get("failed_write_backs", 0) == 0


def test_a_flush_that_waits_for_a_read_has_written_nothing(tmp_path: Path) -> None:
    # The page leaves while a read of it is under way, for which the removal waits by a flush of its line.
    trace = tmp_path / "one.trace"
    trace.write_text("0x0 R 10000000\n0x40 R 20000000\n0x0 R 60000000\n0x0 R 61000000\n")
    work = {"trace": str(trace), "replay": "timestamps", "tick": "1ps"}
    moved = {"at": "20050ns", "move_pages": {"requester": "host", "from": "far", "to": "near", "copy": False}}
    host = {"cache": {"size": "4KiB", "access_time": "0ns"}}
    result = cx.run(system(work, moved, offline("20060ns"), host=host))
    assert removal(result, "20060ns offline far")["took_ns"] > 0
    assert result.summary["failed_write_backs"] == 0
    assert result.summary["write_backs"] == 0


def test_accesses_go_to_the_new_place() -> None:
    chase = {"pattern": "pointer-chase", "requests": 4000, "footprint": "64KiB"}
    result = cx.run(system(chase, offline("300us"), run={"warmup": 0}), requests=True)
    found = removal(result, "300us offline far")
    frame = result.requests().with_columns(ns=(pl.col("completed_ps") - pl.col("created_ps")) / 1000)
    gone = 300_000 + found["took_ns"]
    before = frame.filter(pl.col("completed_ps") <= 300e6)
    after = frame.filter(pl.col("created_ps") >= gone * 1000)
    assert set(before["target"]) == {"far"}
    assert set(after["target"]) == {"near"}
    around = found["requesters"]["host"]
    assert around["latency_before_ns"] == pytest.approx(FAR)
    assert around["latency_after_ns"] == pytest.approx(NEAR)
    parts = [around[f"requests_{when}"] for when in ("before", "during", "after")]
    assert sum(parts) == result.summary["requests"] == 4000


def test_who_shares_a_link_with_the_pages_becomes_slower() -> None:
    # The other host reads a memory of its own behind the same narrow link, which has room for both until pages leave.
    work = {**TOUCH, "requests": 400, "footprint": "512KiB"}
    spec = system(work, offline()).resolve().plain()
    spec["devices"] |= {"sw0": {"kind": "switch"}, "sw1": {"kind": "switch"}}
    spec["devices"] |= {"other": {"kind": "host", "queue": 1}, "own": {**spec["devices"]["far"]}}
    spec["links"] = [{"between": [name, "sw0"]} for name in ("host", "other", "near")]
    spec["links"] += [{"between": [name, "sw1"]} for name in ("far", "own")]
    spec["links"].append({"between": ["sw0", "sw1"], "bandwidth": "4GB/s"})
    spec["address_map"].append({"to": "own"})
    bound = {"kind": "bind", "nodes": ["own"]}
    spec["workload"]["other"] = {
        "pattern": "random",
        "footprint": "64KiB",
        "requests": 9000,
        "addresses": bound,
    }
    result = cx.run(cx.System.from_yaml(json.dumps(spec)))
    found = removal(result)
    around = found["requesters"]["other"]
    assert around["requests_during"] > 100
    assert around["latency_during_ns"] > 2 * around["latency_before_ns"]
    assert around["latency_after_ns"] == pytest.approx(around["latency_before_ns"], rel=0.01)
    assert found["moved_bytes"] == 512 << 10
    assert slowed_most(found).startswith("other: ")
    assert result.summary["errors"]["requests"] == 0


def test_caches_write_back_what_they_have_of_it() -> None:
    # All 1024 lines of 16 pages are modified in the cache. A page is copied out of the cache, which keeps the lines of
    # the old frame; 64 of them at a time go to the far memory in the end: a write each.
    host = {"cache": {"size": "256KiB", "ways": 0, "access_time": "0ns"}}
    work = {"pattern": "sequential", "size": "4KiB", "reads": "0%", "requests": 200, "rate": "100k/s"}
    events = (offline("400us"), {**OUT, "at": "700us"})
    result = cx.run(system(work, *events, host=host))
    found = removal(result, "400us offline far")
    assert found["flushed_lines"] == 16 * 64
    (event,) = result.summary["events"].values()
    assert event["requesters"]["host"]["dirty_lines_lost"] == result.summary["failed_write_backs"] == 0
    assert result.summary["errors"]["requests"] == 0
    kept = {"at": "400us", "move_pages": {"requester": "host", "from": "far", "to": "near"}}
    unflushed = cx.run(system({**work, "requests": 400}, kept, {**OUT, "at": "700us"}, host=host))
    assert unflushed.summary["per_memory"]["far"]["write_backs"] == 0  # they are still in the cache
    # Without a link's bandwidth 64 lines are written together: 16 times a write, behind the copies out of the cache.
    alone = cx.run(system(work, kept, host=host))
    copies = of_host(alone)["page_moves_ns"]
    assert found["took_ns"] == pytest.approx(copies + 16 * FAR, rel=1e-9)


def test_the_next_nearest_memory_takes_what_the_nearest_has_no_room_for() -> None:
    spec = system({**TOUCH, "requests": 400}, offline()).resolve().plain()
    spec["devices"]["near"] = {**spec["devices"]["near"], "capacity": "20KiB"}
    spec["devices"]["third"] = spec["devices"]["far"]
    spec["links"].append({"between": ["host", "third"], "delay": "50ns"})
    spec["address_map"].append({"to": "third"})
    result = cx.run(cx.System.from_yaml(json.dumps(spec)))
    assert of_host(result)["pages"] == {"near": 5, "far": 0, "third": 11}
    spec["events"][0]["offline"]["to"] = ["third", "near"]
    assert of_host(cx.run(cx.System.from_yaml(json.dumps(spec))))["pages"]["third"] == 16


def test_what_finds_no_room_during_the_run_keeps_the_memory_in_use() -> None:
    # A page each 10 us, from 0 on, and the next one is placed: 18 are in far when it is to go, and 12 find a frame.
    during = {**TOUCH, "touched": "during", "requests": 60, "footprint": "128KiB"}
    spec = system(during, offline()).resolve().plain()
    spec["devices"]["near"] = {**spec["devices"]["near"], "capacity": "48KiB"}
    spec["run"] = {"warmup": 0}
    result = cx.run(cx.System.from_yaml(json.dumps(spec)))
    found = removal(result)
    assert found["took_ns"] is None
    assert found["pages_left"] == 18 - 12
    assert found["moved_bytes"] == 12 * PAGE
    assert any("'far' was not taken out of use: 6 pages" in note for note in result.summary["notes"])
    # It is in use again: the other 14 pages go there.
    assert of_host(result)["pages"] == {"near": 12, "far": 20}


def test_no_page_is_placed_there_any_more() -> None:
    during = {**TOUCH, "touched": "during", "requests": 60, "footprint": "128KiB"}
    result = cx.run(system(during, offline(), run={"warmup": 0}))
    assert of_host(result)["pages"] == {"near": 32, "far": 0}
    repaired = {"at": "200us", "repair": {"device": "far", "cleared": True}}
    fails = {**OUT, "at": "190us"}
    result = cx.run(system(during, offline(), fails, repaired, run={"warmup": 0}))
    pages = of_host(result)["pages"]
    assert pages["far"] > 0  # a new device takes its place
    assert sum(pages.values()) == 32


def test_a_removal_that_the_run_is_too_short_for() -> None:
    result = cx.run(system(TOUCH, offline("250us", rate="1MB/s"), run={"warmup": 0}), max_time="300us")
    found = removal(result, "250us offline far")
    assert found["took_ns"] is None
    assert any("still being taken out of use" in note for note in result.summary["notes"])


def test_pages_of_a_program_that_has_ended_leave_too() -> None:
    result = cx.run(system({"pattern": "sequential", "requests": 900}, offline("2us", rate="100MB/s")))
    found = removal(result, "2us offline far")
    assert found["moved_bytes"] == 16 * PAGE
    assert found["took_ns"] is not None


FREE = {"keep_free": "8KiB"}
TIERINGS: dict[str, Spec] = {
    "promote-on-fault": {"period": "20us", "scan": "16KiB"},
    "hot-pages": {"period": "20us", "hot": 2, **FREE},
    "hemem": {"period": "20us", "hot_reads": 2, "hot_writes": 2, **FREE},
    "autonuma": {"scan_size": "16KiB", "period_min": "20us", "period_max": "1ms", "period_floor": "5us"},
}


@pytest.mark.parametrize("kind", TIERINGS)
@pytest.mark.parametrize("pulled", ["near", "far"])
def test_beside_tiering_every_page_leaves(kind: str, pulled: str) -> None:
    """Whichever way the policy moves pages meanwhile: it finds no frame in the memory that is to go."""
    work = {"pattern": "zipf", "requests": 20_000, "footprint": "128KiB", "rate": "50M/s"}
    work |= {"addresses": "first-touch", "tiering": {"kind": kind, **TIERINGS[kind]}}
    spec = system(work, offline("101us"), capacity="192KiB").resolve().plain()
    spec["events"][0]["offline"]["device"] = pulled
    spec["address_map"].reverse()  # so that pages begin in the far one
    result = cx.run(cx.System.from_yaml(json.dumps(spec)))
    found = removal(result, f"101us offline {pulled}")
    assert found["took_ns"] is not None
    stays = "far" if pulled == "near" else "near"
    assert of_host(result)["pages"] == {stays: 32, pulled: 0}
    assert result.summary["errors"]["requests"] == 0


@settings(max_examples=25, deadline=None)
@given(
    pattern=st.sampled_from(["random", "sequential", "zipf", "hot-cold", "pointer-chase"]),
    queue=st.sampled_from([1, 4, 32]),
    reads=st.sampled_from(["0%", "50%", "100%"]),
    rate=st.sampled_from(["unlimited", "20GB/s", "1GB/s"]),
    cache=st.sampled_from([None, "2KiB", "64KiB"]),
    cores=st.booleans(),
    at=st.integers(1, 30),
    seed=st.integers(0, 1000),
)
def test_nobody_gets_an_error(
    pattern: str, queue: int, reads: str, rate: str, cache: str | None, cores: bool, at: int, seed: int
) -> None:
    """It is pulled out in the picosecond in which it is empty, which a first run tells."""
    work: Spec = {"pattern": pattern, "requests": 3000, "footprint": "32KiB"}
    if pattern != "pointer-chase":
        work["reads"] = reads
    host: Spec = {"queue": queue}
    if cache:
        host["cache"] = {"size": cache, "ways": 4}
    if cores:
        host["core"] = {}
    more: Spec = {"host": host, "run": {"seed": seed, "warmup": 0}}
    first = cx.run(system(work, offline(f"{at}us", rate=rate), **more), requests=True)
    name = f"{at}us offline far"
    if name not in first.summary.get("removals", {}):  # the work was over before
        return
    found = removal(first, name)
    assert found["took_ns"] is not None
    pulled = {**OUT, "at": f"{round(at * 1_000_000 + found['took_ns'] * 1000)}ps"}
    result = cx.run(system(work, offline(f"{at}us", rate=rate), pulled, **more), requests=True)
    assert result.summary["completed"] is True
    assert result.summary["errors"]["requests"] == 0
    for event in result.summary["events"].values():
        assert (event["failed"], event["lost"], event["rerouted"]) == (0, 0, 0)
    assert result.summary["failed_write_backs"] == 0
    frame = result.requests()
    assert frame["id"].sort().to_list() == list(range(3000)), "each is answered once"
    assert frame.equals(first.requests()), "nobody felt it"


def test_without_room_it_is_refused() -> None:
    spec = system(TOUCH, offline()).resolve().plain()
    spec["devices"]["near"] = {**spec["devices"]["near"], "capacity": "32KiB"}
    without_room = cx.System.from_yaml(json.dumps(spec))
    with pytest.raises(
        InputError, match="no room for the pages of 'host' in 'far', found 16 pages"
    ) as raised:
        cx.run(without_room)
    assert raised.value.path == "events[0].offline.device"
    assert "at most 8 pages" in str(raised.value)


def changed(**more: Any) -> cx.System:
    spec = system(TOUCH, offline()).resolve().plain()
    for key, value in more.items():
        spec[key] = value
    return cx.System.from_yaml(json.dumps(spec))


@pytest.mark.parametrize(
    ("change", "message", "key"),
    [
        ({"device": "fra"}, "unknown device", "device"),
        ({"device": "host"}, "a device that is not taken out of use", "device"),
        ({"to": ["nera"]}, "the program of 'host' has no pages there", "to[0]"),
        ({"to": ["near", "far"]}, "the pages are there already", "to[1]"),
        ({"rate": "0B/s"}, "rate", "rate"),
    ],
)
def test_mistakes_are_refused(change: Spec, message: str, key: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        cx.run(system(TOUCH, offline(**change)))
    assert (raised.value.path or "").endswith(key)


def test_what_cannot_leave_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be moved away: they are not placed") as raised:
        cx.run(system({**TOUCH, "addresses": "as-is"}, offline()))
    assert raised.value.path == "events[0].offline.device"
    with pytest.raises(InputError, match="goes with all of it only"):
        cx.run(changed(address_map=[{"to": ["near", "far"]}]))
    devices = system(TOUCH, offline()).resolve().plain()["devices"]
    devices["far"] = {**devices["far"], "dcoh": {}}
    with pytest.raises(InputError, match="a memory that is kept coherent"):
        cx.run(changed(devices=devices, address_map=[{"to": "near"}, {"to": "far", "coherence": "hdm-db"}]))


def test_tasks_are_refused_beside_it() -> None:
    plain = system(TOUCH, offline()).resolve().plain()
    kernel = {"name": "norm", "kind": "kernel", "on": "host", "reads": [{"object": "a", "bytes": "4KiB"}]}
    objects = [{"name": "a", "size": "4KiB", "addresses": {"kind": "bind", "nodes": ["near"]}}]
    tasks = {"graph": [kernel], "objects": objects, "exact": True}
    spec = {key: value for key, value in plain.items() if key not in ("workload", "run")} | {"tasks": tasks}
    with pytest.raises(InputError, match="beside tasks, whose objects do not move") as raised:
        cx.run(cx.System.from_yaml(json.dumps(spec)))
    assert raised.value.path == "events[0].offline.device"


def beside(kind: str) -> cx.System:
    """A far memory that its host has by a virtual switch, as logical devices, in extents, or by two heads."""
    spec = system({**TOUCH, "requests": 400}, offline()).resolve().plain()
    far: Spec = {**spec["devices"]["far"]}
    spec["devices"] |= {"sw": {"kind": "switch"}, "far": far}
    spec["links"] = [{"between": [name, "sw"]} for name in ("host", "near", "far")]
    if kind == "virtual switch":
        spec["devices"]["sw"]["vcs"] = [{"upstream": "host", "vppbs": 2, "bind": ["near", "far"]}]
    elif kind == "logical devices":
        far.pop("capacity")
        far["logical_devices"] = [{"capacity": "32KiB"}, {"capacity": "512KiB"}]
        spec["address_map"] = [{"to": "near"}, {"to": "far", "ld": 0}, {"to": "far", "ld": 1}]
        spec["workload"]["host"]["addresses"] = {"kind": "preferred", "nodes": ["far ld 0", "far ld 1"]}
        spec["devices"]["near"]["capacity"] = "64KiB"
        spec["links"][2]["delay"] = "30ns"
    elif kind == "extents":
        far["dynamic_capacity"] = {"extents": [{"base": 0, "size": "256KiB", "host": "host"}]}
    elif kind == "heads":
        far["heads"] = 2
        spec["links"].append({"between": ["host", "far"]})
    else:
        spec["links"][0] |= {"duplex": "half", "bandwidth": "16GB/s"}
    return cx.System.from_yaml(json.dumps(spec))


@pytest.mark.parametrize("kind", ["virtual switch", "logical devices", "extents", "heads", "half duplex"])
def test_beside_what_a_memory_may_be(kind: str) -> None:
    result = cx.run(beside(kind))
    found = removal(result)
    assert found["took_ns"] is not None
    assert found["moved_bytes"] == 16 * PAGE
    pages = of_host(result)["pages"]
    assert sum(pages.values()) == 16
    assert sum(count for node, count in pages.items() if node.startswith("far")) == 0
    assert result.summary["errors"]["requests"] == 0


def test_the_table_and_the_page_say_how_it_went(cxloom: Call, tmp_path: Path) -> None:
    spec = tmp_path / "removal.yaml"
    spec.write_text((ROOT / "examples" / "removal.yaml").read_text())
    done = cxloom("run", spec, "--out", tmp_path / "r")
    assert done.code == 0
    (line,) = (line for line in done.out.splitlines() if line.startswith("20us offline cxl0"))
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    found = summary["removals"]["20us offline cxl0"]
    assert "4.00 MiB" in line
    assert str(slowed_most(found)) in line
    assert summary["errors"]["requests"] == 0
    assert cxloom("report", tmp_path / "r").code == 0
    page = (tmp_path / "r" / "report.html").read_text()
    assert "Memories that were taken out of use" in page
    assert "<td>20us offline cxl0</td>" in page
