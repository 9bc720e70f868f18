"""Where a program's pages are, in the words of numactl, for memories by their names in the spec."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxloom.base.errors import InputError
from cxloom.booting.machine import Machine

KINDS = ("membind", "preferred", "interleave", "weighted-interleave")
_MOST_WEIGHT = 255  # of the kernel
_WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave"


@dataclass(frozen=True)
class Policy:
    """A policy of pages."""

    kind: str
    """One of KINDS."""
    memories: tuple[str, ...]
    weights: tuple[int, ...] = ()
    """Pages of each in a round, of a weighted interleave."""

    @classmethod
    def parse(cls, given: Mapping[str, str | None]) -> Policy | None:
        """The policy that options say, by the kinds; None if they say none. Raises InputError."""
        said = {kind: text for kind, text in given.items() if text is not None}
        if not said:
            return None
        if len(said) > 1:
            found = " and ".join(f"--{kind}" for kind in said)
            raise InputError("the placement of pages is said twice", found=found, allowed="one of them")
        ((kind, text),) = said.items()
        names = [name.strip() for name in text.split(",")]
        form = "MEM=PAGES,MEM=PAGES,..." if kind == "weighted-interleave" else "MEM,MEM,..."
        if kind != "weighted-interleave":
            if not all(names) or (kind == "preferred" and len(names) > 1):
                form = "MEM" if kind == "preferred" else form
                raise InputError(
                    "not the name of a memory", found=f"'{text}'", allowed=form, path=f"--{kind}"
                )
            return cls(kind, tuple(names))
        weights = []
        for place, name in enumerate(names):
            pair = re.fullmatch(r"([^=]+)=([0-9]{1,3})", name)
            if pair is None or not 1 <= int(pair[2]) <= _MOST_WEIGHT:
                allowed = f"{form}, from 1 to {_MOST_WEIGHT} pages"
                raise InputError(
                    "not a memory and its weight", found=f"'{name}'", allowed=allowed, path=f"--{kind}"
                )
            names[place] = pair[1]
            weights.append(int(pair[2]))
        return cls(kind, tuple(names), tuple(weights))

    def check(self, machine: Machine, mode: str) -> None:
        """Raises InputError for what is no node of the machine, and where memory on CXL is no nodes (linux.MODES)."""
        if mode != "kernel":
            raise InputError(
                "a placement of pages is for a program on nodes",
                found=f"mode {mode}",
                allowed="mode kernel",
                path=f"--{self.kind}",
            )
        self._nodes(machine, range(len(machine.ram), len(machine.ram) + len(machine.sets)))

    def notes(self, large_pages: str | None) -> list[str]:
        """What is to be said of it where the kernel gives ``large_pages``, one of balancing.LARGE_PAGES."""
        if not self.weights or large_pages == "never":
            return []
        return ["a page of 2 MiB is placed as one; --large-pages never makes the weights exact"]

    def commands(self, machine: Machine, set_nodes: Sequence[int]) -> tuple[list[str], list[str]]:
        """What is to be run in the guest beforehand, and what runs the program. Raises InputError for an unknown
        memory.

        Args:
            set_nodes: the guest's nodes of the interleave sets.
        """
        nodes = self._nodes(machine, set_nodes)
        weights = zip(nodes, self.weights, strict=False)
        before = [f"echo {weight} >{_WEIGHTS}/node{node}" for node, weight in weights]
        return before, ["numactl", f"--{self.kind}={','.join(map(str, nodes))}", "--"]

    def _nodes(self, machine: Machine, set_nodes: Sequence[int]) -> list[int]:
        known: dict[str, int] = {}
        for number, node in enumerate(machine.ram):
            known |= dict.fromkeys(node.memories, number)
        # A memory may have a node of its own beside one that it shares.
        for each, number in sorted(
            zip(machine.sets, set_nodes, strict=True), key=lambda pair: len(pair[0].targets)
        ):
            for name in each.targets:
                known.setdefault(name, number)
        for name in self.memories:
            if name not in known:
                raise InputError(
                    "no memory of the machine",
                    found=f"'{name}'",
                    allowed=", ".join(known),
                    path=f"--{self.kind}",
                )
        nodes = list(dict.fromkeys(known[name] for name in self.memories))
        if self.weights and len(nodes) < len(self.memories):
            raise InputError(
                "these memories are one node, and a node has one weight",
                found=", ".join(self._together(known)),
                allowed="the weight of one of them",
                path=f"--{self.kind}",
            )
        return nodes

    def _together(self, known: Mapping[str, int]) -> list[str]:
        """The first of its memories that are on one node."""
        groups = ([name for name in self.memories if known[name] == node] for node in known.values())
        return next(group for group in groups if len(group) > 1)
