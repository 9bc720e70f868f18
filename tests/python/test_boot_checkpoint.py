"""Checkpoints of a guest that has booted: whole or not at all, few, and named by what it was started with.

The page is docs/boot.md.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from boot_support import TOPOLOGIES, machine

from cxloom.base.errors import SimulationError
from cxloom.booting import checkpoint as module
from cxloom.booting.checkpoint import Checkpoint, notes_on_checkpoints, suits
from cxloom.booting.emulator import Emulator
from cxloom.booting.folder import SetUp
from cxloom.booting.qemu import Qemu

STAND_IN = """\
import json, os, socket, sys
for place, each in enumerate(sys.argv):
    if each == "-chardev" and "id=monitor" in sys.argv[place + 1]:
        monitor = socket.socket(fileno=int(sys.argv[place + 1].rpartition("=")[2]))
monitor.sendall(b'{"QMP": {}}\\n')
left = 2
for line in monitor.makefile():
    said = json.loads(line)
    command, answer = said["execute"], {"return": {}}
    with open(os.environ["SAID"], "a") as log:
        print(command, file=log)
    if command == os.environ.get("DIES_AT"):
        sys.exit(0)
    if command == "migrate":
        with open(said["arguments"]["uri"].removeprefix("file:"), "w") as file:
            file.write("the state")
        monitor.sendall(b'{"event": "STOP"}\\n')  # what happens is told in between
    if command == "query-migrate":
        left -= 1
        answer = {"return": {"status": os.environ["ENDS"] if left == 0 else "active"}}
    if command == os.environ.get("REFUSED"):
        answer = {"error": {"desc": "no"}}
    monitor.sendall(json.dumps(answer).encode() + b"\\n")
"""


@pytest.fixture
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetUp:
    """A set-up whose QEMU is a stand-in that knows its monitor."""
    for name in ("vmlinuz", "guest.cpio"):
        (tmp_path / name).write_text(name)
    (tmp_path / "qemu.py").write_text(STAND_IN)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SAID", str(tmp_path / "said"))
    monkeypatch.setenv("ENDS", "completed")
    qemu = Qemu((sys.executable, str(tmp_path / "qemu.py")), (10, 0))
    return SetUp(qemu, tmp_path / "vmlinuz", "6.12", tmp_path / "guest.cpio")


def taken(set_up: SetUp, *options: str) -> Checkpoint:
    found = Checkpoint(set_up, options, b"init")
    with Emulator(set_up.qemu, []) as emulator:
        assert found.take(emulator)
    return found


def test_a_checkpoint_is_there_once_it_was_taken_and_the_guest_goes_on(set_up: SetUp, tmp_path: Path) -> None:
    assert not Checkpoint(set_up, ["-m", "1"], b"init").is_there()
    found = taken(set_up, "-m", "1")
    assert found.is_there()
    assert found.path.read_text() == "the state"
    assert found.options() == ["-incoming", f"file:{found.path}"]
    assert (tmp_path / "said").read_text().split() == [
        *("qmp_capabilities", "migrate", "query-migrate", "query-migrate", "cont"),
    ]
    found.remove()
    assert not found.is_there()


def test_another_machine_kernel_or_first_program_has_another(set_up: SetUp) -> None:
    names = {Checkpoint(set_up, ["-m", "1"], b"init").path}
    names.add(Checkpoint(set_up, ["-m", "2"], b"init").path)
    names.add(Checkpoint(set_up, ["-m", "1"], b"other").path)
    names.add(Checkpoint(replace(set_up, kernel_version="6.13"), ["-m", "1"], b"init").path)
    os.utime(set_up.guest, (1, 1))
    names.add(Checkpoint(set_up, ["-m", "1"], b"init").path)
    assert len(names) == 5
    assert Checkpoint(set_up, ["-m", "1"], b"init").path in names


@pytest.mark.parametrize(("key", "value"), [("ENDS", "failed"), ("REFUSED", "migrate")])
def test_one_that_finds_no_room_is_not_there_and_the_guest_goes_on(
    key: str, value: str, set_up: SetUp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(key, value)
    found = Checkpoint(set_up, [], b"init")
    with Emulator(set_up.qemu, []) as emulator:
        assert not found.take(emulator)
    assert not found.is_there()
    assert list(found.path.parent.iterdir()) == []
    assert (tmp_path / "said").read_text().split()[-1] == "cont"


def test_a_guest_that_ends_meanwhile_is_an_error(set_up: SetUp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIES_AT", "migrate")
    found = Checkpoint(set_up, [], b"init")
    with Emulator(set_up.qemu, []) as emulator, pytest.raises(SimulationError, match="while its monitor"):
        found.take(emulator)
    assert not found.is_there()


def test_a_machine_with_more_memory_has_none() -> None:
    text = TOPOLOGIES["direct"]
    small, large = (machine(text.replace("1GiB", size)) for size in ("7GiB", "8 GiB"))  # and 256 MiB on CXL
    assert suits(small)
    assert notes_on_checkpoints(small) == []
    assert not suits(large)
    assert [
        "no checkpoint is kept of a machine of 8 GiB" in note for note in notes_on_checkpoints(large)
    ] == [True]


def test_the_last_used_are_kept(set_up: SetUp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    first, second = taken(set_up, "1"), taken(set_up, "2")
    os.utime(first.path, (1, 1))
    os.utime(second.path, (2, 2))
    assert first.is_there()  # and used
    third = taken(set_up, "3")
    assert [each.path.exists() for each in (first, second, third)] == [True, False, True]
