"""What may limit requests beside what they take themselves: snoop filters that drive lines out, and I/O engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cxloom.bottleneck.engines import beside_engines
from cxloom.bottleneck.resource import Resource, Stage
from cxloom.bottleneck.resources import Spec, resources_of
from cxloom.spec.parts import parts_of


def all_resources(spec: Spec, summary: Spec) -> list[Resource]:
    """All that can be seen in a run, in the order of a request's way; the fuller first of each stage."""
    own = beside_engines(spec, summary, resources_of(spec, summary))
    found = [*own, *_filters(spec, summary), *_engines(summary)]
    return sorted(found, key=lambda each: (each.stage, -each.busy))


def _filters(spec: Spec, summary: Spec) -> Iterator[Resource]:
    """A line that comes into a full set makes another leave, and the caches that have it lose it."""
    for name, mine in summary["per_home"].items():
        misses = mine["filter_misses"]
        if not misses:
            continue
        driven_out = min(1.0, mine["filter_evictions"] / misses)
        relief: dict[str, Any] = {}
        twice = ""
        for agent in parts_of(spec, name, "directory"):
            filter_ = agent.below("filter")
            entries = None if filter_ is None else filter_.count("entries")
            if filter_ is not None and entries is not None:
                relief[f"{filter_.at}.entries"] = 2 * entries
                twice = f"{2 * entries} entries"
        yield Resource(
            "the snoop filter of",
            name,
            Stage.PLACES,
            driven_out,
            f"{100 * driven_out:.0f} % of its misses drive a line out of caches",
            relief,
            twice,
            occupied=False,
        )


def _engines(summary: Spec) -> Iterator[Resource]:
    """Bytes that somebody else moves: half of them are left out to see what they cost."""
    requests = summary["bandwidth_gb_per_s"]
    for name, mine in summary["per_io"].items():
        moved = mine["bandwidth_gb_per_s"]
        if moved <= 0:
            continue
        yield Resource(
            "the traffic of the I/O engine",
            name,
            Stage.WAY,
            min(1.0, moved / requests) if requests else 1.0,
            f"{moved:.3g} GB/s beside {requests:.3g} of requests",
            {f"devices.{name}.rate": f"{moved / 2:.6g}GB/s"},
            "half of it",
            float("inf"),  # it is in the way of others, and waits for nobody
            occupied=False,
        )
