"""Where the memory of a guest is in the simulated system."""

from __future__ import annotations

from pathlib import Path

import pytest
from boot_support import TOPOLOGIES, machine

from cxloom.base.errors import InputError
from cxloom.booting.comparison import MappedSet
from cxloom.booting.machine import Machine
from cxloom.booting.places import Part, parts_of, write_parts

GIB = 1 << 30


def place(parts: list[Part], physical: int) -> int | None:
    """The place of a byte of the guest, as the plug-in looks for it."""
    for part in parts:
        if part.begin <= physical < part.begin + part.size:
            return physical - part.begin + part.place
    return None


def mapped(made: Machine, base: int) -> list[MappedSet]:
    """The sets of a machine in windows that follow each other."""
    found = []
    for each in made.sets:
        found.append(MappedSet(each, base, {}))
        base += each.size
    return found


def test_cxl_memory_is_where_the_address_map_has_it() -> None:
    made = machine(TOPOLOGIES["two devices on one bridge"])
    parts = parts_of(made, mapped(made, 0x4_9000_0000))
    assert place(parts, 0) == 0
    assert place(parts, GIB - 1) == GIB - 1
    assert place(parts, GIB) is None  # behind RAM: devices
    assert place(parts, 0x4_9000_0000) == GIB
    assert place(parts, 0x4_9000_0000 + (256 << 20)) == GIB + (256 << 20)
    assert place(parts, 0x4_9000_0000 + (512 << 20)) is None


@pytest.mark.parametrize(
    ("size", "below"), [("2GiB", 2 * GIB), ("2816MiB", 2 * GIB), ("2560MiB", 2560 << 20), ("4GiB", 2 * GIB)]
)
def test_ram_goes_on_at_four_gib(size: str, below: int) -> None:
    """As much as is below the addresses of devices depends on how much there is (q35)."""
    made = machine(TOPOLOGIES["direct"].replace("capacity: 1GiB", f"capacity: {size}"))
    whole = made.ram[0].size
    parts = parts_of(made, mapped(made, 0x4_9000_0000))
    assert place(parts, below - 1) == below - 1
    if whole > below:
        assert place(parts, below) is None
        assert place(parts, 4 * GIB) == below
        assert place(parts, 4 * GIB + whole - below - 1) == whole - 1
    assert place(parts, 4 * GIB + max(0, whole - below)) is None


def test_ram_of_several_regions_lies_in_their_order() -> None:
    """The second region of a memory follows the first in the guest, wherever the address map has it."""
    text = TOPOLOGIES["direct"].replace(
        "  - {to: local}\n  - {to: m0}\n",
        "  - {to: local, size: 512MiB}\n  - {to: m0}\n  - {to: local, base: 8GiB}\n",
    )
    made = machine(text)
    parts = parts_of(made, mapped(made, 0x4_9000_0000))
    assert place(parts, (512 << 20) - 1) == (512 << 20) - 1
    assert place(parts, 512 << 20) == 8 * GIB
    assert place(parts, 0x4_9000_0000) == 512 << 20


def test_a_kernel_without_memory_in_the_system_has_no_time() -> None:
    lines = TOPOLOGIES["direct"].splitlines()
    made = machine("\n".join(line for line in lines if "local" not in line) + "\n")
    with pytest.raises(InputError, match="has no memory of its own"):
        parts_of(made, mapped(made, 0x4_9000_0000))


def test_parts_are_written_as_the_plugin_reads_them(tmp_path: Path) -> None:
    write_parts([Part(0x1_0000_0000, 0x1000, 0x2000), Part(0, 16, 0)], tmp_path / "memory")
    assert (tmp_path / "memory").read_text() == "100000000 1000 2000\n0 10 0\n"
