"""Plans that tests make: VMs written by hand, on servers and designs that are worked out beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cxloom.planning.designed import Designed
from cxloom.planning.placement import placed
from cxloom.planning.plan_file import Plan, planned, read
from cxloom.planning.point import PlanRun

GIB = 2**30
Row = tuple[float, float, int, float, float, int]
"""Start, end, cores, GiB, the share that may be pooled, server."""


def trace_of(folder: Path, rows: Sequence[Row]) -> Path:
    """A trace of these VMs."""
    file = folder / "vms.csv"
    lines = ["start,end,cores,memory,pool_share,server", *(",".join(map(str, row)) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    return file


def plan_of(folder: Path, rows: Sequence[Row], designs: Mapping[str, Any], **sections: Any) -> Plan:
    """The plan of a trace by hand: two servers of four cores unless it says otherwise."""
    given = {
        "servers": {"count": 2, "cores": 4},
        "demand": {"trace": str(trace_of(folder, rows))},
        "designs": dict(designs),
        "sizing": {"probability": 1},
    }
    for key, value in sections.items():
        given[key] = {**given[key], **value} if key in given else value
    return planned(read(given))


def found_of(plan: Plan, design: str = "pool") -> dict[str, Any]:
    """What a design comes to."""
    return PlanRun(plan, design, plan.run.seed).carried_out()


def designed(plan: Plan, design: str = "pool") -> Designed:
    """A design for the VMs of a plan, placed."""
    return Designed(plan, design, placed(plan.demanded(plan.run.seed), plan.servers))
