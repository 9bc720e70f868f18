"""A shell in the guest on this terminal."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import socket
import termios
import tty

from cxloom.booting.booted import PATH, BootedMachine

_PIECE = 1 << 12


def run_shell(booted: BootedMachine) -> int:
    """Runs a shell on the guest's console, which this terminal is until it ends; gives its exit code.

    Raises SimulationError if the guest ends.
    """
    size = shutil.get_terminal_size()
    console = booted.emulator.ports["console"]
    booted.emulator.read_console()
    guest = booted.guest
    guest.run(f"stty rows {size.lines} cols {size.columns} </dev/ttyS0", "setting the size of the terminal")
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        return guest.while_running(
            f"ENV= PS1='\\w # ' TERM=linux PATH={PATH} setsid -c sh </dev/ttyS0 >/dev/ttyS0 2>&1",
            lambda seconds: _carry(console, seconds),
        )
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _carry(console: socket.socket, seconds: float) -> None:
    """Carries what is typed and what is shown."""
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(console, selectors.EVENT_READ)
        for key, _ in selector.select(seconds):
            with contextlib.suppress(OSError):
                if key.fileobj == 0:
                    console.sendall(os.read(0, _PIECE))
                else:
                    os.write(1, console.recv(_PIECE, socket.MSG_DONTWAIT))
