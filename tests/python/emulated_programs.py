"""Programs that tests run under the emulator, where it is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cxloom import _core

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
HAS_PLUGIN = Path(str(_core.__file__)).with_name("cxloom_qemu.so").exists()

needs_qemu = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or not HAS_PLUGIN, reason="QEMU or its plug-in is not there"
)


def build_exercises(folder: Path) -> Path:
    """Compiles programs into a folder, linked statically: what libraries do at the start is the same everywhere."""
    compiler = shutil.which("cc") or "gcc"
    flags = ["-O2", "-g", "-static", "-pthread", f"-I{ROOT / 'include'}"]
    subprocess.run([compiler, *flags, PROGRAMS / "exercise.c", "-o", folder / "exercise"], check=True)
    subprocess.run(
        [compiler, "-nostdlib", "-static", PROGRAMS / "counts.S", "-o", folder / "counts"], check=True
    )
    return folder
