"""The process of which forked.py has a copy made for each command: it has loaded the package, and does nothing with it.

A copy has one thread, and would wait for ever for a lock that another thread held. So this process has only one, which
it sees to before each copy.
"""

from __future__ import annotations

import atexit
import gc
import os
import resource
import runpy
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import MetaPathFinder
from multiprocessing.connection import Connection

FIRST = ("cxloom.cli.process", "cxloom.cli.app", "cxloom.cli.run", "rich.table")
"""What nearly every command loads."""
SHARED = ("cxloom", "matplotlib", "numpy", "pyarrow", "pydantic", "rich", "ruamel", "scipy")
"""What a command loads of these besides is loaded here once it has ended, for the next ones."""
WITHHELD = "polars"
"""It starts a thread when it is loaded: each copy that needs it loads it, and what loads it, for itself."""


@dataclass(frozen=True)
class Request:
    """A command that is wanted."""

    words: list[str]
    cwd: str
    env: dict[str, str]
    seconds: float
    """It is killed after so many."""
    cpu_seconds: int | None
    """The limit of its processor time."""


def serve(wire: socket.socket) -> Request:
    """Copies this process for each request. Only the copy returns, to be the command."""
    pipe = Connection(os.dup(wire.fileno()))
    tried: set[str] = set()
    while streams := socket.recv_fds(wire, 1, 3)[1]:
        request = Request(**pipe.recv())
        if len(os.listdir("/proc/self/task")) > 1:
            sys.exit(f"a second thread was started by what these loaded: {sorted(sys.modules)}")
        loaded = os.memfd_create("loaded")
        gc.freeze()  # the search for circles would make the copy's memory its own
        child = os.fork()
        if child == 0:
            pipe.close()
            wire.close()
            _become(request, streams, loaded)
            return request
        for stream in streams:
            os.close(stream)
        pipe.send(_ended(child, request.seconds))
        names = set(_written(loaded).split()) - tried
        _load(sorted(names))
        tried |= names
    sys.exit()


def _become(request: Request, streams: list[int], loaded: int) -> None:
    """Makes this copy what a process is that was started for the command."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request.env)
    os.chdir(request.cwd)
    sys.path[0] = request.cwd
    sys.argv = ["cxloom", *request.words]
    if request.cpu_seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (request.cpu_seconds, request.cpu_seconds))
    before = set(sys.modules)
    atexit.register(lambda: os.write(loaded, "\n".join(set(sys.modules) - before).encode()))


def _ended(child: int, seconds: float) -> tuple[int, bool]:
    """The exit code, as subprocess has it, and whether it ended in time."""
    handle = os.pidfd_open(child)
    in_time = bool(select.select([handle], [], [], seconds)[0])
    os.close(handle)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), in_time


def _written(file: int) -> str:
    with open(file) as stream:
        stream.seek(0)
        return stream.read()


class _Withhold(MetaPathFinder):
    """Fails to load what is withheld, and so what asks for it."""

    def find_spec(self, name: str, _path: object, _target: object = None) -> None:
        """Finds nothing, so that others look for it, or ends the search."""
        if name == WITHHELD:
            raise RuntimeError(name)


def _load(names: list[str]) -> None:
    sys.meta_path.insert(0, _Withhold())
    for name in names:
        if name.partition(".")[0] in SHARED:
            with suppress(Exception):
                import_module(name)
    del sys.meta_path[0]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the tests: this process ends with them
    for name in FIRST:
        import_module(name)
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("cxloom", run_name="__main__", alter_sys=True)
