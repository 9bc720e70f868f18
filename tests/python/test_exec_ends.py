"""Programs end with the command that runs them, however it ends, and leave nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from emulated_programs import PROGRAMS, needs_qemu
from exec_support import spec
from validation.examples import pairs

from cxloom.trace import emulator

PATIENCE = 60.0  # seconds, on a machine that does something else
FAMILY = 3


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("family") / "family"
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-static", PROGRAMS / "family.c", "-o", file], check=True)
    return str(file)


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where all shared memory of a test is."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(emulator, "_MEMORY", str(folder))
    return folder


def until(what: Callable[[], Any]) -> Any:
    """Waits for what happens sooner or later."""
    end = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return found


def lives(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


class Run:
    """A command that runs the family, whose members have begun."""

    def __init__(self, command: list[str], family: str, folder: Path, *words: str) -> None:
        self.numbers = folder / "numbers"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cxloom", *command, "--", family, str(self.numbers), *words],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until(lambda: len(self.members()) == FAMILY)

    def members(self) -> list[int]:
        with suppress(OSError):
            return list(map(int, self.numbers.read_text().split("\n")[:-1]))
        return []

    def folder(self) -> Path:
        """Its shared memory."""
        words = Path(f"/proc/{self.members()[0]}/cmdline").read_text()
        return Path(words.partition("folder=")[2].partition(",")[0])

    def end(self) -> None:
        for number in (self.process.pid, *self.members()):
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def runs() -> Iterator[list[Run]]:
    """Those of a test, which are gone when it ends."""
    all_of_them: list[Run] = []
    yield all_of_them
    for run in all_of_them:
        run.end()


@needs_qemu
@pytest.mark.parametrize(
    ("number", "command"), pairs([signal.SIGKILL, signal.SIGHUP, signal.SIGTERM], ["exec", "capture"])
)
def test_a_program_ends_with_its_command(
    family: str, tmp_path: Path, runs: list[Run], command: str, number: signal.Signals
) -> None:
    """All three of it, also the one that has left for a session of its own."""
    words = {
        "exec": ["exec", "--system", str(spec(tmp_path))],
        "capture": ["trace", "capture", "--out", str(tmp_path / "trace.parquet")],
    }[command]
    stubborn = ("stubborn",) if number == signal.SIGKILL else ()
    run = Run(words, family, tmp_path, *stubborn)
    runs.append(run)
    members = run.members()
    assert all(map(lives, members))
    folder = run.folder()
    assert folder.is_dir()
    with emulator.shared_folder():  # another command takes nothing of one that lives
        assert folder.is_dir()
    run.process.send_signal(number)
    run.process.wait(PATIENCE)
    until(lambda: not any(map(lives, members)))
    if number != signal.SIGKILL:
        assert run.process.returncode == 1  # interrupted
    else:
        with emulator.shared_folder():
            pass
    assert not folder.exists()


@needs_qemu
def test_a_command_that_nobody_has_waited_for_takes_its_program_along(
    family: str, tmp_path: Path, runs: list[Run]
) -> None:
    """It is known by its number as long as nobody has."""
    run = Run(["exec", "--system", str(spec(tmp_path))], family, tmp_path, "stubborn")
    runs.append(run)
    run.process.send_signal(signal.SIGKILL)
    until(lambda: not any(map(lives, run.members())))
    assert run.process.returncode is None


def test_a_folder_that_was_taken_for_abandoned_is_made_again(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command looks for abandoned folders between the making of one and its lock."""
    make, taken = tempfile.mkdtemp, []

    def making(*words: Any, **named: Any) -> str:
        folder = make(*words, **named)
        if not taken:
            emulator._remove_abandoned(Path(folder))
            taken.append(folder)
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", making)
    with emulator.shared_folder() as folder:
        assert folder != taken[0]
        assert Path(folder).is_dir()
        assert not Path(taken[0]).exists()
    assert list(shared.iterdir()) == []


def test_what_is_in_use_stays(shared: Path) -> None:
    with emulator.shared_folder() as first, emulator.shared_folder() as second:
        assert Path(first).is_dir()
        assert Path(second).is_dir()
    left = shared / "cxloom-program-left"
    left.mkdir()
    with emulator.shared_folder():
        assert not left.exists()


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_valgrind_ends_with_its_command(tmp_path: Path) -> None:
    command = ["trace", "capture", "--with", "valgrind", "--out", str(tmp_path / "trace.parquet"), "--"]
    process = subprocess.Popen([sys.executable, "-m", "cxloom", *command, "sleep", "1000"])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    (number,) = until(lambda: list(map(int, children.read_text().split())))
    process.kill()
    process.wait()
    until(lambda: not lives(number))
