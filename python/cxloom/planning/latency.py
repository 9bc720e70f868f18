"""Latency of a pod's accesses, simulated: alone, and in the worst minute."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxloom.base.words import counted
from cxloom.planning.designs import Pooled
from cxloom.planning.inputs import Traffic
from cxloom.planning.pod import Pod, Spec, Template, idle_pod, loaded_pod, scope_of
from cxloom.planning.reach import Reach
from cxloom.planning.worst import Worst
from cxloom.results.result import Result
from cxloom.running.run import simulate
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.resolve import resolve
from cxloom.system.simulation import build

_CARRIED = 0.95
"""Below this share of the bandwidth that is asked for a device does not keep up (own choice)."""


def latency_of(
    design: Pooled, reach: Reach, template: Template, worst: Worst, traffic: Traffic, seed: int
) -> dict[str, Any]:
    """The latency of reads, idle and loaded, and the server that is slowest. Raises InputError for what cannot be
    built, SimulationError for what does not finish."""
    server = next(server for server, unit in worst.slices if unit == worst.unit)
    idle = _simulated(idle_pod(Pod(design, reach, template), server, worst.unit))
    scope = scope_of(worst)
    loaded = _simulated(loaded_pod(Pod(design, reach, template), worst, scope, traffic, seed))
    by_server = _reads_by_server(loaded)
    asked = sum(
        load for (of, unit), load in worst.traffic.items() if of in scope.servers and unit in scope.units
    )
    reads = loaded["read"]["latency_ns"]
    carried = loaded.bandwidth
    notes = [
        f"simulated: {counted(len(scope.servers), 'server')} and "
        f"{counted(len(scope.units) * reach.devices, 'device')}, "
        + (
            "all that shares a device, directly or by others, with those at the busiest one in the worst minute"
            if scope.is_whole
            else "those at the busiest device with all of their devices; other servers of these devices are left out"
        )
    ]
    if carried < _CARRIED * asked / 1e9:
        notes.append(
            f"devices do not keep up: {asked / 1e9:.3g} GB/s are asked for and {carried:.3g} GB/s come; "
            "latencies grow with the length of the run"
        )
    return {
        "idle_ns": idle["latency_ns"]["mean"],
        "mean_ns": reads["mean"],
        "p99_ns": reads["p99"],
        "slowest_server": by_server[0][0],
        "slowest_mean_ns": by_server[0][1],
        "asked_gb_per_s": asked / 1e9,
        "carried_gb_per_s": carried,
        "at_s": worst.at,
        "servers": len(scope.servers),
        "devices": len(scope.units) * reach.devices,
        "notes": notes,
    }


def _reads_by_server(result: Result) -> list[tuple[int, float]]:
    """Servers with the mean latency of their reads in ns, the slowest first."""
    rows = result.requests().filter(pl.col("kind") == "read")
    took = ((pl.col("completed_ps") - pl.col("created_ps")) / 1000).mean().alias("mean")
    means = rows.group_by(pl.col("requester").cast(pl.String)).agg(took).sort("mean", descending=True)
    return [(int(name.removeprefix("server")), mean) for name, mean in means.iter_rows()]


def _simulated(spec: Spec) -> Result:
    resolved = resolve(from_plain(spec, Origin()))
    return simulate(resolved, build(resolved))
