"""A program under QEMU's user-mode emulation, whose plug-in reports what its threads execute and access."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from cxloom import _core
from cxloom.base.errors import InputError, SimulationError
from cxloom.base.words import counted
from cxloom.trace.executable import Executable, find_executable
from cxloom.trace.format import TraceBatch
from cxloom.trace.functions import FunctionPlace, find_function, libraries_of
from cxloom.trace.source import Ended, ended, is_over
from cxloom.trace.told import WORDS_OF_ONE, told

EMULATOR = "qemu-x86_64"
"""The emulator's command."""
CPU = "max,-erms,-fsrm"
"""The processor that it emulates: all it can do, but libraries copy by vectors and not by strings, byte by byte."""
MARKS = "marks"
"""The region of interest is between the marks of <cxloom/roi.h>."""

_PROBLEMS = {
    "qemu-user": "QEMU's user-mode emulation is not installed",
    "libzydis-dev": "this cxloom was built without its plug-in for QEMU",
}
_PREFIX = "cxloom-program-"
_END_BY_SIGILL = 128 + signal.SIGILL
_GRACE = 0.05  # seconds between asking a program's children for their end and ending them
_ENOUGH = 64 << 20  # bytes of shared memory
_FILE = 1 << 20  # bytes that a file of it has at most
_MEMORY = "/dev/shm"


def what_is_missing() -> InputError | None:
    """The missing packages without which programs cannot be run, and what to type; None if all is there."""
    packages = missing_packages()
    if not packages:
        return None
    problems = [_PROBLEMS[package] for package in packages]
    where = ", in cxloom's folder" if "libzydis-dev" in packages else ""
    return InputError(
        ", and ".join(problems), allowed=f"QEMU 7.2; on Debian 12{where}: {what_to_type(packages)}"
    )


def what_to_type(packages: Sequence[str]) -> str:
    """The line that installs them, and builds what needs one of them."""
    build = " && make build" if "libzydis-dev" in packages else ""
    return f"sudo apt-get install {' '.join(packages)}{build}"


def missing_packages() -> list[str]:
    """The Debian packages that are missing, without which programs cannot be run."""
    emulator = [] if shutil.which(EMULATOR) is not None else ["qemu-user"]
    return emulator + ([] if _plugin().exists() else ["libzydis-dev"])


def _plugin() -> Path:
    return Path(str(_core.__file__)).with_name("cxloom_qemu.so")


