"""Random points: values drawn from ranges, evenly or evenly in their logarithm, and from lists.

A path has a random stream of its own, so that another path beside it does not change what is drawn for it, and more
samples begin with the same ones.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxloom import _core
from cxloom.base.errors import InputError, shown
from cxloom.spec.node import described
from cxloom.sweeping.space import Axis, Setting, node_of

_NUMBER = re.compile(r"([+-]?[0-9]*\.?[0-9]+)\s*([A-Za-z%/]*)")
_ALLOWED = "LOW..HIGH or LOW..HIGH:log, such as 1..256:log or 25ns..100ns, or values separated by commas"
_FOLDER_ABOVE = re.compile(r"(^|[,/'\"\s])\.\./")
"""A way up in the name of a file, where two dots are no range."""
_DIGITS = 6
_BELOW_ONE = 1 - 2**-40
"""What is drawn is drawn by a number below one."""
_SMALLEST = {f"{prefix}s": 1000**n for n, prefix in enumerate(["p", "n", "u", "m", ""])}
_SMALLEST |= {f"{prefix}B": 1000**n for n, prefix in enumerate(["", "K", "M", "G", "T"])}
_SMALLEST |= {f"{prefix}iB": 1024**n for n, prefix in enumerate(["", "K", "M", "G", "T"]) if n}
"""Units of time in ps, and of sizes in bytes."""

Draw = Callable[[float], object]
"""Makes a value of a number from 0 to below 1."""


@dataclass(frozen=True, slots=True)
class Draws:
    """A path, and how its values are drawn."""

    path: str
    value: Draw
    among: Sequence[object] = ()
    """The values of a list, which have no order; none of a range."""

    def at(self, share: float) -> Any:
        """The value at a part of the range, from 0 to 1, as people write it: 127.416ns for 127416ps."""
        return _written(self.value(min(share, _BELOW_ONE)))

    @classmethod
    def parse(cls, text: str, option: str = "--draw") -> Draws:
        """The draws ``PATH=LOW..HIGH[:log]`` or ``PATH=VALUE,VALUE,...``, of an option. Raises InputError."""
        path, equals, given = text.partition("=")
        if not equals or not path.strip():
            word = option.removeprefix("--")
            raise InputError(
                f"not what to {word}", found=f"{option} {text}", allowed=f"{option} PATH=LOW..HIGH"
            )
        if ".." in given and not _FOLDER_ABOVE.search(given):
            return cls.of(path.strip(), given)
        return cls._of_list(path.strip(), Axis.parse(text))

    @classmethod
    def of(cls, path: object, given: object) -> Draws:
        """The draws that Python gives: a text ``LOW..HIGH[:log]``, or a list. Raises InputError."""
        if not isinstance(path, str):
            raise InputError("not a text", found=described(path), allowed="the path of a value")
        if isinstance(given, str):
            try:
                return cls(path, _range(given))
            except InputError as error:
                error.path = path
                raise
        if isinstance(given, Sequence) and not isinstance(given, bytes):
            return cls._of_list(path, Axis.of(path, given))
        raise InputError("not what to draw", found=described(given), allowed=_ALLOWED, path=path)

    @classmethod
    def _of_list(cls, path: str, axis: Axis) -> Draws:
        values = [node.plain() for node in axis.values]
        return cls(path, _among(values), values)


def samples(draws: Sequence[Draws], count: int, seed: int) -> list[Setting]:
    """So many points at random. The same seed draws the same ones."""
    streams = [random.Random(f"{seed} {each.path}") for each in draws]
    points: list[Setting] = []
    for _ in range(count):
        values = [
            (each.path, each.value(stream.random())) for each, stream in zip(draws, streams, strict=True)
        ]
        points.append({path: node_of(path, value, f"drawn: {path}={value}") for path, value in values})
    return points


def given_draws(given: object) -> list[Draws]:
    """The draws of a map in Python. Raises InputError."""
    if not isinstance(given, Mapping):
        raise InputError(
            "not a map of draws", found=described(given), allowed='{"devices.host.queue": "1..256:log"}'
        )
    return [Draws.of(path, each) for path, each in given.items()]


def _written(value: Any) -> Any:
    """A value as people write it: 127.416ns for 127416ps, 5.5GB/s for 5.50000GB/s."""
    if not isinstance(value, str) or (match := re.fullmatch(r"([0-9.]+)(\D+)", value)) is None:
        return value
    number, unit = match.groups()
    if unit == "ps":
        number, unit = f"{int(number) / 1000:.3f}", "ns"
    return (number.rstrip("0").rstrip(".") if "." in number else number) + unit


def _among(values: Sequence[object]) -> Draw:
    return lambda share: values[int(share * len(values))]


def _range(text: str) -> Draw:
    """A range: of whole numbers, of times in ps, of sizes in whole units of the low end, or of numbers of one unit."""
    ends, colon, scale = text.partition(":")
    low, dots, high = (part.strip() for part in ends.partition(".."))
    if not dots or (colon and scale.strip() != "log"):
        raise InputError("not a range", found=shown(text), allowed=_ALLOWED)
    is_log = bool(colon)
    if re.fullmatch("[+-]?[0-9]+", low) and re.fullmatch("[+-]?[0-9]+", high):
        return _whole(int(low), int(high), is_log, text, lambda value: value)
    if (picoseconds := _parsed("time", low, high)) is not None:
        return _whole(*picoseconds, is_log, text, lambda value: f"{value}ps")
    if (sizes := _parsed("bytes", low, high)) is not None:
        unit = re.sub("[^A-Za-z]", "", low)
        one, _ = _parsed("bytes", f"1{unit}", f"1{unit}") or (1, 1)
        return _whole(-(-sizes[0] // one), sizes[1] // one, is_log, text, lambda value: f"{value}{unit}")
    first, last = _NUMBER.fullmatch(low), _NUMBER.fullmatch(high)
    if first is None or last is None or first[2] != last[2]:
        raise InputError("not a range", found=shown(text), allowed=f"{_ALLOWED}; both ends of one unit")
    return _real(float(first[1]), float(last[1]), is_log, text, first[2])


def _whole(low: int, high: int, is_log: bool, text: str, written: Callable[[int], object]) -> Draw:
    """Whole numbers, both ends included."""
    _check(low, high, is_log, text)
    if is_log:
        return lambda share: written(min(high, int(low * ((high + 1) / low) ** share)))
    return lambda share: written(low + int(share * (high - low + 1)))


def _real(low: float, high: float, is_log: bool, text: str, unit: str) -> Draw:
    """Numbers of six digits."""
    _check(low, high, is_log, text)

    def value(share: float) -> object:
        drawn = low * (high / low) ** share if is_log else low + share * (high - low)
        digits = _DIGITS - 1 - math.floor(math.log10(abs(drawn))) if drawn else 0
        rounded = f"{drawn:.{max(0, digits)}f}"
        return f"{rounded}{unit}" if unit else float(rounded)

    return value


def _check(low: float, high: float, is_log: bool, text: str) -> None:
    if high <= low:
        raise InputError("a range that does not rise", found=shown(text), allowed="LOW below HIGH")
    if is_log and low <= 0:
        raise InputError("a logarithm of what is not positive", found=shown(text), allowed="LOW above zero")


def _parsed(kind: str, low: str, high: str) -> tuple[int, int] | None:
    """Both ends in ps or bytes; None if they are no quantities of this kind."""
    ends = []
    for end in (low, high):
        try:
            number = _NUMBER.fullmatch(_core.parse(kind, end))  # a whole number and its unit
        except InputError:
            return None
        assert number is not None
        ends.append(int(number[1]) * _SMALLEST[number[2]])
    return ends[0], ends[1]
