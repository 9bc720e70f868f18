"""Pages that are touched before a run or during it, and the order of frames: what memory sees of a program."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx

Spec = dict[str, Any]
GIB = 1 << 30


def on_dram(**work: Any) -> cx.System:
    """A host and one channel of DDR4-3200 without anything between them."""
    return cx.System.from_yaml(
        json.dumps(
            {
                "devices": {
                    "host": {"kind": "host", "queue": 256},
                    "mem": {
                        "kind": "memory",
                        "capacity": "8GiB",
                        "media": {"kind": "dram", "preset": "DDR4-3200", "channels": 1, "ranks": 1},
                    },
                },
                "links": [{"between": ["host", "mem"]}],
                "address_map": [{"to": "mem"}],
                "workload": {
                    "host": {
                        "pattern": "random",
                        "requests": 8000,
                        "addresses": {"kind": "bind", "nodes": ["mem"]},
                    }
                    | work
                },
                "run": {"warmup": 1000},
            }
        )
    )


# Random lines of 1 GiB in a rank of 8 GiB: hardly any of 256 in flight is in the row of another, so that each opens its
# own row. Four open in tFAW at most, 34 clocks of 625 ps: 64 B in 5.3125 ns, 12.05 GB/s. Refresh takes 350 ns of each
# 7.8 us: 11.5 GB/s. Random draws of banks leave a little of that unused.
RANDOM_BOUND = 64 / (34 * 0.625 / 4) * (1 - 350 / 7800)


@pytest.mark.parametrize("touched", ["before", "during"])
def test_random_pages_are_random_to_dram(touched: str) -> None:
    found = cx.run(on_dram(touched=touched)).bandwidth
    assert 0.9 * RANDOM_BOUND < found < 1.01 * RANDOM_BOUND


def test_measured_random_bandwidth_is_that_of_rows() -> None:
    """Within what four rows in tFAW allow; of untouched pages in the order of their touch it was 21.9 GB/s."""
    rows = cx.measure.bandwidth(on_dram(), pattern="random").rows
    reads = next(row["bandwidth_gb_per_s"] for row in rows if row["mix"] == "all reads")
    assert 0.9 * RANDOM_BOUND < reads < 1.01 * RANDOM_BOUND


def test_contiguous_frames_are_rows_side_by_side() -> None:
    """In sequence, pages side by side in a row are hits for each other; scattered ones open a row of their own each."""
    work: Spec = {"pattern": "strided", "stride": "4KiB", "footprint": "256MiB"}
    contiguous, scattered = (
        cx.run(on_dram(frames=frames, **work)).summary["per_memory"]["mem"]["row_hit_rate"]
        for frames in ("contiguous", "scattered")
    )
    assert contiguous > scattered + 0.2


CACHE, FOOTPRINT = 4, 16  # MiB


def on_pages(**work: Any) -> cx.System:
    """One read at a time before a cache of pages, four times as large a footprint, and no warm-up."""
    media: Spec = {
        "kind": "cached",
        "size": f"{CACHE}MiB",
        "page": "4KiB",
        "ways": 0,
        "cache": {"kind": "fixed", "latency": "50ns", "bandwidth": "unlimited"},
        "backing": {"kind": "fixed", "latency": "2us", "bandwidth": "unlimited"},
    }
    return cx.System.from_yaml(
        json.dumps(
            {
                "devices": {
                    "host": {"kind": "host", "queue": 1},
                    "mem": {"kind": "memory", "capacity": "64MiB", "media": media},
                },
                "links": [{"between": ["host", "mem"]}],
                "address_map": [{"to": "mem"}],
                "workload": {
                    "host": {
                        "pattern": "random",
                        "requests": 4000,
                        "footprint": f"{FOOTPRINT}MiB",
                        "addresses": {"kind": "preferred"},
                        **work,
                    }
                },
            }
        )
    )


def test_what_was_touched_is_in_the_cache_of_pages() -> None:
    """A quarter of a footprint of four caches is there from the first access on: 25 % hits, deviation 0.7 %."""
    hits = cx.run(on_pages()).summary["per_memory"]["mem"]["page_hit_rate"]
    assert hits == pytest.approx(CACHE / FOOTPRINT, abs=0.03)


def test_what_was_not_touched_is_not_there() -> None:
    """The first access to each of 1024 pages misses, and the second one hits; touched before, all do."""
    twice: Spec = {"footprint": f"{CACHE}MiB", "pattern": "strided", "stride": "4KiB", "requests": 2048}
    for touched, hits in (("during", 1024), ("before", 2048)):
        found = cx.run(on_pages(touched=touched, **twice))
        assert found.summary["per_memory"]["mem"]["page_hits"] == hits


def test_idle_latency_of_a_cxl_ssd_has_the_share_of_its_cache() -> None:
    """256 MiB before a cache of 64: a quarter of the reads hits. In the order of first touch it was 1577 ns."""
    (row,) = cx.measure.latency("examples/cxl-ssd.yaml", reads=1000).rows
    hit, miss = row["least_ns"], row["most_ns"]
    assert row["latency_ns"] == pytest.approx(0.25 * hit + 0.75 * miss, rel=0.12)


def near_and_far(**work: Any) -> cx.System:
    memory = {"kind": "memory", "controller_time": "0ns", "media": {"kind": "fixed", "latency": "50ns"}}
    return cx.System.from_yaml(
        json.dumps(
            {
                "devices": {
                    "host": {"kind": "host"},
                    "near": {**memory, "capacity": "512KiB"},
                    "far": {**memory, "capacity": "4MiB"},
                },
                "links": [{"between": ["host", "near"]}, {"between": ["host", "far"], "delay": "100ns"}],
                "address_map": [{"to": "near"}, {"to": "far"}],
                "workload": {
                    "host": {
                        "addresses": {"kind": "preferred"},
                        "requests": 4000,
                        "footprint": "1MiB",
                        **work,
                    }
                },
            }
        )
    )


def test_who_touches_first_is_near() -> None:
    """Half of 256 pages are near: touched before, the first by address; in steps of two pages, every second one."""
    every_second = {"pattern": "strided", "stride": "8KiB", "requests": 128}
    before = cx.run(near_and_far(**every_second))
    during = cx.run(near_and_far(**every_second, touched="during"))
    assert before.summary["per_requester"]["host"]["pages"] == {"near": 128, "far": 128}
    assert during.summary["per_requester"]["host"]["pages"] == {"near": 128, "far": 0}
    assert before.latency.mean == pytest.approx(during.latency.mean + 100)  # half of them 200 ns farther


def test_programs_on_one_memory_have_each_frame_once() -> None:
    """Four programs fill a memory to its last frame, with frames scattered over all of it."""
    work = {"pattern": "strided", "stride": "4KiB", "rate": "1M/s", "addresses": {"kind": "preferred"}}
    sizes = {"h0": 64, "h1": 64, "h2": 64, "h3": 64}
    spec = {
        "devices": {
            **{name: {"kind": "host"} for name in sizes},
            "bus": {"kind": "bus"},
            "m": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [{"between": [name, "bus"]} for name in (*sizes, "m")],
        "address_map": [{"to": "m"}],
        "workload": {name: {**work, "footprint": f"{4 * n}KiB", "requests": n} for name, n in sizes.items()},
    }
    rows = cx.run(cx.System.from_yaml(json.dumps(spec)), requests=True).requests()
    frames = [at // 4096 for at in rows["address"]]
    assert len(set(frames)) == len(frames) > 240  # rows end with the first program
    assert max(frames) < 256
    mine = [at // 4096 for at in rows.filter(rows["requester"] == "h0")["address"]]
    assert max(mine) - min(mine) > 200


def test_frames_go_by_the_seed() -> None:
    def addresses(seed: int, name: str = "host") -> list[int]:
        found = cx.run(near_and_far(pattern="sequential", requests=64, size="4KiB"), seed=seed, requests=True)
        return [int(at) for at in found.requests()["address"]]

    assert addresses(1) == addresses(1)
    assert addresses(1) != addresses(2)


def test_programs_that_share_memory_take_frames_in_one_order() -> None:
    spec = {
        "devices": {
            "a": {"kind": "host"},
            "b": {"kind": "host"},
            "bus": {"kind": "bus"},
            "m": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [{"between": [name, "bus"]} for name in ("a", "b", "m")],
        "address_map": [{"to": "m"}],
        "workload": {
            name: {
                "pattern": "random",
                "footprint": "64KiB",
                "requests": 8,
                "addresses": "first-touch",
                "frames": frames,
            }
            for name, frames in (("a", "scattered"), ("b", "contiguous"))
        },
    }
    with pytest.raises(cx.InputError, match="in one order") as raised:
        cx.run(cx.System.from_yaml(json.dumps(spec)))
    assert raised.value.path == "workload.b.frames"


@pytest.mark.parametrize("key", ["frames", "touched"])
def test_what_places_nothing_has_no_say(key: str) -> None:
    value = {"frames": "contiguous", "touched": "during"}[key]
    with pytest.raises(cx.InputError, match=key):
        cx.run(near_and_far(pattern="random", addresses="as-is", **{key: value}))


def test_pages_that_nobody_has_used_yet_move_too() -> None:
    """All 256 pages are touched before, and a quarter of those near goes far at once, by address."""
    spec = near_and_far(pattern="sequential", requests=4, size="4KiB")
    move = {"requester": "host", "from": "near", "to": "far", "share": "25%", "copy": False}
    found = cx.run(spec.set("events", [{"at": "1ps", "move_pages": move}]))
    assert found.summary["per_requester"]["host"]["pages"] == {"near": 96, "far": 160}
    assert found.summary["per_requester"]["host"]["pages_moved"] == 32
