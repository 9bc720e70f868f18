"""Caveats before the numbers of a summary: requests answered without data, and a window without a length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cxloom.base.words import counted
from cxloom.display.notes import alike

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

_NOTES = 3
"""The notes of points that are shown."""


def error_count(measures: Mapping[str, Any]) -> int:
    """How many of all requests, or of a part of them; `measures` is a summary or one of its parts."""
    return int(measures.get("errors", {}).get("requests", 0))


def only_errors(measures: Mapping[str, Any]) -> bool:
    """All that were answered had no data."""
    return not measures["requests"] and error_count(measures) > 0


def error_sentence(summary: Summary) -> str | None:
    """How many there were, and which was the first; None if there were none."""
    count = error_count(summary)
    if not count:
        return None
    were = "was" if count == 1 else "were"
    said = f"{counted(count, 'request')} {were} answered with an error, without data"
    first = summary["errors"].get("first")
    if first is None:
        return said
    asked = f"that of {first['requester']} to {first['address']}"
    if first["answered_by"] == first["requester"]:
        who = f"{first['requester']} ended itself, without a way or an answer in time"
    else:
        who = f"{first['answered_by']} answered"
    return f"{said}; the first was {asked}, which {who}"


def errors_of_points(counts: Iterable[int | float | None]) -> str | None:
    """The number of points with errors, and of all points with counts, in words; None without errors."""
    known = list(counts)
    wrong = sum(bool(count) for count in known)
    if not wrong:
        return None
    some = f"{wrong:,} of {counted(len(known), 'point')}"
    return f"requests of {some} were answered with an error, without data; no latency or bandwidth has them"


def notes_of_points(notes: Sequence[Sequence[str]]) -> tuple[list[tuple[str, str]], int]:
    """What runs say of themselves, such as that links have no limit: the most frequent first, with of how many points
    it is said, where not of all; and how many more notes there are. Notes that differ in their numbers are one.
    """
    said = alike(note for of_point in notes for note in of_point)
    of_all = counted(len(notes), "point")
    shown = []
    for each in sorted(said, key=len, reverse=True)[:_NOTES]:
        where = "" if len(each) == len(notes) else f"on {len(each):,} of {of_all}"
        if len(set(each)) > 1:
            where += ", such as" if where else "such as"
        shown.append((where, each[0]))
    return shown, len(said) - len(shown)


def why_no_length(summary: Summary) -> str | None:
    """Why the window of a summary, in which requests completed, has no length; None if it has one.

    Requests that took time, too, may all complete at the instant at which it opens (docs/model/results.md).
    """
    if summary["simulated_time_ns"] > 0:
        return None
    if not summary["latency_ns"]["max"]:
        return "no request that was measured takes any time"
    return "all requests that were measured completed at the instant at which the window opened"
