"""Programs that the emulator can run: the ELF files of x86-64 Linux, and scripts for these."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import other_kind

_X86_64 = 62
_MACHINES = {3: "x86, 32 bits", 40: "Arm, 32 bits", 183: "AArch64", 243: "RISC-V", 21: "POWER, 64 bits"}
_MOST_SCRIPTS = 4  # that interpret each other, as Linux allows


@dataclass(frozen=True)
class Executable:
    """A program as the emulator is given it."""

    path: str
    arguments: tuple[str, ...]
    """Its own name first, as it is given to it."""


def find_executable(command: Sequence[str]) -> Executable:
    """The program that the command runs; of a script its interpreter. Raises InputError if none can be emulated."""
    if not command:
        raise InputError("no program to run", allowed="PROGRAM ARGS after --")
    path = shutil.which(command[0])
    if path is None:
        raise _missing(command[0])
    arguments = list(command)
    for _ in range(_MOST_SCRIPTS + 1):
        begin = _begin_of(path)
        if not begin.startswith(b"#!"):
            _check(path, begin)
            return Executable(path, tuple(arguments))
        words = begin[2:].partition(b"\n")[0].strip().split(None, 1)
        if not words:
            raise InputError("a script without an interpreter", file=path)
        interpreter = os.fsdecode(words[0])
        arguments = [interpreter, *map(os.fsdecode, words[1:]), path, *arguments[1:]]
        if not os.access(interpreter, os.X_OK):
            raise InputError("the interpreter of the script cannot be run", found=interpreter, file=path)
        path = interpreter
    raise InputError("scripts that interpret each other without end", file=command[0])


def _missing(name: str) -> InputError:
    path = Path(name)
    if os.sep not in name or not path.exists():
        here = os.sep not in name and path.is_file()
        allowed = f"./{name} is a file here" if here else "a program's name or path"
        return InputError(f"there is no program '{name}'", allowed=allowed)
    if (other := other_kind(path.stat().st_mode)) is not None:
        return InputError(f"{other}, not a program", file=name)
    return InputError("the file is not executable", allowed=f"chmod +x {name}, if it is a program", file=name)


def _begin_of(path: str) -> bytes:
    try:
        if (other := other_kind(os.stat(path).st_mode)) is not None:
            raise InputError(f"{other}, not a program", file=path)
        with open(path, "rb") as file:
            return file.read(256)
    except OSError as error:
        raise InputError(f"the program cannot be read: {reason_of(error)}", file=path) from error


def _check(path: str, begin: bytes) -> None:
    allowed = "a program for 64-bit x86 Linux"
    if not begin.startswith(b"\x7fELF"):
        raise InputError("not a program", allowed=f"{allowed}, or a script that begins with #!", file=path)
    machine = int.from_bytes(begin[18:20], "little")
    if begin[4] == 1 and machine == _X86_64:
        raise InputError("the program cannot be emulated", found="x32", allowed=allowed, file=path)
    if begin[4] != 2 or machine != _X86_64:
        found = _MACHINES.get(machine, f"machine {machine}")
        raise InputError("the program cannot be emulated", found=found, allowed=allowed, file=path)
