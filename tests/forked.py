"""The command as a process of its own that need not load the package: a copy of fork_server.py's process.

A new Python takes half a second of processor time and more before a command does anything. A copy has its own folder,
environment, descriptors, limits and plug-ins, and may crash. What it cannot show is how a process begins: that,
signals, and memory are for tests that start `python -m cxloom`.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

SERVER = Path(__file__).with_name("fork_server.py")
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Without these, NumPy and Arrow start threads when they are loaded."""
READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_")
"""Variables that count when a process begins, which a copy does not: they are as in this process."""


class Server:
    """The process that is copied, as this one sees it."""

    def __init__(self) -> None:
        self.wire, theirs = socket.socketpair()
        self.pipe = Connection(os.dup(self.wire.fileno()))
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, SERVER, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.said,
            env=os.environ | ONE_THREAD,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        atexit.register(self.end)

    def end(self) -> None:
        """Ends it: it reads that there is nobody any more."""
        self.pipe.close()
        self.wire.close()
        self.process.wait()

    def ended(self, streams: list[IO[bytes]], request: dict[str, object]) -> tuple[int, bool]:
        """The exit code of a command, and whether it ended in time."""
        try:
            socket.send_fds(self.wire, [b"."], [stream.fileno() for stream in streams])
            self.pipe.send(request)
            ended: tuple[int, bool] = self.pipe.recv()
        except (EOFError, OSError):
            self.said.seek(0)
            said = self.said.read().decode(errors="replace")
            raise RuntimeError(f"{SERVER.name} ended with {self.process.wait()}:\n{said}") from None
        return ended


@cache
def server(_tests: int) -> Server:
    """One for each process of tests."""
    return Server()


def forked(
    *words: object,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = 120,
    cpu_seconds: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """`cxloom` with these words, once it has ended, and what it printed: as of `subprocess.run`.

    Args:
        words: its arguments.
        cwd: where it starts; by default where this process is.
        env: its whole environment; by default this process's.
        seconds: it is killed after so many, which is a TimeoutExpired.
        cpu_seconds: the limit of its processor time.
    """
    command = ["cxloom", *map(str, words)]
    environment = dict(os.environ if env is None else env)
    for name in environment:
        if name.startswith(READ_AT_START) and environment[name] != os.environ.get(name):
            raise ValueError(f"{name} counts when a process begins: start one for {command}")
    with open(os.devnull, "rb") as none, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        request = {
            "words": command[1:],
            "cwd": str(Path(cwd or ".").absolute()),
            "env": environment,
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
        }
        code, in_time = server(os.getpid()).ended([none, out, err], request)
        printed = [_text(stream) for stream in (out, err)]
    if not in_time:
        raise subprocess.TimeoutExpired(command, seconds, *printed)
    return subprocess.CompletedProcess(command, code, *printed)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()
