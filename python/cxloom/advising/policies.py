"""The policies that propose a placement by object: shares of each object's pages on each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxloom.advising.fit import MOST, ROUNDS, fitted
from cxloom.advising.least_time import apart, least_times
from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject

LEAST_SHARE = 0.1
"""An object smaller than this share of the footprint is not interleaved by OLI (Wang et al., IPDPS 2025, V-B)."""
_EXACT = 0.004
"""How near weights come to a share (own choice: a fifth of the 2 % that the best weights are asked for)."""


@dataclass(frozen=True)
class Proposal:
    """Shares of the pages of each object."""

    policy: str
    objects: Sequence[PlacedObject]
    shares: Sequence[Mapping[str, float]]
    """By node, for each object."""
    fitted: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """The weights of objects, by number, whose shares would be rounded to more than a node has room for."""

    def weights(self, index: int) -> dict[str, int]:
        """Pages in a row to each node, of an object; a round fits into it four times."""
        if index in self.fitted:
            return dict(self.fitted[index])
        return weights_of(self.shares[index], self.objects[index].pages // ROUNDS)

    def place(self, index: int, nodes: Sequence[NodeProfile]) -> dict[str, Any]:
        """The placement of an object, as `addresses` of a workload says it."""
        weights = self.weights(index)
        if len(weights) == 1:
            return {"kind": "preferred", "nodes": list(weights)}
        order = [node.name for node in nodes if node.name in weights]
        return {
            "kind": "interleave",
            "nodes": order,
            "weights": [weights[name] for name in order],
            "by": "address",
        }


def nearest(nodes: Sequence[NodeProfile], requester: str) -> list[NodeProfile]:
    """The nodes that a requester has, the nearest first."""
    return sorted(
        (node for node in nodes if requester in node.latency), key=lambda node: node.latency[requester]
    )


def chosen_by_oli(objects: Sequence[PlacedObject]) -> list[PlacedObject]:
    """The objects that object-level interleaving spreads.

    Those of a tenth of the footprint or more with the most accesses. The paper gives no cut-off: here an object has
    more of the accesses than of the memory.
    """
    footprint = sum(each.bytes for each in objects)
    accesses = sum(each.total for each in objects)
    return [
        each
        for each in objects
        if each.bytes >= LEAST_SHARE * footprint and each.total * footprint >= each.bytes * accesses
    ]


def oli(objects: Sequence[PlacedObject], nodes: Sequence[NodeProfile]) -> Proposal:
    """OLI: what is chosen goes 1:1 to the nearest and the farthest node, the rest to the former.

    Where a node would be too full by that, objects with few accesses for their bytes leave it.
    """
    shares = []
    for each in objects:
        order = nearest(nodes, each.requester)
        mine = [other for other in objects if other.requester == each.requester]
        spread = each in chosen_by_oli(mine) and len(order) > 1
        shares.append({order[0].name: 0.5, order[-1].name: 0.5} if spread else {order[0].name: 1.0})
    return _fitting("oli", objects, shares, nodes)


def optimum(
    objects: Sequence[PlacedObject],
    nodes: Sequence[NodeProfile],
    in_flight: Mapping[str, float],
    rates: Mapping[str, float] | None = None,
) -> Proposal:
    """The shares with which the accesses take the least time, by linear programs for those who share nodes.

    A requester that has no node in common with the others is a case of its own, and one that must take longer than
    others is no measure of these: `least_time` has the rounds of that. A phase takes as long as its accesses to each
    node at that node's bandwidth, and as each requester's accesses at the idle latency of where they go, with so many
    `in_flight`: one of each thread where accesses wait. Of what takes equally long the least latency is taken. `rates`:
    requests per nanosecond, by requester, of those whose requests arrive at a rate: a phase takes no less than they
    take to arrive.

    Raises InputError if the objects do not fit.
    """
    shares: list[Mapping[str, float]] = [{}] * len(objects)
    for group in apart(nodes):
        mine = [index for index, each in enumerate(objects) if each.requester in group]
        theirs = [node for node in nodes if group & node.latency.keys()]
        if mine:
            found = least_times([objects[index] for index in mine], theirs, in_flight, rates or {})
            for index, each in zip(mine, found, strict=True):
                shares[index] = each
    return _fitting("optimum", objects, shares, nodes)


def _fitting(
    policy: str,
    objects: Sequence[PlacedObject],
    shares: Sequence[Mapping[str, float]],
    nodes: Sequence[NodeProfile],
) -> Proposal:
    """A proposal whose weights have room in their nodes, so that none spills over whose accesses count."""
    proposal = Proposal(policy, objects, shares)
    weights = [proposal.weights(index) for index in range(len(objects))]
    rooms = {node.name: node.bytes for node in nodes}
    names = dict.fromkeys(each.requester for each in objects)
    near = {name: [node.name for node in nearest(nodes, name)] for name in names}
    return Proposal(policy, objects, shares, fitted(objects, weights, rooms, near))


def weights_of(shares: Mapping[str, float], pages: int = MOST) -> dict[str, int]:
    """The smallest whole numbers in these proportions, of nodes that have any; a round has no more than so many
    `pages`, or one of each node."""
    most = max(shares, key=lambda name: shares[name])
    if shares[most] >= 1 - _EXACT:
        return {most: 1}
    best: tuple[float, dict[str, int]] = (1 - shares[most], {most: 1})
    longest = max(sum(value > 0 for value in shares.values()), min(pages, MOST))
    for whole in range(2, longest + 1):
        weights = {name: round(value * whole) for name, value in shares.items()}
        total = sum(weights.values())
        if not 0 < total <= longest:
            continue
        error = max(abs(weights[name] / total - value) for name, value in shares.items())
        if error < best[0]:
            best = (error, {name: weight for name, weight in weights.items() if weight})
        if error <= _EXACT:
            break
    return best[1]
