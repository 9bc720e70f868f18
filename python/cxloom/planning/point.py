"""One design under one seed, as a point of a sweep: played, sized, priced and simulated in whatever process."""

from __future__ import annotations

import hashlib
import json
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxloom.planning.designed import Designed
from cxloom.planning.placement import placed
from cxloom.planning.plan_file import Plan, planned
from cxloom.spec.node import Node
from cxloom.spec.override import Override
from cxloom.spec.resolved import digest_of
from cxloom.sweeping.space import Setting

DESIGN, SEED = "design", "run.seed"
"""What a point is named by, besides the values that are swept."""


@dataclass(frozen=True, slots=True)
class PlanRun:
    """A point."""

    plan: Plan
    design: str
    seed: int

    def digest(self) -> str:
        """A digest of all that decides what comes out; of the trace and the device it takes what is in them."""
        plain = dict(self.plan.root.map())
        kept = {key: node.plain() for key, node in plain.items() if key not in ("name", "designs", "run")}
        template = self.plan.template(self.design)
        whole: dict[str, Any] = {
            "kind": "plan",
            "spec": kept,
            "design": self.plan.designs[self.design].model_dump(mode="json"),
            "first": self.is_first,
            "seed": self.seed,
        }
        if template is not None:
            whole["device"] = [template.host, template.device, template.link]
        if self.plan.trace is not None:
            whole["trace"] = digest_of(self.plan.trace)
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()

    @property
    def is_first(self) -> bool:
        """Whether its demand is the one whose worst minute is simulated."""
        return self.seed == self.plan.run.seed

    def carried_out(self) -> dict[str, Any]:
        """What it finds, with its cost. Raises InputError."""
        began = time.process_time()
        on = placed(self.plan.demanded(self.seed), self.plan.servers)
        found = Designed(self.plan, self.design, on).found(self.seed, with_latency=self.is_first)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        cost = {"cpu_seconds": round(time.process_time() - began, 6), "peak_memory_bytes": memory}
        return {**found, "cost": cost}


@dataclass(frozen=True, slots=True)
class PlanSource:
    """The file of all points, sent to every worker once."""

    root: Node
    overrides: tuple[Override, ...]

    def plan_at(self, setting: Setting) -> Plan:
        """The plan with the values of a point. Raises InputError."""
        swept = [Override(path, value) for path, value in setting.items()]
        return planned(self.root, [*self.overrides, *swept])

    def resolve(self, work: tuple[Mapping[str, Node], str, int]) -> PlanRun:
        """The point of a setting, a design and a seed."""
        setting, design, seed = work
        return PlanRun(self.plan_at(setting), design, seed)
