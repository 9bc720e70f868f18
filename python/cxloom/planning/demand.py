"""The memory that VMs ask for over time, as arrays: one value for each VM, in the order in which they start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

ANY = -1
"""The server of a VM that the scheduler places."""


@dataclass(frozen=True)
class Demand:
    """VMs, by their start."""

    start: Floats
    """Seconds."""
    end: Floats
    """Seconds; later than the start."""
    cores: Counts
    memory: Floats
    """Bytes."""
    pool_share: Floats
    """The part of the memory that may lie in the pool, from 0 to 1."""
    server: Counts
    """The server that it runs on; `ANY`: the scheduler chooses."""
    begin: float
    """Seconds: what is before is not counted."""
    finish: float
    """Seconds: what is after is not counted."""

    def __len__(self) -> int:
        return len(self.start)

    @property
    def counted(self) -> Flags:
        """The VMs that live while it is counted, if only in part."""
        return np.asarray((self.end > self.begin) & (self.start < self.finish))


def slices_of(demand: Demand, piece: float) -> Counts:
    """Slices of `piece` bytes that each VM has on devices."""
    return np.ceil(demand.memory * demand.pool_share / piece - 1e-9).astype(np.int64)


def in_order(
    start: Floats,
    end: Floats,
    cores: Counts,
    memory: Floats,
    pool_share: Floats,
    server: Counts,
    *,
    begin: float,
    finish: float,
) -> Demand:
    """The demand of VMs in any order."""
    order = np.argsort(start, kind="stable")
    return Demand(
        start[order],
        end[order],
        cores[order],
        memory[order],
        pool_share[order],
        server[order],
        begin,
        finish,
    )
