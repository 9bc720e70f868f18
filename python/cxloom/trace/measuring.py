"""The contents of a trace."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cxloom import _core
from cxloom.base.granules import LINE
from cxloom.trace.format import ALL_BEFORE, ATOMIC, FLUSH, NO_TIMESTAMP, READ, WRITE_PAST, TraceBatch
from cxloom.trace.reader import TraceReader, open_trace


@dataclass(frozen=True)
class TraceInfo:
    """The measures of a whole trace."""

    path: str
    format: str
    file_bytes: int | None
    """Size of the file; None for a pipe."""
    accesses: int
    reads: int
    writes: int
    atomics: int
    flushes: int
    bytes: int
    """The sizes of all accesses together."""
    size_min: int
    size_max: int
    footprint_bytes: int
    """Distinct lines of 64 B touched, times 64."""
    pages: int
    """Distinct pages of 4 KiB touched."""
    lowest_address: int
    highest_address: int
    """The address of the last byte touched."""
    threads: dict[int, int]
    """Accesses by thread."""
    instructions: int
    """The sum of all instruction gaps."""
    instruction_gap_max: int
    dependences: int
    """Accesses that need one before them."""
    fences: int
    """Accesses that need all before them."""
    cycles: int
    """The sum of all cycles that the trace gives its threads: what they take where nothing waits for memory."""
    notes: int
    """Records that are no accesses: system calls, what goes on behind them, branches, and how far threads came."""
    timestamps: int
    """Accesses that have a timestamp."""
    first_timestamp_ps: int | None
    last_timestamp_ps: int | None
    first_tick: int | None
    """The first tick of a trace that counts ticks or cycles of an untold length; its timestamps are not known then."""
    last_tick: int | None
    metadata: Mapping[str, str]
    remarks: list[str]
    """Changes on the way."""

    @property
    def read_share(self) -> float:
        """Reads of all accesses, from 0 to 1."""
        return self.reads / self.accesses

    @property
    def instruction_gap_mean(self) -> float:
        """Instructions per access."""
        return self.instructions / self.accesses

    @property
    def span_ps(self) -> int | None:
        """The time from the first timestamp to the last one."""
        if self.first_timestamp_ps is None or self.last_timestamp_ps is None:
            return None
        return self.last_timestamp_ps - self.first_timestamp_ps

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        derived = {
            "read_share": self.read_share,
            "instruction_gap_mean": self.instruction_gap_mean,
            "span_ps": self.span_ps,
        }
        return dataclasses.asdict(self) | derived


def info(
    path: str | os.PathLike[str],
    *,
    tick: str | None = None,
    format: str | None = None,
    levels: Sequence[int] = (),
    watch: Callable[[TraceReader, Iterator[TraceBatch]], Iterator[TraceBatch]] | None = None,
) -> TraceInfo:
    """Reads a trace to its end and measures it. Memory grows with the pages that the trace touches, about 40 bytes
    each, not with its length. ``tick``, ``format`` and ``levels`` are as in :func:`open_trace`; ``watch`` may look at
    the batches on their way.

    Raises InputError as :func:`open_trace` and reading the trace do.
    """
    reader = open_trace(path, tick=tick, format=format, levels=levels)
    batches = iter(reader)
    tally = _Tally()
    for batch in watch(reader, batches) if watch else batches:
        tally.add(batch)
    file = Path(reader.path)
    return TraceInfo(
        path=reader.path,
        format=reader.format,
        file_bytes=file.stat().st_size if file.is_file() else None,
        metadata=dict(reader.metadata),
        remarks=list(reader.remarks),
        **tally.measures(reader.unknown_tick),
    )


class _Tally:
    def __init__(self) -> None:
        self.accesses = self.reads = self.bytes = self.instructions = self.dependences = self.timestamps = 0
        self.fences = self.atomics = self.flushes = self.cycles = self.notes = 0
        self.size_min, self.size_max, self.gap_max = 1 << 16, 0, 0
        self.lowest, self.highest = 1 << 64, 0
        self.threads: dict[int, int] = {}
        self.first: int | None = None
        self.last: int | None = None
        self.footprint = _core.Footprint()

    def add(self, batch: TraceBatch) -> None:
        import numpy as np

        self.instructions += int(batch.instruction_gap.sum(dtype=np.uint64))
        self.gap_max = max(self.gap_max, int(batch.instruction_gap.max()))
        self.cycles += int(batch.cycles.sum(dtype=np.uint64))
        records = len(batch)
        self.fences += int(np.count_nonzero(batch.dependence == ALL_BEFORE))
        batch = batch.accesses()
        self.notes += records - len(batch)
        if len(batch) == 0:
            return
        self.accesses += len(batch)
        self.reads += int(np.count_nonzero(batch.kind == READ))
        self.atomics += int(np.count_nonzero(batch.kind == ATOMIC))
        self.flushes += int(np.count_nonzero((batch.kind >= FLUSH) & (batch.kind != WRITE_PAST)))
        self.bytes += int(batch.size.sum(dtype=np.uint64))
        self.size_min = min(self.size_min, int(batch.size.min()))
        self.size_max = max(self.size_max, int(batch.size.max()))
        behind_fences = int(np.count_nonzero(batch.dependence == ALL_BEFORE))
        self.dependences += int(np.count_nonzero(batch.dependence)) - behind_fences
        self.lowest = min(self.lowest, int(batch.address.min()))
        ends = batch.address + (batch.size - np.uint16(1))
        # An access at the very end of the address space does not go on at its start.
        self.highest = max(
            self.highest, int(np.where(ends < batch.address, np.iinfo(np.uint64).max, ends).max())
        )
        for thread, count in zip(*np.unique(batch.thread, return_counts=True), strict=True):
            self.threads[int(thread)] = self.threads.get(int(thread), 0) + int(count)
        times = batch.timestamp[batch.timestamp != NO_TIMESTAMP]
        if len(times):
            self.timestamps += len(times)
            self.first = int(times[0]) if self.first is None else self.first
            self.last = int(times[-1])
        self.footprint.touch(batch.address, batch.size)

    def measures(self, in_ticks: bool) -> dict[str, Any]:
        times, ticks = (self.first, self.last), (None, None)
        if in_ticks:
            times, ticks = (None, None), times
        return {
            "accesses": self.accesses,
            "reads": self.reads,
            "writes": self.accesses - self.reads - self.atomics - self.flushes,
            "atomics": self.atomics,
            "flushes": self.flushes,
            "bytes": self.bytes,
            "size_min": self.size_min,
            "size_max": self.size_max,
            "footprint_bytes": self.footprint.lines * LINE,
            "pages": self.footprint.pages,
            "lowest_address": self.lowest,
            "highest_address": self.highest,
            "threads": dict(sorted(self.threads.items())),
            "instructions": self.instructions,
            "instruction_gap_max": self.gap_max,
            "dependences": self.dependences,
            "fences": self.fences,
            "cycles": self.cycles,
            "notes": self.notes,
            "timestamps": self.timestamps,
            "first_timestamp_ps": times[0],
            "last_timestamp_ps": times[1],
            "first_tick": ticks[0],
            "last_tick": ticks[1],
        }
