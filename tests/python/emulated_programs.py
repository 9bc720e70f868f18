"""Programs that tests run under the emulator, where it is there."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from compiled import ROOT, once, version_of

from cxloom import _core

PROGRAMS = Path(__file__).parent / "programs"
HAS_PLUGIN = Path(str(_core.__file__)).with_name("cxloom_qemu.so").exists()

needs_qemu = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or not HAS_PLUGIN, reason="QEMU or its plug-in is not there"
)


@cache
def built_exercises() -> Path:
    """The folder of programs, linked statically: what libraries do at the start is the same everywhere."""
    compiler = shutil.which("cc") or "gcc"
    flags = ["-O2", "-g", "-static", "-pthread", f"-I{ROOT / 'include'}"]
    exercise, counts = PROGRAMS / "exercise.c", PROGRAMS / "counts.S"

    def make(folder: Path) -> None:
        subprocess.run([compiler, *flags, exercise, "-o", folder / "exercise"], check=True)
        subprocess.run([compiler, "-nostdlib", "-static", counts, "-o", folder / "counts"], check=True)

    headers = sorted((ROOT / "include" / "cxloom").glob("*.h"))
    return once([version_of(compiler), *flags, exercise, counts, *headers], make)
