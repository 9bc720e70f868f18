"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def significant(value: float, digits: int = 3) -> str:
    """A number to so many digits; whole ones are never cut: 0.0123, 1.23, 12.3, 1234. Below 0.001 with an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) < 1e-3:
        return _scientific(value, digits)
    magnitude = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{max(0, digits - magnitude)}f}"


def narrow(value: float, digits: int = 3) -> str:
    """`significant` in eight columns at most: with an exponent from ten million on, too."""
    return significant(value, digits) if abs(value) < 1e7 else _scientific(value, digits)


_SYMMETRICAL = 1.25
"""Half an interval stands for both sides unless the longer is more than so many times the shorter."""


def margin(value: float, interval: Sequence[float], sign: str = "±") -> str:
    """How well a value is known, to stand behind it: half of its interval, or both ends where sides are unlike."""
    low, high = interval
    if math.isinf(high):
        return f" (from {narrow(low)})"
    shorter, longer = sorted((value - low, high - value))
    if longer > _SYMMETRICAL * shorter:
        return f" ({narrow(low)} to {narrow(high)})"
    return f" {sign}{narrow((high - low) / 2, 2)}"


def _scientific(value: float, digits: int) -> str:
    """A number with an exponent of as many digits as it needs: 1.23e-7."""
    number, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{number}e{int(exponent)}"


def duration(nanoseconds: float) -> str:
    """A time with the unit that suits it: 812 ns, 17.3 us."""
    for scale, unit in _TIMES:
        if nanoseconds >= scale:
            return f"{significant(nanoseconds / scale)} {unit}"
    return f"{significant(nanoseconds)} ns"


def size(count: float) -> str:
    """Bytes with the unit that suits them: 64 B, 1.50 GiB."""
    for scale, unit in _SIZES:
        if count >= scale:
            return f"{significant(count / scale)} {unit}"
    return f"{significant(count)} B"


def percent(fraction: float) -> str:
    """A share: 4.8 %."""
    return f"{100 * fraction:.1f} %"
