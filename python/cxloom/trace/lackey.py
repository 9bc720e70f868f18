"""A program under valgrind's lackey, which prints each of its accesses: an independent source of traces."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence

from cxloom import _core
from cxloom.base.errors import InputError
from cxloom.trace.format import TraceBatch
from cxloom.trace.source import Ended, ended, is_over

_BLOCK = 1 << 20
_TURN = 0.2  # seconds
_PARENT_DEATH_SIGNAL = 1  # of prctl


class LackeySource:
    """The accesses of a program, as lackey reports them; without dependences, and without the program's children."""

    name = "valgrind lackey"

    def __init__(self, command: Sequence[str], sieve: _core.LackeyCapture) -> None:
        """Raises InputError if valgrind or the program is missing."""
        if not command:
            raise InputError("no program to run", allowed="PROGRAM ARGS after --")
        self._valgrind = shutil.which("valgrind")
        if self._valgrind is None:
            raise InputError(
                "valgrind is not installed", allowed="install the package 'valgrind' of your distribution"
            )
        if shutil.which(command[0]) is None:
            raise InputError(f"there is no program '{command[0]}'", allowed="a program's name or path")
        self._command = command
        self.sieve = sieve
        self.ended = Ended()

    def batches(self, step: Callable[[], bool]) -> Iterator[TraceBatch]:
        """Runs the program; gives its records. ``step`` is asked now and then whether to go on."""
        with self._lackey() as (process, log):
            whole = False
            while step():
                # A wait that ends: Ctrl-C is noticed and `watch` is called although the program does nothing.
                if not select.select([log], [], [], _TURN)[0]:
                    continue
                if not (block := os.read(log, _BLOCK)):
                    whole = True
                    break
                batch = TraceBatch(*self.sieve.feed(block).columns())
                if len(batch):
                    yield batch
                if self.sieve.complete:
                    break
            if whole:
                self.sieve.finish()
                self.ended = Ended(process.wait())
            else:
                self.ended = Ended(limit=self.sieve.complete, interrupted=not self.sieve.complete)

    @contextlib.contextmanager
    def _lackey(self) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
        """The program, and the end of the pipe that its accesses come through; ends it when left."""
        log, log_end = os.pipe()
        with contextlib.suppress(OSError):  # fewer turns between the two; the default works as well
            fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, _BLOCK)
        options = ["--tool=lackey", "--trace-mem=yes", "--trace-sched=yes", "--child-silent-after-fork=yes"]
        try:
            process = subprocess.Popen(
                [str(self._valgrind), *options, f"--log-fd={log_end}", "--", *self._command],
                env=dict(os.environ),  # that of the user alone
                pass_fds=[log_end],
                preexec_fn=_ends_with(os.getpid()),
            )
        except OSError:
            os.close(log)
            raise
        finally:
            os.close(log_end)
        try:
            yield process, log
        finally:
            os.close(log)
            if not is_over(process):
                ended(process)


def _ends_with(parent: int) -> Callable[[], None] | None:
    """The first step of a process, so that it is killed with its parent; None where the system cannot do that."""
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None

    def ends() -> None:
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it was killed before
            os.kill(os.getpid(), signal.SIGKILL)

    return ends
