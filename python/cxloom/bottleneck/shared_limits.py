"""What may limit requests, all of it: what they take themselves, and I/O engines beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cxloom import _core
from cxloom.bottleneck.engines import beside_engines
from cxloom.bottleneck.resource import Resource, Stage
from cxloom.bottleneck.resources import Spec, resources_of
from cxloom.spec import declared
from cxloom.spec.parts import section

if TYPE_CHECKING:
    from cxloom.base.summary import Summary


def all_resources(spec: Spec, summary: Summary) -> list[Resource]:
    """All that can be seen in a run, in the order of a request's way; the fuller first of each stage.

    Raises InputError for a system that cannot be built: of a plug-in that is not loaded, with files that are gone.
    """
    inventory = _core.inventory(spec)
    own = [_spread(each, spec, summary) for each in resources_of(spec, summary, inventory)]
    found = [*beside_engines(spec, summary, inventory, own), *_engines(spec, summary)]
    return sorted(found, key=lambda each: (each.stage, -each.busy))


def _spread(wire: Resource, spec: Spec, summary: Summary) -> Resource:
    """What carries messages over links that carry nothing beside this one, in place of a faster wire."""
    spreading, _ = section({}, "run").kind("routing")
    if wire.way is None or section(spec, "run").kind("routing")[0] == spreading:
        return wire
    _, way = wire.way
    uses = [ways[way]["messages"] for ways in summary["per_link"].values() if way in ways]
    if all(uses):
        return wire
    return replace(wire, relief={"run.routing": spreading}, twice=f"all {len(uses)} links")


def _engines(spec: Spec, summary: Summary) -> Iterator[Resource]:
    """Bytes that somebody else moves: half of them are left out to see what they cost, if the kind has a `rate`."""
    requests = summary["bandwidth_gb_per_s"]
    for name, mine in summary["per_io"].items():
        moved = mine.get("bandwidth_gb_per_s") or 0.0  # which a plug-in's need not measure
        if moved <= 0:
            continue
        has_rate = "rate" in declared.kind_fields("devices", spec["devices"][name]["kind"])
        yield Resource(
            "the traffic of the I/O engine",
            name,
            Stage.WAY,
            min(1.0, moved / requests) if requests else 1.0,
            f"{moved:.3g} GB/s beside {requests:.3g} of requests",
            {f"devices.{name}.rate": f"{moved / 2:.6g}GB/s"} if has_rate else {},
            "half of it",
            float("inf"),  # it competes with others but is never limited itself
            occupied=False,
            counts="bytes",
        )
