"""<cxloom/dax.h>: best fit beside a model, in C and in C++. test_boot_timed.py has it on a device of a guest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import ROOT, once, version_of

SOURCE = Path(__file__).parent / "programs" / "dax.c"
HEADER = ROOT / "include" / "cxloom" / "dax.h"


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
        ("g++", ["-std=c++17", "-xc++"]),
    ],
)
def test_pieces_are_where_best_fit_has_them(compiler: str, options: list[str], tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    flags = ["-O1", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", *options]

    def make(folder: Path) -> None:
        command = [compiler, *flags, f"-I{ROOT / 'include'}", SOURCE, "-o", folder / "dax", "-pthread"]
        subprocess.run(command, check=True)

    program = once([version_of(compiler), *flags, SOURCE, HEADER], make) / "dax"
    memory = tmp_path / "memory"
    with memory.open("wb") as file:
        file.truncate(1 << 20)
    done = subprocess.run([program, memory], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "dax: right\n"), done.stderr
