"""Traces of memory accesses: reading, writing, converting, measuring and recording them.

::

    from cxloom.trace import open_trace

    for batch in open_trace("examples/redis.parquet"):
        batch.address, batch.kind            # NumPy arrays, a batch at a time, whatever the length of the trace

docs/trace-format.md describes the formats. Programs are recorded here; how long one would take on a simulated system,
`cxloom.execution` says. Nothing here knows a system.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from cxloom.trace.capturing import CacheLevel, CaptureResult, LevelCounts, Sample, capture
    from cxloom.trace.measuring import TraceInfo, info
    from cxloom.trace.reader import FORMATS, TraceReader, open_trace
    from cxloom.trace.source import Ended
    from cxloom.trace.writer import convert, write_trace

_HOMES = {
    "capturing": ("CacheLevel", "CaptureResult", "LevelCounts", "Sample", "capture"),
    "measuring": ("TraceInfo", "info"),
    "reader": ("FORMATS", "TraceReader", "open_trace"),
    "source": ("Ended",),
    "writer": ("convert", "write_trace"),
}
"""The modules by what they give to the package, `format` aside, which gives the rest; each is loaded when it is first
asked for: whoever reads a trace records none."""

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


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            globals()[name] = value = getattr(import_module(f"cxloom.trace.{home}"), name)
            return value
    raise AttributeError(f"the package cxloom.trace has no '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
