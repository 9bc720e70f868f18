"""Accesses larger than a batch can hold, as the accesses to their lines that they become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxloom.base.errors import InputError
from cxloom.base.granules import LINE
from cxloom.trace.format import ALL_BEFORE

LARGEST = 1 << 30
"""Bytes of an access at most: 1 GiB."""
MOST = int(np.iinfo(np.uint16).max)
"""Bytes of an access that stays one."""

_LINE = np.uint64(LINE)
_OF_THE_FIRST = ("instruction_gap", "cycles", "dependence", "dependence_cycles")
_AT_ONCE = 1 << 16

Columns = Mapping[str, NDArray[Any]]


class LargeAccesses:
    """Cuts them; keeps what the parts of a trace have had so far."""

    def __init__(self) -> None:
        self._any = False
        self._needed = -1
        self._count = 0

    def cut(self, columns: Columns) -> Iterator[Columns]:
        """The accesses of consecutive columns, not too many at a time. Raises InputError for a size that cannot be, and
        for dependences beside such accesses, which count accesses.
        """
        first, self._count = self._count, self._count + len(columns["address"])
        large = columns["size"] > MOST if "size" in columns else np.zeros(0, dtype=bool)
        if "dependence" in columns and self._needed < 0:
            needs = (columns["dependence"] != 0) & (columns["dependence"] != ALL_BEFORE)
            self._needed = first + int(needs.argmax()) if needs.any() else -1
        self._any = self._any or bool(large.any())
        if self._any and self._needed >= 0:
            raise InputError(
                f"access {self._needed} needs another one, in a trace with a size above {MOST}",
                allowed="no dependences but fences: each line of such an access is an access",
            )
        if not large.any():
            yield columns
            return
        size = columns["size"]
        if size.max() > LARGEST:
            at = int(size.argmax())
            raise InputError(
                f"bad size of access {first + at}", found=str(size[at]), allowed=f"at most {LARGEST} (1 GiB)"
            )
        yield from _lines(columns, large)


def _lines(columns: Columns, large: NDArray[np.bool_]) -> Iterator[Columns]:
    address, size = columns["address"].astype(np.uint64), columns["size"].astype(np.uint64)
    count = np.where(large, (address % _LINE + size + _LINE - np.uint64(1)) // _LINE, np.uint64(1))
    ends = count.cumsum()
    for begin in range(0, int(ends[-1]), _AT_ONCE):
        number = np.arange(begin, min(begin + _AT_ONCE, int(ends[-1])), dtype=np.uint64)
        of = np.searchsorted(ends, number, side="right")
        line = number - (ends[of] - count[of])
        start = np.where(line == 0, address[of], (address[of] // _LINE + line) * _LINE)
        to_the_end = address[of] + size[of] - start
        cut = {name: values[of] for name, values in columns.items()}
        cut["address"] = start
        cut["size"] = np.where(large[of], np.minimum(_LINE - start % _LINE, to_the_end), size[of])
        for name in _OF_THE_FIRST:
            if name in cut:
                cut[name] = np.where(line == 0, cut[name], 0)
        yield cut
