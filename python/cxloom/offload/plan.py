"""A policy, what FlexGen's model says of it, and the best shares for a batch by a linear program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cxloom.offload.cost_model import (
    DECODE_CHAINS,
    GROUPS,
    PREFILL_CHAINS,
    SHARES,
    Parts,
    chain_seconds,
    decode,
    peaks,
    prefill,
)
from cxloom.offload.inputs import Inference
from cxloom.offload.linear import Linear


@dataclass(frozen=True)
class Policy:
    """How many sequences at a time, and what is where."""

    batch: int
    """Sequences that the GPU computes at a time (FlexGen's gbs)."""
    batches: int
    """Batches that a layer's weights serve before the next layer's come (FlexGen's nb)."""
    shares: Mapping[str, float]
    """The parts of weights (w), cache (c) and activations (h) on the GPU (g), in CPU memory (c), on the disk (n)."""

    @property
    def sequences(self) -> int:
        """Sequences that are under way."""
        return self.batch * self.batches

    @classmethod
    def of_percent(cls, batch: int, batches: int, percent: Sequence[float]) -> Policy:
        """The policy of FlexGen's `--percent`: weights, cache, activations, on the GPU and in CPU memory each."""
        shares = {}
        for (gpu, cpu, *disk), at in zip(GROUPS, (0, 2, 4), strict=True):
            shares[gpu], shares[cpu] = percent[at] / 100, percent[at + 1] / 100
            for name in disk:
                shares[name] = max(0.0, 1 - shares[gpu] - shares[cpu])
        return cls(batch, batches, shares)


@dataclass(frozen=True)
class Plan:
    """A policy of an inference, and what the cost model says of it."""

    given: Inference
    policy: Policy

    @cached_property
    def prefill(self) -> Parts:
        """What a layer does for all prompts."""
        return prefill(self.given, self.policy.sequences)

    @cached_property
    def decode(self) -> Parts:
        """What a layer does for a token of all sequences, with the mean length of their caches."""
        given, policy = self.given, self.policy
        return decode(given, policy.sequences, policy.batch, given.prompt + given.output / 2)

    @cached_property
    def prefill_chain(self) -> tuple[str, ...]:
        """The parts that a layer of the prompts takes its time from."""
        return _longest(self.prefill, PREFILL_CHAINS, self.policy.shares)

    @cached_property
    def decode_chain(self) -> tuple[str, ...]:
        """The parts that a layer of a token takes its time from."""
        return _longest(self.decode, DECODE_CHAINS, self.policy.shares)

    def _sum(self, parts: Parts, chain: Sequence[str]) -> float:
        return sum(parts[name].seconds.at(self.policy.shares) for name in chain)

    @cached_property
    def prefill_layer_s(self) -> float:
        """Seconds of a layer for all prompts (P)."""
        return self._sum(self.prefill, self.prefill_chain)

    @cached_property
    def decode_layer_s(self) -> float:
        """Seconds of a layer for a token of all sequences (G)."""
        return self._sum(self.decode, self.decode_chain)

    @property
    def prefill_s(self) -> float:
        """Seconds of all prompts."""
        return self.given.model.layers * self.prefill_layer_s

    @property
    def decode_s(self) -> float:
        """Seconds of all tokens behind the first."""
        return self.given.model.layers * (self.given.output - 1) * self.decode_layer_s

    @property
    def total_s(self) -> float:
        """Seconds of all sequences (T)."""
        return self.prefill_s + self.decode_s

    @cached_property
    def tokens_per_s(self) -> float:
        """Tokens of answers per second."""
        return self.policy.sequences * self.given.output / self.total_s

    @cached_property
    def peak_bytes(self) -> dict[str, float]:
        """The bytes that each memory holds at most."""
        found = peaks(self.given, self.policy.batch, self.policy.batches)
        return {name: max(each.at(self.policy.shares) for each in terms) for name, terms in found.items()}

    @property
    def footprint_bytes(self) -> float:
        """Bytes of all weights of layers and of all caches at their end, wherever they are."""
        layers = self.given.model.layers
        return layers * (self.given.layer_bytes + self.policy.sequences * self.given.kv_bytes)


def _longest(parts: Parts, chains: Sequence[tuple[str, ...]], shares: Mapping[str, float]) -> tuple[str, ...]:
    seconds = [each.at(shares) for each in chain_seconds(parts, chains)]
    return chains[max(range(len(chains)), key=seconds.__getitem__)]


def solve(given: Inference, batch: int, batches: int) -> Plan | None:
    """The shares of least time for a batch, by FlexGen's linear program; None: nothing fits.

    Args:
        given: the model and the machine.
        batch: sequences that the GPU computes at a time.
        batches: how many of these there are.
    """
    return _solved(given, batch, batches, None)


def with_least_on_disk(plan: Plan) -> Plan:
    """A plan that takes as long, of the same batches, with as few bytes on the disk as there may be.

    Several policies may be equally fast, and which of them a solver gives is by chance.
    """
    return _solved(plan.given, plan.policy.batch, plan.policy.batches, plan.total_s) or plan


_EQUAL = 1e-9
"""Times that differ by less than this part are equal: what the solver leaves of exactness."""


def _solved(given: Inference, batch: int, batches: int, seconds: float | None) -> Plan | None:
    """The plan of least time, or the one of least bytes on the disk that takes no longer than so many seconds."""
    plan = Plan(given, Policy(batch, batches, {}))
    program = _Program(("P", "G"))
    for name, parts, chains in (("P", plan.prefill, PREFILL_CHAINS), ("G", plan.decode, DECODE_CHAINS)):
        for chain in chain_seconds(parts, chains):
            program.at_most(chain + Linear(0.0, {name: -1.0}), 0.0)
    peak = peaks(given, batch, batches)
    for memory, terms in peak.items():
        for term in terms:
            program.at_most(term, given.capacities[memory])
    layers, tokens = given.model.layers, given.output - 1
    cost = Linear(0.0, {"P": layers, "G": layers * tokens})
    if seconds is not None:
        program.at_most(cost, seconds * (1 + _EQUAL))
        (cost,) = peak["disk"]
    found = program.least(cost)
    return (
        None if found is None else Plan(given, Policy(batch, batches, {name: found[name] for name in SHARES}))
    )


def least_capacity(given: Inference, memory: str) -> float | None:
    """The bytes of one memory with which a single sequence fits, the others as they are; None: with none."""
    program = _Program(("needed",))
    unit = given.model.layers * given.layer_bytes
    for name, terms in peaks(given, 1, 1).items():
        for term in terms:
            if name == memory:
                program.at_most(term + Linear(0.0, {"needed": -unit * getattr(given.slack, name)}), 0.0)
            else:
                program.at_most(term, given.capacities[name])
    found = program.least(Linear(0.0, {"needed": 1.0}))
    return None if found is None else unit * found["needed"]


class _Program:
    """A linear program over the shares, which sum to one in their groups, and some more variables."""

    def __init__(self, more: Sequence[str]) -> None:
        self._names = [*SHARES, *more]
        self._rows: list[list[float]] = []
        self._limits: list[float] = []

    def _row(self, term: Linear) -> list[float]:
        return [term.factors.get(name, 0.0) for name in self._names]

    def at_most(self, term: Linear, limit: float) -> None:
        """Demands that a term is at most that."""
        row = self._row(term)
        scale = max(map(abs, row), default=0.0) or 1.0
        self._rows.append([each / scale for each in row])
        self._limits.append((limit - term.constant) / scale)

    def least(self, cost: Linear) -> dict[str, float] | None:
        """The values of least cost; None: nothing fulfils the demands."""
        from scipy.optimize import linprog

        cost_row = self._row(cost)
        scale = max(map(abs, cost_row))
        found: Any = linprog(
            [each / scale for each in cost_row],
            A_ub=self._rows,
            b_ub=self._limits,
            A_eq=[[1.0 if name in group else 0.0 for name in self._names] for group in GROUPS],
            b_eq=[1.0] * len(GROUPS),
            bounds=[(0, None)] * len(self._names),
            method="highs",
        )
        if found.status != 0:
            return None
        return {name: max(0.0, float(value)) for name, value in zip(self._names, found.x, strict=True)}
