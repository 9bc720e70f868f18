"""What the processors of a guest do while a program runs there, reported by the emulator's plug-in."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cxloom import _core
from cxloom.base.errors import AbsentError, InputError, SimulationError
from cxloom.booting.booted import Reporting
from cxloom.booting.kernel_layout import write_layout
from cxloom.booting.places import Part, write_parts
from cxloom.trace import threads
from cxloom.trace.emulator import MARKS, shared_folder
from cxloom.trace.source import Ended
from cxloom.trace.told import WORDS_OF_ONE, told

CLOCK = ("-icount", "shift=0")
"""The guest's clock goes by instructions, a nanosecond each, so that it stands still while the simulation computes:
otherwise timers of the kernel would come after a few thousand instructions."""

CLOCKS_OF_SEVERAL = "tsc=unstable clocksource=hpet"
"""What the kernel of several processors is told: QEMU counts instructions for one alone. The plug-in has its other
clocks go by them (integrations/qemu/guest_clock.hpp), but not the counter of cycles."""

RING = 1 << 14
"""Words that a processor tells before it waits for who reads them."""
RING_OF_SEVERAL = 1 << 12
"""Words that each of several processors tells before it waits. What one does to another, such as an interrupt, is as
much earlier or later in the simulated system (own choice)."""
WORDS_OF_SEVERAL = 1 << 12
"""Words of a processor that are read at once although others may be behind it then (own choice)."""

_PLUGIN = "cxloom_qemu_system.so"
_STARTER = "cxloom_start_program"
_LONGEST_END = 10.0  # seconds that a guest which was ended gets


def _built(name: str) -> Path:
    return Path(str(_core.__file__)).with_name(name)


def check_built() -> None:
    """Raises AbsentError if cxloom was built without its plug-in for QEMU."""
    if not _built(_PLUGIN).exists():
        raise AbsentError(
            "this cxloom was built without its plug-in for QEMU, which says what a program accesses",
            allowed="libzydis-dev and `make build`, or --untimed",
        )


def starter() -> Path:
    """What starts a program in the guest and marks when it begins and ends."""
    return _built(_STARTER)


class ReportedMachine:
    """The accesses of a guest while a program runs in it: those of the kernel and of all processes."""

    name = "qemu, a machine"

    def __init__(self, folder: str, sieve: _core.ProgramCapture, region: str | None, processors: int) -> None:
        """``folder`` has the memory that is shared with the plug-in; ``region`` is MARKS, or None: the whole
        program; ``processors`` are those of the guest."""
        self._processors = processors
        self._folder = Path(folder)
        self._sieve = sieve
        self._region = region
        self._run: Callable[[], int] | None = None
        self._code: int | None = None
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._stop: Callable[[], None] = lambda: None
        self.wanted = 0
        self.at_once = WORDS_OF_ONE if processors == 1 else WORDS_OF_SEVERAL
        self.ended = Ended()
        self.notes: tuple[str, ...] = ()

    @property
    def sieve(self) -> _core.ProgramCapture:
        """The recorder."""
        return self._sieve

    def reporting(self) -> Reporting:
        """How QEMU reports what the guest does."""
        plugin = self._folder / _PLUGIN  # a path without what parts the names of libraries
        plugin.unlink(missing_ok=True)
        plugin.symlink_to(_built(_PLUGIN))
        options = ("-plugin", f"{plugin},folder={self._folder}")
        if self._processors == 1:
            return Reporting(CLOCK, plugin=options)
        return Reporting(kernel=CLOCKS_OF_SEVERAL, preload=plugin, plugin=options)

    def kernel(self) -> dict[str, tuple[int, int]]:
        """Instructions of the guest's kernel and their accesses beyond the caches, by the name of their processor."""
        names = {each.number: each.program for each in threads.told(self._sieve.names)}
        return dict(sorted((names[number], counts) for number, counts in self._sieve.kernel.items()))

    def register_accesses(self) -> int:
        """Accesses to registers of devices, which are in no memory."""
        return self._sieve.register_accesses

    def prepare(
        self,
        parts: list[Part],
        run: Callable[[], int],
        stop: Callable[[], None],
        layout: Sequence[int] | None = None,
    ) -> None:
        """Says what is to run.

        Args:
            parts: the memory of the guest.
            layout: where its kernel knows of processes (kernel_layout); None: they are not told apart.
            run: runs the program in the guest, to its end; gives its exit code.
            stop: ends the guest, and so the run.
        """
        write_parts(parts, self._folder / "memory")
        if layout is not None:
            write_layout(layout, self._folder / "kernel")
        self._run, self._stop = run, stop

    def over(self) -> Ended | None:
        """How the program has ended; None while it runs."""
        if self._thread is None or self._thread.is_alive():
            return None
        failure, self._failure = self._failure, None
        if failure is not None:
            # The failure knows this call: were it known here, too, both and the recorder would stay for ever.
            try:
                raise failure
            finally:
                del failure
        return Ended(self._code)

    def accesses(self, step: Callable[[], bool]) -> Iterator[_core.Accesses]:
        """Runs the program; gives its records. ``step`` is asked now and then whether to go on.

        Raises SimulationError if the guest ends, or is interrupted before the program has begun, and InputError if the
        region of interest is not reached.
        """
        self._thread = threading.Thread(target=self._runs, name="guest", daemon=True)
        self._thread.start()
        try:
            self.ended = yield from told(self, self._sieve, step)
        finally:
            self._sieve.stop()
            if self._thread.is_alive():
                self._stop()
                self._thread.join(_LONGEST_END)
        if self._sieve.threads == 0 and self.ended.interrupted:
            raise SimulationError("interrupted before the program began")
        if self._region == MARKS and self._sieve.regions == 0 and not self.ended.interrupted:
            raise InputError("the region of interest was not reached: no mark of <cxloom/roi.h> was executed")

    def _runs(self) -> None:
        assert self._run is not None
        try:
            self._code = self._run()
        except BaseException as error:  # raised where the records are read
            self._failure = error


@contextlib.contextmanager
def reported_machine(
    core: _core.ProgramCore, region: str | None, durable: bool, processors: int = 1
) -> Iterator[ReportedMachine]:
    """A machine whose accesses pass the caches of that core; the shared memory is gone when this is left.

    Args:
        region: MARKS, or None: all that the program does.
        durable: whether flushes of lines count.
        processors: of the guest.
    """
    with shared_folder() as folder:
        ring = RING if processors == 1 else RING_OF_SEVERAL
        sieve = _core.ProgramCapture(folder, [], False, 0, None, region == MARKS, (0, 0), core, durable, ring)
        try:
            yield ReportedMachine(folder, sieve, region, processors)
        finally:
            sieve.stop()
