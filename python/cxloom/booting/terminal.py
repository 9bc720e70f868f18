"""A shell in the guest on this terminal."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import termios
import tty

from cxloom.booting.booted import PATH, BootedMachine
from cxloom.booting.emulator import Emulator

_PIECE = 1 << 12


def run_shell(booted: BootedMachine) -> int:
    """Runs a shell on the guest's console, which this terminal is until it ends; gives its exit code.

    Raises SimulationError if the guest ends.
    """
    size = shutil.get_terminal_size()
    emulator = booted.emulator
    emulator.read_console()
    guest = booted.guest
    guest.run(f"stty rows {size.lines} cols {size.columns} </dev/ttyS0", "setting the size of the terminal")
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        # A step that waits for the guest reads the console, too: what it reads is shown as well.
        emulator.show = _show
        return guest.while_running(
            f"ENV= PS1='\\w # ' TERM=linux PATH={PATH} setsid -c sh </dev/ttyS0 >/dev/ttyS0 2>&1",
            lambda seconds: _carry(emulator, seconds),
        )
    finally:
        emulator.show = None
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _show(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _carry(emulator: Emulator, seconds: float) -> None:
    """Carries what is typed and what is shown."""
    console = emulator.ports["console"]
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(console, selectors.EVENT_READ)
        for key, _ in selector.select(seconds):
            if key.fileobj == 0:
                with contextlib.suppress(OSError):
                    console.sendall(os.read(0, _PIECE))
            else:
                emulator.read_console()
