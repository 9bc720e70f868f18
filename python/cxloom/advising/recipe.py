"""How to have a placement on Linux: commands of numactl, and calls of libnuma."""

from __future__ import annotations

from collections.abc import Sequence

from cxloom.advising.policies import NodeProfile, Proposal, nearest


def recipe(proposal: Proposal | None, nodes: Sequence[NodeProfile]) -> str:
    """The recipe, with nodes numbered as the address map has them; None: first touch."""
    names = [node.name for node in nodes]
    said = ", ".join(f"node {number} is {name}" for number, name in enumerate(names))
    lines = [f"# {said}; `numactl --hardware` says which numbers they have on the machine"]
    if proposal is None:
        return "\n".join([*lines, "numactl --localalloc ./program"])
    if proposal.policy == "uniform":
        every = ",".join(str(number) for number in range(len(names)))
        return "\n".join([*lines, f"numactl --interleave={every} ./program"])
    for requester in dict.fromkeys(each.requester for each in proposal.objects):
        first = names.index(nearest(nodes, requester)[0].name)
        mine = [i for i, each in enumerate(proposal.objects) if each.requester == requester]
        lines += _of_requester(proposal, mine, names, first)
    return "\n".join(lines)


def _of_requester(proposal: Proposal, mine: Sequence[int], names: Sequence[str], first: int) -> list[str]:
    rest = next((i for i in mine if proposal.objects[i].rest), None)
    system: tuple[int, ...] | None = None
    calls = []
    command = f"numactl --preferred={first} ./program"
    for i in mine:
        each, weights = proposal.objects[i], proposal.weights(i)
        numbers = [names.index(name) for name in names if name in weights]
        counts = tuple(weights[names[number]] for number in numbers)
        listed = ",".join(map(str, numbers))
        size = f"{each.bytes}UL"
        if len(numbers) == 1:
            if i == rest:
                command = f"numactl --preferred={numbers[0]} ./program"
            elif numbers[0] != first:
                calls.append(f"{_c(each.name)} = numa_alloc_onnode({size}, {numbers[0]});")
        elif len(set(counts)) == 1:
            if i == rest:
                command = f"numactl --interleave={listed} ./program"
            else:
                subset = f'numa_parse_nodestring("{listed}")'
                calls.append(f"{_c(each.name)} = numa_alloc_interleaved_subset({size}, {subset});")
        elif system in (None, counts):
            system = counts
            calls += [] if i == rest else [_mapped(each.name, size), _weighted(each.name, size, numbers)]
            if i == rest:
                command = f"numactl --weighted-interleave={listed} ./program"
        else:  # Linux has one set of weights: the pages of this one are bound in turns
            calls += [_mapped(each.name, size), *_in_turns(each.name, size, numbers, counts)]
    lines = []
    if system is not None:
        set_of = next(
            proposal.weights(i)
            for i in mine
            if tuple(proposal.weights(i)[n] for n in names if n in proposal.weights(i)) == system
        )
        lines += [
            f"echo {weight} > /sys/kernel/mm/mempolicy/weighted_interleave/node{names.index(name)}"
            for name, weight in set_of.items()
        ]
    lines.append(command)
    if calls:
        lines += ["/* in the program, with <numa.h>, <numaif.h>, <sys/mman.h> and -lnuma */", *calls]
    return lines


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


def _in_turns(name: str, size: str, numbers: Sequence[int], counts: Sequence[int]) -> list[str]:
    lines = [f"for (size_t at = 0; at < {size}; at += {sum(counts)} * huge) {{  /* huge = 2 << 20 */"]
    before = 0
    for number, count in zip(numbers, counts, strict=True):
        begin = f"(char *){_c(name)} + at + {before} * huge"
        lines.append(f"  mbind({begin}, {count} * huge, MPOL_PREFERRED, {_mask([number])}, 0);")
        before += count
    return [*lines, "}"]
