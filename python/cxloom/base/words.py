"""Words of messages that depend on numbers."""

from __future__ import annotations

import re


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
