"""What the guest's kernel does with pages while programs run: its own balancing between nodes, and demotion."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cxloom.base.errors import InputError

MODES = {
    "off": (0, False),
    "numa": (1, False),
    "demotion": (0, True),
    "tiering": (2, True),
}
"""Each mode with what it sets: kernel.numa_balancing (0: none; 1: pages go to who uses them; 2: hot pages of lower
tiers are promoted), and whether pages are demoted where memory is short (Documentation/admin-guide/sysctl/kernel.rst,
and Documentation/ABI/testing/sysfs-kernel-mm-numa, of Linux 6.12)."""

PERIODS_MS = {
    "scan_delay_ms": 1000,
    "scan_period_min_ms": 1000,
    "scan_period_max_ms": 60000,
    "hot_threshold_ms": 1000,
}
"""Times of the balancing, and what they are by default (Linux 6.12, kernel/sched/fair.c): before the first look at a
process, between two looks, and how soon after one an access makes a page hot."""

SCAN_MB = 256
"""Memory of a process that is looked at at once, by default."""
_MOST_MB_PER_S = 2560
"""The kernel looks at no more in a second of its clock, and makes periods longer for that (MAX_SCAN_WINDOW)."""

LARGE_PAGES = ("always", "madvise", "never")
"""Which mappings get pages of 2 MiB, in the kernel's words (Documentation/admin-guide/mm/transhuge.rst): all that are
large enough, those that a program has asked for, none."""

_LARGE = "/sys/kernel/mm/transparent_hugepage/enabled"
_KNOBS = "/sys/kernel/debug/sched/numa_balancing"


@dataclass(frozen=True)
class Balancing:
    """How the kernel treats pages; by default as it is set itself."""

    mode: str | None = None
    """One of MODES; None: as the kernel has it."""
    periods: float = 1.0
    """By how much its times are multiplied."""
    large_pages: str | None = None
    """One of LARGE_PAGES; None: as the kernel has it."""

    def check(self, memory: str) -> None:
        """Raises InputError for what is no mode, or no factor, and where memory on CXL is no nodes (linux.MODES)."""
        if self.mode is not None and self.mode not in MODES:
            raise InputError("no mode", found=f"'{self.mode}'", allowed=", ".join(MODES), path="--tiering")
        if self.mode is not None and memory != "kernel":
            raise InputError(
                "pages are balanced between nodes",
                found=f"mode {memory}",
                allowed="mode kernel",
                path="--tiering",
            )
        if self.large_pages is not None and self.large_pages not in LARGE_PAGES:
            raise InputError(
                "no such setting of large pages",
                found=f"'{self.large_pages}'",
                allowed=", ".join(LARGE_PAGES),
                path="--large-pages",
            )
        if not (math.isfinite(self.periods) and self.periods > 0):
            raise InputError("no factor", found=f"{self.periods:g}", allowed="above 0", path="--scan-periods")
        if self.periods != 1 and self.mode in (None, "off", "demotion"):
            raise InputError(
                "nothing scans pages whose periods could be others",
                found=f"--tiering {self.mode}" if self.mode else "no --tiering",
                allowed="--tiering numa or tiering",
                path="--scan-periods",
            )

    def commands(self) -> list[str]:
        """What is to be run in the guest."""
        large = [] if self.large_pages is None else [f"echo {self.large_pages} >{_LARGE}"]
        if self.mode is None:
            return large
        balancing, demotion = MODES[self.mode]
        times = {name: max(1, round(ms * self.periods)) for name, ms in PERIODS_MS.items()}
        at_once = max(1, min(SCAN_MB, _MOST_MB_PER_S * times["scan_period_min_ms"] // 1000))
        return [
            *large,
            f"echo {balancing} >/proc/sys/kernel/numa_balancing",
            f"echo {int(demotion)} >/sys/kernel/mm/numa/demotion_enabled",
            *(f"echo {ms} >{_KNOBS}/{name}" for name, ms in times.items()),
            f"echo {at_once} >{_KNOBS}/scan_size_mb",
        ]
