"""The columns of a trace, as every reader and writer of this package has them; see docs/trace-format.md.

NumPy is loaded where arrays are made: a text trace is replayed without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cxloom.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

VERSION = 2
"""Version of the format that is written. Those before it are read, too."""

ROW_GROUP = 1 << 18
"""Accesses that are written, and compressed, together."""

READ, WRITE, ATOMIC, FLUSH, FLUSH_KEEPING, FLUSH_DATA, FLUSH_DATA_KEEPING, WRITE_PAST = range(8)
"""Values of the column ``kind``. The first flush takes its line out of the cache, the second leaves it there; those
with data do the same with a line that was dirty in caches in front, and bring its data along. The last is a write past
the caches (a non-temporal store)."""

DEMAND, STORE_FILL, WRITE_BACK, CALL, GO_ON, WAIT, BRANCH, PROGRESS, PAGE_WALK, PREFETCH, USE = range(11)
"""Values of the column ``role``."""

ALL_BEFORE = (1 << 32) - 1
"""Value of the column ``dependence`` of an access behind a fence."""

NO_TIMESTAMP = -1
"""Value of the column ``timestamp`` where none is given."""

DTYPES: dict[str, str] = {
    "address": "uint64",
    "kind": "uint8",
    "size": "uint16",
    "thread": "uint32",
    "instruction_gap": "uint32",
    "dependence": "uint32",
    "timestamp": "int64",
    "role": "uint8",
    "cycles": "uint32",
    "dependence_cycles": "uint16",
}
"""Name and type (as NumPy calls it) of each column, in their order."""

ATOMIC_BYTES = (4, 8)
"""Sizes of an atomic operation; the last one is its default."""

REQUIRED = ("address", "kind")
DEFAULTS = {
    "size": 64,
    "thread": 0,
    "instruction_gap": 0,
    "dependence": 0,
    "timestamp": NO_TIMESTAMP,
    "role": DEMAND,
    "cycles": 0,
    "dependence_cycles": 0,
}
"""The values that missing columns have; an atomic operation has 8 bytes then."""


def reaches_memory(role: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each record is an access."""
    reaches: NDArray[np.bool_] = (role < CALL) | (role == PAGE_WALK) | (role == PREFETCH)
    return reaches


