"""Pages that go to another memory during a run: how long that takes, what it costs, and that no access is lost."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError

PAGE, LINE = 4096, 64
NEAR, FAR = 45.0, 245.0  # ns of a line, unloaded: 45 of the media, and 100 of the link each way


def system(work: dict[str, Any], *moves: dict[str, Any], **more: Any) -> cx.System:
    """A host with a near and a far memory of fixed latency, behind links without a bandwidth."""
    host: dict[str, Any] = {"kind": "host", "process_time": "0ns", "queue": 16, **more.pop("host", {})}
    memory = {"kind": "memory", "controller_time": "0ns", "capacity": more.pop("capacity", "1MiB")}
    memory["media"] = {"kind": "fixed", "latency": "45ns", "bandwidth": "unlimited"}
    work = {"addresses": {"kind": "preferred", "nodes": ["near"]}, **work}
    if "phases" not in work:
        work.setdefault("footprint", "64KiB")
    events = [
        {"at": move.pop("at"), "move_pages": {"requester": "host", "from": "near", "to": "far", **move}}
        for move in (dict(each) for each in moves)
    ]
    distant = more.pop("distant", ["far"])
    spec = {
        "devices": {"host": host, "near": memory} | dict.fromkeys(distant, memory),
        "links": [{"between": ["host", "near"]}]
        + [{"between": ["host", name], "delay": "100ns"} for name in distant],
        "address_map": [{"to": name} for name in ("near", *distant)],
        "workload": {"host": work},
        "events": events,
        **more,
    }
    return cx.System.from_yaml(json.dumps(spec))


def rows(result: cx.Result) -> pl.DataFrame:
    """The requests, with times in ns."""
    times = [pl.col(f"{name}_ps").cast(pl.Float64) / 1000 for name in ("created", "completed")]
    frame = result.requests().with_columns(created_ns=times[0], completed_ns=times[1])
    return frame.with_columns(latency_ns=(pl.col("completed_ns") - pl.col("created_ns")).round(3))


def of_host(result: cx.Result) -> dict[str, Any]:
    found: dict[str, Any] = result.summary["per_requester"]["host"]
    return found


TOUCH = {"pattern": "strided", "stride": "4KiB", "requests": 40, "rate": "100k/s"}  # a page each 10 us


@pytest.mark.parametrize("rate", ["unlimited", "10GB/s", "2GB/s", "100MB/s"])
@pytest.mark.parametrize("pages", [1, 2, 5])
def test_a_move_takes_what_its_lines_take(rate: str, pages: int) -> None:
    # The reads of a page are g apart; the last of 64 is answered, and its line written. The next page begins then, and
    # its first read not before g has passed since the last one.
    gap = {"unlimited": 0.0, "10GB/s": 6.4, "2GB/s": 32.0, "100MB/s": 640.0}[rate]
    last = NEAR + FAR
    page = 63 * gap + last
    expected = (pages - 1) * max(64 * gap, page) + page
    spec = system(TOUCH, {"at": "165us", "share": pages / 16, "rate": rate})
    found = of_host(cx.run(spec))
    assert found["pages_moved"] == pages
    assert found["pages_not_moved"] == 0
    assert found["page_moves_ns"] == pytest.approx(expected, rel=1e-9)
    assert found["pages"] == {"near": 16 - pages, "far": pages}


def test_a_read_before_and_after() -> None:
    chase = {"pattern": "pointer-chase", "requests": 4000, "footprint": "1MiB", "touched": "during"}
    base = {"capacity": "4MiB", "run": {"warmup": 0}}
    result = cx.run(system(chase, {"at": "60us", "copy": False}, **base), requests=True)
    frame = rows(result)
    before = frame.filter(pl.col("created_ns") < 60_000)
    after = frame.filter(pl.col("created_ns") >= 60_000)
    assert set(before["latency_ns"]) == {NEAR}
    # What it touches for the first time later is near again.
    assert set(after["latency_ns"]) == {NEAR, FAR}
    moved = before["address"].unique().len()
    assert of_host(result)["pages_moved"] == (before["address"] // PAGE).unique().len() <= moved


def test_half_of_the_pages_give_the_mean_of_both() -> None:
    work = {"pattern": "random", "requests": 20_000, "rate": "1M/s"}
    spec = system(work, {"at": "1500us", "share": 0.5, "copy": False}, run={"warmup": 3000})
    result = cx.run(spec)
    assert of_host(result)["pages"] == {"near": 8, "far": 8}
    assert result.latency.mean == pytest.approx((NEAR + FAR) / 2, rel=0.02)


def test_copies_are_traffic_that_nobody_waits_for() -> None:
    quiet = cx.run(system(TOUCH))
    moving = cx.run(system(TOUCH, {"at": "165us"}))
    assert moving.summary["requests"] == quiet.summary["requests"]
    far = moving.summary["per_memory"]["far"]
    assert far["write_backs"] == 16 * PAGE // LINE
    links = moving.summary["per_link"]
    assert sum(end["messages"] for end in links["host-near"].values()) >= 2 * 16 * 64


def test_a_cache_gives_what_only_it_has() -> None:
    # Dirty lines of the page are in the cache: the copy reads them there, and not the memory.
    host = {"cache": {"size": "256KiB", "ways": 0}}
    work = {"pattern": "sequential", "size": "4KiB", "reads": "0%", "requests": 200, "rate": "100k/s"}
    found = cx.run(system(work, {"at": "400us"}, host=host))
    assert of_host(found)["pages_moved"] == 16
    assert of_host(found)["page_moves_ns"] < 16 * (63 * 0 + NEAR + FAR)


def test_what_has_no_room_stays() -> None:
    spec = system(TOUCH, {"at": "165us", "copy": False}, capacity="48KiB")
    # 16 pages: 12 near, 4 far; far has room for 8 more
    found = of_host(cx.run(spec))
    assert found["pages_moved"] == 8
    assert found["pages_not_moved"] == 4
    assert found["pages"] == {"near": 4, "far": 12}


@pytest.mark.parametrize("to", ["far", "third"])
@pytest.mark.parametrize(("copy", "with_the_first"), [(True, 5), (False, 2)])
def test_pages_of_moves_that_overlap_go_once(to: str, copy: bool, with_the_first: int) -> None:
    # The first takes 41 us for each of five pages; the second, of all pages, comes within the second of these. Copies
    # wait for the first to end; pages that are there at once are all but the one that is there and the one under way.
    first = {"at": "165us", "share": 5 / 16, "rate": "100MB/s"}
    second = {"at": "225us", "to": to, "copy": copy}
    found = of_host(cx.run(system({**TOUCH, "requests": 60}, first, second, distant=["far", "third"])))
    assert found["pages_moved"] == 16
    assert found["pages_not_moved"] == 0
    assert found["pages"] == (
        {"near": 0, "far": 16, "third": 0}
        if to == "far"
        else {"near": 0, "far": with_the_first, "third": 16 - with_the_first}
    )


def test_frames_that_are_left_are_used_again() -> None:
    back = {"at": "330us", "from": "far", "to": "near", "copy": False}
    spec = system(TOUCH, {"at": "165us", "copy": False}, back, capacity="64KiB")
    assert of_host(cx.run(spec))["pages"] == {"near": 16, "far": 0}


def test_a_range_of_the_programs_addresses() -> None:
    spec = system(TOUCH, {"at": "165us", "base": "0x2000", "size": "12KiB", "copy": False})
    assert of_host(cx.run(spec))["pages"] == {"near": 13, "far": 3}


@settings(max_examples=25, deadline=None)
@given(
    pattern=st.sampled_from(["random", "sequential", "zipf", "hot-cold", "pointer-chase"]),
    queue=st.sampled_from([1, 4, 32]),
    reads=st.sampled_from(["0%", "50%", "100%"]),
    rate=st.sampled_from(["unlimited", "20GB/s", "1GB/s"]),
    share=st.sampled_from([0.25, 0.6, 1.0]),
    at=st.integers(1, 30),
    seed=st.integers(0, 1000),
)
def test_no_access_is_lost_or_led_astray(
    pattern: str, queue: int, reads: str, rate: str, share: float, at: int, seed: int
) -> None:
    """Near frame k becomes far frame k. What goes to the one is answered before the copy, which is before the rest."""
    touch = {"pattern": "sequential", "size": "4KiB", "requests": 8, "footprint": "32KiB"}
    then: dict[str, Any] = {"pattern": pattern, "requests": 10_000, "footprint": "32KiB"}
    if pattern != "pointer-chase":
        then["reads"] = reads
    work = {"requests": 3000, "phases": [touch, then], "frames": "contiguous"}
    moves = {"at": f"{at}us", "share": share, "rate": rate}
    result = cx.run(
        system(work, moves, host={"queue": queue}, run={"seed": seed, "warmup": 0}), requests=True
    )
    assert result.summary["completed"] is True
    frame = rows(result)
    assert frame["id"].sort().to_list() == list(range(3000)), "each is answered once"
    found = of_host(result)
    moved = found["pages_moved"]
    assert found["pages"]["far"] == moved
    page = pl.col("address") // PAGE
    near, far = (frame.filter(pl.col("target") == name).with_columns(page=page) for name in ("near", "far"))
    assert set(near["latency_ns"]) <= {NEAR}
    assert set(far["latency_ns"]) <= {FAR}
    assert far.is_empty() or far["page"].min() >= (1 << 20) // PAGE
    first = (1 << 20) // PAGE
    assert set(far["page"]) <= set(range(first, first + moved))
    for number in range(moved):
        old = near.filter(pl.col("page") == number)
        new = far.filter(pl.col("page") == first + number)
        assert old["created_ns"].max() < at * 1000 + found["page_moves_ns"]
        if new.height:
            gap = new["created_ns"].min() - old["completed_ns"].max()
            assert gap >= NEAR + FAR - 1e-6, "a page is copied while nobody has an access to it under way"


def test_program_ends_before_its_pages_are_moved() -> None:
    # 900 lines in order, of 16 pages that were touched before: the first begins to move, which takes 41 us.
    work = {"pattern": "sequential", "requests": 900}
    found = of_host(cx.run(system(work, {"at": "2us", "rate": "100MB/s"})))
    assert found["pages_moved"] == 1
    assert found["pages_not_moved"] == 15
    alone = 63 * 640 + NEAR + FAR  # and what was under way before
    assert alone <= found["page_moves_ns"] <= alone + NEAR
    assert found["page_wait_ns"] == 0


@pytest.mark.parametrize(
    ("change", "message", "key"),
    [
        ({"requester": "hots"}, "unknown device, found 'hots'", "requester"),
        ({"requester": "near"}, "no workload", "requester"),
        ({"from": "nera"}, "the program has no pages there", "from"),
        ({"to": "near"}, "the pages are there already", "to"),
        ({"share": 1.5}, "share", "share"),
        ({"base": "0x0"}, "base and size are given together", ""),
        ({"copy": False, "rate": "1GB/s"}, "rate has no effect", "rate"),
    ],
)
def test_mistakes_are_refused(change: dict[str, Any], message: str, key: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        cx.run(system(TOUCH, {"at": "1us", **change}))
    assert (raised.value.path or "").endswith(key)


def test_physical_addresses_have_no_pages_to_move() -> None:
    with pytest.raises(InputError, match="its pages cannot be moved"):
        cx.run(system({**TOUCH, "addresses": "as-is"}, {"at": "1us"}))
