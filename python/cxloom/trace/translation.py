"""The cost of finding a program's pages (docs/model/tlb.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Translation:
    """Counts of all threads, while recording."""

    NAME: ClassVar[str] = "translation"
    """The metadata of a trace that says this."""

    misses: int
    """Misses of the first level of the TLB."""
    walks: int
    """Walks of the page table: what the second level missed, too."""
    loads: int
    """Entries of page tables that walks read."""
    cycles: int
    """Cycles in which a thread had nothing to dispatch because of the TLB and of walks, waits for memory aside."""

    @classmethod
    def of(cls, counts: Mapping[str, int] | None) -> Translation | None:
        """The counts of a capture; None without a TLB."""
        return None if counts is None else cls(**counts)

    @classmethod
    def in_metadata(cls, metadata: Mapping[str, str]) -> Translation | None:
        """The counts in a trace; None if it has none, or none that can be read."""
        try:
            return cls(**{name: int(count) for name, count in json.loads(metadata[cls.NAME]).items()})
        except (KeyError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return None

    def to_metadata(self) -> dict[str, str]:
        """The metadata for a trace."""
        return {self.NAME: json.dumps(asdict(self))}

    def to_dict(self, instructions: int) -> dict[str, Any]:
        """The counts as results have them, with so many instructions of all threads."""
        return {
            **asdict(self),
            "misses_per_kilo_instruction": per_thousand(self.misses, instructions),
            "walks_per_kilo_instruction": per_thousand(self.walks, instructions),
        }

    def text(self, instructions: int) -> str:
        """A sentence without a full stop."""
        misses, walks = (per_thousand(count, instructions) for count in (self.misses, self.walks))
        loads = self.loads / self.walks if self.walks else 0.0
        return (
            f"{misses:.3g} misses of the TLB's first level in a thousand instructions, "
            f"{walks:.3g} page walks of {loads:.2f} loads"
        )


def per_thousand(count: int, instructions: int) -> float:
    """How many in a thousand instructions."""
    return 1000 * count / instructions if instructions else 0.0
