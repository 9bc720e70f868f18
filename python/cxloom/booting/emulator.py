"""QEMU as a child: it ends with us, whatever ends us, and what it says is kept for messages."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from cxloom.base.errors import SimulationError
from cxloom.booting.monitor import Monitor
from cxloom.booting.patience import kept_waiting
from cxloom.booting.qemu import Qemu

PORTS = ("control", "files", "stdin", "stdout", "stderr")
"""The ports of the guest, /dev/vport0p1 and so on."""

_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_ENDING = 60.0  # seconds, in which a core may be written
_CONSOLE = 1 << 16  # bytes that are kept of the console


class AbortedError(SimulationError):
    """QEMU has ended by an assertion of its own, and the guest with it."""


class Emulator:
    """QEMU with its machine, a console, and ports between the guest and us.

    It ends when this is left, or with the thread that has started it.
    """

    def __init__(self, qemu: Qemu, options: Sequence[str], preload: Path | None = None) -> None:
        """Starts it; ``options`` are those of the machine, ``preload`` a library before its own. Raises OSError."""
        self._monitor: Monitor | None = None
        self._messages = tempfile.TemporaryFile()
        self.console = bytearray()
        """The last of what was on the console."""
        self.show: Callable[[bytes], object] | None = None
        """Is given all that comes on the console, if it is set."""
        pairs = {name: socket.socketpair() for name in ("console", "monitor", *PORTS)}
        self.ports = {name: ours for name, (ours, _) in pairs.items()}
        """Our ends of the ports, of the console and of the monitor."""
        theirs = {name: other for name, (_, other) in pairs.items()}
        command = [*qemu.command, *options, *_ports({name: end.fileno() for name, end in theirs.items()})]
        libc = ctypes.CDLL(None)
        parent = os.getpid()

        def die_with_parent() -> None:
            libc.prctl(_DIES_WITH_PARENT, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env=None if preload is None else {**os.environ, "LD_PRELOAD": str(preload)},
                stdout=self._messages,
                stderr=self._messages,
                pass_fds=[end.fileno() for end in theirs.values()],
                start_new_session=True,  # Ctrl-C is ours to handle
                preexec_fn=die_with_parent,
            )
        except BaseException:
            self._close()
            raise
        finally:
            for end in theirs.values():
                end.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        self._close()

    def kill(self) -> None:
        """Ends it now; who waits for the guest hears that it has ended."""
        self._process.kill()

    def monitor(self) -> Monitor:
        """QEMU's monitor. Raises SimulationError if QEMU has ended."""
        if self._monitor is None:
            self._monitor = Monitor(self.ports["monitor"])
        return self._monitor

    def seconds(self) -> float:
        """Seconds of a clock that stands still while this computer has others to run, for limits of time."""
        return time.monotonic() - kept_waiting(self._process.pid)

    def has_aborted(self) -> bool:
        """Whether QEMU, which ends, does so by an assertion of its own."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)
        return self._process.poll() == -signal.SIGABRT

    @property
    def runs(self) -> bool:
        """Whether QEMU has not ended."""
        return self._process.poll() is None

    def read_console(self) -> None:
        """Takes what has come on the console."""
        with contextlib.suppress(OSError):
            while data := self.ports["console"].recv(_CONSOLE, socket.MSG_DONTWAIT):
                self.console += data
                if self.show is not None:
                    self.show(data)
        del self.console[:-_CONSOLE]

    def line_with(self, sign: str) -> str:
        """The last line on the console that has this; empty if there is none."""
        self.read_console()
        lines = self.console.decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if sign in line), "")

    def last_words(self) -> str:
        """The line that says most about why the guest has ended; empty if there is none."""
        for sign in ("Kernel panic", "Out of memory", "BUG:", "Oops"):
            if line := self.line_with(sign):
                return line
        lines = self.console.decode(errors="replace").splitlines()
        self._messages.seek(0)
        said = self._messages.read().decode(errors="replace").strip().splitlines()
        return (said or [line for line in lines if line.strip()] or [""])[-1].strip()

    def _close(self) -> None:
        if self._monitor is not None:
            self._monitor.close()
        for end in self.ports.values():
            end.close()
        self._messages.close()


def _ports(descriptors: dict[str, int]) -> list[str]:
    """The options for the console and the ports."""
    options = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    for name, descriptor in descriptors.items():
        options += ["-chardev", f"socket,id={name},fd={descriptor}"]
    options += ["-mon", "chardev=monitor,mode=control"]
    options += ["-serial", "chardev:console", "-device", "virtio-serial-pci,bus=pcie.0"]
    for number, name in enumerate(PORTS, 1):
        options += ["-device", f"virtserialport,chardev={name},nr={number},name={name}"]
    return options
