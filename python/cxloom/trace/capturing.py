"""Recording what a program does to memory: an emulator reports each access, caches filter them."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cxloom import _core
from cxloom.base.descriptors import hold_standard_descriptors
from cxloom.base.errors import InputError
from cxloom.base.granules import PAGE
from cxloom.base.words import exact_bytes
from cxloom.trace import objects, threads
from cxloom.trace.emulator import EmulatedSource
from cxloom.trace.format import TraceBatch
from cxloom.trace.lackey import LackeySource
from cxloom.trace.source import Ended, Source
from cxloom.trace.translation import Translation
from cxloom.trace.writer import check_writable, write_trace

SOURCES = ("qemu", "valgrind")
"""The programs that can run a program and report what it accesses."""
_UNKNOWN_TO_VALGRIND = "unhandled instruction"


@dataclass(frozen=True)
class CacheLevel:
    """A cache to filter with: 64-byte lines, write-back, write-allocate."""

    FORM: ClassVar[str] = "NAME:SIZE:WAYS[:POLICY], such as L1:32KiB:8"
    """How a level is written."""

    name: str
    size: str
    """The size with its unit, such as ``32KiB``."""
    ways: int
    """0 for fully associative."""
    policy: str = ""
    """``lru`` or another victim policy; that of caches by default where it is empty."""

    @classmethod
    def parse(cls, text: str) -> CacheLevel:
        """The level ``NAME:SIZE:WAYS[:POLICY]``; raises InputError if a text is none, or one that cannot be."""
        parts = text.split(":")
        if len(parts) not in (3, 4) or not all(parts) or not parts[2].isdecimal():
            raise InputError("not a cache level", found=repr(text), allowed=cls.FORM)
        level = cls(parts[0], parts[1], int(parts[2]), *parts[3:])
        try:
            _core.LackeyCapture([(level.size, level.ways, level.policy)])
        except InputError as error:
            raise InputError(
                f"not a cache level: {error.problem}",
                found=repr(text),
                allowed=error.allowed or cls.FORM,
                suggestion=error.suggestion,
            ) from None
        return level

    def __str__(self) -> str:
        return ":".join([self.name, self.size, str(self.ways), *([self.policy] if self.policy else [])])


@dataclass(frozen=True)
class Sample:
    """The recorded part of a program: of every ``period`` instructions, of all threads, the last ``window``."""

    FORM: ClassVar[str] = "WINDOW/PERIOD in instructions, such as 1M/100M"
    """How a sample is written."""

    window: int
    period: int

    @classmethod
    def parse(cls, text: str) -> Sample:
        """The sample ``WINDOW/PERIOD``, numbers with K, M or G; raises InputError if it is neither."""
        found = re.fullmatch(r"([0-9]{1,15})([KMG]?)/([0-9]{1,15})([KMG]?)", text)
        if found is None:
            raise InputError("not a sample", found=repr(text), allowed=cls.FORM)
        scale = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
        window, period = int(found[1]) * scale[found[2]], int(found[3]) * scale[found[4]]
        if not 0 < window < period < 2**63:
            raise InputError("a window that is not within its period", found=repr(text), allowed=cls.FORM)
        return cls(window, period)


class CoreOfTrace:
    """The core by whose pace a trace is recorded: what `core` of a host says of it (docs/model/core.md)."""

    NAME: ClassVar[str] = "core"
    """The metadata of a trace that says for which core it was recorded."""

    def __init__(self, given: Mapping[str, Any] | None = None, path: str = "core") -> None:
        """``given`` is as in a spec; ``path`` is where it stands. Raises InputError."""
        self._given = dict(given or {})
        self.program = _core.ProgramCore(self._given, path)

    @classmethod
    def parse(cls, text: str) -> CoreOfTrace:
        """The core that `str` wrote; raises InputError if it is none."""
        try:
            given = json.loads(text)
            if not isinstance(given, dict):
                raise ValueError("not a map")
        except (ValueError, RecursionError) as error:
            raise InputError("not a core", found=repr(text), allowed='such as {"width": 4}') from error
        return cls(given)

    @property
    def page_bytes(self) -> int:
        """Bytes of a page of a program."""
        return self.program.page

    @property
    def has_huge_pages(self) -> bool:
        """Whether all pages of a program are of 2 MiB."""
        return self.program.page > PAGE

    @property
    def caches(self) -> tuple[CacheLevel, ...]:
        """The caches that it has for itself, the nearest first."""
        return tuple(
            CacheLevel(f"L{number}", exact_bytes(size), ways, policy)
            for number, (size, ways, policy) in enumerate(self.program.caches, start=1)
        )

    def without_caches(self) -> CoreOfTrace:
        """All that a program accesses comes out of it."""
        return CoreOfTrace({**self._given, "caches": []})

    def __str__(self) -> str:
        return json.dumps(self._given)


@dataclass(frozen=True)
class LevelCounts:
    """The counts of a cache level while the trace was recorded."""

    level: CacheLevel
    hits: int
    misses: int
    write_backs: int
    prefetches: int = 0
    """Lines brought into it ahead of their use."""
    useful: int = 0
    """Lines of these that were used."""
    useless: int = 0
    """Lines of these that left it before they were used."""


@dataclass(frozen=True)
class CaptureResult:
    """The result of :func:`capture`."""

    accesses: int
    instructions: int
    """Instructions of all threads, while recording."""
    levels: tuple[LevelCounts, ...]
    ended: Ended
    """How the program came to its end."""
    instructions_in_all: int
    """Instructions of all threads, recorded or not."""
    loads: int | None = None
    """Accesses that read, in all; None if valgrind recorded."""
    stores: int | None = None
    flushes: int = 0
    """Lines that instructions flushed, or marks of <cxloom/persist.h>, in all."""
    threads: int | None = None
    """Threads of all processes."""
    processes: int | None = None
    """Programs, and forks of them."""
    escaped: int = 0
    """Programs that were started and could not be emulated, so that nothing of them is recorded."""
    notes: tuple[str, ...] = ()
    """Remarks on how it ended."""

    @property
    def exit_code(self) -> int | None:
        """The program's own; None if it was ended from here. Negative: the signal that ended it."""
        return self.ended.exit_code


