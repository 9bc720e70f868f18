"""Notes for people: of many that say the same of one device after the other, the first few."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

SHOWN = 3
"""The first few of notes that are alike are shown, and how many there are beside them."""


def folded(notes: Iterable[str]) -> list[str]:
    """The notes to be shown. Those that differ in nothing but numbers (`host3`, 200 of 500) are alike.

    Args:
        notes: all of them, as the result has them.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for note in notes:
        alike[re.sub(r"[0-9]+", "0", note)].append(note)
    shown = []
    for each in alike.values():
        if len(each) <= SHOWN + 1:
            shown += each
        else:
            shown += [*each[:SHOWN], f"{len(each) - SHOWN:,} more like the {SHOWN} before"]
    return shown
