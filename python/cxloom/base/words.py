"""Words of messages that depend on numbers, sizes as specs have them, and names of the directions of links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def counted(count: int, noun: str) -> str:
    """A count and what is counted: ``1 link``, ``12,000 links``, ``3 accesses``, ``2 entries``."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a regular noun."""
    if re.search("(s|x|ch|sh)$", noun):
        return f"{noun}es"
    if re.search("[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def exact_bytes(count: int) -> str:
    """A number of bytes as a spec has it: 8GiB, or 3000B where no larger unit is exact."""
    for scale, unit in _SIZES:
        if count and count % scale == 0:
            return f"{count // scale}{unit}"
    return f"{count}B"


def direction_name(link: str, direction: str) -> str:
    """A direction (``a->b``) of a link (``a-b``); of parallel links the second and those after it have their numbers.

    The link ``a-b#2`` has the direction ``a->b#2``.
    """
    return direction + link[len(direction) - 1 :]


def ends_of(direction: str) -> tuple[str, str]:
    """The devices from which and to which a direction leads: of ``a->b`` and of ``a->b#2`` these are a and b."""
    start, _, end = direction.partition("#")[0].partition("->")
    return start, end


def of_both(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """What is noted of two systems, A and B: what is of one alone begins with its letter."""
    notes = [set(first := list(first)), set(second := list(second))]
    return [
        note if all(note in each for each in notes) else f"{'A' if note in notes[0] else 'B'}: {note}"
        for note in dict.fromkeys([*first, *second])
    ]


def joined(names: Sequence[str], most: int = 4) -> str:
    """What belongs together, as one name: ``mem0+mem1``; of more than `most` how many there are besides."""
    if len(names) <= most:
        return "+".join(names)
    return "+".join([*names[: most - 1], f"{len(names) - most + 1} more"])
