"""The time of a program in a guest: what its processors do is played on the simulated system."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cxloom.base.errors import InputError, SimulationError
from cxloom.base.words import counted
from cxloom.booting.booted import BootedMachine, Reporting
from cxloom.booting.kernel_layout import kernel_layout
from cxloom.booting.machine import Machine
from cxloom.booting.places import parts_of
from cxloom.booting.policy import Policy
from cxloom.booting.program import Program
from cxloom.booting.reported import ReportedMachine, check_built, reported_machine, starter
from cxloom.booting.uses import KERNEL, ProcessUse, owners_of, uses_of
from cxloom.execution.placed_program import PlacedProgram, core_of, is_persistent, prepare_all
from cxloom.execution.processor import Processor
from cxloom.execution.program import SAMPLING, play_source
from cxloom.execution.result import REGION, ExecutionResult
from cxloom.execution.sampling import Sampling
from cxloom.system.system import System
from cxloom.trace.capturing import about
from cxloom.trace.emulator import MARKS

NEAR = "preferred"
"""What a run is compared with: all pages in the nearest memory that has room."""
AS_IT_IS = "as-is"
"""Pages where the guest's kernel has them."""
COUNTED = (
    "numa_pte_updates",
    "numa_hint_faults",
    "numa_hint_faults_local",
    "pgpromote_candidate",
    "pgpromote_success",
    "pgdemote_kswapd",
    "pgdemote_direct",
    "pgmigrate_success",
    "pgmigrate_fail",
    "pgfault",
    "pgmajfault",
    "pswpin",
    "pswpout",
)
"""Counters of /proc/vmstat that say what the kernel does with pages."""


