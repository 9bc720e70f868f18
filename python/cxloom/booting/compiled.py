"""A program of a C source, compiled for the guest."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from cxloom.base.errors import AbsentError, InputError
from cxloom.spec.plugins import include_dir

_OPTIONS = ("-std=gnu11", "-O2", "-pthread")


def compiled(source: Path, folder: Path) -> Path:
    """The program of a source, made in a folder by the compiler of this computer (CC, or cc).

    Headers of cxloom, such as <cxloom/roi.h>, are found. Raises AbsentError if there is no compiler, and InputError if
    it does not compile.
    """
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if shutil.which(command[0]) is None:
        raise AbsentError(
            "there is no C compiler", found=command[0], allowed="one in CC, or cc: apt install gcc"
        )
    program = folder / source.stem
    includes = ["-I", str(include_dir())]
    done = subprocess.run(
        [*command, *_OPTIONS, *includes, "-o", str(program), str(source), "-lm"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip())
        raise InputError("the program does not compile", found=said, file=source)
    return program
