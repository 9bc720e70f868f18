"""Where the set-up lies, and whether it is whole."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import AbsentError, InputError
from cxloom.booting.qemu import Qemu, installed_qemu, unpacked_qemu

FORM = 2
"""The form of a set-up; one of another form is made anew."""
CONTENTS = "contents.json"
"""What a set-up says of itself; written last."""

_ASKED = "cxloom boot --setup, which needs no root"


@dataclass(frozen=True)
class SetUp:
    """What a machine is booted from."""

    qemu: Qemu
    kernel: Path
    kernel_version: str
    guest: Path
    """The archive of the guest's tools and modules."""


def cache_folder() -> Path:
    """The folder of set-ups: cxloom/boot in XDG_CACHE_HOME, or in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The convention: what is no absolute path does not count.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "cxloom" / "boot"


def set_up_folder() -> Path:
    """The folder of a set-up of this version of cxloom."""
    return cache_folder() / f"debian-{FORM}"


def find_set_up() -> SetUp:
    """What a machine is booted from. Raises AbsentError if it is not there yet, InputError if it cannot be read."""
    folder = set_up_folder()
    try:
        contents = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise AbsentError(
            "nothing is set up yet that a machine could be booted from", allowed=_ASKED
        ) from None
    except (OSError, ValueError) as error:
        raise InputError("the set-up cannot be read", file=folder, found=str(error), allowed=_ASKED) from None
    return SetUp(
        _qemu(folder, bool(contents["qemu"])), folder / "vmlinuz", contents["kernel"], folder / "guest.cpio"
    )


def _qemu(folder: Path, unpacked: bool) -> Qemu:
    qemu = installed_qemu()
    if qemu is None and not unpacked:  # it was installed when the rest was fetched
        raise AbsentError("there is no QEMU 10 here any more", allowed=_ASKED)
    return qemu if qemu is not None else unpacked_qemu(folder / "root")
