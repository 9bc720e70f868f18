"""What the set-up installs for `cxloom exec`, or says instead, and that the build finds what is installed later."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cxloom import _core
from cxloom.trace import emulator

ROOT = Path(__file__).parents[2]
TOOLS = ("bash", "env", "dirname", "mktemp", "rm", "tail", "cat", "printf")


def script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a system without QEMU and Zydis, where the package manager notes what it is asked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(str(shutil.which(tool)))
    script(folder / "id", "echo ${USER_ID:-0}")
    script(folder / "apt-get", f'echo "$@" >>{tmp_path}/asked; exit ${{APT_CODE:-0}}')
    script(folder / "c++", "exit ${CXX_CODE:-1}")
    return {"PATH": str(folder), "HOME": str(tmp_path)}


def bootstrap(environment: dict[str, str], *needs: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "bootstrap.sh", *needs],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_what_exec_needs_is_installed(bare: dict[str, str], tmp_path: Path) -> None:
    outcome = bootstrap(bare, "exec")
    assert outcome.returncode == 0, outcome.stderr
    assert "Installing from Debian: qemu-user libzydis-dev" in outcome.stdout
    assert "install --yes" in (tmp_path / "asked").read_text()
    script(tmp_path / "bin" / "qemu-x86_64", "exit 0")
    assert "Installing from Debian: libzydis-dev\n" in bootstrap(bare, "exec").stdout
    assert bootstrap(bare | {"CXX_CODE": "0"}, "exec").stdout == ""


@pytest.mark.parametrize("cannot", [{"USER_ID": "1000"}, {"APT_CODE": "100"}])
def test_where_it_cannot_be_the_set_up_goes_on_and_says_what_to_type(
    bare: dict[str, str], cannot: dict[str, str]
) -> None:
    outcome = bootstrap(bare | cannot, "exec")
    assert outcome.returncode == 0
    assert "for `cxloom exec`:  sudo apt-get install qemu-user libzydis-dev && make build" in outcome.stderr
    assert bootstrap(bare | cannot, "qemu").returncode == 1  # for tests it has to be there


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that was configured."""
    folder = tmp_path / "tree"
    (folder / "build").mkdir(parents=True)
    (folder / ".venv").mkdir()
    (folder / "scripts").mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    for name in ("bootstrap.sh", "link_build_tree.py"):
        shutil.copy(ROOT / "scripts" / name, folder / "scripts")
    (folder / ".venv" / ".root").write_text(str(folder))
    for name in (".venv/.installed-build", ".venv/.installed", "build/.configured"):
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("found", "again"),
    [("/usr/include", False), ("ZYDIS_HEADERS-NOTFOUND", True)],
)
def test_what_was_not_there_is_looked_for_again(tree: Path, found: str, again: bool) -> None:
    (tree / "build" / "CMakeCache.txt").write_text(
        f"CXLOOM_COMPILE_TOGETHER:BOOL=ON\nZYDIS_HEADERS:PATH={found}\nZYDIS_LIBRARY:FILEPATH=/usr/lib/libZydis.so\n"
    )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")
    }
    done = subprocess.run(
        ["make", "-n", "build"], cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    assert (" -S . -B build -G Ninja" in done.stdout) == again
    assert "--build build" in done.stdout


@pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "cmake").exists(), reason="not in the tree of the project")
def test_cmake_finds_it_where_it_has_come_to(tmp_path: Path) -> None:
    """The same lines that look for it, in a project with a place of its own."""
    lines = (ROOT / "integrations" / "qemu" / "CMakeLists.txt").read_text().partition("\nadd_library")[0]
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(finds LANGUAGES NONE)\n"
        "set(CMAKE_FIND_LIBRARY_PREFIXES lib)\nset(CMAKE_FIND_LIBRARY_SUFFIXES .so)\n"
        f'{lines}\nfile(TOUCH "${{CMAKE_BINARY_DIR}}/found")\n'
    )
    prefix = tmp_path / "prefix"
    cmake = ROOT / ".venv" / "bin" / "cmake"
    ninja = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ROOT / '.venv' / 'bin' / 'ninja'}"]
    only_there = ["-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF"]

    def finds() -> bool:
        words = [cmake, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
        subprocess.run([*words, *ninja, *only_there], check=True, capture_output=True)
        return (tmp_path / "build" / "found").exists()

    assert not finds()
    (prefix / "include" / "Zydis").mkdir(parents=True)
    (prefix / "lib").mkdir()
    (prefix / "include" / "Zydis" / "Zydis.h").touch()
    (prefix / "lib" / "libZydis.so").touch()
    assert finds()


def test_one_line_says_all_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "__file__", str(tmp_path / "_core.so"))
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = emulator.what_is_missing()
    assert missing is not None
    assert "sudo apt-get install qemu-user libzydis-dev && make build" in missing.allowed
    (tmp_path / "cxloom_qemu.so").touch()
    missing = emulator.what_is_missing()
    assert missing is not None
    assert missing.allowed.endswith("sudo apt-get install qemu-user")
    script(tmp_path / "qemu-x86_64", "exit 0")
    assert emulator.what_is_missing() is None
