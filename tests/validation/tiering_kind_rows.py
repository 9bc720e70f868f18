"""Kinds of tiering that follow published ones: turned where memories are near and far, at scales of microseconds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from validation.placement_rows import near_and_far, of_moves, of_tiering, on
from validation.systems import Spec, changed, feed
from validation.turns import FALLS, RISES, Turn

AT = "workload.host.tiering"
MOVED, PROTECTED = of_moves("pages_moved"), of_tiering("protected_pages")
DEMOTED = of_tiering("demoted_bytes")
SCAN = {"scan_size": "256KiB", "period_min": "10us", "period_max": "20us", "period_floor": "1ns"}


def reading(policy: Spec, near: str = "1MiB", **work: Any) -> Spec:
    """A host reads 64 pages over and over, which are far at first, with no policy of their own."""
    base = near_and_far(near)
    host = {**base["workload"]["host"], "pattern": "random", "size": "64B", "requests": 8000}
    host |= {"addresses": "first-touch", "tiering": policy, **work}
    return changed(base, ("workload.host", host))


def idle(policy: Spec, period: str = "10us") -> Spec:
    """The near memory is full, mostly of pages that are hardly accessed."""
    cold = {"pattern": "hot-cold", "hot_requests": 0.9, "addresses": "preferred"}
    timed = {"period_min": period, "period_max": period} if "period_min" in policy else {}
    return reading({**policy, **timed}, "128KiB", **cold)


def scan_rows(kind: str, policy: Spec) -> Iterator[Turn]:
    """What each kind has that scans as Linux does."""
    key = f"tiering.{kind}"
    base = reading(policy)
    stuck = reading(policy, "4KiB")  # nearly no page finds a frame, so that scans tell nothing
    yield Turn(f"{key}.scan_size", base, f"{AT}.scan_size", ("4KiB", "256KiB"), RISES, PROTECTED)
    later = ((f"{AT}.period_max", "1s"),)
    yield Turn(f"{key}.period_min", stuck, f"{AT}.period_min", ("10us", "1s"), FALLS, PROTECTED, later)
    yield Turn(f"{key}.period_max", stuck, f"{AT}.period_max", ("10us", "1s"), FALLS, PROTECTED)
    yield Turn(f"{key}.period_floor", stuck, f"{AT}.period_floor", ("1ns", "1s"), FALLS, PROTECTED)
    own = reading(policy, addresses={"kind": "preferred", "nodes": ["far"]})
    yield Turn(f"{key}.scan_explicit", own, f"{AT}.scan_explicit", (False, True), RISES, of_tiering("faults"))


def autonuma_rows() -> Iterator[Turn]:
    """Mode 1."""
    key, policy = "tiering.autonuma", {"kind": "autonuma", **SCAN, "high_watermark": 0}
    yield from scan_rows("autonuma", policy)
    yield Turn(f"{key}.consecutive", reading(policy), f"{AT}.consecutive", (1, 1000), FALLS, MOVED)
    full = reading(policy, "128KiB")
    yield Turn(f"{key}.high_watermark", full, f"{AT}.high_watermark", (0, 0.5), FALLS, on("near"))
    # Four threads share all pages; a page seldom faults five times in a row in the same one.
    shared = changed(full, (f"{AT}.consecutive", 5), ("devices.host.core", {}), (f"{AT}.period_min", "2us"))
    for value in ("pattern", "size", "requests", "footprint"):
        shared = changed(shared, (f"workload.host.{value}", ...))
    shared = changed(shared, ("workload.host.trace", "host"), ("devices.near.capacity", "1MiB"))
    rng = random.Random(1)
    pages = [rng.randrange(64) for _ in range(20_000)]
    threads = [rng.randrange(4) for _ in pages]

    def accesses() -> dict[str, Any]:
        return {"host": feed([page * 4096 for page in pages], thread=threads, instruction_gap=30)}

    values = ("node", "thread")
    yield Turn(f"{key}.same", shared, f"{AT}.same", values, FALLS, MOVED, feeds=accesses)


def memory_tiering_rows() -> Iterator[Turn]:
    """Mode 2."""
    key = "tiering.memory-tiering"
    few = {"threshold": "2us", "threshold_step": "1us", "threshold_max": "1ms", "adapt": "1s"}
    marks = {"high_watermark": 0, "promo_watermark": 0, "demotion_pause": "10us"}
    never = {"enough_free": "1MiB", "enough_share": 0, "rate_window": "100us"}
    policy = {"kind": "memory-tiering", **SCAN, **few, **marks, **never}
    yield from scan_rows("memory-tiering", policy)
    base = reading(policy)

    def turn(name: str, values: tuple[Any, Any], effect: Any, *changes: tuple[str, Any]) -> Turn:
        spec = changed(base, *((f"{AT}.{what}", value) for what, value in changes))
        return Turn(f"{key}.{name}", spec, f"{AT}.{name}", values, effect, MOVED)

    yield turn("threshold", ("2us", "1ms"), RISES)
    yield turn("threshold_step", ("100ns", "2us"), RISES, ("adapt", "20us"))
    yield turn("threshold_max", ("2us", "1ms"), RISES, ("adapt", "20us"), ("threshold_step", "2us"))
    yield turn("adapt", ("20us", "1s"), FALLS, ("threshold_step", "2us"))
    yield turn("rate_limit", ("1MB/s", "unlimited"), RISES, ("threshold", "1ms"))
    yield turn("rate_window", ("1us", "1s"), FALLS, ("threshold", "1ms"), ("rate_limit", "4kB/s"))
    yield turn("enough_free", ("4KiB", "1MiB"), FALLS)
    yield turn("enough_share", (0, 1), FALLS, ("enough_free", "4KiB"))
    hot = reading({**policy, "threshold": "1ms", "promo_watermark": 0.9}, "128KiB")
    values = (0, 0.9)
    yield Turn(f"{key}.high_watermark", hot, f"{AT}.high_watermark", values, FALLS, on("near"))
    full = idle({**policy, "threshold": "1ms", "high_watermark": 0.1, "promo_watermark": 0.1})
    # One page is wanted now and then, and makes room.
    once = changed(full, (f"{AT}.rate_limit", "4kB/s"), (f"{AT}.rate_window", "20us"))
    yield Turn(f"{key}.promo_watermark", once, f"{AT}.promo_watermark", (0.1, 0.9), RISES, DEMOTED)
    pauses = ("10us", "1s")
    yield Turn(f"{key}.demotion_pause", full, f"{AT}.demotion_pause", pauses, FALLS, DEMOTED)


def tpp_rows() -> Iterator[Turn]:
    """Transparent page placement."""
    key, policy = "tiering.tpp", {"kind": "tpp", **SCAN, "demotion_pause": "10us"}
    yield from scan_rows("tpp", policy)
    full = idle(policy)
    yield Turn(f"{key}.demote_below", full, f"{AT}.demote_below", (0, 0.5), RISES, DEMOTED)
    pauses = ("10us", "1s")
    yield Turn(f"{key}.demotion_pause", full, f"{AT}.demotion_pause", pauses, FALLS, DEMOTED)


def hemem_rows() -> Iterator[Turn]:
    """Samples, counted and cooled."""
    key = "tiering.hemem"
    policy = {"kind": "hemem", "every": 2, "hot_reads": 4, "hot_writes": 4, "cool": 1000, "period": "20us"}
    policy |= {"keep_free": "0B", "rate_limit": "unlimited"}
    base = reading(policy)
    yield Turn(f"{key}.every", base, f"{AT}.every", (4, 16), FALLS, of_tiering("samples"))
    rare = changed(base, (f"{AT}.hot_writes", 900), ("workload.host.reads", 1.0))
    yield Turn(f"{key}.hot_reads", rare, f"{AT}.hot_reads", (4, 900), FALLS, MOVED)
    rare = changed(base, (f"{AT}.hot_reads", 900), ("workload.host.reads", 0.5))
    yield Turn(f"{key}.hot_writes", rare, f"{AT}.hot_writes", (4, 900), FALLS, MOVED)
    late = changed(base, (f"{AT}.hot_reads", 30))
    yield Turn(f"{key}.cool", late, f"{AT}.cool", (31, 1000), RISES, MOVED)
    yield Turn(f"{key}.period", base, f"{AT}.period", ("20us", "1s"), FALLS, MOVED)
    full = idle({**policy, "hot_reads": 900})
    yield Turn(f"{key}.keep_free", full, f"{AT}.keep_free", ("0B", "32KiB"), RISES, DEMOTED)
    yield Turn(f"{key}.rate_limit", base, f"{AT}.rate_limit", ("1MB/s", "unlimited"), RISES, MOVED)


def oracle_rows() -> Iterator[Turn]:
    """What is to come."""
    key, policy = "tiering.oracle", {"kind": "oracle", "foresees": 2000, "period": "20us", "least": 8}
    base = reading(policy)
    yield Turn(f"{key}.foresees", base, f"{AT}.foresees", (7, 2000), RISES, MOVED)
    yield Turn(f"{key}.period", base, f"{AT}.period", ("20us", "1s"), FALLS, MOVED)
    yield Turn(f"{key}.least", base, f"{AT}.least", (8, 1000), FALLS, MOVED)


def tiering_kind_rows() -> Iterator[Turn]:
    """All of them."""
    yield from autonuma_rows()
    yield from memory_tiering_rows()
    yield from tpp_rows()
    yield from hemem_rows()
    yield from oracle_rows()
