"""What is said of a program that a guest's kernel has killed, and done about an emulator that has ended itself."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from test_boot_program import STAND_IN

from cxloom.base.errors import SimulationError
from cxloom.booting.booted import BootedMachine, entered
from cxloom.booting.emulator import Emulator
from cxloom.booting.guest import Guest
from cxloom.booting.qemu import Qemu

OOM = "[   12.345678] Out of memory: Killed process 227 (my (app)) total-vm:900kB, anon-rss:5kB\r\n"


def machine(console: str) -> BootedMachine:
    """One whose guest has this on its console."""
    emulator: Any = SimpleNamespace(console=bytearray(console.encode()), read_console=lambda: None)
    emulator.line_with = lambda sign: Emulator.line_with(cast(Emulator, emulator), sign)
    return cast(BootedMachine, SimpleNamespace(emulator=emulator))


@pytest.mark.parametrize(
    ("console", "code", "said"),
    [
        (OOM, 137, "the guest ran out of memory: its kernel killed my (app) (227)"),
        (
            "random\r\n" + OOM + "more\r\n",
            137,
            "the guest ran out of memory: its kernel killed my (app) (227)",
        ),
        (OOM, 1, ""),
        ("nothing of it\r\n", 137, ""),
    ],
)
def test_memory_that_was_short_is_said(console: str, code: int, said: str) -> None:
    assert BootedMachine.killed(machine(console), code) == said


ABORTS = """\
import os, resource
with open(os.environ["STARTS"], "a+") as starts:
    starts.write(".")
    starts.seek(0)
    if len(starts.read()) <= int(os.environ["ABORTS"]):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.abort()
"""


@contextlib.contextmanager
def begun(qemu: Qemu) -> Iterator[Guest]:
    with Emulator(qemu, []) as emulator:
        guest = Guest(emulator)
        guest.wait_for_boot()
        yield guest


@pytest.mark.parametrize(("aborts", "starts"), [(0, 1), (2, 3), (3, 3)])
def test_an_emulator_that_aborts_is_started_again(
    aborts: int, starts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qemu.py").write_text(ABORTS + STAND_IN)
    monkeypatch.setenv("STAND_IN", "answers")
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
    monkeypatch.setenv("ABORTS", str(aborts))
    qemu = Qemu((sys.executable, str(tmp_path / "qemu.py")), (10, 0))
    with contextlib.ExitStack() as ends:
        if aborts == starts:
            ends.enter_context(pytest.raises(SimulationError, match="the guest ended during its boot"))
        guest = entered(ends, lambda: begun(qemu))
        assert guest.run("it works", "this") == "the last line\n"
    assert len((tmp_path / "starts").read_text()) == starts


def test_a_guest_that_ends_otherwise_is_not_booted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qemu.py").write_text(ABORTS + STAND_IN)
    monkeypatch.setenv("STAND_IN", "panics")
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
    monkeypatch.setenv("ABORTS", "0")
    qemu = Qemu((sys.executable, str(tmp_path / "qemu.py")), (10, 0))
    with contextlib.ExitStack() as ends, pytest.raises(SimulationError, match="Kernel panic"):
        entered(ends, lambda: begun(qemu))
    assert len((tmp_path / "starts").read_text()) == 1
