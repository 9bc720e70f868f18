"""A guest that has booted, kept in a file, from which later runs on the same machine begin.

It is taken before the kernel has loaded its CXL modules: QEMU does not keep the state of CXL devices, and does not say
so. Who resumes from it has the kernel find these devices anew (`linux.find_again`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import time
from collections.abc import Sequence

from cxloom.base.temporary import written_whole
from cxloom.booting.emulator import Emulator
from cxloom.booting.folder import SetUp, cache_folder
from cxloom.booting.machine import Machine

MOST_MEMORY = 8 << 30
"""Memory of a machine up to which a checkpoint is taken (own choice): all of it is looked at for what is not zero."""
KEPT = 4
"""Checkpoints that are kept, the last used first (own choice: each has 0.1 GB)."""

_PATIENCE = 120.0  # seconds to write one
_BETWEEN = 0.05


def suits(machine: Machine) -> bool:
    """Whether a checkpoint of this machine is taken."""
    return machine.bytes <= MOST_MEMORY


def notes_on_checkpoints(machine: Machine) -> list[str]:
    """What is to be said of a machine of which none is taken."""
    if suits(machine):
        return []
    return [
        f"no checkpoint is kept of a machine of {machine.bytes >> 30} GiB; with {MOST_MEMORY >> 30} GiB or less "
        "(--set devices.NAME.capacity=1GiB) it boots sooner from the second time on"
    ]


class Checkpoint:
    """The checkpoint of a machine: what it was started with names it."""

    def __init__(self, set_up: SetUp, options: Sequence[str], first_files: bytes) -> None:
        """``options`` are those of the machine, without the paths of files that are made for each run."""
        named = [*set_up.qemu.command, *set_up.qemu.version, set_up.kernel_version, *options]
        digest = hashlib.sha256(json.dumps(named).encode() + first_files)
        for file in (set_up.kernel, set_up.guest):  # a set-up that was made anew has others
            status = file.stat()
            digest.update(f"{status.st_size} {status.st_mtime_ns}".encode())
        self._folder = cache_folder() / "checkpoints"
        self.path = self._folder / f"{digest.hexdigest()[:24]}.state"
        """The file."""

    def is_there(self) -> bool:
        """Whether it was taken; it counts as used then."""
        with contextlib.suppress(OSError):
            os.utime(self.path)
            return True
        return False

    def options(self) -> list[str]:
        """The options of QEMU that begin with it."""
        return ["-incoming", f"file:{self.path}"]

    def take(self, emulator: Emulator) -> bool:
        """Takes it; the guest goes on. Gives whether there was room for it. Raises SimulationError if QEMU ends."""
        monitor = emulator.monitor()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with written_whole(self.path) as file:
                monitor.run("migrate", uri=f"file:{file}")
                until = emulator.seconds() + _PATIENCE
                while (status := monitor.run("query-migrate").get("status")) != "completed":
                    if status in ("failed", "cancelled") or emulator.seconds() > until:
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    time.sleep(_BETWEEN)
        except OSError:
            monitor.run("cont")
            return False
        monitor.run("cont")
        self._remove_old()
        return True

    def remove(self) -> None:
        """Removes one that cannot be used."""
        self.path.unlink(missing_ok=True)

    def _remove_old(self) -> None:
        files = sorted(self._folder.glob("*.state"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[KEPT:]:
            file.unlink(missing_ok=True)
