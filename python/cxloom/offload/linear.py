"""Sums of shares with factors: what the cost model is made of, and what a linear program takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Linear:
    """A constant and so much for each share, such as `constant + 3 wc + 2 wn`."""

    constant: float = 0.0
    factors: Mapping[str, float] = field(default_factory=dict)

    def __add__(self, other: Linear) -> Linear:
        factors = dict(self.factors)
        for share, factor in other.factors.items():
            factors[share] = factors.get(share, 0.0) + factor
        return Linear(self.constant + other.constant, factors)

    def __mul__(self, factor: float) -> Linear:
        return Linear(self.constant * factor, {share: each * factor for share, each in self.factors.items()})

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Linear:
        return self * (1 / divisor)

    def at(self, shares: Mapping[str, float]) -> float:
        """The value with these shares."""
        return self.constant + sum(factor * shares[share] for share, factor in self.factors.items())


def of(**factors: float) -> Linear:
    """A sum of shares with factors: `of(wc=1, wn=1)`."""
    return Linear(0.0, factors)


def fixed(value: float) -> Linear:
    """A constant."""
    return Linear(value)


def total(terms: Mapping[str, Linear] | list[Linear]) -> Linear:
    """The sum of all."""
    whole = Linear()
    for term in terms.values() if isinstance(terms, Mapping) else terms:
        whole += term
    return whole
