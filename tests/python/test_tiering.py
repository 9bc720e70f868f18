"""Pages that a policy moves: what a fault and a move cost, when that pays, and that no page or access is lost."""

from __future__ import annotations

import atexit
import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin_support import PLUGINS, Played, built
from tiering_support import (
    FAR,
    FAULT,
    FREE,
    LINES,
    NEAR,
    PAGE,
    POLICY,
    SHOOTDOWN,
    UNMAP,
    as_written,
    of_host,
    rows,
    system,
)

import cxloom as cx

TOUCH = {"pattern": "strided", "stride": "4KiB"}
# A page is larger than the near memory: one that faults stays.
STAY = {"pattern": "strided", "stride": "8KiB", "page": "8KiB", "footprint": "128KiB", "requests": 400}


@pytest.mark.parametrize("core", [{}, {"core": {}}])
def test_a_fault_takes_its_time_to_the_picosecond(core: dict[str, Any]) -> None:
    policy = {**POLICY, "scan": "8KiB"}
    spec = system(STAY, policy, near="4KiB", kernel={**FREE, "fault": "1234567ps"}, host=core)
    result = cx.run(spec, requests=True)
    frame, tiering = rows(result), of_host(result)["tiering"]
    faulted = frame.filter(pl.col("latency") != FAR)
    assert faulted.height == tiering["faults"] > 5
    assert set(faulted["latency"]) == {FAR + 1234.567}
    assert set(faulted["process"]) == {1234.567}
    assert tiering["fault_ns"] == pytest.approx(1234.567 * tiering["faults"], rel=1e-12)
    assert tiering["promoted_bytes"] == of_host(result)["pages_moved"] == 0
    # One shoot-down behind each page that was made inaccessible, one at a time.
    assert tiering["faults"] <= tiering["shootdowns"] == tiering["protected_pages"] <= tiering["faults"] + 1


