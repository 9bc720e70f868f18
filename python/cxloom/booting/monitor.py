"""QEMU's monitor, where commands and their answers are lines of JSON (QMP)."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any

from cxloom.base.errors import SimulationError


class Monitor:
    """Commands to QEMU, and their answers."""

    def __init__(self, port: socket.socket) -> None:
        self._port = port
        self._lines = port.makefile("rb")
        self._answer()
        self.run("qmp_capabilities")

    def run(self, command: str, **arguments: str | bool) -> dict[str, Any]:
        """Runs a command; gives its answer. Raises OSError if it fails, and SimulationError if QEMU ends."""
        with contextlib.suppress(ConnectionError):  # that QEMU has ended is noticed when its answer is read
            self._port.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while "return" not in (answer := self._answer()):
            if "error" in answer:
                raise OSError(str(answer["error"].get("desc")))
        found: dict[str, Any] = answer["return"]
        return found

    def close(self) -> None:
        """Leaves the monitor."""
        self._lines.close()

    def _answer(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
        except ConnectionError:
            line = b""
        if not line:
            raise SimulationError("the guest ended while its monitor was asked")
        found: dict[str, Any] = json.loads(line)
        return found
