"""Traces of memory accesses: reading, writing, converting, measuring and recording them.

::

    from cxloom.trace import open_trace

    for batch in open_trace("examples/redis.parquet"):
        batch.address, batch.kind            # NumPy arrays, a batch at a time, whatever the length of the trace

docs/trace-format.md describes the formats. Programs are recorded here; how long one would take on a simulated system,
`cxloom.execution` says. Nothing here knows a system.
"""

from cxloom.trace.capture import CacheLevel, CaptureResult, LevelCounts, Sample, capture
from cxloom.trace.format import (
    ALL_BEFORE,
    ATOMIC,
    BRANCH,
    CALL,
    DEMAND,
    FLUSH,
    FLUSH_DATA,
    FLUSH_DATA_KEEPING,
    FLUSH_KEEPING,
    GO_ON,
    NO_TIMESTAMP,
    PAGE_WALK,
    PREFETCH,
    PROGRESS,
    READ,
    STORE_FILL,
    USE,
    VERSION,
    WAIT,
    WRITE,
    WRITE_BACK,
    WRITE_PAST,
    TraceBatch,
)
from cxloom.trace.info import TraceInfo, info
from cxloom.trace.reader import FORMATS, TraceReader, open_trace
from cxloom.trace.source import Ended
from cxloom.trace.writer import convert, write_trace

__all__ = [
    "ALL_BEFORE",
    "ATOMIC",
    "BRANCH",
    "CALL",
    "DEMAND",
    "FLUSH",
    "FLUSH_DATA",
    "FLUSH_DATA_KEEPING",
    "FLUSH_KEEPING",
    "FORMATS",
    "GO_ON",
    "NO_TIMESTAMP",
    "PAGE_WALK",
    "PREFETCH",
    "PROGRESS",
    "READ",
    "STORE_FILL",
    "USE",
    "VERSION",
    "WAIT",
    "WRITE",
    "WRITE_BACK",
    "WRITE_PAST",
    "CacheLevel",
    "CaptureResult",
    "Ended",
    "LevelCounts",
    "Sample",
    "TraceBatch",
    "TraceInfo",
    "TraceReader",
    "capture",
    "convert",
    "info",
    "open_trace",
    "write_trace",
]
