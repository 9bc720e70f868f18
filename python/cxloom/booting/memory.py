"""Whether this computer has the memory that a machine takes."""

from __future__ import annotations

import os
from pathlib import Path

from cxloom.base.errors import InputError
from cxloom.base.granules import PAGE
from cxloom.booting.machine import Machine

_PAGE_ENTRY = 64 / PAGE
"""Bytes that a kernel keeps of each byte of memory: its table of pages is written when memory is taken into use."""
_BASE = 400 << 20
"""Bytes of this computer's memory that QEMU and the guest take besides (measured: 340 MB)."""


def check_memory(machine: Machine, available: int) -> None:
    """Raises InputError if so many bytes are too few for what a kernel keeps of the machine's memory."""
    needed = int(machine.bytes * _PAGE_ENTRY) + _BASE
    if needed > available:
        raise InputError(
            "the memory of the machine is too large for this computer: what the guest's kernel keeps of it is "
            f"{needed / 1e9:.1f} GB",
            found=f"{available / 1e9:.1f} GB that are free",
            allowed="--set gives memories a smaller capacity",
            path="devices",
        )


def available_memory() -> int:
    """Bytes of memory that are free on this computer, as the kernel says."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