class EmulatedSource:
    """The accesses of a program, its threads and the programs that it starts included."""

    name = "qemu"

    def __init__(
        self,
        command: Sequence[str],
        sieve: Callable[[str], _core.ProgramCapture],
        region: str | None = None,
    ) -> None:
        """``sieve`` makes what records, given the folder of the shared memory; ``region`` is the function that is of
        interest, or :data:`MARKS`, or all. Raises InputError if the emulator, its plug-in or the program is missing.
        """
        _check_file_size()
        if (missing := what_is_missing()) is not None:
            raise missing
        self._emulator = str(shutil.which(EMULATOR))
        self._plugin = _plugin()
        self._program = find_executable(command)
        self._region = region
        self._function = None if region is None or region == MARKS else self._find(region)
        self._make_sieve = sieve
        self.wanted = 0
        self.at_once = WORDS_OF_ONE
        """The thread whose records are waited for: they come first. 0: all threads take turns."""
        self.ended = Ended()
        self._sieve: _core.ProgramCapture | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def over(self) -> Ended | None:
        """How the program has ended; None while it runs."""
        assert self._process is not None
        return Ended(self._process.returncode) if is_over(self._process) else None

    def _find(self, function: str) -> FunctionPlace:
        path = self._program.path
        return find_function(path, function, lambda: libraries_of(path, [self._emulator, "-cpu", CPU]))

    @property
    def sieve(self) -> _core.ProgramCapture:
        """The recorder, once the program runs."""
        assert self._sieve is not None
        return self._sieve

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the program ended."""
        advice = "compile it with -march=x86-64-v3, which goes up to AVX2, and not with -march=native"
        if self.sieve.lacking:
            return (
                f"the program came to an instruction that the emulator does not have, {self.sieve.lacking}: {advice}",
            )
        if self.ended.command_code == _END_BY_SIGILL:
            return (
                "the program was ended by SIGILL: it came to an instruction that QEMU 7.2 does not have, or that is "
                f"none, as __builtin_trap puts it; in the first case {advice}",
            )
        return ()

    def batches(self, step: Callable[[], bool]) -> Iterator[TraceBatch]:
        """The records of :meth:`accesses` in columns."""
        for accesses in self.accesses(step):
            yield TraceBatch(*accesses.columns())

    def accesses(self, step: Callable[[], bool]) -> Iterator[_core.Accesses]:
        """Runs the program; gives its records. ``step`` is asked now and then whether to go on.

        Raises SimulationError if the emulator does not start it, or the plug-in fails.
        """
        with shared_folder() as folder:
            self._sieve = sieve = self._make_sieve(folder)
            process = subprocess.Popen(self._command(folder), env=_for_the_emulator(os.environb))
            try:
                yield from self._records(process, sieve, step)
            finally:
                sieve.stop()
                _end_all(process, sieve, folder)

    def _records(
        self, process: subprocess.Popen[bytes], sieve: _core.ProgramCapture, step: Callable[[], bool]
    ) -> Iterator[_core.Accesses]:
        self._process = process
        self.ended = yield from told(self, sieve, step)
        if self.ended.limit:
            return
        if sieve.threads == 0 and not self.ended.interrupted:
            raise self._not_started(process)
        if self._region is not None and sieve.regions == 0 and not self.ended.interrupted:
            what = (
                "no mark of <cxloom/roi.h>"
                if self._region == MARKS
                else f"the function '{self._region}' never"
            )
            raise InputError(f"the region of interest was not reached: {what} was executed")

    def _command(self, folder: str) -> list[str]:
        options = [f"{self._plugin}".replace(",", ",,"), f"folder={folder}", f"cpu={CPU.replace(',', ':')}"]
        if self._function is not None:
            options.append(self._function.option())
        program: Executable = self._program
        own, *arguments = program.arguments
        front = [self._emulator, "-cpu", CPU, "-plugin", ",".join(options), "-0", own]
        return [*front, program.path, *arguments]

    def _not_started(self, process: subprocess.Popen[bytes]) -> SimulationError:
        version = subprocess.run([self._emulator, "--version"], capture_output=True, text=True, check=False)
        said = version.stdout.partition("\n")[0] or "no version"
        return SimulationError(
            f"the emulator did not start the program (exit code {process.returncode}, {said}); "
            "cxloom needs QEMU 7.2 with support for plug-ins"
        )


def _for_the_emulator(environment: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Variables in the order in which QEMU has to be given them: it hands them on in the reverse order."""
    return dict(reversed(list(environment.items())))


def _check_file_size() -> None:
    """Memory shared with the program lies in files; the writer of a file above the limit is killed by SIGXFSZ."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY and limit < _FILE:
        raise InputError(
            "the limit of the size of files is too small for the memory that is shared with the program",
            found=counted(limit, "byte"),
            allowed=f"at least {_FILE}, as `ulimit -f {_FILE // 1024}` sets it",
        )


@contextlib.contextmanager
def shared_folder() -> Iterator[str]:
    """A private folder for shared memory, in memory if there is enough of it; gone when it is left.

    What a killed cxloom left goes, too: nobody holds its lock.
    """
    for place in {_place(), _MEMORY, tempfile.gettempdir()}:
        with contextlib.suppress(OSError):
            for old in Path(place).glob(f"{_PREFIX}*"):
                _remove_abandoned(old)
    folder, lock = _locked_folder(_place())
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked_folder(place: str) -> tuple[str, int]:
    """A new folder, and the descriptor that has its lock."""
    while True:
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
        lock = -1
        with contextlib.suppress(FileNotFoundError):  # another took it for abandoned before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.stat(folder), os.fstat(lock)):
                return folder, lock
        if lock >= 0:
            os.close(lock)


def _place() -> str:
    try:
        room = os.statvfs(_MEMORY)
        if os.access(_MEMORY, os.W_OK) and room.f_bavail * room.f_frsize >= _ENOUGH:
            return _MEMORY
    except OSError:
        pass
    return tempfile.gettempdir()


def _remove_abandoned(folder: Path) -> None:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass
    finally:
        os.close(lock)


def _end_all(process: subprocess.Popen[bytes], sieve: _core.ProgramCapture, folder: str) -> None:
    """Ends the program if it still runs, and then those that it started, in good order if they can be. If it ended by
    itself, they go on."""
    if is_over(process):
        return
    ended(process)
    for number in sieve.living:
        with contextlib.suppress(OSError):
            # Only what is still ours: numbers of processes are used again.
            if folder.encode() in Path(f"/proc/{number}/cmdline").read_bytes():
                os.kill(number, signal.SIGTERM)
    time.sleep(_GRACE)
    sieve.end_programs()
