"""What moving pages by a policy took, of each requester whose pages are tiered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from cxloom.base.words import counted
from cxloom.display.numbers import duration, size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from cxloom.base.summary import Component, ComponentTiering, Summary

    class Tiered(Component, ComponentTiering, total=False):
        """The measures of a requester, and those of its tiering beside them."""


HEADS = ("tiering", "faults", "faults took", "to nearer", "to farther", "moves took", "waited", "interrupted")
"""The heads of the columns of `with_rows`."""


def tierings(summary: Summary) -> dict[str, Tiered]:
    """By requester, the kernel's work on its pages and what became of them: of those that are tiered."""
    return {
        name: {**measures, **measures["tiering"]}
        for name, measures in summary.get("per_requester", {}).items()
        if "tiering" in measures
    }


def with_rows(table: Table, tiered: Mapping[str, Tiered], limit: int) -> Table:
    """A table with a row for each requester whose pages are tiered, or for those that moved most: what moved, and what
    it took."""

    def moved(name: str) -> int:
        return int(tiered[name]["promoted_bytes"] + tiered[name]["demoted_bytes"])

    most = list(tiered) if len(tiered) <= limit else sorted(tiered, key=moved, reverse=True)[: limit - 1]
    for name in most:
        found = tiered[name]
        bytes_moved = map(size, (found["promoted_bytes"], found["demoted_bytes"]))
        times = map(duration, (found["page_moves_ns"], found["page_wait_ns"], found["interrupted_ns"]))
        table.add_row(Text(name), f"{found['faults']:,}", duration(found["fault_ns"]), *bytes_moved, *times)
    if len(most) < len(tiered):
        table.add_row(Text(f"and {len(tiered) - len(most)} more", style="dim"))
    return table


def tiering_sentences(summary: Summary) -> list[str]:
    """What tiering did and took, a sentence for each requester that has it."""
    return [_sentence(name, found) for name, found in tierings(summary).items()]


def _sentence(name: str, found: Tiered) -> str:
    faults = f"{counted(found['faults'], 'hint fault')} took {duration(found['fault_ns'])}"
    way = f"{size(found['promoted_bytes'])} to nearer and {size(found['demoted_bytes'])} to farther nodes"
    moves = f"{counted(found['pages_moved'], 'page')} moved in {duration(found['page_moves_ns'])}, {way}"
    waits = f"accesses waited {duration(found['page_wait_ns'])} for them"
    taken = f"the kernel took {duration(found['interrupted_ns'])} of threads"
    return f"tiering of {name}: {faults}; {moves}; {waits}, and {taken}"
