"""Numbers as people read them."""

from __future__ import annotations

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def significant(value: float, digits: int = 3) -> str:
    """A number to so many digits, without exponent; whole numbers are never cut: 0.0123, 1.23, 12.3, 1234."""
    if value == 0:
        return "0"
    magnitude = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:.{max(0, digits - magnitude)}f}"


def narrow(value: float, digits: int = 3) -> str:
    """As `significant`, but never wider than eight columns: with an exponent from ten million on."""
    return significant(value, digits) if abs(value) < 1e7 else f"{value:.{digits - 1}e}".replace("e+", "e")


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
