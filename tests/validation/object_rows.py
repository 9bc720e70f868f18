"""What a workload says of its objects, turned."""

from __future__ import annotations

from collections.abc import Iterator

from validation.placement_rows import AT, near_and_far
from validation.systems import Run, changed, rows
from validation.turns import FALLS, RISES, Turn, addresses, highest, latency, lowest


def of_second(outcome: Run) -> int:
    """Accesses of the second of two objects of 64 KiB."""
    return int((addresses(outcome) >= 1 << 16).sum())


def object_rows() -> Iterator[Turn]:
    """The pattern of objects, and a placement that names one."""
    at, name = "workload.host", "patterns.objects"
    one = {"name": "a", "size": "64KiB"}
    work = {"pattern": "objects", "requests": 400, "objects": [one, {**one, "name": "b"}]}
    base = rows(
        {
            "devices": {"host": {"kind": "host"}, "mem": {"kind": "memory", "capacity": "16MiB"}},
            "links": [{"between": ["host", "mem"]}],
            "address_map": [{"to": ["mem"]}],
            "workload": {"host": work},
        }
    )
    yield Turn(f"{name}.objects", base, f"{at}.objects", ([one], work["objects"]), RISES, highest)
    yield Turn(f"{name}.base", base, f"{at}.base", ("0x0", "0x400000"), RISES, lowest)
    yield Turn(f"{name}.align", base, f"{at}.align", ("4KiB", "1MiB"), RISES, highest)
    within = f"{name}.objects"
    yield Turn(f"{within}.size", base, f"{at}.objects.1.size", ("64KiB", "1MiB"), RISES, highest)
    yield Turn(f"{within}.accesses", base, f"{at}.objects.1.accesses", (0.5, 2), RISES, of_second)
    reads = lambda outcome: outcome.summary["reads"]  # noqa: E731
    yield Turn(f"{within}.reads", base, f"{at}.objects.1.reads", (0.2, 0.8), RISES, reads)
    chased = ("random", "pointer-chase")
    yield Turn(f"{within}.pattern", base, f"{at}.objects.1.pattern", chased, FALLS, lambda o: o.bandwidth)
    # The range of an object is named for another one, in which less is accessed.
    named = changed(
        near_and_far(kind="ranges", ranges=[{"object": "a", "place": {"kind": "bind", "nodes": ["far"]}}]),
        ("workload.host.pattern", "objects"),
        ("workload.host.size", ...),
        ("workload.host.footprint", ...),
        ("workload.host.objects", [{**one, "accesses": 9}, {**one, "name": "b"}]),
    )
    yield Turn(f"{within}.name", named, f"{at}.objects", _renamed(), FALLS, latency)
    turned = "placements.ranges.ranges.object"
    yield Turn(turned, named, f"{AT}.ranges.0.object", ("a", "b"), FALLS, latency)


def _renamed() -> tuple[object, object]:
    first = [{"name": "a", "size": "64KiB", "accesses": 9}, {"name": "b", "size": "64KiB"}]
    return first, [{**first[0], "name": "b"}, {**first[1], "name": "a"}]
