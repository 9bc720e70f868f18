"""Recording programs under QEMU: what goes wrong."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from emulated_programs import built_exercises, needs_qemu
from validation.examples import slow, some

from cxloom import _core
from cxloom.base.errors import CxloomError, InputError
from cxloom.trace import (
    Sample,
    capture,
    emulator,
)


@pytest.fixture(scope="module")
def programs() -> Path:
    return built_exercises()


def refused(command: list[str], tmp_path: Path, **options: Any) -> str:
    with pytest.raises(CxloomError) as caught:
        capture(command, tmp_path / "out.parquet", **options)
    assert not (tmp_path / "out.parquet").exists()
    return str(caught.value)


@needs_qemu
def test_what_is_no_program(tmp_path: Path, programs: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    assert "not executable" in refused([str(file)], tmp_path)
    file.chmod(0o755)
    assert "not a program" in refused([str(file)], tmp_path)
    head = bytearray((programs / "counts").read_bytes()[:64])
    head[4] = 1
    head[18] = 3
    file.write_bytes(head)
    assert "x86, 32 bits" in refused([str(file)], tmp_path)
    file.write_text("#!/no/such/interpreter\n")
    assert "interpreter" in refused([str(file)], tmp_path)
    assert "directory" in refused([str(tmp_path)], tmp_path)
    assert "no program 'no-such-program'" in refused(["no-such-program"], tmp_path)
    assert "no program" in refused([], tmp_path)


@needs_qemu
def test_functions_are_looked_up(tmp_path: Path, programs: Path) -> None:
    exercise = str(programs / "exercise")
    assert "did you mean 'chase'" in refused([exercise, "chase"], tmp_path, region="chasee")
    assert "not reached" in refused([exercise, "chase"], tmp_path, region="streams")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", exercise, "-o", stripped], check=True)
    assert "names no functions" in refused([str(stripped)], tmp_path, region="chase")


def test_without_the_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "sudo apt-get install qemu-user" in refused(["/bin/true"], tmp_path)


@needs_qemu
def test_without_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "__file__", str(tmp_path / "_core.so"))
    assert "sudo apt-get install libzydis-dev && make build" in refused(["/bin/true"], tmp_path)


def test_an_emulator_that_cannot_load_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "qemu-x86_64"
    other.write_text("#!/bin/sh\n[ $1 = --version ] && echo qemu version 10 && exit 0\nexit 1\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(emulator, "_plugin", lambda: tmp_path)
    assert "exit code 1, qemu version 10" in refused(["/bin/true"], tmp_path)


@needs_qemu
def test_shared_memory_that_cannot_be_made(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when there is no room: here the name of the thread's ring is taken."""

    @contextmanager
    def folder() -> Iterator[str]:
        (tmp_path / "1").write_text("")
        yield str(tmp_path)

    monkeypatch.setattr(emulator, "shared_folder", folder)
    assert "cannot be made: File exists" in refused([str(programs / "exercise"), "sorts"], tmp_path)


@needs_qemu
@pytest.mark.parametrize(
    ("blocks", "name", "code", "said"),
    some(
        [
            # A megabyte of columns that are packed so well is seconds of a program.
            pytest.param(2048, "out.parquet", 2, "out.parquet: file too large", marks=slow),
            (2048, "out.trace", 2, "out.trace: file too large"),
            (
                1024,
                "out.trace",
                2,
                "the limit of the size of files is too small for the memory that is shared with the program\n"
                "  found: 524,288 bytes\n  allowed: at least 1048576, as `ulimit -f 1024` sets it",
            ),
        ]
    ),
)
def test_a_full_disk_ends_the_program_and_leaves_nothing(
    programs: Path, tmp_path: Path, blocks: int, name: str, code: int, said: str
) -> None:
    """A limit on the size of files, in blocks of 512 bytes, is a full disk that needs no disk. A thread shares 516
    KiB."""
    command = f"{sys.executable} -m cxloom trace capture --out {name} -- {programs / 'exercise'} endless"
    done = subprocess.run(
        ["sh", "-c", f"ulimit -f {blocks}; exec {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (code, f"error: {said}\n")
    assert os.listdir(tmp_path) == []
    running = (Path(entry) / "cmdline" for entry in glob.glob("/proc/[0-9]*"))
    assert not any(str(programs / "exercise").encode() in command_of(process) for process in running)


def command_of(process: Path) -> bytes:
    try:
        return process.read_bytes()
    except OSError:  # it has ended
        return b""


def test_folders_of_those_that_were_killed_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulator, "_place", lambda: str(tmp_path))
    (tmp_path / "cxloom-program-left").mkdir()
    with emulator.shared_folder() as one, emulator.shared_folder() as other:
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(Path(f).name for f in (one, other))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["1M", "2/1", "0/5", "1/1", "x/3", "1T/2T", "-1/4"])
def test_what_is_no_sample(text: str) -> None:
    with pytest.raises(InputError, match=r"sample|window"):
        Sample.parse(text)
    assert Sample.parse("2K/3M") == Sample(2000, 3_000_000)
