"""What moving pages by a policy took, of each requester whose pages are tiered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cxloom.base.words import counted
from cxloom.display.numbers import duration, size

if TYPE_CHECKING:
    from cxloom.base.summary import Summary


def tierings(summary: Summary) -> dict[str, dict[str, Any]]:
    """By requester, the kernel's work on its pages and what became of them: of those that are tiered."""
    return {
        name: {**measures, **measures["tiering"]}
        for name, measures in summary.get("per_requester", {}).items()
        if "tiering" in measures
    }


def tiering_sentences(summary: Summary) -> list[str]:
    """What tiering did and took, a sentence for each requester that has it."""
    return [_sentence(name, found) for name, found in tierings(summary).items()]


def _sentence(name: str, found: Mapping[str, Any]) -> str:
    faults = f"{counted(found['faults'], 'hint fault')} took {duration(found['fault_ns'])}"
    way = f"{size(found['promoted_bytes'])} to nearer and {size(found['demoted_bytes'])} to farther nodes"
    moves = f"{counted(found['pages_moved'], 'page')} moved in {duration(found['page_moves_ns'])}, {way}"
    waits = f"accesses waited {duration(found['page_wait_ns'])} for them"
    taken = f"the kernel took {duration(found['interrupted_ns'])} of threads"
    return f"tiering of {name}: {faults}; {moves}; {waits}, and {taken}"
