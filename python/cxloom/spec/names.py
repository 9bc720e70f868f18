"""Device names: ranges that declare several (``mem[0-3]``) and globs that name them all (``mem[*]``, ``*``)."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Collection, Iterable, Sequence

from cxloom import _core
from cxloom.base import limits
from cxloom.base.errors import InputError
from cxloom.base.words import counted

NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
"""The form of a device's name (a regular expression)."""

_NAME = re.compile(NAME)
_PIECE = re.compile(r"\[([^\[\]]*)\]|\*|[^\[\]*]+|[\[\]]")
_RANGE = re.compile(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?")
_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d{0,17})")
_COMPARED = 5_000  # names that one is compared with


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate nearest to `name`, else the shortest that it is a part of, else an empty text.

    Nearest is what takes the fewest changes of a letter, or of two neighbours, as where the core looks. Of equally near
    ones it is the first: candidates come in the order in which a user is likely to mean them. Of long names, such as
    paths, one that has most letters in common is near, too.
    """
    if len(name) > limits.NAME or not _is_text(name):
        return ""
    known = list(filter(_is_text, itertools.islice(candidates, _COMPARED)))
    return _core.nearest_name(name, known) or next(iter(difflib.get_close_matches(name, known, n=1)), "")


def _is_text(name: str) -> bool:
    """Whether it has no halves of characters, as names of files may."""
    return not any("\ud800" <= each <= "\udfff" for each in name)


def listed(names: Iterable[str], limit: int = 12, word: str = "or") -> str:
    """``a, b or c``: names as a sentence lists them, cut off after `limit`; `word` is before the last."""
    names = list(names)
    if len(names) > limit:
        return ", ".join(names[:limit]) + f" and {len(names) - limit} more"
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def in_ranges(names: Iterable[str]) -> list[str]:
    """Names that count on as the range that declares them: host0, host1, host2, sw gives host[0-2], sw."""
    found: list[tuple[str, int, int]] = []  # stem, first and last number; -1: a name without one
    for name in names:
        stem, number = _numbered(name)
        if found and number >= 0 and found[-1][0] == stem and found[-1][2] == number - 1:
            found[-1] = (stem, found[-1][1], number)
        else:
            found.append((stem, number, number))
    return [
        stem if last < 0 else f"{stem}{last}" if first == last else f"{stem}[{first}-{last}]"
        for stem, first, last in found
    ]


def _numbered(name: str) -> tuple[str, int]:
    """What is before the number at the end of a name, and that number; -1 without one."""
    found = _NUMBERED.fullmatch(name)
    return (name, -1) if found is None else (found.group(1), int(found.group(2)))


RESERVED = ("any", "none")
"""The words for every device, or for no device, where one may be named: `host: any` of a logical device."""


def of_new_devices(text: str) -> list[str]:
    """The names that a key under ``devices`` declares, none of which may be a word for something else."""
    found = declared(text)
    if reserved := [name for name in found if name in RESERVED]:
        raise InputError(
            "a device cannot have this name: it says that no device is named, or any",
            found=f"'{reserved[0]}'",
            allowed=f"another name than {' and '.join(RESERVED)}",
        )
    return found


def is_pattern(text: str) -> bool:
    """True for anything but a plain name."""
    return "[" in text or "*" in text


def is_glob(text: str) -> bool:
    """True if `text` names devices that are declared elsewhere: it holds a ``*``."""
    return "*" in text


def declared(text: str) -> list[str]:
    """The names that a key under ``devices`` declares: itself, or the names of its ranges.

    ``mem[0-2]`` gives mem0, mem1, mem2; ``cpu[0-1][0-1]`` gives cpu00, cpu01, cpu10, cpu11; ``n[08-10]`` keeps the
    width (n08, n09, n10); ``m[0,2,4-5]`` lists. Raises InputError (without a place) for a malformed range or name.
    """
    pieces: list[Sequence[str]] = []
    count = 1
    for piece in _PIECE.finditer(text):
        inside = piece.group(1)
        pieces.append([piece.group()] if inside is None else _numbers(text, inside))
        count *= len(pieces[-1])
        if count > limits.NAMES:
            raise _too_many(text)
    names = ["".join(parts) for parts in itertools.product(*pieces)]
    longest = max(map(len, names), default=0)
    if longest > limits.NAME:
        raise InputError(
            "the name is too long", found=f"'{text}'", allowed=f"at most {counted(limits.NAME, 'character')}"
        )
    for name in names[:1]:
        if not _NAME.fullmatch(name):
            raise InputError(
                "not a device name",
                found=f"'{text}'",
                allowed="a letter, then letters, digits, '_' or '-'; ranges such as mem[0-3]",
            )
    return names


def select(pattern: str, names: Collection[str]) -> list[str]:
    """The `names` that a pattern means, in their order; a plain name means itself.

    Raises InputError (without a place) when nothing matches, or when a name that is spelt out is missing.
    """
    if is_glob(pattern):
        found = matching(pattern, names)
        if not found:
            raise InputError(f"'{pattern}' matches no device", allowed=listed(in_ranges(names)))
        return found
    wanted = declared(pattern)
    for name in wanted:
        if name not in names:
            raise unknown_device(name, names)
    return wanted


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The `names` that a pattern matches, in their order.

    ``[*]`` stands for one number, ``*`` for any characters, ``[0-3]`` for these numbers.
    """
    if pattern.count("*") > limits.STARS:
        raise InputError("too many stars", found=f"'{pattern}'", allowed=f"at most {limits.STARS} in a name")
    expression = re.compile("".join(_expression(pattern, piece) for piece in _PIECE.finditer(pattern)))
    return [name for name in names if expression.fullmatch(name)]


def unknown_device(name: str, names: Collection[str]) -> InputError:
    """The error for a device that is not declared."""
    allowed = listed(in_ranges(names))
    return InputError(f"unknown device '{name}'", allowed=allowed, suggestion=nearest(name, names))


def _expression(pattern: str, piece: re.Match[str]) -> str:
    if piece.group() == "*":
        return r"[^.]*"
    if piece.group(1) is None:
        return re.escape(piece.group())
    if piece.group(1).strip() == "*":
        return r"\d+"
    numbers = _numbers(pattern, piece.group(1))
    if len(numbers) > limits.GLOB_NUMBERS:
        raise InputError(
            "too many numbers beside a *",
            found=f"'{pattern}'",
            allowed=f"at most {limits.GLOB_NUMBERS} in brackets",
        )
    return f"(?:{'|'.join(numbers)})"


def _too_many(text: str) -> InputError:
    return InputError(
        "too many names", found=f"'{text}'", allowed=f"at most {counted(limits.NAMES, 'name')} in one range"
    )


def _numbers(text: str, inside: str) -> list[str]:
    numbers: list[str] = []
    for part in inside.split(","):
        match = _RANGE.fullmatch(part)
        if not match:
            raise InputError(
                "not a range", found=f"'{text}'", allowed="a range of numbers such as [0-3] or [0,2,4]"
            )
        first, last = match.group(1), match.group(2) or match.group(1)
        if int(last) < int(first):
            raise InputError("the range runs backwards", found=f"'{text}'", allowed=f"[{last}-{first}]")
        if int(last) - int(first) + len(numbers) >= limits.NAMES:
            raise _too_many(text)
        width = len(first) if first.startswith("0") else 0
        numbers.extend(str(number).zfill(width) for number in range(int(first), int(last) + 1))
    return numbers
