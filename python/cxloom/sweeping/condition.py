"""A condition on what a run measures: ``latency.p99 < 500ns``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.spec.names import listed, nearest

_FORM = re.compile(r"\s*([\w.<>-]*\w)\s*(<=|>=|<|>)\s*(\S.*?)\s*")
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ALLOWED = "MEASURE < VALUE (or <=, >, >=), such as latency.p99 < 500ns or bandwidth >= 20GB/s"
_SHORT = {"latency": "latency_ns", "bandwidth": "bandwidth_gb_per_s"}
"""Words for keys of a summary that have their unit in their name."""
_UNITS = (("_ns", "time", "ns", 1.0), ("_gb_per_s", "bandwidth", "GB/s", 1e9), ("_bytes", "bytes", "B", 1.0))
"""The ends of names whose values are quantities, their kind and unit, and how much of the kind one unit is."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What has to hold of a run."""

    path: str
    """The measure, as a dotted path of the summary: ``latency_ns.p99``."""
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
        steps = [_SHORT.get(step, step) for step in match[1].split(".")]
        if steps[-1] == "latency_ns":
            steps.append("mean")
        try:
            bound, unit = _bound(steps, match[3])
        except InputError as error:
            error.path = ".".join(steps)
            raise
        return cls(".".join(steps), match[2], bound, unit, " ".join(match.groups()))

    def measured(self, summary: Mapping[str, Any]) -> float:
        """The measure of a run; NaN where it is unknown. Raises InputError if there is no such measure."""
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

    def holds(self, value: float) -> bool:
        """Whether a value meets it; what is unknown does not."""
        return _OPERATORS[self.sign](value, self.bound)


def _bound(steps: list[str], text: str) -> tuple[float, str]:
    """The value of a bound and the unit of its measure, which the name of the measure ends with."""
    for name in reversed(steps):
        for end, kind, unit, one in _UNITS:
            if name.endswith(end):
                return _core.quantity(kind, text) / one, unit
    number = text.removesuffix("%").strip()
    try:
        return float(number) / (100 if text.endswith("%") else 1), ""
    except ValueError:
        raise InputError("not a number", found=f"'{text}'", allowed="such as 16 or 5%") from None
