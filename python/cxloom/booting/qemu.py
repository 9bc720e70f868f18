"""QEMU 10: that of the system, or that of the set-up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import InputError

COMMAND = "qemu-system-x86_64"
TOO_NEW = (11, 0)
"""The first version that takes no plug-ins of version 4 of its interface (QEMU 11.1 takes version 7 alone)."""
OLDEST = (10, 0)
"""The oldest version whose CXL devices have volatile memory in regions of the kernel, and whose plug-ins read
registers."""

_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_LOADER = "usr/lib64/ld-linux-x86-64.so.2"


@dataclass(frozen=True)
class Qemu:
    """An emulator."""

    command: tuple[str, ...]
    """What its options follow."""
    version: tuple[int, int]


def installed_qemu() -> Qemu | None:
    """QEMU of the system, if it is there and neither too old nor too new."""
    path = shutil.which(COMMAND)
    if path is None:
        return None
    version = _version((path,))
    return Qemu((path,), version) if version is not None and OLDEST <= version < TOO_NEW else None


def unpacked_qemu(root: Path) -> Qemu:
    """QEMU of packages that were unpacked into a folder, run by their own loader with their own libraries.

    Raises InputError if it does not run here, or is too old.
    """
    program = (str(root / _LOADER), "--library-path", str(root / _LIBRARIES), str(root / "usr/bin" / COMMAND))
    version = _version(program)
    if version is None or version < OLDEST:
        found = "it does not run" if version is None else ".".join(map(str, version))
        raise InputError(
            "the QEMU of the set-up cannot be used", found=found, allowed="cxloom boot --setup once more"
        )
    data = [str(root / "usr/share" / each) for each in ("qemu", "seabios")]
    return Qemu((*program, "-L", data[0], "-L", data[1]), version)


def libraries_of_unpacked(root: Path, program: str) -> list[Path]:
    """The loader and the libraries, below the folder, of a program that was unpacked. Raises InputError if one
    is missing."""
    loader = root / _LOADER
    command = [str(loader), "--library-path", str(root / _LIBRARIES), "--list", str(root / program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [Path(path) for path in re.findall(r"=> (/\S+) \(0x", done.stdout)]
    elsewhere = [path for path in found if root not in path.parents]
    if done.returncode != 0 or "not found" in done.stdout or elsewhere:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise InputError(
            f"libraries of {Path(program).name} are missing in the set-up", found=(said or [""])[0]
        )
    return [loader, *(path for path in found if path != loader)]


def _version(command: tuple[str, ...]) -> tuple[int, int] | None:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, env=environment, check=False
        )
    except OSError:
        return None
    found = re.search(r"version (\d+)\.(\d+)", done.stdout)
    return None if found is None or done.returncode != 0 else (int(found[1]), int(found[2]))