@dataclass(frozen=True, slots=True)
class TraceBatch:
    """Consecutive accesses, one NumPy array a column, all of one length.

    * ``address`` (uint64): of the first byte
    * ``kind`` (uint8): 0 read, 1 write, 2 atomic, 3 flush, 4 flush that keeps the line, 5 and 6 the same of lines that
      were dirty in caches in front, 7 a write past the caches (a non-temporal store)
    * ``size`` (uint16): bytes, at least 1; of an atomic operation 4 or 8, to which its address is aligned
    * ``thread`` (uint32): which thread of the program made it
    * ``instruction_gap`` (uint32): instructions of that thread since its access before this one
    * ``dependence`` (uint32): it needs the access so many places before it in the trace; 0 for none, ALL_BEFORE for all
      before it (a fence)
    * ``timestamp`` (int64): picoseconds from the start of the trace, never decreasing; -1 if not given
    * ``role`` (uint8): who in a core waits for it: DEMAND its instruction, STORE_FILL a store whose line it reads,
      WRITE_BACK and PREFETCH nobody, PAGE_WALK its instruction, whose page it finds. The others are no accesses: USE,
      its instruction wants the line of the record that it depends on; CALL and WAIT, the
      thread makes the system call whose number stands for the address, and does nothing until it goes on if it waits;
      GO_ON, it goes on behind such a call; BRANCH, what follows waits for what it depends on; PROGRESS, it has come so
      far
    * ``cycles`` (uint32): of its core since the record of its thread before it, where nothing waits for memory; 0 if
      not given
    * ``dependence_cycles`` (uint16): cycles from the data of the access that it needs to its own address; if it needs
      none, from when its core comes to it
    * ``process`` (uint16): of a booted machine, whose it is, as ``waits_ns`` of a summary has them: 1 for the kernel, 2
      and more for the others, 0 if not told; None: of no machine. No file has it
    """

    address: NDArray[np.uint64]
    kind: NDArray[np.uint8]
    size: NDArray[np.uint16]
    thread: NDArray[np.uint32]
    instruction_gap: NDArray[np.uint32]
    dependence: NDArray[np.uint32]
    timestamp: NDArray[np.int64]
    role: NDArray[np.uint8]
    cycles: NDArray[np.uint32]
    dependence_cycles: NDArray[np.uint16]
    process: NDArray[np.uint16] | None = None

    def __len__(self) -> int:
        return len(self.address)

    @classmethod
    def of(cls, address: ArrayLike, kind: ArrayLike, **columns: ArrayLike) -> TraceBatch:
        """A batch from anything array-like; a single number stands for a whole column, and a column left out has its
        default: size 64 (8 of an atomic operation), everything else 0 or none.
        Raises InputError for a value that its column cannot hold.
        """
        unknown = set(columns) - set(DEFAULTS)
        if unknown:
            raise InputError("an unknown column", found=repr(min(unknown)), allowed=", ".join(DTYPES))
        addresses = _column("address", address, None)
        given: dict[str, ArrayLike] = {**DEFAULTS, "kind": kind, **columns}
        whole = [_column(name, given[name], len(addresses)) for name in list(DTYPES)[1:]]
        atomic = whole[0] == ATOMIC
        if "size" not in columns and atomic.any():
            whole[1] = whole[1].copy()
            whole[1][atomic] = ATOMIC_BYTES[-1]
        return cls(addresses, *whole)

    def accesses(self) -> TraceBatch:
        """The batch without the records that are no accesses."""
        reaches = reaches_memory(self.role)
        if reaches.all():
            return self
        return TraceBatch(*(column[reaches] for column in self.columns().values()))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, in the order of the format; behind them ``process``, if there is one."""
        names = DTYPES if self.process is None else (*DTYPES, "process")
        return {name: getattr(self, name) for name in names}

    def slice(self, start: int, stop: int) -> TraceBatch:
        """The accesses from ``start`` up to ``stop``, without copying."""
        return TraceBatch(*(column[start:stop] for column in self.columns().values()))


def _column(name: str, values: ArrayLike, length: int | None) -> NDArray[Any]:
    import numpy as np

    dtype = np.dtype(DTYPES[name])
    array = np.asarray(values)
    if length is not None and array.ndim == 0:
        array = np.broadcast_to(array, (length,))
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise InputError(
            f"the column '{name}' has the wrong shape", found=str(array.shape), allowed=f"({length},)"
        )
    bounds = np.iinfo(dtype)
    if array.dtype.kind not in "ui" and array.size:
        found, allowed = str(array.dtype), str(bounds.dtype)
        raise InputError(f"the column '{name}' does not hold integers", found=found, allowed=allowed)
    if array.size and (int(array.min()) < int(bounds.min) or int(array.max()) > int(bounds.max)):
        raise InputError(
            f"a value of the column '{name}' is out of range",
            found=f"{array.min()} to {array.max()}",
            allowed=f"{bounds.min} to {bounds.max}",
        )
    return np.ascontiguousarray(array, dtype=dtype)


class Checker:
    """Checks batch after batch of one trace against the rules that the types of the columns do not enforce."""

    def __init__(self) -> None:
        self.count = 0
        """Records checked so far."""
        self.accesses = 0
        """Accesses among the records checked so far."""
        self._latest = 0

    def check(self, batch: TraceBatch) -> TraceBatch:
        """The batch itself; raises InputError that names the offending access, counted from zero."""
        import numpy as np

        self._refuse_any("kind", batch.kind, batch.kind > WRITE_PAST, "0 to 7")
        self._refuse_any("size", batch.size, batch.size == 0, "at least 1")
        atomic = batch.kind == ATOMIC
        if atomic.any():
            odd = atomic & ~np.isin(batch.size, ATOMIC_BYTES)
            self._refuse_any("size", batch.size, odd, "4 or 8 bytes for an atomic operation")
            astray = atomic & (batch.address % batch.size != 0)
            allowed = "a multiple of the size of the atomic operation"
            self._refuse_any("address", batch.address, astray, allowed)
        self._refuse_any("role", batch.role, batch.role > USE, f"0 to {USE}")
        reads, writes = batch.kind == READ, batch.kind == WRITE
        allowed = (
            "a role for this kind: a write-back writes, a use reads or writes, all others but a demand read"
        )
        fits = (batch.role == DEMAND) | np.where(batch.role == WRITE_BACK, writes, reads)
        fits |= (batch.role == USE) & writes
        self._refuse_any("role", batch.role, ~fits, allowed)
        if batch.dependence.any():
            places = np.arange(self.count, self.count + len(batch), dtype=np.uint64)
            before = (batch.dependence > places) & (batch.dependence != ALL_BEFORE)
            self._refuse_any("dependence", batch.dependence, before, "no access before the first")
        self._refuse_any("timestamp", batch.timestamp, batch.timestamp < NO_TIMESTAMP, "0 or more")
        given = np.flatnonzero(batch.timestamp != NO_TIMESTAMP)
        if len(given):
            times = batch.timestamp[given]
            backwards = np.diff(times, prepend=np.int64(self._latest)) < 0
            if backwards.any():
                at = int(given[np.argmax(backwards)])
                self._refuse("timestamp", batch.timestamp, at, "no less than the one before")
            self._latest = int(times[-1])
        self.count += len(batch)
        self.accesses += int(np.count_nonzero(reaches_memory(batch.role)))
        return batch

    def _refuse_any(self, name: str, values: NDArray[Any], bad: NDArray[np.bool_], allowed: str) -> None:
        if bad.any():
            self._refuse(name, values, int(bad.argmax()), allowed)

    def _refuse(self, name: str, values: NDArray[Any], at: int, allowed: str) -> None:
        raise InputError(f"bad {name} of access {self.count + at}", found=str(values[at]), allowed=allowed)


def rebatched(batches: Iterator[TraceBatch], rows: int) -> Iterator[TraceBatch]:
    """The accesses in batches of exactly ``rows``, but for the last one."""
    held: list[TraceBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += len(batch)
        if count < rows:
            continue
        whole = joined(held)
        for start in range(0, count - rows + 1, rows):
            yield whole.slice(start, start + rows)
        held = [whole.slice(count - count % rows, count)]
        count %= rows
    if count:
        yield joined(held)


def joined(batches: Sequence[TraceBatch]) -> TraceBatch:
    """One batch of several."""
    if len(batches) == 1:
        return batches[0]
    import numpy as np

    whole = TraceBatch(*(np.concatenate([getattr(batch, name) for batch in batches]) for name in DTYPES))
    if all(batch.process is None for batch in batches):
        return whole
    unknown = [
        np.zeros(len(batch), np.uint16) if batch.process is None else batch.process for batch in batches
    ]
    return replace(whole, process=np.concatenate(unknown))
