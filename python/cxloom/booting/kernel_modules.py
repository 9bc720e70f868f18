"""The modules of the kernel that the guest loads, in their order."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

from cxloom.base.errors import InputError

EARLY = ("device_dax",)
"""Loaded before CXL: devices for mapping memory."""
CXL = ("cxl_acpi", "cxl_pci", "cxl_mem", "dax_cxl")
"""Loaded to find CXL devices; the rest of CXL is built into Debian's kernel."""
NODES = "kmem"
"""Makes nodes of the memory of regions, once they are there."""
DISKS = ("libnvdimm", "nd_btt", "nd_pmem", "cxl_pmem")
"""Make disks of the memory of regions."""
ALL = (*EARLY, *CXL, NODES, *DISKS)
"""Each after those that it needs."""


def is_wanted(path: str) -> bool:
    """Whether a file of the kernel's package is one of the modules."""
    return bool(re.fullmatch(rf"(usr/)?lib/modules/[^/]+/.*/({'|'.join(ALL)})\.ko(\.xz)?", path))


def read_modules(folder: Path) -> dict[str, bytes]:
    """The modules below a folder by their names, in the order of loading.

    Raises InputError if the kernel lacks one, or one needs a module that is not among them.
    """
    files = {file.name.partition(".")[0]: file for file in folder.rglob("*.ko*")}
    modules = {}
    for name in ALL:
        if name not in files:
            raise InputError(
                f"the kernel has no module {name}", allowed="Linux 6.12 or newer, as Debian builds it"
            )
        data = files[name].read_bytes()
        data = lzma.decompress(data) if files[name].suffix == ".xz" else data
        for needed in needed_by(data):
            if needed not in modules:
                raise InputError(f"the kernel's module {name} needs another", found=needed)
        modules[name] = data
    return modules


def needed_by(module: bytes) -> list[str]:
    """The modules that one needs, as it says itself."""
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [name.decode() for name in found[1].split(b",") if name] if found is not None else []
