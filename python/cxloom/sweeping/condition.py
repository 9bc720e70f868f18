"""Measures of a run by their words, and conditions on them: ``latency.p99 < 500ns``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.base.summary import Summary
from cxloom.display.numbers import significant
from cxloom.spec.names import listed, nearest

_FORM = re.compile(r"\s*([\w.<>-]*\w)\s*(<=|>=|<|>)\s*(\S.*?)\s*")
_PATH = re.compile(r"[\w.<>-]*\w")
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ALLOWED = "MEASURE < VALUE (or <=, >, >=), such as latency.p99 < 500ns or bandwidth >= 20GB/s"
_SHORT = {"latency": "latency_ns", "bandwidth": "bandwidth_gb_per_s"}
"""Words for keys of a summary that have their unit in their name."""
_LEAST_EXCESS = 1e-9
"""The excess of a value at a bound that it has to stay below."""
_UNITS = (("_ns", "time", "ns", 1.0), ("_gb_per_s", "bandwidth", "GB/s", 1e9), ("_bytes", "bytes", "B", 1.0))
"""The ends of names whose values are quantities, their kind and unit, and how much of the kind one unit is."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of the summary of a run."""

    path: str
    """Its dotted path: ``latency_ns.p99``."""

    @classmethod
    def parse(cls, text: str) -> Measure:
        """The measure of its words: ``latency`` is the mean, ``latency.p99`` a percentile, ``bandwidth`` that of all.

        Raises InputError for what is no path.
        """
        if not _PATH.fullmatch(text.strip()):
            allowed = "a measure such as latency.p99 or bandwidth"
            raise InputError("not a measure", found=f"'{text}'", allowed=allowed)
        steps = [_SHORT.get(step, step) for step in text.strip().split(".")]
        return cls(".".join([*steps, "mean"] if steps[-1] == "latency_ns" else steps))

    @property
    def unit(self) -> str:
        """Its unit, by the end of its name: ns, GB/s or B; nothing for a number."""
        return next((unit for _, unit, _ in _units(self.path)), "")

    @property
    def is_rate(self) -> bool:
        """Whether it is bytes in a time, which an overloaded system has at its most, however long it runs."""
        return self.unit == "GB/s"

    def of(self, summary: Mapping[str, Any]) -> float:
        """Its value for a run; NaN where it is unknown. Raises InputError if there is no such measure."""
        found: Any = summary
        for at, step in enumerate(self.path.split(".")):
            if not isinstance(found, Mapping) or step not in found:
                there = list(found) if isinstance(found, Mapping) else []
                before = ".".join(self.path.split(".")[:at])
                raise InputError(
                    f"no measure '{self.path}': {before or 'the summary of a run'} has no '{step}'",
                    allowed=listed(there) if there else "a measure of `cxloom run --json`",
                    suggestion=nearest(step, there),
                )
            found = found[step]
        if found is None:
            return math.nan
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise InputError(f"'{self.path}' is no number", allowed="a measure that is one")
        return float(found)


@dataclass(frozen=True, slots=True)
class Condition:
    """What has to hold of a run."""

    measure: Measure
    sign: str
    bound: float
    unit: str
    """The unit of the bound, which is that of the summary: ns, GB/s or B; nothing for a number."""
    text: str
    """As it was written."""

    @classmethod
    def parse(cls, text: str) -> Condition:
        """The condition of a text. Raises InputError for one that is none, or a value of another unit."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise InputError("not a condition", found=f"'{text}'", allowed=_ALLOWED)
        measure = Measure.parse(match[1])
        try:
            bound, unit = _bound(measure, match[3])
        except InputError as error:
            error.path = measure.path
            raise
        return cls(measure, match[2], bound, unit, " ".join(match.groups()))

    @property
    def path(self) -> str:
        """The dotted path of its measure."""
        return self.measure.path

    def measured(self, summary: Mapping[str, Any]) -> float:
        """The measure of a run; NaN where it is unknown. Raises InputError if there is no such measure."""
        return self.measure.of(summary)

    def excess(self, value: float) -> float:
        """How far a value is from meeting it, as a share of the bound: above 0 where it does not."""
        over = value - self.bound if self.sign.startswith("<") else self.bound - value
        over /= abs(self.bound) or 1.0
        return min(over, 0.0) if self.holds(value) else max(over, _LEAST_EXCESS)

    def holds(self, value: float) -> bool:
        """Whether a value meets it; what is unknown does not."""
        return _OPERATORS[self.sign](value, self.bound)

    def verdict(self, value: float) -> str:
        """Whether a value meets it, and how far it is from the bound: ``holds, 160 ns below``."""
        if math.isnan(value):
            return "fails: nothing was measured"
        apart = abs(value - self.bound)
        side = "below" if value < self.bound else "above"
        where = f"{significant(apart)} {self.unit}".rstrip() + f" {side}" if apart else "at the bound"
        return f"{'holds' if self.holds(value) else 'fails'}, {where}"


def _units(path: str) -> Iterator[tuple[str, str, float]]:
    """The quantities that a path names, the last first: kind, unit, and how much of the kind one unit is."""
    for name in reversed(path.split(".")):
        for end, kind, unit, one in _UNITS:
            if name.endswith(end):
                yield kind, unit, one


def _bound(measure: Measure, text: str) -> tuple[float, str]:
    """The value of a bound and the unit of its measure, which the name of the measure ends with."""
    for kind, unit, one in _units(measure.path):
        return _core.quantity(kind, text) / one, unit
    number = text.removesuffix("%").strip()
    try:
        return float(number) / (100 if text.endswith("%") else 1), ""
    except ValueError:
        first = measure.path.split(".")[0]
        known = [*_SHORT, *Summary.__annotations__]
        if first not in known:
            raise InputError(
                "no measure of a run",
                found=f"'{measure.path}'",
                allowed="latency, bandwidth, or a measure of `cxloom run --json`",
                suggestion=nearest(first, known),
            ) from None
        raise InputError("not a number", found=f"'{text}'", allowed="such as 16 or 5%") from None
