"""How to have a placement on Linux: commands of numactl, and calls of libnuma."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject
from cxloom.advising.policies import Proposal, nearest
from cxloom.spec.names import listed

Weights = Mapping[int, int]
"""Pages in a row to each node, by its number."""
_HUGE = 2 << 20
_SMALL = 4096


def recipe(proposal: Proposal | None, nodes: Sequence[NodeProfile]) -> str:
    """The recipe, with nodes numbered as the address map has them; None: first touch.

    Requesters that reach different nodes are of different machines: each machine has numbers and weights of its own.
    """
    machines: dict[tuple[str, ...], list[str]] = {}
    for requester in dict.fromkeys(name for node in nodes for name in node.latency):
        have = tuple(node.name for node in nodes if requester in node.latency)
        machines.setdefault(have, []).append(requester)
    lines = []
    for names, requesters in machines.items():
        said = ", ".join(f"node {number} is {name}" for number, name in enumerate(names))
        whose = f"of {listed(requesters, word='and')}: " if len(machines) > 1 else ""
        lines.append(f"# {whose}{said}; `numactl --hardware` says which numbers they have on the machine")
        lines += _of_machine(proposal, nodes, names, requesters)
    return "\n".join(lines)


def _of_machine(
    proposal: Proposal | None, nodes: Sequence[NodeProfile], names: Sequence[str], requesters: Sequence[str]
) -> list[str]:
    if proposal is None:
        return ["numactl --localalloc ./program"]
    if proposal.policy == "uniform":
        return [f"numactl --interleave={_listed(range(len(names)))} ./program"]
    objects: list[PlacedObject] = []
    weights: list[Weights] = []
    for index, each in enumerate(proposal.objects):
        if each.requester in requesters:
            mine = proposal.weights(index)
            objects.append(each)
            weights.append({number: mine[name] for number, name in enumerate(names) if name in mine})
    system = _of_system(objects, weights)
    lines = [
        f"echo {weight} > /sys/kernel/mm/mempolicy/weighted_interleave/node{number}"
        for number, weight in sorted(system.items())
    ]
    for requester in requesters:
        first = names.index(nearest(nodes, requester)[0].name)
        placed = [pair for pair in zip(objects, weights, strict=True) if pair[0].requester == requester]
        lines += [f"# of {requester}:"] if len(requesters) > 1 else []
        lines += _of_requester(placed, system, first)
    return lines


def _of_system(objects: Sequence[PlacedObject], weights: Sequence[Weights]) -> Weights:
    """The weights that Linux has, of which there is one set: for the rest, which no call can bind, and then for what
    agrees with them."""
    system: dict[int, int] = {}
    for i in sorted(range(len(objects)), key=lambda i: not objects[i].rest):
        agrees = all(system.get(number, count) == count for number, count in weights[i].items())
        if agrees and not _is_even(weights[i]):
            system |= weights[i]
    return system


def _of_requester(placed: Sequence[tuple[PlacedObject, Weights]], system: Weights, first: int) -> list[str]:
    rest: Weights = next((weights for each, weights in placed if each.rest), {first: 1})
    lines = _command(rest, system)
    calls = []
    for each, weights in placed:
        if not each.rest and not (weights == rest and len(rest) == 1):  # there the command puts it
            calls += _calls(each, weights, system)
    if calls:
        lines += ["/* in the program, with <numa.h>, <numaif.h>, <sys/mman.h> and -lnuma */", *calls]
    return lines


def _command(rest: Weights, system: Weights) -> list[str]:
    if len(rest) == 1:
        return [f"numactl --preferred={_listed(rest)} ./program"]
    if _is_even(rest):
        return [f"numactl --interleave={_listed(rest)} ./program"]
    if rest.items() <= system.items():
        return [f"numactl --weighted-interleave={_listed(rest)} ./program"]
    wanted = ":".join(map(str, rest.values()))
    return [
        f"# {wanted} of nodes {_listed(rest)} would be right here, but Linux has one set of weights, which is taken",
        f"numactl --interleave={_listed(rest)} ./program",
    ]


def _calls(each: PlacedObject, weights: Weights, system: Weights) -> list[str]:
    size = f"{each.bytes}UL"
    if len(weights) == 1:
        return [f"{_c(each.name)} = numa_alloc_onnode({size}, {_listed(weights)});"]
    if _is_even(weights):
        subset = f'numa_parse_nodestring("{_listed(weights)}")'
        return [f"{_c(each.name)} = numa_alloc_interleaved_subset({size}, {subset});"]
    if weights.items() <= system.items():
        return [_mapped(each.name, size), _weighted(each.name, size, list(weights))]
    return [_mapped(each.name, size), *_in_turns(each, weights)]


def _is_even(weights: Weights) -> bool:
    return len(set(weights.values())) == 1


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _c(name: str) -> str:
    """A name as C can have it."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def _mapped(name: str, size: str) -> str:
    flags = "MAP_PRIVATE | MAP_ANONYMOUS"
    return f"{_c(name)} = mmap(NULL, {size}, PROT_READ | PROT_WRITE, {flags}, -1, 0);"


def _mask(numbers: Sequence[int]) -> str:
    return f"&(unsigned long){{{sum(1 << number for number in numbers):#x}}}, 64"


def _weighted(name: str, size: str, numbers: Sequence[int]) -> str:
    return f"mbind({_c(name)}, {size}, MPOL_WEIGHTED_INTERLEAVE, {_mask(numbers)}, 0);  /* Linux 6.9 */"


def _in_turns(each: PlacedObject, weights: Weights) -> list[str]:
    """Pages bound one after the other: turns are shorter where the object has not four rounds of huge pages."""
    turn = _HUGE
    whole = sum(weights.values())
    while turn > _SMALL and 4 * whole * turn > each.bytes:
        turn //= 2
    lines = [f"for (size_t at = 0; at < {each.bytes}UL; at += {whole * turn}) {{"]
    before = 0
    for number, count in weights.items():
        left = f"{each.bytes}UL - at - {before}"
        size = f"{left} < {count * turn} ? {left} : {count * turn}"
        begin = f"(char *){_c(each.name)} + at + {before}"
        bind = f"mbind({begin}, {size}, MPOL_PREFERRED, {_mask([number])}, 0);"
        lines.append(f"  if (at + {before} < {each.bytes}UL) {bind}")
        before += count * turn
    return [*lines, "}"]