def about(
    source: str,
    command: Sequence[str],
    caches: Sequence[CacheLevel] = (),
    virtual: bool = False,
    region: str | None = None,
    core: CoreOfTrace | None = None,
) -> dict[str, str]:
    """The metadata of a program's trace, by name."""
    return {
        "source": source,
        "command": shlex.join(command),
        "address space": "virtual"
        if virtual
        else f"physical, frames of {_page_of(core)} in the order of first touch",
        **({"caches": " ".join(map(str, caches))} if caches else {}),
        **({"region of interest": region} if region else {}),
        **({CoreOfTrace.NAME: str(core)} if core else {}),
        "written by": f"cxloom {_core.__version__}",
    }


def _page_of(core: CoreOfTrace | None) -> str:
    return "2 MiB" if core is not None and core.has_huge_pages else "4 KiB"


def capture(
    command: Sequence[str],
    out: str | os.PathLike[str],
    *,
    caches: Sequence[CacheLevel] = (),
    skip: int = 0,
    limit: int | None = None,
    virtual: bool = False,
    region: str | None = None,
    sample: Sample | None = None,
    core: Mapping[str, Any] | None = None,
    recording: Callable[[], bool] | None = None,
    watch: Callable[[int, int], None] | None = None,
    interrupted: Callable[[], bool] | None = None,
    metadata: Mapping[str, str] | None = None,
    source: str = "qemu",
) -> CaptureResult:
    """Runs a program to its end, or until ``limit`` accesses are recorded; writes what it does to memory to ``out``.

    With ``caches``, from the nearest to the last, the trace has the misses of the last one (reads) and what it writes
    back (writes), 64 bytes each; without, every load and store. Instructions count in the instruction gap, their
    fetches are not accesses. Addresses are physical, each page of 4 KiB getting the next frame when it is first
    touched; with ``virtual`` they are the program's own.

    The first ``skip`` records are left out, so that the caches are warm. Recorded is what is in the ``region`` of
    interest (a function of the program and all that it calls, or with ``"marks"`` what is between the marks of
    <cxloom/roi.h>), in the windows of the ``sample``, and while ``recording``, which is asked now and then, says True;
    the caches fill all the time. ``watch`` is called now and then with the numbers of instructions run and of accesses
    recorded. If ``interrupted``, asked now and then, says True, the program is ended, and what was recorded is kept.
    ``metadata`` adds to what the trace says about itself.

    ``core`` is the core whose pace is recorded, as `core` of a host (docs/model/core.md); if it is given and ``caches``
    are not, its own are taken. With a `tlb` in it walks of the page table are recorded, too.

    The program has this process's standard input and output. With the ``source`` ``"qemu"`` it is emulated, each access
    has the one that it waits for as its dependence and the cycles that a ``core`` takes up to it, what threads do to
    each other is noted, and the programs that it starts are recorded, too; with ``"valgrind"`` nothing of that.

    Raises InputError if the source or the program is missing, a cache cannot be, or nothing was recorded, and
    SimulationError if the program cannot be followed.
    """
    hold_standard_descriptors()
    check_writable(out)
    levels = [(level.size, level.ways, level.policy) for level in caches]
    recorded = CoreOfTrace(core)
    filtering = tuple(caches) or (recorded.caches if core is not None else ())
    teller: Source
    if source == "qemu":
        _core.LackeyCapture(levels)  # says what is wrong with the levels before anything runs
        windows = (sample.window, sample.period) if sample else (0, 0)
        pace = recorded if core is not None or caches else recorded.without_caches()
        teller = EmulatedSource(
            command,
            lambda folder: _core.ProgramCapture(
                folder, levels, not virtual, skip, limit, region is not None, windows, pace.program
            ),
            region,
        )
    else:
        _refuse_source(source, {"region": region, "sample": sample, "core": core})
        teller = LackeySource(command, _core.LackeyCapture(levels, not virtual, skip, limit))
    said = {
        **about(teller.name, command, caches, virtual, region, recorded if source == "qemu" else None),
        **({"skipped": str(skip)} if skip else {}),
        **({"sample": f"the last {sample.window} of every {sample.period} instructions"} if sample else {}),
        **(metadata or {}),
    }

    on = True

    def step() -> bool:
        nonlocal on
        if recording is not None and recording() != on:
            on = not on
            teller.sieve.set_recording(on)
        if watch is not None:
            watch(teller.sieve.instructions_in_all, teller.sieve.records)
        return interrupted is None or not interrupted()

    def batches() -> Iterator[TraceBatch]:
        yield from teller.batches(step)
        if isinstance(teller.sieve, _core.ProgramCapture) and not virtual:
            said.update(objects.recorded(objects.Objects(teller.sieve), out))
        if isinstance(teller.sieve, _core.ProgramCapture):
            said.update(threads.recorded(threads.told(teller.sieve.names), out))
        said.update(teller.ended.to_metadata())
        if isinstance(teller.sieve, _core.ProgramCapture):
            found = Translation.of(teller.sieve.translation)
            said.update({} if found is None else found.to_metadata())

    try:
        count = write_trace(out, batches(), said)
    except InputError as error:
        if error.line is None:
            raise
        raise _unreadable(error, out) from error
    return _result(count, teller, filtering)


