"""Objects of a program's memory: how much each is used, and pages placed by object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError
from cxloom.spec.node import Origin
from cxloom.spec.reader import read_value
from cxloom.trace.format import READ, TraceBatch, reaches_memory
from cxloom.trace.objects import Directory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROOM = 40
"""Bits of an address below the number of a rule."""


class RecordedObjects:
    """The objects that a trace has recorded."""

    def __init__(self, text: str) -> None:
        """``text`` is what :func:`recorded` made of them. Raises InputError if it is something else."""
        import numpy as np

        try:
            said = json.loads(text)
            self.names: list[str] = [str(name) for name in said["names"]]
            numbers, counts = np.array(said["runs"], dtype=np.int64).reshape(-1, 2).T
            if not ((numbers >= 0) & (numbers < len(self.names)) & (counts > 0)).all():
                raise ValueError("a number of no name")
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            raise InputError(
                "not the objects of a program", found=text[:40], allowed="as a recording has them"
            ) from error
        self._frames = np.repeat(numbers, counts)

    def of_frames(self) -> NDArray[np.int64]:
        """All, from the start."""
        return self._frames


@dataclass(frozen=True)
class ObjectUse:
    """How much an object is used."""

    name: str
    bytes: int
    """Bytes of its pages that were touched."""
    accesses: int
    """Beyond the caches of the cores."""
    reads: float = 1.0
    """Share of reads among them."""


def most_used(objects: Sequence[ObjectUse]) -> list[ObjectUse]:
    """The objects, those with the most accesses first."""
    return sorted(objects, key=lambda each: (-each.accesses, each.name))


class UseOfPages:
    """Counts accesses by page."""

    def __init__(self, page: int) -> None:
        """`page`: bytes of a page."""
        import numpy as np

        self._page = page
        self._counts: NDArray[np.int64] = np.zeros(1024, dtype=np.int64)
        self._reads: NDArray[np.int64] = np.zeros(1024, dtype=np.int64)

    def add(self, batch: TraceBatch, frames: int) -> None:
        """The accesses of a batch to frames below so many."""
        import numpy as np

        if frames > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(frames, dtype=np.int64)])
            self._reads = np.concatenate([self._reads, np.zeros(frames, dtype=np.int64)])
        of = batch.address // np.uint64(self._page)
        known = of < frames
        np.add.at(self._counts, of[known].astype(np.int64), 1)
        np.add.at(self._reads, of[known & (batch.kind == READ)].astype(np.int64), 1)

    def by_object(self, directory: Directory) -> tuple[ObjectUse, ...]:
        """The objects that are accessed, in the order in which their first pages were touched."""
        import numpy as np

        names = directory.of_frames()

        def of_names(by_page: NDArray[np.int64]) -> NDArray[np.int64]:
            counts = np.zeros(len(names), dtype=np.int64)
            known = by_page[: len(names)]
            counts[: len(known)] = known
            return np.bincount(names, weights=counts, minlength=len(directory.names)).astype(np.int64)

        pages = np.bincount(names, minlength=len(directory.names))
        numbers, first = np.unique(
            names, return_index=True
        )  # frames are numbered in the order of first touch
        counts, reads = of_names(self._counts), of_names(self._reads)
        return tuple(
            ObjectUse(
                directory.names[of],
                int(pages[of]) * self._page,
                int(counts[of]),
                float(reads[of] / counts[of]),
            )
            for of in numbers[np.argsort(first)]
            if counts[of]
        )


@dataclass(frozen=True)
class Rule:
    """Where the pages of some objects go."""

    FORM = "NAME=MEM,MEM,... or NAME={kind: ...}, such as 'map:build_*=cxl'"
    """How a rule is written."""

    pattern: str
    """The names of these objects, with * and ?."""
    place: Any
    """A placement, as `addresses` of a workload says it."""

    @classmethod
    def parse(cls, text: str) -> Rule:
        """The rule written as :data:`FORM`; raises InputError if it is something else."""
        pattern, equals, place = text.partition("=")
        if not equals or not pattern.strip() or not place.strip():
            raise InputError("not a place for objects", found=repr(text), allowed=cls.FORM, path="--place")
        if place.lstrip().startswith("{"):
            return cls(
                pattern.strip(), read_value(place, Origin(path="--place", note="from --place")).plain()
            )
        return cls(pattern.strip(), {"kind": "bind", "nodes": [each.strip() for each in place.split(",")]})

    def __str__(self) -> str:
        nodes = self.place.get("nodes") if isinstance(self.place, Mapping) else None
        return f"{self.pattern}={','.join(nodes) if nodes else self.place}"


def placement_by(rules: Sequence[Rule], otherwise: Any) -> Any:
    """The placement of pages in whose addresses :class:`ByRule` has put the numbers of the rules."""
    if not rules:
        return otherwise
    ranges = [
        {"base": hex(number << _ROOM), "size": "1TiB", "place": rule.place}
        for number, rule in enumerate(rules, 1)
    ]
    return {"kind": "ranges", "ranges": ranges, "otherwise": otherwise}


class ByRule:
    """Puts the number of the first rule that fits an object into the addresses of its pages."""

    def __init__(self, rules: Sequence[Rule], directory: Directory, fits: set[str], page: int) -> None:
        """``fits`` is called with the patterns of the rules for which there is an object; pages have so many bytes."""
        self._page = page
        self._rules = rules
        self._directory = directory
        self._fits = fits
        self._of_names: list[int] = []

    def __call__(self, batch: TraceBatch) -> TraceBatch:
        """The records, with the numbers of rules in their addresses."""
        import numpy as np

        names = self._directory.of_frames()
        for name in self._directory.names[len(self._of_names) :]:
            self._of_names.append(self._rule_of(name))
        by_frame = np.append(np.array(self._of_names, dtype=np.uint64)[names], np.uint64(0))
        reaches = reaches_memory(batch.role)
        frame = np.minimum(batch.address // np.uint64(self._page), np.uint64(len(names))).astype(np.int64)
        rule = np.where(reaches, by_frame[frame], np.uint64(0))
        return TraceBatch(**(batch.columns() | {"address": batch.address | (rule << np.uint64(_ROOM))}))

    def _rule_of(self, name: str) -> int:
        for number, rule in enumerate(self._rules, 1):
            if fnmatchcase(name, rule.pattern):
                self._fits.add(rule.pattern)
                return number
        return 0
