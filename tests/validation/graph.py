"""Routes and the loads that they put on channels, worked out from the spec alone: nothing here asks the simulator."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Channel = tuple[str, str]
FORWARDING = ("bus", "switch", "root-port")


@dataclass(frozen=True)
class Graph:
    """Nodes and what they are linked to, in the order of the links (which is the order of the ports)."""

    kinds: dict[str, str]
    neighbours: dict[str, list[str]]
    rank: dict[str, int]

    @classmethod
    def of(cls, spec: dict[str, Any]) -> Graph:
        """The graph that a spec describes."""
        kinds = {name: device["kind"] for name, device in spec["devices"].items()}
        neighbours: dict[str, list[str]] = {name: [] for name in kinds}
        for link in spec["links"]:
            a, b = link["between"]
            neighbours[a].append(b)
            neighbours[b].append(a)
        seen: defaultdict[str, int] = defaultdict(int)
        rank = {}
        for name, kind in kinds.items():
            rank[name] = seen[kind]
            seen[kind] += 1
        return cls(kinds, neighbours, rank)

    def forwards(self, node: str) -> bool:
        """Whether routes may lead through it."""
        return self.kinds[node] in FORWARDING

    def hops_to(self, target: str) -> dict[str, int]:
        """Fewest links to `target` from everywhere."""
        if target not in self._hops:
            self._hops[target] = self._search(target)
        return self._hops[target]

    @cached_property
    def _hops(self) -> dict[str, dict[str, int]]:
        """What has been searched for."""
        return {}

    def _search(self, target: str) -> dict[str, int]:
        """Breadth first."""
        distance = {target: 0}
        frontier = deque([target])
        while frontier:
            node = frontier.popleft()
            if node != target and not self.forwards(node):
                continue
            for other in self.neighbours[node]:
                if other not in distance:
                    distance[other] = distance[node] + 1
                    frontier.append(other)
        return distance

    def ways(self, node: str, target: str, far: dict[str, int], end: str) -> list[str]:
        """The next nodes on all shortest ways from `node`, in the order of its ports."""
        if node == end:
            return [target]
        return [
            n
            for n in self.neighbours[node]
            if (n == end or self.forwards(n)) and n in far and far[n] + 1 == far[node]
        ]

    def end_of_ways(self, target: str) -> str:
        """Where the search for a way to `target` ends: the bus or switch it hangs on, or itself if it is no leaf."""
        around = self.neighbours[target]
        leaf = len(around) == 1 and not self.forwards(target) and self.forwards(around[0])
        return around[0] if leaf else target

    @cached_property
    def strides(self) -> dict[str, int]:
        """By what a rank is divided at each node: the ways up that the levels below have chosen among."""
        ends = [name for name in self.kinds if not self.forwards(name)]
        most = max(Counter(self.kinds[name] for name in ends).values())
        level = dict.fromkeys(ends, 0)
        order = deque(ends)
        strides = dict.fromkeys(self.kinds, 1)
        while order:
            node = order.popleft()
            for other in self.neighbours[node]:
                if other not in level:
                    level[other] = level[node] + 1
                    order.append(other)
            up = [other for other in self.neighbours[node] if level[other] > level[node]]
            if self.forwards(node) and strides[node] * len(up) < most:
                for other in up:
                    strides[other] = max(strides[other], strides[node] * len(up))
        return strides

    def chosen(self, node: str, target: str, ways: list[str]) -> str:
        """The way of `routing: deterministic`."""
        return ways[self.rank[target] // self.strides[node] % len(ways)]

    def route(self, source: str, target: str) -> list[str]:
        """The nodes on the deterministic route: among equally short ways the one numbered by a digit of the target's
        rank among the devices of its kind, modulo how many ways there are."""
        end = self.end_of_ways(target)
        far = self.hops_to(end)
        path = [source]
        while path[-1] != target:
            ways = self.ways(path[-1], target, far, end)
            path.append(self.chosen(path[-1], target, ways))
        return path

    def eccentricity(self, node: str) -> int:
        """Links to the farthest bus or switch."""
        return max(links for other, links in self.hops_to(node).items() if self.forwards(other))

    def above(self) -> dict[str, tuple[int, int, int]]:
        """A key of each node that is smaller the nearer it is to the root; devices have the largest."""
        hubs = [name for name in self.kinds if self.forwards(name)]
        root = min(hubs, key=lambda hub: (self.eccentricity(hub), -len(self.neighbours[hub])))
        level = self.hops_to(root)
        return {
            name: (0 if self.forwards(name) else 1, level[name] if self.forwards(name) else 0, number)
            for number, name in enumerate(self.kinds)
        }

    def route_up_down(self, source: str, target: str) -> list[str]:
        """The nodes on the deterministic route that leads up, as far as it must, and then down."""
        end = self.end_of_ways(target)
        key = self.above()
        down = {end: 0}
        for node in sorted(self.kinds, key=lambda name: key[name], reverse=True):  # lowest first
            ends = [down[n] for n in self.neighbours[node] if n in down and key[n] > key[node]]
            if ends and node != end:
                down[node] = min(ends) + 1
        far = dict(down)
        for node in sorted(self.kinds, key=lambda name: key[name]):  # the root first
            over = [n for n in self.neighbours[node] if key[n] < key[node] and (n == end or self.forwards(n))]
            if node not in down:
                far[node] = min(far[n] for n in over) + 1
        path = [source]
        while path[-1] != target:
            at = path[-1]
            ways = [
                n
                for n in self.neighbours[at]
                if (n == end or self.forwards(n))
                and far[n] + 1 == far[at]
                and (key[n] > key[at]) == (at in down)
                and (n in down or at not in down)
            ]
            ways = [target] if at == end else ways
            path.append(self.chosen(path[-1], target, ways))
        return path

    def spread(self, source: str, target: str) -> dict[Channel, float]:
        """Share of the messages that each channel carries when every choice among equal ways is random."""
        end = self.end_of_ways(target)
        far = self.hops_to(end)
        arriving: defaultdict[str, float] = defaultdict(float, {source: 1.0})
        shares: defaultdict[Channel, float] = defaultdict(float)
        order = sorted(far, key=lambda node: -far[node]) if source != end else []
        for node in [*(n for n in order if n != end), end]:
            if arriving[node] == 0.0:
                continue
            ways = self.ways(node, target, far, end)
            for way in ways:
                shares[node, way] += arriving[node] / len(ways)
                arriving[way] += arriving[node] / len(ways)
        return dict(shares)


def steps(path: list[str]) -> list[Channel]:
    """The channels of a route."""
    return list(itertools.pairwise(path))


def response_loads(
    spec: dict[str, Any], shares: dict[str, float] | None = None, random: bool = False
) -> dict[Channel, float]:
    """Share of all read data that each channel carries when every requester reads evenly from every memory.

    `shares`: of all requests, those of each requester; equal if left out. `random`: equal ways are drawn, as in
    `routing: random`; otherwise the route is the deterministic one.
    """
    graph = Graph.of(spec)
    requesters = list(spec["workload"])
    memories = spec["address_map"][0]["to"]
    weight = shares or {name: 1.0 / len(requesters) for name in requesters}
    loads: defaultdict[Channel, float] = defaultdict(float)
    for memory in memories:
        for requester in requesters:
            if random:
                flow = graph.spread(memory, requester)
            else:
                flow = dict.fromkeys(steps(graph.route(memory, requester)), 1.0)
            for channel, share in flow.items():
                loads[channel] += share * weight[requester] / len(memories)
    return dict(loads)
