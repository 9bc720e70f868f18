"""What each node is like for the requesters of a workload: idle latency, peak bandwidth under their mix, and how many
requests they have in flight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject
from cxloom.base.errors import SimulationError
from cxloom.measure.bench import Bench, Node, size_text
from cxloom.results.caveats import error_sentence, only_errors
from cxloom.sweeping.at_points import of_the_run

_READS = 200
"""Reads of an idle latency (own choice: the media of a node differ by their state, not much)."""
_LOAD = 6000
"""Requests of a peak (own choice)."""
_FILLED = 3
"""Times that queues have filled when a peak begins to be measured (own choice): while they fill, a memory gives less
than it can, the more so the faster it is."""
_MOST = 200_000
"""Requests before a peak at most (own choice): a deeper queue is not filled three times, and is full all the same."""
_GIB = 1 << 30


def profiles(
    bench: Bench, objects: Sequence[PlacedObject], work: Mapping[str, Mapping[str, Any]]
) -> tuple[list[NodeProfile], dict[str, float]]:
    """The nodes of those who have objects, in the order of the address map, and how many requests each has in flight.

    Raises SimulationError if no memory answers one of them.

    Args:
        work: the workloads, of which the probes have pages; threads are those of the objects.
    """
    names = list(dict.fromkeys(each.requester for each in objects))
    nodes = [node for node in bench.all_nodes() if any(bench.may(name, node) for name in names)]
    idle = [(name, node) for name in names for node in nodes if bench.may(name, node)]
    chase = {"pattern": "pointer-chase", "requests": _READS}
    points = [
        {
            "workload": {
                name: {
                    **chase,
                    "footprint": size_text(node.footprint(_GIB)),
                    "addresses": node.bound(),
                }
            }
        }
        for name, node in idle
    ]
    latency: dict[str, dict[str, float]] = {node.name: {} for node in nodes}
    why: dict[str, str] = {}
    answers = bench.run(bench.uncached(), points, of_the_run) if points else []
    for (name, node), summary in zip(idle, answers, strict=True):
        if only_errors(summary):
            why[name] = f": {error_sentence(summary)}"
        else:
            latency[node.name][name] = float(summary["latency_ns"]["mean"])
    for name in names:
        if not any(name in answered for answered in latency.values()):
            raise SimulationError(f"no memory answers {name} when the run begins{why.get(name, '')}")
    loads = [
        {
            "workload": {name: _load(bench, node, objects, work, name) for name in latency[node.name]},
            "run.warmup": min(_MOST, _FILLED * max(map(bench.in_flight, latency[node.name]))),
        }
        for node in nodes
        if latency[node.name]
    ]
    loaded = [node for node in nodes if latency[node.name]]
    found: list[NodeProfile] = []
    in_flight = dict.fromkeys(names, 1.0)
    for node, summary in zip(loaded, bench.run(bench.spec, loads), strict=True):
        for name, mine in summary["per_requester"].items():
            if mine["requests"] and summary["simulated_time_ns"]:
                rate = mine["requests"] / summary["simulated_time_ns"]
                in_flight[name] = max(in_flight[name], rate * mine["latency_ns"]["mean"])
        bandwidth = float(summary["bandwidth_gb_per_s"] or 0.0) or 1e9
        found.append(NodeProfile(node.memory, node.size, bandwidth, latency[node.name]))
    return found, in_flight


def _load(
    bench: Bench,
    node: Node,
    objects: Sequence[PlacedObject],
    work: Mapping[str, Mapping[str, Any]],
    name: str,
) -> dict[str, Any]:
    """The load of one requester: the mix and the manner of its objects."""
    mine = [each for each in objects if each.requester == name]
    total = sum(each.total for each in mine) or 1.0
    reads = sum(each.reads * each.total for each in mine) / total
    in_order = sum(each.total for each in mine if each.sequential) > total / 2
    kept = {key: work[name][key] for key in ("page",) if key in work.get(name, {})}
    if name in bench.cored and mine[0].threads > 1:
        kept |= {"threads": mine[0].threads, "shared_footprint": True}
    programs = len({each.requester for each in objects})
    return {
        "pattern": "sequential" if in_order else "random",
        "reads": round(reads, 6),
        "requests": _LOAD,
        "footprint": size_text(min(_GIB, node.part(programs))),
        "addresses": node.bound(),
        **kept,
    }
