"""A program of this computer, put into the guest with what it needs."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.booting.cpio import CpioWriter
from cxloom.trace.executable import Executable, find_executable
from cxloom.trace.symbols import interpreter_of

START = "cxloom/program"
"""The script in the guest that starts the program."""
STARTER = "cxloom/start_program"
"""What starts the program in the guest if its time is marked."""

_JOINED = ("bin", "sbin", "lib", "lib64")
"""Folders at the root that are links into usr/ in the guest, as they are on most systems."""
_IN_GUEST = ("/proc/", "/sys/")
"""Where the guest has files of its own."""


class Program:
    """A command, and the files that it needs."""

    def __init__(self, command: Sequence[str], files: Sequence[Path] = ()) -> None:
        """``files`` are files and folders to take along, under the paths that they have here; a program among them with
        the libraries that it is linked with.

        Raises InputError if there is no such program, or a library or file is missing.
        """
        self._program = find_executable(command)
        self._arguments = command[1:]
        self._needed = [Path(self._program.path), *_linked(self._program.path)]
        # The interpreter of a script is what runs, and the script one of its arguments.
        script = (
            Path(self._program.arguments[-len(command)])
            if len(self._program.arguments) > len(command)
            else None
        )
        if script is not None:
            self._needed += [script, *_by_env(self._program)]
        for file in files:
            if not os.path.lexists(file):
                raise InputError(
                    "there is no such file or folder to take along", found=str(file), path="--file"
                )
            self._needed += _below(file)
            if file.is_file() and os.access(file, os.X_OK) and interpreter_of(str(file)) is not None:
                self._needed += _linked(str(file))

    def left_here(self) -> list[str]:
        """Its arguments, or what they have behind a ``=``, that are files of this computer and are not taken along."""
        taken = {os.path.abspath(each) for each in self._needed}
        words = (each.partition("=")[2] or each for each in self._arguments)
        files = (each for each in words if os.path.isfile(each) and not each.startswith(_IN_GUEST))
        return [each for each in files if os.path.abspath(each) not in taken]

    def write(
        self,
        archive: CpioWriter,
        environment: Mapping[str, str],
        before: Sequence[str] = (),
        starter: Path | None = None,
    ) -> None:
        """Writes its files and the script that starts it into an archive. Raises InputError if one cannot be read.

        Args:
            environment: its variables.
            before: what is to run it in the guest, such as numactl with its options.
            starter: a program that starts it and marks its time; none if its time is not marked.
        """
        here = Path.cwd()
        for path in self._needed:
            try:
                _write(archive, path.absolute())
            except OSError as error:
                raise InputError(f"cannot be taken along: {reason_of(error)}", file=path) from None
        _write_folders(archive, here / "x")
        variables = [f"{key}={value}" for key, value in environment.items()]
        own = str(Path(self._program.path).absolute())
        started = [own] if starter is None else [f"/{STARTER}", own]
        line = shlex.join([*before, "env", "-i", *variables, *started, *self._program.arguments[1:]])
        if starter is not None:
            archive.add_bytes(STARTER, starter.read_bytes(), 0o755)
        archive.add_bytes(
            START, f"cd {shlex.quote(str(here))}\nexec {line}\n".encode(errors="surrogateescape")
        )
        archive.finish()


def _by_env(interpreter: Executable) -> list[Path]:
    """What a script that begins with ``#!/usr/bin/env NAME`` is run by, with its libraries; nothing of others."""
    if Path(interpreter.path).name != "env":
        return []
    words = interpreter.arguments[1].removeprefix("-S").split()
    name = next((each for each in words if "=" not in each), "")
    path = shutil.which(name)  # where there is none, `env` says so in the guest
    return [] if path is None else [Path(path), *_linked(path)]


def _linked(program: str) -> list[Path]:
    """The loader and the libraries of a program. Raises InputError if one is missing."""
    loader = interpreter_of(program)
    if loader is None:
        return []
    # As `ldd` does: a library that is missing is listed, too.
    environment = {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1", "LC_ALL": "C"}
    listed = subprocess.run(
        [loader, program], env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    found = [Path(loader)]
    for line in listed.stdout.splitlines():
        name, _, path = line.strip().rpartition(" (0x")[0].partition(" => ")
        if line.rstrip().endswith("=> not found"):
            raise InputError(
                "the program needs a library that is missing here",
                found=line.strip().partition(" ")[0],
                file=program,
            )
        if (path or name).startswith("/"):
            found.append(Path(path or name))
    if listed.returncode != 0:
        said = (listed.stderr.strip().splitlines() or ["the loader says nothing"])[-1]
        raise InputError("the program cannot be loaded", found=said, file=program)
    return found


def _below(path: Path) -> Iterator[Path]:
    """A file, or a folder and all below it; links are taken as they are."""
    yield path
    if path.is_dir() and not path.is_symlink():
        for each in sorted(path.iterdir()):
            yield from _below(each)


def _write(archive: CpioWriter, path: Path) -> None:
    _write_folders(archive, path)
    target = path
    if path.is_symlink() and (real := path.resolve()).is_file():
        target = real  # what the link leads to, under its name
    archive.add_file(_in_guest(path), target)


def _write_folders(archive: CpioWriter, path: Path) -> None:
    """The folders above a path, with the rights that they have here."""
    for folder in reversed(path.parents[:-1]):
        if str(folder).lstrip("/") not in _JOINED:
            archive.add_folder(_in_guest(folder), stat.S_IMODE(folder.stat().st_mode))


def _in_guest(path: Path) -> str:
    text = str(path).lstrip("/")
    return f"usr/{text}" if text.partition("/")[0] in _JOINED else text
