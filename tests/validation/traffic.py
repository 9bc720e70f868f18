"""What patterns of traffic load on the links between switches, and the least that any routing could: all worked out
from the graph. Nothing here asks the simulator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import linear_sum_assignment, linprog
from validation.graph import Channel, Graph, steps

Flows = Mapping[tuple[str, str], float]
"""From a memory to a host: how much data, in units of what a host reads."""

Shares = Callable[[Graph, str, str], Mapping[Channel, float]]
"""Share of the messages from a source to a target that each channel carries."""


def deterministic(graph: Graph, source: str, target: str) -> Mapping[Channel, float]:
    """The shares of channels with `routing: deterministic`."""
    return dict.fromkeys(steps(graph.route(source, target)), 1.0)


def up_down(graph: Graph, source: str, target: str) -> Mapping[Channel, float]:
    """The shares of channels with `routing: deterministic` and `route_by: up-down`."""
    return dict.fromkeys(steps(graph.route_up_down(source, target)), 1.0)


def drawn(graph: Graph, source: str, target: str) -> Mapping[Channel, float]:
    """The shares of channels with `routing: random`: every choice among equal ways is drawn."""
    return graph.spread(source, target)


def valiant(graph: Graph, source: str, target: str) -> Mapping[Channel, float]:
    """The shares of channels with `routing: valiant`: first to a switch that is drawn.

    A message that comes by the target's switch on the way gets off.
    """
    start, end = graph.neighbours[source][0], graph.neighbours[target][0]
    switches = [name for name in graph.kinds if graph.forwards(name)]
    shares: defaultdict[Channel, float] = defaultdict(float)
    shares[source, start] += 1.0
    for via in switches:
        far = graph.hops_to(via)
        arriving: defaultdict[str, float] = defaultdict(float, {start: 1.0 / len(switches)})
        for node in sorted((n for n in far if graph.forwards(n)), key=lambda n: -far[n]):
            if arriving[node] == 0.0 or node == end:
                continue
            if node == via:
                for channel, share in graph.spread(via, target).items():
                    shares[channel] += share * arriving[node]
                continue
            onward = [n for n in graph.neighbours[node] if graph.forwards(n) and far[n] + 1 == far[node]]
            for way in onward:
                shares[node, way] += arriving[node] / len(onward)
                arriving[way] += arriving[node] / len(onward)
        shares[end, target] += arriving[end]
    return shares


def inner(graph: Graph) -> list[Channel]:
    """The channels between switches."""
    return [
        (a, b) for a in graph.kinds if graph.forwards(a) for b in graph.neighbours[a] if graph.forwards(b)
    ]


def largest_load(graph: Graph, flows: Flows, shares: Shares) -> float:
    """The load of the channel between switches that carries most."""
    loads: defaultdict[Channel, float] = defaultdict(float)
    for (source, target), demand in flows.items():
        for channel, share in shares(graph, source, target).items():
            loads[channel] += share * demand
    return max(loads[channel] for channel in inner(graph))


def worst_permutation(
    graph: Graph, memories: list[str], hosts: list[str], shares: Shares
) -> tuple[float, Flows]:
    """The permutation that loads a channel most, and its load.

    For one channel it is the assignment of hosts to memories with the largest sum of shares (Towles and Dally,
    "Worst-case traffic for oblivious routing functions", SPAA 2002).
    """
    of_pair = {(m, h): shares(graph, m, h) for m in memories for h in hosts}
    worst = 0.0, {}
    for channel in inner(graph):
        cost = np.array([[of_pair[m, h].get(channel, 0.0) for h in hosts] for m in memories])
        rows, columns = linear_sum_assignment(cost, maximize=True)
        load = float(cost[rows, columns].sum())
        if load > worst[0] + 1e-9:
            worst = load, {(memories[i], hosts[j]): 1.0 for i, j in zip(rows, columns, strict=True)}
    return worst


def least_load(graph: Graph, flows: Flows) -> float:
    """The least largest load of any routing that knows the traffic: a linear program over the flow to each host."""
    channels = inner(graph)
    switches = [name for name in graph.kinds if graph.forwards(name)]
    number = {name: i for i, name in enumerate(switches)}
    targets = sorted({target for _, target in flows})
    columns = len(targets) * len(channels) + 1  # and the largest load
    balance = np.zeros((len(targets) * len(switches), columns))
    needs = np.zeros(len(balance))
    limits = np.zeros((len(channels), columns))
    limits[:, -1] = -1.0
    for t, target in enumerate(targets):
        for c, (a, b) in enumerate(channels):
            column = t * len(channels) + c
            balance[t * len(switches) + number[a], column] += 1.0
            balance[t * len(switches) + number[b], column] -= 1.0
            limits[c, column] = 1.0
        for (source, end), demand in flows.items():
            if end == target:
                needs[t * len(switches) + number[graph.neighbours[source][0]]] += demand
                needs[t * len(switches) + number[graph.neighbours[target][0]]] -= demand
    goal = np.zeros(columns)
    goal[-1] = 1.0
    found = linprog(goal, A_ub=limits, b_ub=np.zeros(len(channels)), A_eq=balance, b_eq=needs, method="highs")
    assert found.success, found.message
    return float(found.fun)