@pytest.mark.parametrize("lines", [1, 7, 16, 64, 1000])
@pytest.mark.parametrize("core", [{}, {"core": {}}])
def test_a_page_that_moves_takes_what_the_form_says(lines: int, core: dict[str, Any]) -> None:
    spec = system({**TOUCH, "requests": 2000}, kernel={**FREE, "copy_lines": lines}, host=core)
    result = cx.run(spec, requests=True)
    move = UNMAP + SHOOTDOWN + -(-LINES // min(lines, LINES)) * (NEAR + FAR)
    found = of_host(result)
    moved = rows(result).filter(~pl.col("latency").is_in([NEAR, FAR]))
    assert set(moved["latency"]) == {FAULT + move + NEAR}
    assert found["pages_moved"] == found["tiering"]["faults"] == moved.height == 16
    assert found["pages"] == {"near": 16, "far": 0}
    assert found["page_moves_ns"] == pytest.approx(16 * move, rel=1e-9)
    assert found["page_wait_ns"] == pytest.approx(16 * move, rel=1e-9)
    assert found["tiering"]["promoted_bytes"] == 16 * PAGE
    assert found["tiering"]["shootdowns"] == found["tiering"]["protected_pages"] + 16


def test_what_the_kernel_takes_is_not_the_programs() -> None:
    # All but the fault itself is taken between accesses: they begin later, and last as long.
    policy = {**POLICY, "scan": "8KiB"}
    quiet = rows(cx.run(system(STAY, policy, near="4KiB", kernel=FREE), requests=True))
    costs = {"protect": "30ns", "interrupt": "70ns"}
    result = cx.run(system(STAY, policy, near="4KiB", kernel=costs), requests=True)
    busy = rows(result)
    tiering = of_host(result)["tiering"]
    assert tiering["interrupted_ns"] == pytest.approx(100 * tiering["protected_pages"])
    assert set(busy["latency"]) == set(quiet["latency"]) == {FAR, FAR + FAULT}
    gaps = busy["created"][1:] - busy["completed"][:-1]
    # An interrupt while an access is under way ends before the answer, here.
    assert 0 <= float(gaps.sum()) <= tiering["interrupted_ns"]


def time_of(spec: cx.System) -> float:
    return float(cx.run(spec).summary["simulated_time_ns"])


def test_moving_hot_pages_pays() -> None:
    work = {"pattern": "random", "requests": 20_000}
    policy = {**POLICY, "scan": "64KiB"}
    without, with_tiering = time_of(system(work, None)), time_of(system(work, policy))
    assert without == pytest.approx(20_000 * FAR)
    # Form 6: the time at the end placement, faults and moves; the first period is over before any.
    move = FAULT + UNMAP + SHOOTDOWN + 4 * (NEAR + FAR)
    expected = 10_000 + 16 * move + (20_000 - 10_000 / FAR) * NEAR
    assert with_tiering == pytest.approx(expected, rel=0.05)
    assert with_tiering < 0.3 * without


def test_moving_pages_that_are_used_once_costs() -> None:
    work = {**TOUCH, "footprint": "1MiB", "requests": 256, "addresses": {"kind": "bind", "nodes": ["far"]}}
    policy = {**POLICY, "scan": "1MiB"}
    without, with_tiering = time_of(system(work, None)), time_of(system(work, policy))
    assert with_tiering > 10 * without


@cache
def marked(reads: str, threads: int) -> Path:
    """A trace of 32 pages, each of which is accessed at a line of its own, by which it is known in any frame."""
    rng = random.Random(reads + str(threads))
    folder = TemporaryDirectory(prefix="cxloom-tiering-")
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "marked.txt"
    lines = ["# cxloom-trace 2: address kind size thread instruction_gap"]
    for _ in range(3000):
        page = rng.randrange(32)
        kind = "W" if reads == "writes" or (reads == "both" and rng.random() < 0.5) else "R"
        lines.append(f"0x{page * PAGE + page * 64:x} {kind} 64 {rng.randrange(threads)} 30")
    path.write_text("\n".join(lines) + "\n")
    return path


@settings(max_examples=25, deadline=None)
@given(
    threads=st.sampled_from([0, 1, 3]),
    queue=st.sampled_from([1, 4, 32]),
    reads=st.sampled_from(["reads", "both", "writes"]),
    lines=st.sampled_from([1, 16, 64]),
    scan=st.sampled_from(["4KiB", "64KiB"]),
    near=st.sampled_from(["4KiB", "12KiB", "1MiB"]),
    cached=st.booleans(),
)
def test_no_page_is_lost_or_in_two_places(
    threads: int, queue: int, reads: str, lines: int, scan: str, near: str, cached: bool
) -> None:
    host: dict[str, Any] = {"queue": queue}
    host |= {"core": {}} if threads else {}
    host |= {"cache": {"size": "4KiB", "ways": 4}} if cached else {}
    work = {"trace": str(marked(reads, max(threads, 1))), "addresses": {"kind": "bind", "nodes": ["far"]}}
    spec = system(work, {**POLICY, "scan": scan}, near=near, host=host, kernel={"copy_lines": lines})
    result = cx.run(spec, requests=True)
    assert result.summary["completed"] is True
    found, frame = of_host(result), rows(result)
    assert frame["id"].to_list() == list(range(3000)), "each is answered once"
    assert found["tiering"]["promoted_bytes"] == found["pages_moved"] * PAGE
    room = {"4KiB": 1, "12KiB": 3, "1MiB": 32}[near]
    assert found["pages"]["near"] == found["pages_moved"] <= room
    assert sum(found["pages"].values()) == 32
    far = {"4KiB": PAGE, "12KiB": 3 * PAGE, "1MiB": 1 << 20}[near]
    frames = frame.with_columns(
        page=pl.col("address") % PAGE // 64, frame=pl.col("address") // PAGE, near=pl.col("address") < far
    )
    places = frames.group_by("page", "frame", "near").agg(pl.col("created").min(), pl.col("completed").max())
    for _, users in places.group_by("frame"):  # one page after the other
        in_turn = users.sort("created")
        assert (in_turn["created"][1:] >= in_turn["completed"][:-1]).all(), "two pages had a frame"
    for _, own in places.group_by("page"):
        assert own.height <= 2, "no page has been in three"
        if own.height == 2:
            old, new = own.sort("near").rows(named=True)
            assert (old["near"], new["near"]) == (False, True)
            assert old["completed"] < new["completed"]


def test_a_run_is_the_same_each_time() -> None:
    work = {"pattern": "zipf", "requests": 5000, "reads": "70%"}
    spec = system(work, {**POLICY, "scan": "16KiB"}, host={"queue": 8, "core": {}})
    first, second = (cx.run(spec, requests=True) for _ in range(2))
    assert first.requests().equals(second.requests())
    assert of_host(first) == of_host(second)


def written(path: Path, columns: str, lines: list[str]) -> str:
    """A trace with these columns besides the address and the kind."""
    path.write_text("\n".join([f"# cxloom-trace 2: address kind {columns}", *lines]) + "\n")
    return str(path)


@pytest.mark.parametrize("core", [{}, {"core": {}}])
def test_an_access_across_a_page_ends_in_the_memory_that_its_page_moved_to(
    core: dict[str, Any], tmp_path: Path
) -> None:
    """The near memory has one frame, and nothing lies behind it."""
    lines = [f"0x{number % 15 * PAGE + PAGE - 128:x} R 512" for number in range(1000)]
    trace = written(tmp_path / "across.txt", "size", lines)
    work = {"trace": trace, "addresses": {"kind": "bind", "nodes": ["far"]}, "frames": "contiguous"}
    spec = system(work, near="4KiB", host=core).set("address_map", [{"to": "far"}, {"to": "near"}])
    result = cx.run(spec, requests=True)
    assert of_host(result)["pages"]["near"] == of_host(result)["pages_moved"] == 1
    moved = result.requests().filter(pl.col("target") == "near")
    assert moved.height > 10
    assert set(moved["address"]) == {(1 << 20) + PAGE - 512}


def test_pages_of_tables_make_no_room(tmp_path: Path) -> None:
    """The near memory is full of tables and of pages that nobody uses any more: these leave it, and hot ones come."""
    table, hot = 0x100000, 0x200000
    walks = [f"0x{table + number * PAGE:x} R 0 page-walk" for number in range(4)]
    early = [f"0x{number * PAGE:x} R 0 demand" for number in range(12)]
    late = [f"0x{hot + number % 2 * PAGE:x} R 0 demand" for number in range(2000)]
    work = {
        "trace": written(tmp_path / "walks.txt", "dependence role", [*walks, *early, *late]),
        "addresses": {"kind": "preferred", "nodes": ["near"]},
    }
    policy = {"kind": "hot-pages", "every": 1, "hot": 4, "period": "20us", "keep_free": "8KiB"}
    found = of_host(cx.run(system(work, policy, near="64KiB", host={"core": {}})))
    assert found["pages"] == {"near": 14, "far": 4}
    assert found["tiering"]["promoted_bytes"] == 2 * PAGE
    assert found["tiering"]["demoted_bytes"] == 4 * PAGE


def test_pages_that_wait_to_leave_are_not_asked_for_again() -> None:
    """Sixteen pages take longer to leave than a period, in each of which other pages are idle."""
    work = {
        "pattern": "random",
        "requests": 20_000,
        "footprint": "512KiB",
        "addresses": {"kind": "preferred", "nodes": ["near"]},
    }
    policy = {"kind": "hot-pages", "every": 1000, "hot": 1000, "period": "4us", "keep_free": "64KiB"}
    found = of_host(cx.run(system(work, policy, near="256KiB")))
    assert found["pages_moved"] == pytest.approx(16, abs=1)
    assert found["pages"]["near"] == 64 - found["pages_moved"]
    assert found["pages_not_moved"] <= 1


def test_an_event_moves_pages_of_cores_too() -> None:
    moves = [{"at": "20us", "move_pages": {"requester": "host", "from": "far", "to": "near"}}]
    work = {"pattern": "random", "requests": 50_000}
    result = cx.run(system(work, None, host={"core": {}, "queue": 16}, events=moves), requests=True)
    assert of_host(result)["pages_moved"] == 16
    frame = rows(result)
    assert frame["id"].to_list() == list(range(50_000))
    assert set(frame.filter(pl.col("created") > 100_000)["target"]) == {"near"}


def test_a_neighbour_and_a_page_wait_a_bounded_time() -> None:
    """Another host's reads fill the far memory's link: pages still come over it, and its reads still go on."""
    memory = {"kind": "memory", "capacity": "4MiB"}
    hosts = {name: {"kind": "host", "queue": queue} for name, queue in (("host", 4), ("other", 64))}
    work = {"pattern": "random", "footprint": "64KiB", "addresses": {"kind": "bind", "nodes": ["far"]}}
    spec: dict[str, Any] = {
        "devices": {**hosts, "sw": {"kind": "switch"}, "near": memory, "far": memory},
        "links": [
            *({"between": [name, "sw"], "bandwidth": "32GB/s"} for name in (*hosts, "near")),
            {"between": ["sw", "far"], "bandwidth": "8GB/s", "delay": "50ns"},
        ],
        "address_map": [{"to": "near"}, {"to": "far"}],
        "workload": {
            "host": {**work, "requests": 4000, "tiering": {**POLICY, "scan": "64KiB"}},
            "other": {**work, "requests": 100_000},
        },
        "run": {"warmup": 0},
    }
    beside = cx.run(cx.System.from_yaml(json.dumps(spec))).summary
    del spec["workload"]["host"]["tiering"]
    quiet = cx.run(cx.System.from_yaml(json.dumps(spec))).summary
    found = beside["per_requester"]["host"]
    assert found["pages_moved"] == 16
    # 64 lines a page behind what 64 reads of the neighbour and 16 of the copy take at 8 GB/s, at most.
    turn = (64 + 16) * 80 / 8 + 500
    assert found["page_moves_ns"] / 16 < UNMAP + SHOOTDOWN + LINES * turn
    other, alone = (each["per_requester"]["other"] for each in (beside, quiet))
    assert other["bandwidth_gb_per_s"] > 0.7 * alone["bandwidth_gb_per_s"]


@pytest.mark.parametrize(
    ("change", "message", "key"),
    [
        ({"tiering": "promote-on-falt"}, "unknown tiering kind 'promote-on-falt'", "tiering.kind"),
        ({"tiering": {**POLICY, "period": "0ns"}}, "period", "tiering.period"),
        ({"addresses": "as-is"}, "tiering has no effect", "tiering"),
        ({"kernel": {"copy_lines": 0}}, "copy_lines", "kernel.copy_lines"),
    ],
)
def test_mistakes_are_refused(change: dict[str, Any], message: str, key: str) -> None:
    with pytest.raises(cx.InputError, match=message) as raised:
        cx.run(system({**TOUCH, "requests": 10}).set("workload.host", {**TOUCH, "requests": 10, "footprint": "64KiB",
               "addresses": "first-touch", "tiering": POLICY, **change}))  # fmt: skip
    assert (raised.value.path or "").endswith(key)


def test_a_single_node_has_nowhere_to_move_pages_to() -> None:
    spec = system({**TOUCH, "requests": 10}).set("address_map", [{"to": "far"}])
    with pytest.raises(cx.InputError, match="there is no other node for its pages to go to") as raised:
        cx.run(spec)
    assert (raised.value.path or "").endswith("tiering")


def test_costs_without_tiering_are_refused() -> None:
    spec = system({**TOUCH, "requests": 10, "kernel": {"fault": "2us"}}, None)
    with pytest.raises(cx.InputError, match="kernel has no effect"):
        cx.run(spec)


HOT = {
    "pattern": "hot-cold",
    "hot_footprint": 0.125,
    "hot_requests": 0.95,
    "requests": 40_000,
    "footprint": "256KiB",
}


def test_a_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    """64 pages, the first eight of which are hot: they end in the near memory, which has frames for 16."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps(as_written(HOT, "64KiB")))
    outside = Played(built(PLUGINS / "sampled_tiers.cpp"), spec)
    chosen = ("workload.host.tiering=sampled-tiers", "workload.host.tiering.period=500us")

    def played(*settings: str) -> dict[str, Any]:
        return outside.results(*chosen, *settings)

    def of(summary: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = summary["per_requester"]["host"]
        return found

    unmoved = cx.run(cx.System.from_yaml(spec.read_text())).summary
    assert of(dict(unmoved))["pages"] == {"near": 0, "far": 64}
    found = played()
    host, tiering = of(found), of(found)["tiering"]
    assert found["simulated_time_ns"] < 0.5 * unmoved["simulated_time_ns"]
    assert host["pages"]["near"] >= 8
    assert sum(host["pages"].values()) == 64
    assert tiering["samples"] == 40_000 // 16
    assert tiering["scanned_pages"] > 0
    assert tiering["faults"] == tiering["protected_pages"] == 0
    assert tiering["promoted_bytes"] - tiering["demoted_bytes"] == host["pages"]["near"] * PAGE
    # Twice as many samples are twice as many, and cost as much.
    finer = of(played("workload.host.tiering.every=8"))["tiering"]
    assert finer["samples"] == 2 * tiering["samples"]
    # With hardly a frame, what is idle makes room.
    tight = of(played("devices.near.capacity=8KiB", "workload.host.tiering.watermark=1"))
    assert tight["pages"]["near"] <= 2
    # A near memory that answers later than the far one gets nothing once that is known.
    slow = ("devices.near.media.latency=2us", "workload.host.tiering.hot=1")
    balanced, greedy = (
        of(played(*slow, f"workload.host.tiering.balances={value}"))["tiering"]["promoted_bytes"]
        for value in ("true", "false")
    )
    assert balanced < greedy
    outside.assert_kind("workload.host.tiering=sampled-tiers", "tiering", "Pages with enough samples")
