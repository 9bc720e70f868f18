"""Where a workload's pages go: turned in a system of a near memory and a far one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed, rows
from validation.turns import FALLS, RISES, Measure, Turn, latency, worst


def near_and_far(near: str = "1MiB", **addresses: Any) -> Spec:
    """A host that touches 256 KiB of pages; `near` is the nearer of its memories, and the second of the map."""
    return rows(
        {
            "devices": {
                "host": {"kind": "host"},
                "near": {"kind": "memory", "capacity": near},
                "far": {"kind": "memory", "capacity": "1MiB"},
            },
            "links": [
                {"between": ["host", "near"]},
                {"between": ["host", "far"], "delay": "100ns"},
            ],
            "address_map": [{"to": ["far"]}, {"to": ["near"]}],
            "workload": {
                "host": {
                    "pattern": "sequential",
                    "size": "4KiB",
                    "requests": 64,
                    "footprint": "256KiB",
                    **({"addresses": addresses} if addresses else {}),
                }
            },
        }
    )


def on(memory: str) -> Measure:
    """Pages that a memory has."""

    def measure(outcome: Run) -> int:
        return int(outcome.summary["per_requester"]["host"]["pages"][memory])

    return measure


AT = "workload.host.addresses"


def tiered(*changes: tuple[str, Any], **kernel: Any) -> Spec:
    """The host of above reads its pages over and over, and they are far at first."""
    base = near_and_far(kind="preferred", nodes=["far"])
    work = {**base["workload"]["host"], "pattern": "random", "size": "64B", "requests": 4000}
    work |= {"tiering": {"kind": "promote-on-fault", "period": "10us", "scan": "64KiB"}, "kernel": kernel}
    return changed(base, ("workload.host", work), *changes)


def of_tiering(what: str) -> Measure:
    """What the kernel did, in all."""

    def measure(outcome: Run) -> float:
        return float(outcome.summary["per_requester"]["host"]["tiering"][what])

    return measure


def of_moves(what: str) -> Measure:
    """What its moves took, in all."""

    def measure(outcome: Run) -> float:
        return float(outcome.summary["per_requester"]["host"][what])

    return measure


def tiering_rows() -> Iterator[Turn]:
    """The tiering of pages, and what it costs."""
    base = tiered()
    at, costs, kind = "workload.host.tiering", "workload.host.kernel", "tiering.promote-on-fault"
    moved = of_moves("pages_moved")
    yield Turn("workload.tiering", base, f"{at}.period", ("1s", "10us"), RISES, on("near"))
    yield Turn("workload.kernel", base, costs, ({}, {"fault": "3us"}), RISES, worst)
    yield Turn(f"{kind}.period", base, f"{at}.period", ("10us", "1ms"), FALLS, moved)
    yield Turn(f"{kind}.scan", base, f"{at}.scan", ("4KiB", "64KiB"), RISES, moved)
    yield Turn("workload.kernel.fault", base, f"{costs}.fault", ("1us", "3us"), RISES, worst)
    for cost in ("protect", "interrupt"):
        taken = of_tiering("interrupted_ns")
        yield Turn(f"workload.kernel.{cost}", base, f"{costs}.{cost}", ("10ns", "1us"), RISES, taken)
    scans = of_tiering("interrupted_ns")
    yield Turn("workload.kernel.scanner", base, f"{costs}.scanner", ("program", "other"), FALLS, scans)
    for cost in ("unmap", "shootdown"):
        busy = of_moves("page_moves_ns")
        yield Turn(f"workload.kernel.{cost}", base, f"{costs}.{cost}", ("1us", "4us"), RISES, busy)
    few = {"kind": "hot-pages", "every": 4, "hot": 2, "period": "100us", "keep_free": "16KiB"}
    hot = tiered((at, few), scan="0ns", sample="0ns")
    key, scanned = "tiering.hot-pages", of_tiering("scanned_pages")
    yield Turn(f"{key}.every", hot, f"{at}.every", (4, 16), FALLS, of_tiering("samples"))
    yield Turn(f"{key}.hot", hot, f"{at}.hot", (2, 1000), FALLS, moved)
    yield Turn(f"{key}.period", hot, f"{at}.period", ("100us", "20us"), RISES, scanned)
    idle = changed(hot, ("workload.host.pattern", "hot-cold"), ("workload.host.hot_requests", 0.999))
    full = changed(
        idle,
        ("devices.near.capacity", "128KiB"),
        ("workload.host.addresses", "preferred"),
        (f"{at}.period", "2us"),
    )
    demoted = of_tiering("demoted_bytes")
    yield Turn(f"{key}.keep_free", full, f"{at}.keep_free", ("0B", "32KiB"), RISES, demoted)
    for cost in ("scan", "sample"):
        taken = of_tiering("interrupted_ns")
        yield Turn(f"workload.kernel.{cost}", hot, f"{costs}.{cost}", ("0ns", "1us"), RISES, taken)
    lines = tiered(shootdown="0ns", unmap="0ns")
    busy = of_moves("page_moves_ns")
    yield Turn("workload.kernel.copy_lines", lines, f"{costs}.copy_lines", (1, 16), FALLS, busy)


def placement_rows() -> Iterator[Turn]:
    """All kinds of placement."""
    name = "placements"
    two = [["near"], ["far"]]
    bound = near_and_far(kind="bind", nodes=["near"])
    yield Turn(f"{name}.bind.nodes", bound, f"{AT}.nodes", (two[0], two[1]), RISES, on("far"))
    preferred = near_and_far(kind="preferred")
    yield Turn(f"{name}.preferred.nodes", preferred, f"{AT}.nodes", (..., two[1]), RISES, on("far"))
    yield Turn(f"{name}.preferred.limit", preferred, f"{AT}.limit", (..., "128KiB"), RISES, on("far"))
    by = near_and_far(kind="interleave", nodes=["near", "far"])
    yield Turn(f"{name}.interleave.nodes", by, f"{AT}.nodes", (two[0], ["near", "far"]), RISES, on("far"))
    yield Turn(f"{name}.interleave.weights", by, f"{AT}.weights", ([1, 1], [1, 3]), RISES, on("far"))
    strided = {"pattern": "strided", "stride": "8KiB", "size": "4KiB", "requests": 32, "footprint": "256KiB"}
    second = {**strided, "addresses": by["workload"]["host"]["addresses"], "touched": "during"}
    even = changed(by, ("workload.host", second))
    yield Turn(f"{name}.interleave.by", even, f"{AT}.by", ("touch", "address"), FALLS, on("far"))
    far = {"kind": "bind", "nodes": ["far"]}
    part = {"base": "0x0", "size": "64KiB", "place": far}
    ranges = near_and_far(kind="ranges", ranges=[part])
    yield Turn(
        f"{name}.ranges.ranges",
        ranges,
        f"{AT}.ranges",
        ([part], [{**part, "size": "128KiB"}]),
        RISES,
        on("far"),
    )
    at = f"{name}.ranges.ranges"
    yield Turn(f"{at}.size", ranges, f"{AT}.ranges.0.size", ("64KiB", "128KiB"), RISES, on("far"))
    yield Turn(f"{at}.base", ranges, f"{AT}.ranges.0.base", ("0x0", "0x30000000"), FALLS, on("far"))
    yield Turn(f"{at}.place", ranges, f"{AT}.ranges.0.place", (far, "preferred"), FALLS, on("far"))
    yield Turn(f"{name}.ranges.otherwise", ranges, f"{AT}.otherwise", ("preferred", far), RISES, on("far"))
    whole = near_and_far(kind="preferred")
    short = changed(whole, ("workload.host.requests", 32))
    yield Turn("workload.touched", short, "workload.host.touched", ("before", "during"), FALLS, on("near"))
    # Every second page: of contiguous frames those of one of two memories that are interleaved by pages.
    both = {"to": ["far", "near"], "interleave": "4KiB"}
    second = {**strided, "size": "64B", "addresses": {"kind": "preferred"}}
    spread = changed(whole, ("address_map", [both]), ("workload.host", second))
    yield Turn("workload.frames", spread, "workload.host.frames", ("contiguous", "scattered"), FALLS, latency)
    yield Turn("workload.page", whole, "workload.host.page", ("4KiB", "64KiB"), FALLS, on("near"))
