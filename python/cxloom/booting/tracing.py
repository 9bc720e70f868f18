"""What QEMU writes of each access to configuration space and to registers, by its own trace events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cxloom.booting.emulator import Emulator
from cxloom.booting.io_time import CONFIGURATION_BYTES

EVENTS = ("pci_cfg_read", "pci_cfg_write", "memory_region_ops_read", "memory_region_ops_write")
"""Accesses to configuration space, whether by ports or by memory; accesses to registers in memory."""

_CONFIGURATION = re.compile(
    r"pci_cfg_(read|write) (\S+) ([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) @0x([0-9a-f]+) (?:->|<-) 0x([0-9a-f]+)"
)
_MEMORY = re.compile(
    r"memory_region_ops_(read|write) cpu -?\d+ mr \S+ addr 0x([0-9a-f]+) value 0x([0-9a-f]+) size (\d+) name '([^']*)'"
)


@dataclass(frozen=True)
class Traced:
    """An access as QEMU tells it."""

    function: str
    """The function of a device, such as `0d:00.0`; empty for registers in memory."""
    kind: str
    """QEMU's name of the device; `empty` where there is none. Of registers in memory the name of their region."""
    is_write: bool
    address: int
    """In configuration space the register, otherwise the address of the host."""
    value: int
    """What was read or written."""
    size: int = CONFIGURATION_BYTES
    """Bytes that were."""


class Trace:
    """A file that QEMU writes of a guest, step by step."""

    def __init__(self, path: Path) -> None:
        """``path`` is the file, of which :meth:`options` tells QEMU."""
        self._path = path
        self._read = 0

    def options(self) -> list[str]:
        """The options of QEMU."""
        return ["-D", str(self._path)]

    def switch(self, emulator: Emulator, on: bool) -> None:
        """Begins to write, or ends it. Raises SimulationError if QEMU has ended, OSError if it has no such events."""
        for event in EVENTS:
            emulator.monitor().run("trace-event-set-state", name=event, enable=on)

    def step(self) -> list[Traced]:
        """The accesses since the last step, in order. Raises OSError."""
        with open(self._path, "rb") as file:
            file.seek(self._read)
            data = file.read()
        self._read += len(data)
        return list(traced(data.decode(errors="replace")))


def traced(text: str) -> Iterator[Traced]:
    """The accesses in lines of QEMU's log; others are passed over."""
    for line in text.splitlines():
        if found := _CONFIGURATION.search(line):
            way, kind, function, register, value = found.groups()
            yield Traced(function, kind, way == "write", int(register, 16), int(value, 16))
        elif found := _MEMORY.search(line):
            way, address, value, size, name = found.groups()
            yield Traced("", name, way == "write", int(address, 16), int(value, 16), int(size))
