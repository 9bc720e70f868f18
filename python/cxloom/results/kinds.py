"""The parts of a summary that are of one kind of requests each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cxloom.base.summary import Summary, SummaryRead


def by_kind(summary: Summary) -> dict[str, SummaryRead]:
    """The kinds of requests that there were, and what was measured of each."""
    parts = {
        "read": summary.get("read"),
        "write": summary.get("write"),
        "atomic": summary.get("atomic"),
        "flush": summary.get("flush"),
    }
    return {kind: part for kind, part in parts.items() if part is not None}
