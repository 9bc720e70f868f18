"""The shares of objects on nodes with which their accesses take the least time, by linear programs.

Requesters that share nodes are one program. Where one of them must take longer than the others, whatever these do, the
time of all is its time, and says nothing of them: its pages are placed, what it takes of each node is set aside, and
the others are placed in what is left. So nobody stays slow because somebody else is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject
from cxloom.base.errors import InputError

_SPARE = 0.8
"""The share of a bandwidth that is used where requests arrive at a rate, so that they do not queue (own choice)."""
_TIE = 1e-4
"""Weight of the mean latency among placements that take equally long."""
_AS_LONG = 1 - 1e-4
"""The part of the time of all from which on a requester that is alone takes as long."""
_LEAST_LEFT = 1e-6
"""What is left of a node at least, so that a program has an answer."""


def apart(nodes: Sequence[NodeProfile]) -> list[set[str]]:
    """The requesters, put together where they have a node in common."""
    groups: list[set[str]] = []
    for node in nodes:
        meet = [group for group in groups if group & node.latency.keys()]
        groups = [group for group in groups if group not in meet]
        groups.append(set(node.latency).union(*meet))
    return groups


def least_times(
    objects: Sequence[PlacedObject],
    nodes: Sequence[NodeProfile],
    in_flight: Mapping[str, float],
    rates: Mapping[str, float],
) -> Sequence[Mapping[str, float]]:
    """The shares of the objects of requesters that share nodes, of each by node.

    Raises InputError if the objects do not fit.
    """
    requesters = {each.requester for each in objects}
    given = _Given(objects, nodes, in_flight, rates, _SPARE if requesters <= rates.keys() else 1.0)
    held: dict[int, Mapping[str, float]] = {}
    left = {node.name: 1.0 for node in nodes}
    while True:
        active = [index for index in range(len(objects)) if index not in held]
        names = list(dict.fromkeys(objects[index].requester for index in active))
        shares, time = _solved_for(given, active, held, left)
        slow = _who_must_take(given, names, shares, left, time) if len(names) > 1 else names
        if len(slow) in (0, len(names)):
            return shares
        for index in active:
            if objects[index].requester in slow:
                held[index] = shares[index]
                for node in nodes:
                    left[node.name] -= given.busy(index, node, shares[index]) / time
        left = {name: max(_LEAST_LEFT, part) for name, part in left.items()}


@dataclass(frozen=True)
class _Given:
    objects: Sequence[PlacedObject]
    nodes: Sequence[NodeProfile]
    in_flight: Mapping[str, float]
    rates: Mapping[str, float]
    used: float
    """The part of each bandwidth that is used."""

    def busy(self, index: int, node: NodeProfile, shares: Mapping[str, float]) -> float:
        """Nanoseconds that a node has of an object."""
        each = self.objects[index]
        return each.total * each.width * shares.get(node.name, 0.0) / (node.bandwidth * self.used)


def _who_must_take(
    given: _Given,
    names: Sequence[str],
    shares: Sequence[Mapping[str, float]],
    left: Mapping[str, float],
    time: float,
) -> Collection[str]:
    """Requesters that take the time of all: those that would if they were alone; otherwise those on a full node."""
    objects = given.objects
    found = []
    for name in names:
        own = [index for index, each in enumerate(objects) if each.requester == name]
        alone = replace(given, objects=[objects[index] for index in own])
        _, least = _solved_for(alone, range(len(own)), {}, left, together=True)
        if least >= _AS_LONG * time:
            found.append(name)
    if found:
        return found
    active = [index for index, each in enumerate(objects) if each.requester in names]
    on_full: set[str] = set()
    for node in given.nodes:
        parts = {index: given.busy(index, node, shares[index]) for index in active}
        if sum(parts.values()) >= _AS_LONG * left[node.name] * time:
            on_full |= {objects[index].requester for index, part in parts.items() if part > 1e-6 * time}
    return on_full


def _solved_for(
    given: _Given,
    active: Iterable[int],
    held: Mapping[int, Mapping[str, float]],
    left: Mapping[str, float],
    *,
    together: bool = False,
) -> tuple[list[dict[str, float]], float]:
    """The shares of all objects, those that are `held` as they are, and the time of the active ones: of all phases.

    Args:
        active: the objects whose time counts.
        left: of each node what the held ones leave.
        together: phases are taken as one, as they are of several requesters.
    """
    import numpy as np

    objects, nodes = given.objects, given.nodes
    active = list(active)
    names = dict.fromkeys(objects[index].requester for index in active)
    of = _by_phase(objects, together=together)
    phases = len(of[0])
    rates = {name: given.rates[name] for name in names if name in given.rates}
    width, variables = len(nodes), len(objects) * len(nodes)
    accesses = sum(each.total for each in objects) or 1.0
    footprint = sum(each.bytes for each in objects) or 1
    cost = np.zeros(variables + phases)
    cost[variables:] = 1.0 / accesses
    bounds: list[tuple[float, float | None]] = []
    waits = {(name, phase): np.zeros(variables + phases) for name in names for phase in range(phases)}
    loads = [[np.zeros(variables + phases) for _ in nodes] for _ in range(phases)]
    taken = [np.zeros(variables + phases) for _ in nodes]
    sums = np.zeros((len(objects), variables + phases))
    for i, each in enumerate(objects):
        for n, node in enumerate(nodes):
            at = i * width + n
            latency = node.latency.get(each.requester)
            sums[i, at] = 1.0
            taken[n][at] = each.bytes
            if i in held:
                bounds.append((held[i].get(node.name, 0.0),) * 2)
                continue
            bounds.append((0.0, 0.0 if latency is None else 1.0))
            if latency is None:
                continue
            lines = max(1.0, given.in_flight[each.requester])
            if each.dependent:  # each thread has an access of its own
                lines = min(lines, each.threads)
            cost[at] = _TIE * latency * (each.total / accesses + 0.01 * each.bytes / footprint) / lines
            for phase in range(phases):
                loads[phase][n][at] = of[i][phase] * each.width / (node.bandwidth * given.used)
                waits[each.requester, phase][at] = of[i][phase] * latency / lines
    rows: list[Any] = []
    # Times are in the longest of them: a solver takes what is very small beside the rest of its row for nothing.
    times = [*waits.values(), *(row for of_phase in loads for row in of_phase)]
    unit = max(float(row.max()) for row in times) or 1.0
    cost[variables:] *= unit
    for phase in range(phases):
        for row, part in zip(loads[phase], (left[node.name] for node in nodes), strict=True):
            row[variables + phase] = -part * unit
            rows.append(row)
        for name in names:
            waits[name, phase][variables + phase] = -unit
            rows.append(waits[name, phase])
    limits = [0.0] * len(rows) + [float(node.bytes) for node in nodes]
    arriving = _arriving([(objects[index], of[index]) for index in active], rates, phases)
    found = _solved(
        cost, [*rows, *taken], limits, sums, [*bounds, *((least / unit, None) for least in arriving)]
    )
    if found is None:
        raise _too_large(footprint, nodes)
    shares = [
        {node.name: float(found[i * width + n]) for n, node in enumerate(nodes)} for i in range(len(objects))
    ]
    return shares, float(sum(found[variables:])) * unit


def _too_large(footprint: int, nodes: Sequence[NodeProfile]) -> InputError:
    return InputError(
        "the objects are larger than the memory that they may be in",
        found=f"{footprint / 1e9:.4g} GB",
        allowed=f"{sum(node.bytes for node in nodes) / 1e9:.4g} GB in {len(nodes)} nodes",
        path="workload",
    )


def _solved(
    cost: Any, rows: Sequence[Any], limits: Sequence[float], sums: Any, bounds: Sequence[Any]
) -> Any | None:
    """The cheapest values of the variables whose `rows` are within their limits and whose `sums` are 1; None: none."""
    import numpy as np
    from scipy.optimize import linprog

    scale = np.abs(np.array(rows)).max(axis=1, initial=1e-30)
    return linprog(
        cost,
        A_ub=np.array(rows) / scale[:, None],
        b_ub=np.array(limits) / scale,
        A_eq=sums,
        b_eq=np.ones(len(sums)),
        bounds=bounds,
        method="highs",
    ).x


def _by_phase(objects: Sequence[PlacedObject], *, together: bool) -> list[list[float]]:
    """The accesses of each object in each phase; with several requesters all is one, as nobody knows what meets."""
    several = together or len({each.requester for each in objects}) > 1
    return [[each.total] if several else list(each.accesses) for each in objects]


def _arriving(
    objects: Sequence[tuple[PlacedObject, Sequence[float]]], rates: Mapping[str, float], phases: int
) -> list[float]:
    """The least time of each phase: that in which its requests arrive. Objects have their accesses by phase."""
    least = [0.0] * phases
    for name, rate in rates.items():
        for phase in range(phases):
            mine = sum(made[phase] for each, made in objects if each.requester == name)
            least[phase] = max(least[phase], mine / rate)
    return least
