"""The standard streams of a program in the guest, carried between its ports and descriptors of ours."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
from collections.abc import Mapping

_PIECE = 1 << 16
_NAMES = {1: "standard output", 2: "standard error"}


class Streams:
    """Carries bytes as they come. What the guest's end does not take waits in our descriptor, and so the other way."""

    def __init__(self, ports: Mapping[str, socket.socket], stdin: int, outputs: Mapping[str, int]) -> None:
        """``outputs`` has the descriptor for each port that is an output."""
        self._port = ports["stdin"]
        self._stdin: int | None = stdin
        self._waiting = b""  # of the input: the guest has not taken it yet
        self._outputs = {ports[name]: descriptor for name, descriptor in outputs.items()}

    def move(self, seconds: float) -> None:
        """Carries what there is, or comes within that time. Raises OSError if an output cannot be written."""
        with selectors.DefaultSelector() as selector:
            for port in self._outputs:
                selector.register(port, selectors.EVENT_READ)
            if self._waiting:
                selector.register(self._port, selectors.EVENT_WRITE)
            elif self._stdin is not None:
                try:
                    selector.register(self._stdin, selectors.EVENT_READ)
                except (PermissionError, ValueError):  # a file, which is always ready
                    self._take_input()
                    seconds = 0
            for key, _ in selector.select(seconds):
                if key.fileobj in self._outputs:
                    self._put_output(key.fileobj)
                elif not self._waiting:
                    self._take_input()
            self._give_input()

    def drain(self) -> None:
        """Carries the output that has come. Raises OSError if it cannot be written."""
        for port in self._outputs:
            while self._put_output(port):
                pass

    def _take_input(self) -> None:
        assert self._stdin is not None
        try:
            self._waiting = os.read(self._stdin, _PIECE)
        except OSError:  # closed, or a terminal that is not ours to read
            self._waiting = b""
        if not self._waiting:
            self._stdin = None
            with contextlib.suppress(OSError):
                self._port.shutdown(socket.SHUT_WR)

    def _give_input(self) -> None:
        if self._waiting:
            try:
                sent = self._port.send(self._waiting, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:  # QEMU has ended, which is noticed elsewhere
                sent = len(self._waiting)
            self._waiting = self._waiting[sent:]

    def _put_output(self, port: socket.socket) -> bool:
        """Carries a piece of output, if there is any."""
        try:
            left = memoryview(port.recv(_PIECE, socket.MSG_DONTWAIT))
        except OSError:
            return False
        had = len(left) > 0
        descriptor = self._outputs[port]
        try:
            while left:
                left = left[os.write(descriptor, left) :]
        except OSError as error:
            error.filename = _NAMES.get(descriptor)
            raise
        return had
