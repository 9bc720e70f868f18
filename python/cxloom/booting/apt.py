"""apt with sources, lists and packages of its own: nothing of the system is changed, and nobody needs root."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import InputError
from cxloom.booting.mirror import KEYS

SUITE = "trixie"
"""The release of Debian that everything is taken from, whatever the system is: it has QEMU 10.0 and Linux 6.12."""

Watch = Callable[[float], None]
"""Is told now and then which share of a step is done."""


@dataclass(frozen=True)
class Package:
    """A package that is to be fetched."""

    file: str
    size: int
    """Bytes of the file."""


class Apt:
    """The packages of one release of Debian, in a folder.

    The configuration of the system is read first, so that its proxies and certificates are used. Packages are
    checked by
    apt against the signatures of Debian.
    """

    def __init__(self, folder: Path, mirror: str) -> None:
        """Raises OSError if the folder cannot be written."""
        self._folder = folder
        for each in ("state/lists/partial", "cache/archives/partial"):
            (folder / each).mkdir(parents=True)
        (folder / "status").touch()
        source = f"Types: deb\nURIs: {mirror}\nSuites: {SUITE}\nComponents: main\nSigned-By: {KEYS}\n"
        (folder / "debian.sources").write_text(source, encoding="utf-8")
        (folder / "apt.conf").write_text(_configuration(folder), encoding="utf-8")

    def update(self, watch: Watch) -> None:
        """Fetches the list of packages. Raises InputError."""
        # What cannot be fetched is a warning to apt, which would go on with old lists.
        self._run(["apt-get", "update", "-o", "APT::Update::Error-Mode=any"], watch)

    def with_dependences(self, names: Sequence[str]) -> list[Package]:
        """These packages and all that they depend on. Raises InputError if there is none of a name."""
        return _packages(self._run(["apt-get", "install", "-y", "--print-uris", *names]))

    def fetch_with_dependences(self, names: Sequence[str], watch: Watch) -> list[Path]:
        """Fetches these packages and all that they depend on; gives their files. Raises InputError."""
        self._run(["apt-get", "install", "-y", "--download-only", *names], watch)
        return sorted((self._folder / "cache/archives").glob("*.deb"))

    def alone(self, name: str) -> list[Package]:
        """One package without what it depends on. Raises InputError if there is none."""
        return _packages(self._run(["apt-get", "download", "--print-uris", name]))

    def fetch_alone(self, name: str, watch: Watch) -> Path:
        """Fetches one package without what it depends on; gives its file. Raises InputError."""
        (package,) = self.alone(name)
        self._run(["apt-get", "download", name], watch)
        (file,) = self._folder.glob(f"{name}_*.deb")
        assert file.stat().st_size == package.size
        return file

    def depends(self, name: str) -> list[str]:
        """The names of the packages that one depends on directly. Raises InputError if there is none."""
        return re.findall(r"^\s*\|?Depends: ([^\s<]+)", self._run(["apt-cache", "depends", name]), re.M)

    def _run(self, command: Sequence[str], watch: Watch | None = None) -> str:
        """What a command of apt prints. Raises InputError with what it complains of."""
        tool, *rest = command
        line = [tool, "-c", str(self._folder / "apt.conf"), "-q", *rest]
        environment = {**os.environ, "LC_ALL": "C"}
        with tempfile.TemporaryFile(dir=self._folder) as out, tempfile.TemporaryFile(dir=self._folder) as err:
            told, tell = os.pipe() if watch is not None else (-1, -1)
            if watch is not None:
                line += ["-o", f"APT::Status-Fd={tell}"]
            process = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                cwd=self._folder,
                pass_fds=[] if watch is None else [tell],
            )
            try:
                if watch is not None:
                    os.close(tell)
                    with open(told, encoding="utf-8", errors="replace") as status:
                        for text in status:
                            if (share := _share(text)) is not None:
                                watch(share)
                process.wait()
            finally:
                process.kill()
                process.wait()
            if process.returncode != 0:
                err.seek(0)
                raise _refused(err.read().decode(errors="replace"))
            out.seek(0)
            return out.read().decode(errors="replace")


def _configuration(folder: Path) -> str:
    """What is not as in the configuration of the system, which may have hooks and pinned releases of its own."""
    cleared = (
        "APT::Architectures",
        "APT::Default-Release",
        "APT::NeverAutoRemove",
        "APT::Update::Pre-Invoke",
        "APT::Update::Post-Invoke",
        "APT::Update::Post-Invoke-Success",
        "DPkg::Pre-Invoke",
        "DPkg::Post-Invoke",
    )
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "status",
        "Dir::State::extended_states": folder / "extended_states",
        "Dir::Cache": folder / "cache",
        "Dir::Cache::pkgcache": "packages.bin",  # images for containers do without, and are slow
        "Dir::Cache::srcpkgcache": "",
        "Dir::Log": folder / "log",
        "Dir::Etc::SourceList": folder / "debian.sources",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "APT::Architecture": "amd64",
        "APT::Install-Recommends": "false",
        "APT::Install-Suggests": "false",
        "APT::Sandbox::User": "root",  # root's apt reads the folder as root; others have no choice anyway
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
        "Acquire::Retries": "3",
    }
    lines = [f"#clear {each};" for each in cleared]
    return "\n".join([*lines, *(f'{key} "{value}";' for key, value in settings.items()), ""])


def _packages(printed: str) -> list[Package]:
    """The packages in lines of --print-uris: the address in quotes, the file, its bytes, its hash."""
    found = re.findall(r"^'[^']*' (\S+) (\d+)", printed, re.M)
    return [Package(file, int(size)) for file, size in found]


def _share(status: str) -> float | None:
    """The share in a line of apt's status, such as `dlstatus:7:33.1:...`."""
    found = re.match(r"dlstatus:\d+:([0-9.]+):", status)
    return None if found is None else min(1.0, float(found[1]) / 100)


def _refused(said: str) -> InputError:
    """The error for what apt complains of: its first error, or else its first line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.partition(":")[2].strip() for line in lines if line.startswith(("E:", "Err:"))]
    found = (errors or lines or ["it says nothing"])[0]
    return InputError(
        f"apt cannot fetch the packages of Debian {SUITE}", found=found, allowed="--mirror URL of another"
    )
