"""Routing strategies on five topologies and three patterns of traffic: what each carries, beside its bound.

`python -m validation.strategies` prints the table of docs/model/routing.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from validation.graph import Graph
from validation.systems import FREE, Spec, generated, run
from validation.traffic import (
    Flows,
    Shares,
    deterministic,
    drawn,
    largest_load,
    up_down,
    valiant,
    worst_permutation,
)

WIRE_GB_PER_S = 8.0
"""P: what a link between switches carries. Those of devices carry eight times as much, so that they are no limit."""

SHAPES: dict[str, tuple[str, Spec]] = {
    "ring of 8": ("ring", {"switches": 8}),
    "torus 4x4": ("torus", {"size": [4, 4]}),
    "hypercube of 16": ("hypercube", {"dimensions": 4}),
    "fat tree of 8 leaves": ("fat-tree", {"ports": 4, "levels": 3}),
    "dragonfly of 5 x 4": (
        "dragonfly",
        {"switches_per_group": 4, "global_links": 1, "devices_per_switch": 2},
    ),
}
PATTERNS = ("uniform", "adversarial", "slow endpoint")

OBLIVIOUS: dict[str, Shares] = {"deterministic": deterministic, "random": drawn, "valiant": valiant}
"""Strategies whose loads follow from the graph."""

STRATEGIES: dict[str, Spec] = {
    **{
        kind: {"routing": kind}
        for kind in ("deterministic", "flow-hash", "random", "valiant", "adaptive", "ugal")
    },
    "up-down": {"routing": "deterministic", "route_by": "up-down"},
}
LOADS: dict[str, Shares] = {**OBLIVIOUS, "up-down": up_down}


@dataclass(frozen=True)
class Place:
    """A topology with a host and a memory on each switch that has devices."""

    shape: str
    credits: int | None = None
    """Credits of each link, with four virtual channels and queues at the inputs; None: links take all that comes."""

    @cached_property
    def spec(self) -> Spec:
        """The system, without work that matters."""
        kind, params = SHAPES[self.shape]
        wire = {"bandwidth": f"{WIRE_GB_PER_S}GB/s", "port_delay": "5ns", **FREE}
        switch = {"kind": "switch", "switching_time": "5ns"}
        if self.credits:
            wire |= {"credits": self.credits, "virtual_channels": 4}
            switch |= {"queueing": "voq"}
        return generated(
            kind,
            placement="paired",
            link=wire,
            edge_link={**wire, "bandwidth": f"{8 * WIRE_GB_PER_S}GB/s"},
            requester={"kind": "host", "queue": 256},
            memory={"kind": "memory", "capacity": "1GiB", "media": {"kind": "fixed", "latency": "10ns"}},
            switch=switch,
            **params,
        )

    @cached_property
    def graph(self) -> Graph:
        """The graph of the system."""
        return Graph.of(self.spec)

    @property
    def hosts(self) -> list[str]:
        """In the order of the spec."""
        return list(self.spec["workload"])

    @property
    def memories(self) -> list[str]:
        """In the order of the spec."""
        return list(self.spec["address_map"][0]["to"])

    @cached_property
    def uniform(self) -> Flows:
        """Every host reads evenly from all memories."""
        return {(m, h): 1 / len(self.memories) for m in self.memories for h in self.hosts}

    @cached_property
    def adversarial(self) -> Flows:
        """The permutation that is worst for short ways: drawn ones, or deterministic ones where drawn ones bear any."""
        for shares in (drawn, deterministic):
            load, flows = worst_permutation(self.graph, self.memories, self.hosts, shares)
            if load > 1.0:
                return flows
        raise AssertionError("no permutation is worse than another")

    def flows(self, pattern: str) -> Flows:
        """`uniform` or `adversarial`."""
        return self.uniform if pattern == "uniform" else self.adversarial

    def bound(self, pattern: str, shares: Shares) -> float:
        """What each host can read, in units of P, before a link between switches is full."""
        return 1.0 / largest_load(self.graph, self.flows(pattern), shares)

    def at_rate(self, pattern: str, strategy: str, rate: float, requests: int = 3000) -> Spec:
        """Every host reads at this rate, in units of P."""
        partner = {h: m for m, h in self.adversarial} if pattern == "adversarial" else {}

        def work(host: str) -> Spec:
            base = self.memories.index(partner[host]) if partner else 0
            size = 1 if partner else len(self.memories)
            million = rate * WIRE_GB_PER_S * 1e3 / 64
            return {
                "pattern": "random",
                "reads": 1.0,
                "requests": requests,
                "base": f"{base}GiB",
                "footprint": f"{size}GiB",
                "rate": f"{million:.3f}M/s",
            }

        return {
            **self.spec,
            "address_map": [{"to": [m]} for m in self.memories],
            "workload": {host: work(host) for host in self.hosts},
            "run": {"warmup": 500, **STRATEGIES[strategy]},
        }

    def kept(self, pattern: str, strategy: str, rate: float, requests: int = 3000) -> float:
        """What the host that is worst off gets of its demand."""
        summary = run(self.at_rate(pattern, strategy, rate, requests)).summary
        least = min(each["bandwidth_gb_per_s"] for each in summary["per_requester"].values())
        return float(least / (rate * WIRE_GB_PER_S))

    def saturation(self, pattern: str, strategy: str) -> float:
        """The largest rate, in units of P and to 1 %, at which every host keeps 97 % of its demand."""
        low, high = 0.0, 4.0
        while high - low > 0.01 * high:
            middle = (low + high) / 2
            if self.kept(pattern, strategy, middle) >= 0.97:
                low = middle
            else:
                high = middle
        return low

    def with_slow_endpoint(self, strategy: str) -> float:
        """What all hosts read, in units of what the slow memory gives: a sixteenth of P.

        A host's queue fills with requests to the slow memory, one in so many: the warm-up lasts until it is full.
        """
        slow_rate = WIRE_GB_PER_S / 16
        spec = self.at_rate("uniform", strategy, 1.0, requests=4000)
        slow = self.memories[0]
        devices = {**spec["devices"], **{host: {"kind": "host", "queue": 16} for host in self.hosts}}
        devices[slow] = {
            **devices[slow],
            "media": {**devices[slow]["media"], "bandwidth": f"{slow_rate}GB/s"},
        }
        warmup = {"warmup": 64 * len(self.memories)}
        return run({**spec, "devices": devices, "run": {**spec["run"], **warmup}}).bandwidth / slow_rate


def main() -> None:
    """Prints the table."""
    print("| | " + " | ".join(f"{shape}: {p}" for shape in SHAPES for p in ("uniform", "adversarial")) + " |")
    for strategy in STRATEGIES:
        cells = []
        for shape in SHAPES:
            place = Place(shape)
            for pattern in ("uniform", "adversarial"):
                found = f"{place.saturation(pattern, strategy):.2f}"
                if strategy in LOADS:
                    found += f" ({place.bound(pattern, LOADS[strategy]):.2f})"
                cells.append(found)
        print(f"| `{strategy}` | " + " | ".join(cells) + " |", flush=True)
    for shape in SHAPES:
        place = Place(shape)
        print(
            shape,
            len(place.memories),
            {s: round(place.with_slow_endpoint(s), 2) for s in STRATEGIES},
            flush=True,
        )


if __name__ == "__main__":
    main()
