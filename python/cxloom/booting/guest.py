"""What is said to the guest: commands, files, and a program whose standard streams are ours."""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Callable
from typing import IO

from cxloom.base.errors import SimulationError
from cxloom.booting.emulator import AbortedError, Emulator
from cxloom.booting.streams import Streams

PATIENCE = 600.0
"""Seconds for each of our commands, without those in which this computer runs others (own choice: a boot takes ten)."""

_PIECE = 1 << 16
_BEAT = 0.1  # seconds between looks at whether the guest still runs


class Guest:
    """The guest's first program, which runs lines of its shell for us (guest/init)."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._control = emulator.ports["control"]
        self._heard = bytearray()

    def wait_for_boot(self) -> str:
        """Waits until the first program runs; gives the version of the kernel.

        Raises SimulationError if the guest ends before, or takes too long.
        """
        return self._line("its boot", PATIENCE)

    def ask(self, command: str, patience: float = PATIENCE) -> tuple[int, str]:
        """Runs a line; gives its exit code and its output. Raises SimulationError if the guest ends or does not
        answer."""
        self._say(command)
        return self._answer(command, patience)

    def run(self, command: str, doing: str) -> str:
        """Runs a line as `ask` does; gives its output. Raises SimulationError if it fails, too."""
        return _output(self.ask(command), doing)

    def read(self, file: str, doing: str) -> bytes:
        """What is in a file of the guest. Raises SimulationError if it cannot be read, too."""
        self._say(f"cat {file}")
        code, data = self._answered(doing, PATIENCE)
        _output((code, data.decode(errors="replace") if code != 0 else ""), doing)
        return data

    def unpack(self, archive: IO[bytes]) -> None:
        """Unpacks an archive (cpio) into the guest's file system. Raises SimulationError."""
        self._say("cpio -idmu </dev/vport0p2")
        port = self._emulator.ports["files"]
        while piece := archive.read(_PIECE):
            left = memoryview(piece)
            while left and b"\n" not in self._heard:  # an answer before the end is a complaint
                left = left[self._send(port, left) :]
        _output(self._answer("unpacking", PATIENCE), "unpacking the program")

    def run_program(self, command: str, stdin: int, stdout: int, stderr: int) -> int:
        """Runs a line with standard streams from and to descriptors of ours; gives its exit code.

        Its output goes through pipes, as in a pipeline of a shell: what it has left running and still may write to
        them is waited for. Raises SimulationError if the guest ends, and OSError if our descriptors take no more.
        """
        streams = Streams(self._emulator.ports, stdin, {"stdout": stdout, "stderr": stderr})
        code = self.while_running(
            "mkfifo /run/out /run/err; cat /run/out >/dev/vport0p4 & cat /run/err >/dev/vport0p5 & "
            f"{command} </dev/vport0p3 >/run/out 2>/run/err; code=$?; wait; rm /run/out /run/err; (exit $code)",
            streams.move,
        )
        streams.drain()
        return code

    def while_running(self, command: str, move: Callable[[float], None]) -> int:
        """Runs a line for as long as it takes, and meanwhile ``move`` again and again, which may wait for the
        seconds that
        it is given; gives the exit code. Raises SimulationError if the guest ends."""
        self._say(command)
        while b"\n" not in self._heard:
            move(_BEAT)
            self._hear("the program")
        return self._answer("the program", PATIENCE)[0]

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # it has ended, which is noticed when its answer is waited for
            self._control.sendall(line.encode() + b"\n")

    def _answer(self, doing: str, patience: float) -> tuple[int, str]:
        code, data = self._answered(doing, patience)
        return code, data.decode(errors="replace")

    def _answered(self, doing: str, patience: float) -> tuple[int, bytes]:
        code, size = map(int, self._line(doing, patience).split())
        return code, self._bytes(size, doing, patience)

    def _line(self, doing: str, patience: float) -> str:
        until = self._emulator.seconds() + patience
        while b"\n" not in self._heard:
            self._wait(doing, until)
        return (
            self._bytes(self._heard.index(b"\n") + 1, doing, patience).decode(errors="replace").rstrip("\n")
        )

    def _bytes(self, count: int, doing: str, patience: float) -> bytes:
        until = self._emulator.seconds() + patience
        while len(self._heard) < count:
            self._wait(doing, until)
        taken = bytes(self._heard[:count])
        del self._heard[:count]
        return taken

    def _wait(self, doing: str, until: float) -> None:
        """Waits a moment for more from the guest."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.select(_BEAT)
        if not self._hear(doing) and self._emulator.seconds() > until:
            raise SimulationError(f"the guest does not answer any more, during {doing}{self._why()}")

    def _hear(self, doing: str) -> bool:
        """Takes what the guest has said; whether it has. Raises SimulationError if it has ended."""
        runs = self._emulator.runs  # before the last look at what it has said
        self._emulator.read_console()
        try:
            data = self._control.recv(_PIECE, socket.MSG_DONTWAIT)
            runs = runs and data != b""
        except BlockingIOError:
            data = b""
        except ConnectionError:  # it has ended before it took what was said to it
            data, runs = b"", False
        self._heard += data
        if not data and not runs:
            kind = AbortedError if self._emulator.has_aborted() else SimulationError
            raise kind(f"the guest ended during {doing}{self._why()}")
        return data != b""

    def _send(self, port: socket.socket, data: memoryview) -> int:
        with selectors.DefaultSelector() as selector:
            selector.register(port, selectors.EVENT_WRITE)
            if not selector.select(_BEAT):
                self._hear("unpacking")
                return 0
        try:
            return port.send(data)
        except ConnectionError:
            self._hear("unpacking")
            return 0

    def _why(self) -> str:
        said = self._emulator.last_words()
        return f": {said}" if said else ""


def _output(answer: tuple[int, str], doing: str) -> str:
    code, output = answer
    if code != 0:
        said = (output.strip().splitlines() or [f"exit code {code}"])[-1]
        raise SimulationError(f"{doing} failed in the guest: {said}")
    return output
