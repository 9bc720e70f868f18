"""Some of the files of Debian packages, taken out without installing them."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

from cxloom.base.errors import InputError


def unpack(package: Path, folder: Path, wanted: Callable[[str], bool]) -> None:
    """Unpacks the files of a package whose paths are ``wanted``, each without a slash before it, into a folder.

    Raises InputError for a package that is damaged, and OSError for a folder that takes no more.
    """
    process = subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
            for member in archive:
                path = member.name.removeprefix("./").lstrip("/")
                if path and wanted(path):
                    _extract(archive, member, folder / path)
        while process.stdout.read(1 << 16):  # tar's padding
            pass
        process.wait()
    except tarfile.TarError:
        raise _damaged(package) from None
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
    if process.returncode != 0:
        raise _damaged(package)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path) -> None:
    """Makes a file or a symbolic link; packages for this have nothing else but folders."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        to.symlink_to(member.linkname)
    elif member.isfile():
        content = archive.extractfile(member)
        assert content is not None
        with open(to, "wb") as file:
            shutil.copyfileobj(content, file)
        to.chmod(member.mode & 0o755)


def _damaged(package: Path) -> InputError:
    return InputError("a damaged package", file=package, allowed="cxloom boot --setup once more")
