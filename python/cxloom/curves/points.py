"""What tools measure: latency under load, latency over size, rates of kernels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """The latency of a probe at a load."""

    reads: float
    """Share of reads of the load, from 0 to 1."""
    bandwidth_gb_per_s: float
    latency_ns: float
    line: int
    """Where it stands in its file."""
    file: str = ""


@dataclass(frozen=True, slots=True)
class SizePoint:
    """The latency of dependent reads of so many bytes, lap after lap."""

    bytes: int
    latency_ns: float
    line: int
    """Where it stands in its file."""


@dataclass(frozen=True, slots=True)
class KernelRate:
    """The rate of a kernel of STREAM."""

    kernel: str
    """``copy``, ``scale``, ``add`` or ``triad``."""
    bandwidth_gb_per_s: float
    """As STREAM counts: without the lines that stores fetch."""
    line: int
    """Where it stands in its file."""
