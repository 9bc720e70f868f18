"""The Debian mirror of this computer, by its own configuration of apt."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from cxloom.base.errors import InputError

KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
"""The keys with which Debian signs what it publishes; the package `debian-archive-keyring` brings them."""

_FORMAT = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)"
_NEEDED = "cxloom boot --setup takes QEMU, a kernel and the guest's tools from Debian's packages"


def find_mirror(given: str | None = None, system: Path = Path("/")) -> str:
    """The address of a Debian mirror: the one that is ``given``, or that of the sources of apt.

    Raises InputError if there is no apt, no mirror among its sources, or Debian's keys are missing.

    Args:
        system: the root of the file system with /etc/os-release and the keys.
    """
    for command in ("apt-get", "dpkg-deb"):
        if shutil.which(command) is None:
            raise InputError(
                f"there is no {command} here: {_NEEDED}",
                allowed="a system with apt, as Debian and Ubuntu are",
            )
    keys = system / KEYS.relative_to("/")
    if not keys.exists():
        raise InputError(
            "the keys are missing with which Debian's packages are checked",
            found=f"no {KEYS}",
            allowed="sudo apt-get install debian-archive-keyring",
        )
    if given is not None:
        if "://" not in given or any(sign.isspace() for sign in given):
            raise InputError("not the address of a mirror", found=f"'{given}'", allowed="--mirror URL")
        return given
    mirror = mirror_among(_listed(), is_debian(system / "etc/os-release"))
    if mirror is None:
        raise InputError(
            f"no mirror of Debian is among the sources of apt: {_NEEDED}", allowed="--mirror URL of one"
        )
    return mirror


def mirror_among(listed: str, on_debian: bool) -> str | None:
    """The first mirror of Debian's main component among the sources, in lines of `apt-get indextargets`.

    Before the first `apt-get update` apt does not know whose sources they are: they are Debian's ``on_debian``.
    """
    for line in listed.splitlines():
        address, release, component, origin = [*line.split("|"), "", "", ""][:4]
        known = not origin.startswith("$(") and origin != ""
        ours = origin == "Debian" if known else on_debian
        # Updates, security and backports have a dash in their names, and their mirrors need not have the whole.
        if ours and component == "main" and "-" not in release and address:
            return address
    return None


def is_debian(release: Path) -> bool:
    """Whether a file like /etc/os-release is that of Debian itself."""
    try:
        lines = release.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.replace('"', "") == "ID=debian" for line in lines)


def _listed() -> str:
    command = ["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages"]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it says nothing"])[0]
        raise InputError("apt cannot read its sources", found=said, allowed="--mirror URL")
    return done.stdout
