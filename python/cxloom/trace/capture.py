"""Recording what a program does to memory: valgrind's lackey tells each access, caches filter them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from cxloom import _core
from cxloom.errors import InputError
from cxloom.trace.format import TraceBatch
from cxloom.trace.writer import check_writable, write_trace

_BLOCK = 1 << 20
_TURN = 0.2  # seconds
_PATIENCE = 10.0  # seconds that a program gets to end when asked to


@dataclass(frozen=True)
class CacheLevel:
    """A cache to filter with: 64-byte lines, write-back, write-allocate."""

    FORM: ClassVar[str] = "NAME:SIZE:WAYS[:POLICY], such as L1:32KiB:8"
    """How a level is written."""

    name: str
    size: str
    """With its unit, such as ``32KiB``."""
    ways: int
    """0 for fully associative."""
    policy: str = ""
    """``lru`` or another victim policy; that of caches by default where it is empty."""

    @classmethod
    def parse(cls, text: str) -> CacheLevel:
        """From ``NAME:SIZE:WAYS`` or ``NAME:SIZE:WAYS:POLICY``; raises InputError if it is neither."""
        parts = text.split(":")
        if len(parts) not in (3, 4) or not all(parts) or not parts[2].isdecimal():
            raise InputError("not a cache level", found=repr(text), allowed=cls.FORM)
        return cls(parts[0], parts[1], int(parts[2]), *parts[3:])

    def __str__(self) -> str:
        return ":".join([self.name, self.size, str(self.ways), *([self.policy] if self.policy else [])])


@dataclass(frozen=True)
class LevelCounts:
    """What a cache level did while the trace was recorded."""

    level: CacheLevel
    hits: int
    misses: int
    write_backs: int


@dataclass(frozen=True)
class CaptureResult:
    """What :func:`capture` recorded."""

    accesses: int
    instructions: int
    """Of all threads, while recording."""
    levels: tuple[LevelCounts, ...]
    exit_code: int | None
    """The program's own; None if it was ended because the limit was reached. Negative: the signal that ended it."""


def capture(
    command: Sequence[str],
    out: str | os.PathLike[str],
    *,
    caches: Sequence[CacheLevel] = (),
    skip: int = 0,
    limit: int | None = None,
    virtual: bool = False,
    recording: Callable[[], bool] | None = None,
    watch: Callable[[int, int], None] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> CaptureResult:
    """Runs a program to its end, or until ``limit`` accesses are recorded; writes what it does to memory to ``out``.

    With ``caches``, from the nearest to the last, the trace has the misses of the last one (reads) and what it writes
    back (writes), 64 bytes each; without, every load and store. Instructions count in the instruction gap, their
    fetches are not accesses. Addresses are physical, each page of 4 KiB getting the next frame when it is first
    touched; with ``virtual`` they are the program's own.

    The first ``skip`` records are left out, so that the caches are warm. ``recording`` is asked now and then; while it
    says False, caches fill but nothing is recorded. ``watch`` is told now and then how many instructions were run and
    how many accesses recorded. ``metadata`` adds to what the trace says about itself.

    The program has this process's standard input and output. Its child processes are not recorded: name a program, not
    a script that starts one.

    Raises InputError if valgrind or the program is missing, a cache cannot be, or nothing was recorded.
    """
    check_writable(out)
    if not command:
        raise InputError("no program to run", allowed="PROGRAM ARGS after --")
    valgrind = _find(
        "valgrind", "valgrind is not installed", "install the package 'valgrind' of your distribution"
    )
    _find(command[0], f"there is no program '{command[0]}'", "a program's name or path")
    levels = [(level.size, level.ways, level.policy) for level in caches]
    sieve = _core.CaptureFilter(levels, not virtual, skip, limit)

    about = {
        "source": "valgrind lackey",
        "command": shlex.join(command),
        "address space": "virtual" if virtual else "physical, frames of 4 KiB in the order of first touch",
        **({"caches": " ".join(map(str, caches))} if caches else {}),
        **({"skipped": str(skip)} if skip else {}),
        "written by": f"cxloom {_core.__version__}",
        **(metadata or {}),
    }
    with _lackey(valgrind, command) as (process, log):
        batches = _records(log, sieve, recording, watch)
        try:
            count = write_trace(out, batches, about)
        except InputError as error:
            if error.line is not None:  # of what lackey wrote, which nobody can look up
                problem = f"the program's accesses cannot be read: {error.problem}"
                raise InputError(problem, found=error.found, file=out) from error
            raise
        exit_code = None if sieve.complete else process.wait()
    counts = tuple(LevelCounts(level, *count) for level, count in zip(caches, sieve.counts, strict=True))
    return CaptureResult(count, sieve.instructions, counts, exit_code)


def _find(program: str, problem: str, allowed: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise InputError(problem, allowed=allowed)
    return found


@contextlib.contextmanager
def _lackey(valgrind: str, command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The program under lackey, and the end of the pipe that its accesses come through; ends it when left."""
    log, log_end = os.pipe()
    with contextlib.suppress(OSError):  # fewer turns between the two; the default works as well
        fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, _BLOCK)
    options = ["--tool=lackey", "--trace-mem=yes", "--trace-sched=yes", "--child-silent-after-fork=yes"]
    try:
        process = subprocess.Popen(
            [valgrind, *options, f"--log-fd={log_end}", "--", *command], pass_fds=[log_end]
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
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _records(
    log: int,
    sieve: _core.CaptureFilter,
    recording: Callable[[], bool] | None,
    watch: Callable[[int, int], None] | None,
) -> Iterator[TraceBatch]:
    on = True
    while True:
        # A wait that ends: Ctrl-C is noticed and `watch` is told although the program does nothing.
        if not select.select([log], [], [], _TURN)[0]:
            if watch is not None:
                watch(sieve.instructions_in_all, sieve.records)
            continue
        if not (block := os.read(log, _BLOCK)):
            break
        if recording is not None and recording() != on:
            on = not on
            sieve.set_recording(on)
        batch = TraceBatch(*sieve.feed(block).columns())
        if len(batch):
            yield batch
        if watch is not None:
            watch(sieve.instructions_in_all, sieve.records)
        if sieve.complete:
            return
    sieve.finish()
