"""The set-up: QEMU, a kernel and the guest's tools, fetched and unpacked into a folder that appears when all is
there."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import InputError
from cxloom.booting import kernel_modules
from cxloom.booting.apt import SUITE, Apt, Package
from cxloom.booting.cpio import CpioWriter
from cxloom.booting.folder import CONTENTS, SetUp, cache_folder, find_set_up, set_up_folder
from cxloom.booting.mirror import find_mirror
from cxloom.booting.qemu import COMMAND, installed_qemu, libraries_of_unpacked, unpacked_qemu
from cxloom.booting.unpacking import unpack

OLDEST_KERNEL = (6, 12)
"""The oldest Linux with all that is used here: regions of volatile memory, weighted interleaving, tiers by HMAT
and CDAT."""
TOOLS = ("cxl", "daxctl", "numactl")
"""The guest's tools; each is a package and a program."""

_KERNEL = "linux-image-amd64"
_BUSYBOX = "usr/bin/busybox"
_NEW = "new-"
_AT_LEAST = 100_000_000
"""Bytes without which no set-up is begun (measured: the lists of packages take 64 MB). On a full disk apt cannot even
complain."""
_ROOM = 2.5  # times what is fetched: lists and packages while they are unpacked, and what is kept of them

Watch = Callable[[str, float | None], None]
"""Is told what is being done, and which share of it is, where that is known."""


@dataclass(frozen=True)
class Fetched:
    """What a set-up took."""

    set_up: SetUp
    packages: int
    fetched_bytes: int
    kept_bytes: int


