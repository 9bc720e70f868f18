"""Notes for people: of many that say the same of one device after the other, the first few."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

SHOWN = 3
"""So many of those that are alike are shown, and how many more there are."""
_NUMBER = re.compile(r"\d[\d.]*(e-?\d+)?")


def alike(notes: Iterable[str]) -> list[list[str]]:
    """The notes, those together that differ in nothing but numbers (`host3`, 200 of 500)."""
    found: dict[str, list[str]] = defaultdict(list)
    for note in notes:
        found[_NUMBER.sub("0", note)].append(note)
    return list(found.values())


def folded(notes: Iterable[str]) -> list[str]:
    """The notes to be shown of all that a result has."""
    shown = []
    for each in alike(notes):
        if len(each) <= SHOWN + 1:
            shown += each
        else:
            shown += [*each[:SHOWN], f"{len(each) - SHOWN:,} more like the {SHOWN} before"]
    return shown
