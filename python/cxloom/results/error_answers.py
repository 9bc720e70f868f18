"""Requests that were answered without data: how many a summary counts, and what people are told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cxloom.base.words import counted


def count_of(measures: Mapping[str, Any]) -> int:
    """How many of all requests, or of a part of them; `measures` is a summary or one of its parts."""
    return int(measures.get("errors", {}).get("requests", 0))


def got_none(measures: Mapping[str, Any]) -> bool:
    """All that were answered had no data."""
    return not measures["requests"] and count_of(measures) > 0


def sentence(summary: Mapping[str, Any]) -> str | None:
    """How many there were, and which was the first; None if there were none."""
    count = count_of(summary)
    if not count:
        return None
    were = "was" if count == 1 else "were"
    said = f"{counted(count, 'request')} {were} answered with an error, without data"
    first = summary["errors"].get("first")
    if first is None:
        return said
    asked = f"that of {first['requester']} to {first['address']}"
    return f"{said}; the first was {asked}, which {first['answered_by']} answered"


def of_points(counts: Iterable[int | float | None]) -> str | None:
    """At how many of several points there were some, of how many there were at each; None if at none."""
    known = list(counts)
    wrong = sum(bool(count) for count in known)
    if not wrong:
        return None
    some = f"{wrong:,} of {counted(len(known), 'point')}"
    return f"requests of {some} were answered with an error, without data; no latency or bandwidth has them"
