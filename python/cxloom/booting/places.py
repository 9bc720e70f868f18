"""Where the memory of a guest is in the simulated system: its physical addresses, and those of the address map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import InputError
from cxloom.booting.comparison import MappedSet
from cxloom.booting.machine import Machine

# The board q35: RAM ends below the addresses of devices, and goes on at 4 GiB; where it ends depends on how much there
# is (QEMU 10, hw/i386/pc_q35.c).
_ABOVE = 1 << 32
_MUCH = 0xB000_0000
_BELOW_IF_MUCH = 0x8000_0000


@dataclass(frozen=True)
class Part:
    """Memory of the guest that lies in one piece in the address map."""

    begin: int
    """Its first physical address in the guest."""
    size: int
    place: int
    """Its first address in the simulated system."""


def check_has_ram(machine: Machine) -> None:
    """Raises InputError if the host has no memory of its own in the spec: its kernel, where that is, would have no
    time."""
    if not all(node.spans for node in machine.ram):
        raise InputError(
            f"{machine.host} has no memory of its own in this system, and the kernel and the program's code are there",
            allowed="a memory linked to the host without links that take time, --local MEM, or --untimed",
            path="address_map",
        )


def parts_of(machine: Machine, mapped: Sequence[MappedSet]) -> list[Part]:
    """All memory of a guest, CXL first: the emulator looks for an access in this order.

    Args:
        mapped: the interleave sets as the kernel has them.

    Raises what `check_has_ram` raises.
    """
    check_has_ram(machine)
    cxl = [Part(each.base, each.wanted.size, each.wanted.base) for each in mapped]
    return cxl + [part for part in _ram(machine) if part.size]


def _ram(machine: Machine) -> Iterator[Part]:
    """RAM, whose nodes follow each other, cut where the guest has devices."""
    whole = sum(node.size for node in machine.ram)
    below = min(whole, _BELOW_IF_MUCH if whole >= _MUCH else _MUCH)
    offset = 0
    for span in (span for node in machine.ram for span in node.spans):
        lower = max(0, min(span.size, below - offset))
        yield Part(offset, lower, span.base)
        yield Part(_ABOVE + max(0, offset - below), span.size - lower, span.base + lower)
        offset += span.size


def write_parts(parts: Sequence[Part], file: Path) -> None:
    """Writes the parts as the emulator's plug-in reads them (integrations/qemu/memory_parts.hpp). Raises OSError."""
    file.write_text("".join(f"{part.begin:x} {part.size:x} {part.place:x}\n" for part in parts))