def _refuse_source(source: str, only_of_qemu: Mapping[str, Any]) -> None:
    """Raises InputError for a source that there is not, or one that cannot do what is asked for."""
    if source not in SOURCES:
        raise InputError("no such source", found=repr(source), allowed=", ".join(SOURCES), path="source")
    for name, given in only_of_qemu.items():
        if given is not None:
            raise InputError("valgrind cannot do this", allowed="the source qemu", path=name)


def _unreadable(error: InputError, out: str | os.PathLike[str]) -> InputError:
    """The error of a line that lackey wrote, which nobody can look up."""
    if _UNKNOWN_TO_VALGRIND in error.found:
        return InputError(
            "valgrind does not know an instruction of the program",
            found=error.found,
            allowed="--with qemu, which knows clwb and clflushopt",
            file=out,
        )
    problem = f"the program's accesses cannot be read: {error.problem}"
    return InputError(problem, found=error.found, file=out)


def _result(count: int, teller: Source, filtering: Sequence[CacheLevel]) -> CaptureResult:
    sieve = teller.sieve
    counts = tuple(LevelCounts(level, *count) for level, count in zip(filtering, sieve.counts, strict=True))
    more: dict[str, Any] = {}
    if isinstance(sieve, _core.ProgramCapture):
        names = ("loads", "stores", "flushes", "threads", "processes", "escaped")
        more = {name: getattr(sieve, name) for name in names}
    if isinstance(teller, EmulatedSource):
        more["notes"] = teller.notes
    return CaptureResult(count, sieve.instructions, counts, teller.ended, sieve.instructions_in_all, **more)
