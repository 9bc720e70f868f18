"""What a fit is made of: a parameter with its interval, and a value that was measured beside what the system gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cxloom.fitting.measured import Rated, Timed


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that was fitted."""

    path: str
    value: Any
    """The best value, as a spec has it."""
    low: Any
    high: Any
    """The ends of the 95 % interval, cut off at those of the range."""
    is_told: bool
    """Whether the curve tells it: if not, other values fit as well."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A latency that was measured beside that of the system as it was given, and as it was fitted."""

    point: Timed
    before_ns: float
    after_ns: float
    after_gb_per_s: float
    """At most what was asked for at a load; NaN for a size."""
    held_back: bool
    """Whether it was predicted, and not fitted."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The end of a curve, where the memory gives the most, or a kernel of STREAM, beside what the system gives."""

    point: Rated
    before_gb_per_s: float
    after_gb_per_s: float
