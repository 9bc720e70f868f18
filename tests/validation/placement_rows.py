"""Where a workload's pages go: turned in a system of a near memory and a far one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed, rows
from validation.turns import FALLS, RISES, Measure, Turn, latency


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