@dataclass(frozen=True)
class MachineResult:
    """A program in a guest, on simulated systems."""

    result: ExecutionResult
    kernel_instructions: int
    """Instructions of the guest's kernel, of those of the result."""
    kernel_accesses: int
    """Accesses of the kernel beyond the caches, of those of the result."""
    processors: Mapping[str, tuple[int, int]]
    """Instructions and such accesses of the kernel on each processor that did some of its work, by name."""
    counters: Mapping[str, int]
    """How far COUNTED went on meanwhile; those that this kernel has."""
    register_accesses: int = 0
    """Accesses to registers of devices, which are in no memory of the system: they take no time, and are not among
    those of the result."""
    processes: tuple[ProcessUse, ...] = ()
    """What ran outside of the kernel, those with the most accesses first; none if they cannot be told apart."""
    owners: Mapping[int, str] = field(default_factory=dict)
    """The process and the mapping that access each region of the result most, but for the kernel."""
    kernel_ns: tuple[float, ...] = ()
    """On each of the systems, the time of the kernel's instructions, and of waits for its accesses."""
    processor_ns: tuple[float, ...] = ()
    """The time of all processors but when they had nothing to do: of the kernel, of all processes, and of what nobody
    is known to have done."""

    def sentence(self) -> str:
        """What the kernel did, and what has no time."""
        instructions, accesses = self.result.instructions, self.result.accesses
        share = self.kernel_instructions / instructions if instructions else 0.0
        beyond = self.kernel_accesses / accesses if accesses else 0.0
        pages = ", ".join(f"{name} {count}" for name, count in self.counters.items() if count)
        said = counted(self.register_accesses, "access") if self.register_accesses else ""
        return (
            f"The kernel has {share:.0%} of the instructions and {beyond:.0%} of the accesses beyond the caches"
            f"{f'; {pages}' if pages else ''}.{f' {said} to registers of devices took no time.' if said else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As `cxloom boot --out` writes it: what `cxloom exec --out` writes, and what the kernel did."""
        return {
            **self.result.to_dict(),
            "kernel": {
                "instructions": self.kernel_instructions,
                "accesses": self.kernel_accesses,
                "times_ns": list(self.kernel_ns),
                "processors": {
                    name: {"instructions": instructions, "accesses": accesses}
                    for name, (instructions, accesses) in self.processors.items()
                },
                "counters": dict(self.counters),
            },
            "register_accesses": self.register_accesses,
            "processor_ns": list(self.processor_ns),
            "processes": [each.to_dict() for each in self.processes],
        }


class TimedProgram:
    """A program that is to run in a guest, and the systems that it is to be played on."""

    def __init__(self, placed: Sequence[PlacedProgram], source: ReportedMachine) -> None:
        self._placed = placed
        self._source = source

    @property
    def reporting(self) -> Reporting:
        """How QEMU reports what the guest does."""
        return self._source.reporting()

    def run(
        self,
        guest: BootedMachine,
        program: Program,
        command: Sequence[str],
        environment: Mapping[str, str],
        policy: Policy | None,
        *,
        region: str | None = None,
        record: str | os.PathLike[str] | None = None,
        sampling: Sampling | None = SAMPLING,
        streams: tuple[int, int, int] = (0, 1, 2),
        interrupted: Callable[[], bool] = lambda: False,
        watch: Callable[[int, int], None] = lambda _instructions, _accesses: None,
        watch_past: Callable[[int, int], None] = lambda _done, _whole: None,
    ) -> MachineResult:
        """Runs it to its end. Raises what `cxloom.execution.execute` raises, and SimulationError if the guest ends.

        Args:
            environment: the variables of the program.
            policy: where its pages are.
            region: MARKS, or None: all that it does.
            record: a trace that keeps what the systems are given.
            sampling: what is simulated of a long program; None: all of it.
            streams: the descriptors of its standard input, output and error.
            interrupted: asked now and then; if it says True, the result is that of what was run.
            watch: hears now and then how many instructions were run and how many accesses were made.
            watch_past: hears how many steps of how many were played of what flash has been through before.
        """
        started = time.perf_counter()
        before = _counters(guest)

        def run() -> int:
            return guest.run(program, environment, policy, streams, starter())

        layout, unknown = _layout_of(guest)
        self._source.prepare(parts_of(guest.machine, guest.mapped), run, guest.emulator.kill, layout)
        core = core_of(self._placed)
        said = about(self._source.name, command, region=region, core=core)
        said["address space"] = "physical, of the address map"
        result = play_source(
            self._source,
            command,
            self._placed,
            said,
            frames=False,
            record=record,
            sampling=sampling,
            interrupted=interrupted,
            watch=watch,
            watch_past=watch_past,
            started=started,
        )
        kernel = self._source.kernel()
        instructions, records = (sum(counts) for counts in zip((0, 0), *kernel.values(), strict=True))
        after = {} if result.ended is None or result.ended.interrupted else _counters(guest)
        counters = {name: after[name] - count for name, count in before.items() if name in after}
        cycles = self._source.sieve.cycles
        times = [each.processor_times_ns(cycles) for each in result.executions]
        uses = uses_of(self._source.sieve, guest.machine, times)
        # Only memory that is nodes can be had by --membind.
        near = all_near(uses, guest.machine, policy) if guest.nodes else ()
        return MachineResult(
            replace(result, notes=result.notes + unknown + near),
            instructions,
            records,
            kernel,
            counters,
            self._source.register_accesses(),
            uses,
            owners_of(self._source.sieve, REGION),
            tuple(each.get(KERNEL, 0.0) for each in times),
            tuple(sum(each.values()) for each in times),
        )


def all_near(uses: Sequence[ProcessUse], machine: Machine, policy: Policy | None) -> tuple[str, ...]:
    """A note on a program that had nothing on CXL, where nobody has said that its pages are to be near."""
    on_cxl = {name for each in machine.sets for name in each.targets}
    used = {
        name
        for process in uses
        for mapping in process.mappings
        for joined in mapping.memories
        for name in joined.split("+")
    }
    if policy is not None or not uses or not on_cxl or used & on_cxl:
        return ()
    return (f"nothing of the program was on CXL; --membind {','.join(sorted(on_cxl))} puts its pages there",)


@contextlib.contextmanager
def timed_program(
    systems: Sequence[System],
    host: str,
    pages: Sequence[object],
    processor: Processor | None = None,
    region: str | None = None,
    processors: int = 1,
) -> Iterator[TimedProgram]:
    """A program that is to be played on these systems; the memory that it is reported by is gone when this is left.

    Args:
        systems: the last is the one that is booted.
        host: the device that boots.
        pages: for each system NEAR or AS_IT_IS.
        processor: takes the place of the host's.
        region: MARKS, or None: all that the program does.
        processors: of the guest.

    Raises AbsentError if cxloom was built without its plug-in, and InputError if a system cannot run a program.
    """
    if region not in (None, MARKS):
        raise InputError(
            "a region of interest in a guest is between marks",
            found=f"'{region}'",
            allowed=MARKS,
            path="--roi",
        )
    check_built()
    placed = prepare_all(systems, pages, host, None, processor, None)
    core = core_of(placed)
    with reported_machine(core.program, region, any(map(is_persistent, placed)), processors) as source:
        yield TimedProgram(placed, source)


def _layout_of(guest: BootedMachine) -> tuple[list[int] | None, tuple[str, ...]]:
    """Where the kernel knows of processes, or None and a note that says why that is unknown."""
    try:
        return kernel_layout(guest.guest), ()
    except SimulationError as error:
        return None, (f"processes are not told apart: {error}",)


def _counters(guest: BootedMachine) -> dict[str, int]:
    listed = guest.guest.run("cat /proc/vmstat", "reading the kernel's counters")
    pairs = (line.split() for line in listed.splitlines())
    return {name: int(count) for name, count in pairs if name in COUNTED}