def set_up(mirror: str | None = None, watch: Watch = lambda _doing, _share: None) -> Fetched:
    """Fetches what a machine is booted from, and keeps it for all later runs.

    It lies in XDG_CACHE_HOME (or ~/.cache). QEMU is left out if 10.0 or newer is installed. What is there already is
    replaced once the new one is whole; an interrupted set-up leaves nothing that counts as one.

    Raises InputError if it cannot be fetched, there is no room, or another set-up is under way.
    """
    mirror = find_mirror(mirror)
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with _alone_in(cache):
        for left in cache.glob(f"{_NEW}*"):  # of one that was killed
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=_NEW, dir=cache))
        try:
            apt_folder = folder / "apt"
            packages = _fetch(Apt(apt_folder, mirror), folder, watch)
            watch("checking it", None)
            shutil.rmtree(apt_folder)
            _replace(set_up_folder(), folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    kept = sum(file.lstat().st_size for file in set_up_folder().rglob("*"))
    return Fetched(find_set_up(), len(packages), sum(each.size for each in packages), kept)


def _fetch(apt: Apt, folder: Path, watch: Watch) -> list[Package]:
    """Fetches and unpacks everything; the folder is a set-up then. Gives the packages."""
    _check_room(folder, _AT_LEAST)
    watch(f"fetching the list of packages of Debian {SUITE}", None)
    apt.update(lambda share: watch(f"fetching the list of packages of Debian {SUITE}", share))
    with_qemu = installed_qemu() is None
    wanted = [*TOOLS, "busybox-static", *(["qemu-system-x86"] if with_qemu else [])]
    kernel_package = _kernel_package(apt)
    kernel = apt.alone(kernel_package)
    packages = apt.with_dependences(wanted)
    _check_room(folder, int(_ROOM * sum(each.size for each in [*kernel, *packages])))

    doing = f"fetching {_megabytes(packages)} of {'QEMU and ' if with_qemu else ''}the guest's tools"
    files = apt.fetch_with_dependences(wanted, lambda share: watch(doing, share))
    doing = f"fetching {_megabytes(kernel)} of the kernel"
    kernel_file = apt.fetch_alone(kernel_package, lambda share: watch(doing, share))

    root = folder / "root"
    for number, file in enumerate(files):
        watch("unpacking", number / (len(files) + 1))
        unpack(file, root, _is_kept)
    unpack(kernel_file, root, lambda path: path.startswith("boot/vmlinuz") or kernel_modules.is_wanted(path))
    (image,) = (root / "boot").glob("vmlinuz-*")
    version = image.name.partition("-")[2]
    image.rename(folder / "vmlinuz")
    with open(folder / "guest.cpio", "wb") as archive:
        _write_guest(CpioWriter(archive), root)
    if with_qemu:
        unpacked_qemu(root)
        _leave_qemu(root)
    else:
        shutil.rmtree(root)
    contents = {
        "kernel": version,
        "qemu": with_qemu,
        "packages": [each.file for each in [*kernel, *packages]],
    }
    (folder / CONTENTS).write_text(json.dumps(contents, indent=2) + "\n", encoding="utf-8")
    return [*kernel, *packages]


def _kernel_package(apt: Apt) -> str:
    """The package with the kernel itself, which the one without a version depends on. Raises InputError if it is
    old."""
    for name in apt.depends(_KERNEL):
        found = re.match(r"linux-image-(\d+)\.(\d+)", name)
        if found is not None:
            if (int(found[1]), int(found[2])) < OLDEST_KERNEL:
                raise InputError("the mirror's kernel is too old", found=name, allowed="Linux 6.12 or newer")
            return name
    raise InputError(f"the mirror has no kernel for Debian {SUITE}", allowed="--mirror URL of another")


def _is_kept(path: str) -> bool:
    """Whether a file of QEMU, of the guest's tools or of what they depend on is needed."""
    programs = {f"usr/bin/{name}" for name in (*TOOLS, COMMAND)} | {_BUSYBOX}
    return path in programs or path.startswith(
        ("usr/lib/x86_64-linux-gnu/", "usr/lib64/", "usr/share/qemu/", "usr/share/seabios/")
    )


def _write_guest(archive: CpioWriter, root: Path) -> None:
    """Writes the guest's tools with their libraries, which keep apart from those of programs, and the modules."""
    archive.add_file("cxloom/bin/busybox", root / _BUSYBOX)
    for tool in TOOLS:
        program = f"usr/bin/{tool}"
        archive.add_file(f"cxloom/tools/{tool}", root / program)
        for library in libraries_of_unpacked(root, program):
            archive.add_bytes(f"cxloom/lib/{library.name}", library.read_bytes(), 0o755)
        loader = "/cxloom/lib/ld-linux-x86-64.so.2 --library-path /cxloom/lib"
        start = f'#!/cxloom/bin/sh\nexec {loader} /cxloom/tools/{tool} "$@"\n'
        archive.add_bytes(f"cxloom/bin/{tool}", start.encode(), 0o755)
    for name, data in kernel_modules.read_modules(root).items():
        archive.add_bytes(f"cxloom/modules/{name}.ko", data)
    archive.finish()


def _leave_qemu(root: Path) -> None:
    """Removes what QEMU does not need."""
    for path in (*(f"usr/bin/{tool}" for tool in TOOLS), _BUSYBOX):
        (root / path).unlink()
    for path in ("boot", "usr/lib/modules", "lib"):
        shutil.rmtree(root / path, ignore_errors=True)


def _check_room(folder: Path, needed: int) -> None:
    room = shutil.disk_usage(folder).free
    if room < needed:
        raise InputError(
            "there is no room for the set-up",
            file=cache_folder(),
            found=f"{room / 1e6:.0f} MB",
            allowed=f"{needed / 1e6:.0f} MB, or another folder in XDG_CACHE_HOME",
        )


def _megabytes(packages: list[Package]) -> str:
    return f"{sum(each.size for each in packages) / 1e6:.0f} MB"


def _replace(old: Path, new: Path) -> None:
    """Puts a new folder in the place of an old one: between the two there is none."""
    if old.exists():
        with tempfile.TemporaryDirectory(prefix=_NEW, dir=old.parent) as aside:
            old.rename(Path(aside) / "old")
            new.rename(old)
    else:
        new.rename(old)


@contextlib.contextmanager
def _alone_in(cache: Path) -> Iterator[None]:
    """While it is entered, no other set-up is under way. Raises InputError if one is."""
    lock = os.open(cache / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InputError("another cxloom boot --setup is under way", file=cache) from None
    finally:
        os.close(lock)
