"""Latency and bandwidth of each node of a machine, as the simulated system has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxloom.booting.machine import Machine
from cxloom.booting.system import bare
from cxloom.measure.bench import Bench, size_text
from cxloom.spec.resolved import Resolved
from cxloom.system.system import System

_READS = 200
"""Reads of an idle latency (own choice: the media of a node differ by their state, not much)."""
_LOAD = 6000
"""Requests of a peak (own choice, as that of advise)."""
_FOOTPRINT = 256 << 20
_GIB = 1 << 30


@dataclass(frozen=True)
class Performance:
    """Memory as a host sees it that has nothing else to do."""

    idle_ns: int
    """The latency of an idle read."""
    host_ns: int
    """What of it is in the host."""
    switch_ns: int
    """What of it is in switches."""
    mb_per_s: int
    """The bandwidth of reads in sequence, in 10^6 bytes a second."""

    @property
    def device_ns(self) -> int:
        """What of an idle read is neither in the host nor in switches: links, controller and media."""
        return self.idle_ns - self.host_ns - self.switch_ns


def measured(resolved: Resolved, machine: Machine) -> dict[tuple[str, ...], Performance]:
    """The performance of each node, by its memories, for the machine's host.

    A node without a number is left out: one whose requests are answered with errors, or take no time.
    Raises InputError for a system that cannot be measured, and SimulationError for one that cannot finish.
    """
    bench = Bench(System.from_yaml(json.dumps(bare(resolved).plain())), jobs=1)
    own = {each.memories for each in machine.ram} | {each.targets for each in machine.sets}
    nodes = [node for node in bench.all_nodes() if node.memories in own and bench.may(machine.host, node)]
    idle = {"pattern": "pointer-chase", "requests": _READS}
    load = {"pattern": "sequential", "reads": "100%", "requests": _LOAD}
    points: list[dict[str, Any]] = []
    for work, footprint, warmup in (
        (idle, _FOOTPRINT, 50),
        (load, _GIB, min(_LOAD, 3 * bench.queue(machine.host))),
    ):
        points += [
            {
                "workload": {
                    machine.host: {
                        **work,
                        "footprint": size_text(node.footprint(footprint)),
                        "addresses": node.bound(),
                    }
                },
                "run.warmup": warmup,
            }
            for node in nodes
        ]
    only = {machine.host: {"queue": 1}}
    count = len(nodes)
    latencies = bench.run(bench.uncached(only=only), points[:count])
    peaks = bench.run(bench.uncached(), points[count:])
    found = {}
    for node, one, other in zip(nodes, latencies, peaks, strict=True):
        if one["requests"] and other["requests"] and other["bandwidth_gb_per_s"]:
            found[node.memories] = _performance(one, other)
    return found


def _performance(idle: Mapping[str, Any], peak: Mapping[str, Any]) -> Performance:
    total, parts = round(idle["latency_ns"]["mean"]), idle["breakdown_ns"]
    host = min(total, round(parts.get("process", 0.0)))
    switch = min(total - host, round(parts.get("switching", 0.0)))
    return Performance(total, host, switch, round(1000 * peak["bandwidth_gb_per_s"]))
