"""A worker: a process that is fed points by a supervisor, one at a time, and ends with it."""

from __future__ import annotations

import gc
import os
import sys
import threading
from multiprocessing.connection import Connection

from cxloom.sweeping.work import Bench

_YOUNG = 200_000
"""Young objects before a collection, as in cxloom/cli/process.py: a run makes no circles of objects to look for."""

READY = "ready"
"""The message of a worker before its first task."""


def command(tasks: int, lifeline: int) -> list[str]:
    """How to start a worker: a fresh Python, which finds what this one finds, and does not run anybody's script.

    Args:
        tasks: the descriptor of its end of the pipe for tasks and reports.
        lifeline: the descriptor of a pipe that nobody writes to: it ends when the supervisor does.
    """
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        f"from cxloom.sweeping import worker; worker.main({tasks}, {lifeline})"
    )
    return [sys.executable, "-c", program]


def main(tasks: int, lifeline: int) -> None:
    """Carries out tasks until there are no more, or nobody is there who would give any."""
    gc.set_threshold(_YOUNG)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    with Connection(tasks) as pipe:
        try:
            bench = Bench(pipe.recv())
            pipe.send(READY)
            while (task := pipe.recv()) is not None:
                pipe.send(bench.carry_out(task, pipe.send))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return


def _end_with(lifeline: int) -> None:
    """Ends the process, whatever it is doing, when the other end of the pipe is closed."""
    os.read(lifeline, 1)
    os._exit(1)
