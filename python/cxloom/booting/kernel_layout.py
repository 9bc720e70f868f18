"""Where the guest's kernel has what it knows of processes and their mappings, for the emulator's plug-in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from cxloom.base.errors import SimulationError
from cxloom.base.temporary import written_whole
from cxloom.booting.btf import Btf
from cxloom.booting.folder import cache_folder
from cxloom.booting.guest import Guest

_SYMBOLS = (("perf_event_mmap",), ("exit_mmap",), ("__per_cpu_offset",), ("current_task", "pcpu_hot"))
"""What is called for each mapping that is made or changed, as profilers want to know it; what ends an address space;
where each processor has its own; and what it runs, there, by one of these names: `pcpu_hot` of Linux 6.12 begins with
it."""
_FIELDS = (
    ("task_struct", "mm"),
    ("task_struct", "tgid"),
    ("task_struct", "group_leader"),
    ("task_struct", "real_parent"),
    ("task_struct", "comm"),
    ("mm_struct", "start_brk"),
    ("mm_struct", "brk"),
    ("vm_area_struct", "vm_start"),
    ("vm_area_struct", "vm_end"),
    ("vm_area_struct", "vm_mm"),
    ("vm_area_struct", "vm_flags"),
    ("vm_area_struct", "vm_file"),
    ("file", "f_path.dentry"),
    ("dentry", "d_name.name"),
)
"""In the order of integrations/qemu/guest_kernel.hpp, behind the symbols."""


def kernel_layout(guest: Guest) -> list[int]:
    """The numbers that the plug-in reads. They are those of the kernel, whose addresses are the same in each boot, and
    are kept for later boots.

    Raises SimulationError if the kernel does not describe its types, or has not one of these.
    """
    version = guest.run("uname -rv", "asking for the kernel's version")
    asked = json.dumps([version, _SYMBOLS, _FIELDS])
    kept = cache_folder() / "kernels" / f"{hashlib.sha256(asked.encode()).hexdigest()[:24]}.json"
    try:
        return [int(each) for each in json.loads(kept.read_text(encoding="ascii"))]
    except (OSError, ValueError, TypeError):
        found = _found(guest)
    _keep(kept, found)
    return found


def write_layout(numbers: Sequence[int], file: Path) -> None:
    """Writes them as the plug-in reads them. Raises OSError."""
    file.write_text("".join(f"{each:x}\n" for each in numbers), encoding="ascii")


def _found(guest: Guest) -> list[int]:
    names = [name for either in _SYMBOLS for name in either]
    listed = guest.run(f"grep -E ' ({'|'.join(names)})$' /proc/kallsyms", "looking for the kernel's symbols")
    addresses = {name: int(address, 16) for address, _, name in map(str.split, listed.splitlines())}
    found = []
    for either in _SYMBOLS:
        there = [addresses[name] for name in either if addresses.get(name)]
        if not there:
            raise SimulationError(f"the guest's kernel has no {either[0]}")
        found.append(there[0])
    types = Btf(
        guest.read("/sys/kernel/btf/vmlinux", "reading the kernel's types"), {name for name, _ in _FIELDS}
    )
    return found + [types.offset(*each) for each in _FIELDS]


def _keep(file: Path, numbers: Sequence[int]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(file) as whole:
            Path(whole).write_text(json.dumps(numbers), encoding="ascii")
    except OSError:  # they are looked for again
        pass
