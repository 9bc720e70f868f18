"""The latency of a request that meets nobody, added up from the parameters of what it passes."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

from validation.graph import Graph, steps

from cxloom import _core

DECLARED = _core.declarations()
PICOSECONDS = {"ps": 1, "ns": 1000, "us": 10**6, "ms": 10**9}
LINE = 64


@cache
def time_ps(text: str) -> int:
    """Picoseconds in "12.5ns"."""
    number = text.rstrip("mnpsu")
    return int(Fraction(number) * PICOSECONDS[text[len(number) :]])


@cache
def bytes_of(text: str) -> int:
    """Bytes in "16B" or "4KiB"."""
    number = text.rstrip("KMGiB")
    return int(number) * {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[text[len(number) :]]


@cache
def ps_per_byte(text: str) -> Fraction | None:
    """Picoseconds a byte in "12.5GB/s"; none if there is no limit."""
    return None if text == "unlimited" else 1000 / Fraction(text.removesuffix("GB/s"))


@cache
def default(group: str, kind: str, name: str) -> str:
    """The declared default of a parameter."""
    fields = DECLARED[group]["fields"] if not kind else DECLARED[group][kind]["fields"]
    return str(next(f["default"] for f in fields if f["name"] == name))


@dataclass
class Unloaded:
    """Sums of picoseconds, by the segment that they belong to."""

    spec: dict[str, Any]
    segments: dict[str, int] = field(default_factory=dict)

    @cached_property
    def graph(self) -> Graph:
        """What is linked to what."""
        return Graph.of(self.spec)

    @cached_property
    def ends(self) -> dict[tuple[str, str], tuple[dict[str, Any], bool]]:
        """The link between each two devices, and whether the first of them is its first end."""
        result = {}
        for link in self.spec["links"]:
            a, b = link["between"]
            result[a, b], result[b, a] = (link, True), (link, False)
        return result

    def device(self, name: str, key: str) -> str:
        """A parameter of a device, as written or by default."""
        device = self.spec["devices"][name]
        return str(device.get(key, default("devices", device["kind"], key)))

    def link_value(self, a: str, b: str, key: str) -> str:
        """A parameter of the link in the direction from a to b."""
        link, forward = self.ends[a, b]
        value = link.get(key, default("link", "", key))
        return str(value if forward else link.get("reverse", {}).get(key, value))

    def port_delays(self, a: str, b: str) -> int:
        """The ports at both ends of a link."""
        link, _ = self.ends[a, b]
        if "port_delay" in link:
            return 2 * time_ps(link["port_delay"])
        kinds = {"bus", "switch"}
        own = [n for n in (a, b) if self.spec["devices"][n]["kind"] in kinds]
        return sum(time_ps(self.device(n, "port_delay")) for n in own)

    def rate(self, a: str, b: str) -> Fraction | None:
        """The slowest of a link's own bandwidth and those of its ports, ps per byte."""
        rates = [ps_per_byte(self.link_value(a, b, "bandwidth"))]
        rates += [
            ps_per_byte(self.device(n, "port_bandwidth"))
            for n in (a, b)
            if self.spec["devices"][n]["kind"] == "switch"
        ]
        limits = [rate for rate in rates if rate is not None]
        return max(limits) if limits else None

    def flight(self, a: str, b: str) -> int:
        """Ports and flight of one link."""
        return self.port_delays(a, b) + time_ps(self.link_value(a, b, "delay"))

    def transit(self, node: str) -> int:
        """What it takes to pass a bus or a switch."""
        kind = self.spec["devices"][node]["kind"]
        return time_ps(self.device(node, "bus_time" if kind == "bus" else "switching_time"))

    def add(self, segment: str, time: int) -> None:
        """Books time to a segment."""
        self.segments[segment] = self.segments.get(segment, 0) + time

    def takes_whole(self, node: str) -> bool:
        """Whether it waits for the last byte: all but buses and cut-through switches."""
        kind = self.spec["devices"][node]["kind"]
        return kind != "bus" and (kind != "switch" or self.device(node, "forwarding") == "store-and-forward")

    def rest_before(self, a: str, b: str, target: str, rest: tuple[int, int]) -> tuple[int, int]:
        """How long a line of data takes from a to the target, until its head and until its last byte is there, over the
        link to b and, unless it ends there, through b, from where the rest takes so long."""
        head, whole = rest
        if b != target:
            if self.spec["devices"][b]["kind"] == "bus":
                medium = ps_per_byte(self.device(b, "bandwidth")) or 0
                whole = max(whole, head + int((LINE + bytes_of(self.device(b, "data_header"))) * medium))
            head, whole = head + self.transit(b), whole + self.transit(b)
            if self.takes_whole(b):
                head = whole
        header = bytes_of(str(self.ends[a, b][0].get("data_header", default("link", "", "data_header"))))
        wire = int((LINE + header) * (self.rate(a, b) or 0))
        flight = self.flight(a, b)
        return head + flight, max(whole, head + wire) + flight

    def route_by_latency(self, source: str, target: str) -> list[str]:
        """The nodes on the deterministic route that is the shortest, from each node on, for a line of data alone. Among
        equal ways the head counts that is there last. Every step takes some time."""
        graph = self.graph
        found: dict[str, tuple[int, int]] = {}
        ways: dict[str, list[str]] = {}
        frontier = [(0, target)]
        while frontier:
            cost, node = heapq.heappop(frontier)
            if node in found:
                continue
            onward = [n for n in graph.neighbours[node] if n in found and (n == target or graph.forwards(n))]
            rests = {n: self.rest_before(node, n, target, found[n]) for n in onward if node != target}
            ways[node] = [n for n, (_, whole) in rests.items() if whole == cost]
            found[node] = max((rests[n][0] for n in ways[node]), default=0), cost
            if node == target or graph.forwards(node):
                for other in graph.neighbours[node]:
                    heapq.heappush(frontier, (self.rest_before(other, node, target, found[node])[1], other))
        path = [source]
        while path[-1] != target:
            onward = ways[path[-1]]
            path.append(graph.chosen(path[-1], target, onward))
        return path

    def travel(self, path: list[str], payload: int) -> None:
        """Takes a message along a path. Where it is passed on by its head (cut-through), only the slowest wire's
        serialisation shows, once, where the message is next taken in whole."""
        tail = 0

        def cost(owner: dict[str, Any], group: str, kind: str) -> int:
            key = "data_header" if payload else "header"
            return payload + bytes_of(str(owner.get(key, default(group, kind, key))))

        for a, b in steps(path):
            rate = self.rate(a, b)
            if rate is not None:
                tail = max(tail, int(cost(self.ends[a, b][0], "link", "") * rate))
            self.add("port_delay", self.port_delays(a, b))
            self.add("propagation", time_ps(self.link_value(a, b, "delay")))
            device = self.spec["devices"][b]
            if self.takes_whole(b):
                self.add("serialization", tail)
                tail = 0
            if device["kind"] == "bus":
                self.add("bus", self.transit(b))
                rate = ps_per_byte(self.device(b, "bandwidth"))
                if rate is not None:
                    tail = max(tail, int(cost(device, "devices", "bus") * rate))
            elif device["kind"] == "switch":
                self.add("switching", self.transit(b))

    def serve(self, memory: dict[str, Any], write: bool) -> None:
        """Controller and media."""
        self.add(
            "controller",
            time_ps(memory.get("controller_time", default("devices", "memory", "controller_time"))),
        )
        if memory.get("posted_writes"):
            return  # a write is answered before, and a read may find one in the buffer
        media = memory.get("media", {})
        latency = media.get("latency", default("media", "fixed", "latency"))
        self.add("media", time_ps(media.get("write_latency", latency) if write else latency))

    def request(
        self, requester: str, target: str, write: bool, size: int = LINE, route_by: str = "hops"
    ) -> int:
        """The whole way of one request; returns its latency in picoseconds."""
        self.segments = {}
        self.add("process", time_ps(self.device(requester, "process_time")))
        cache = self.spec["devices"][requester].get("cache")
        if cache is not None:
            self.add("cache", time_ps(cache.get("access_time", "12ns")))
            write, size = False, LINE  # a miss fetches the line
        server = self.spec["devices"][target]
        memory = server["memory"] if server["kind"] == "accelerator" else server
        if requester == target:
            self.serve(memory, write)
            return sum(self.segments.values())
        ways = {
            "hops": self.graph.route,
            "latency": self.route_by_latency,
            "up-down": self.graph.route_up_down,
        }
        find = ways[route_by]
        routes = {source: find(source, end) for source, end in ((requester, target), (target, requester))}
        self.travel(routes[requester], size if write else 0)
        self.serve(memory, write)
        self.travel(routes[target], 0 if write else size)
        return sum(self.segments.values())

    def hops(self, requester: str, target: str) -> int:
        """Links crossed there and back, by fewest links."""
        return 2 * self.graph.hops_to(target)[requester]
