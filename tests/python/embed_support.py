"""Programs that embed cxloom, compiled against nothing but what is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cxloom

EXAMPLE = Path(__file__).parents[2] / "examples" / "embed"


def copied(here: Path) -> tuple[Path, Path]:
    """Copies of the headers and of the library, so that no file of the source tree is near: include and lib."""
    for folder in sorted(cxloom.include_dir().iterdir()):
        if folder.is_dir():
            shutil.copytree(folder, here / "include" / folder.name, ignore=shutil.ignore_patterns("*.cpp"))
        else:
            shutil.copy(folder, here / "include" / folder.name)
    (here / "lib").mkdir()
    shutil.copy(cxloom.library_dir() / "libcxloom.so", here / "lib")
    return here / "include", here / "lib"


def compiled(source: Path, out: Path, installed: tuple[Path, Path]) -> Path:
    include, library = installed
    compilers = ("cc", "gcc", "clang") if source.suffix == ".c" else ("c++", "g++", "clang++")
    compiler = next(filter(None, map(shutil.which, compilers)))
    standard = ["-std=c11", "-pedantic"] if source.suffix == ".c" else ["-std=c++20"]
    flags = [*standard, "-Wall", "-Wextra", "-Werror", f"-I{include}", str(source), "-o", str(out)]
    subprocess.run([compiler, *flags, f"-L{library}", "-lcxloom", f"-Wl,-rpath,{library}"], check=True)
    return out


def resolved(cxloom: Callable[..., Any], spec: Path, out: Path, *more: str) -> Path:
    outcome = cxloom("resolve", spec, *more)
    assert outcome.code == 0, outcome.err
    out.write_text(outcome.out)
    return out


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
