"""How long an emulator has been kept waiting by what else runs on this computer: limits of time leave that out."""

from __future__ import annotations

import contextlib
from pathlib import Path


def kept_waiting(process: int) -> float:
    """Seconds in which a process waited for a processor of this computer: those of its thread that waited most.

    0 where the kernel does not count them (Documentation/scheduler/sched-stats.rst), and of a process that has ended.
    """
    nanoseconds = 0
    for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError):
            nanoseconds = max(nanoseconds, int(thread.read_text(encoding="ascii").split()[1]))
    return nanoseconds / 1e9
