"""A machine from its start to its end: booted, its memory found and given to programs, programs run."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cxloom.base.errors import SimulationError
from cxloom.booting import linux
from cxloom.booting.arguments import machine_arguments, write_tables
from cxloom.booting.balancing import Balancing
from cxloom.booting.checkpoint import Checkpoint, suits
from cxloom.booting.comparison import MappedSet, check_map, mapped_sets
from cxloom.booting.cpio import CpioWriter
from cxloom.booting.emulator import AbortedError, Emulator
from cxloom.booting.enumeration import Access, places
from cxloom.booting.firmware import Firmware
from cxloom.booting.folder import SetUp
from cxloom.booting.guest import Guest
from cxloom.booting.machine import Machine
from cxloom.booting.memory import available_memory, check_memory
from cxloom.booting.policy import Policy
from cxloom.booting.program import START, Program
from cxloom.booting.room import leave_room
from cxloom.booting.tracing import Trace, Traced

Watch = Callable[[str], None]
"""Is told what is being done."""

PATH = "/cxloom/bin:/usr/bin:/usr/sbin"
"""Where a shell in the guest looks for programs: the tools come first."""

RESUMED = 60.0
"""Seconds in which a guest from a checkpoint answers (own choice: it takes one)."""

_STARTS = 3  # of a QEMU that aborts

_INIT = Path(__file__).with_name("guest") / "init"
_LINKS = ("bin", "sbin", "lib", "lib64")
_KERNEL = (
    "console=ttyS0 quiet loglevel=4 panic=-1 nokaslr no_timer_check nowatchdog "
    "rcupdate.rcu_cpu_stall_suppress=1"
)
"""What the kernel is told: errors alone on the console, no second try after a panic, the same addresses in each
boot, and no checks of clocks and of processors, which fail on a busy computer. A timer that is late to the kernel is
one that does not work, and a processor that the emulator has not run for long is one that is locked up."""


@dataclass(frozen=True)
class Reporting:
    """Options of QEMU by which it reports what the guest does."""

    clock: Sequence[str] = ()
    """What its clock goes by; by default that of this computer."""
    kernel: str = "tsc=reliable"
    """What the kernel is told of its clocks."""
    preload: Path | None = None
    """A library before QEMU's own."""
    plugin: Sequence[str] = ()
    """The plug-in that reports."""


@dataclass(frozen=True)
class BootedMachine:
    """A guest that waits for programs, with all memory of its machine in use."""

    machine: Machine
    guest: Guest
    emulator: Emulator
    kernel: str
    """The version of its kernel."""
    addresses: int
    """How many addresses were followed through its decoders, and lead where the spec says."""
    mapped: tuple[MappedSet, ...]
    """The interleave sets as the kernel has them."""
    nodes: tuple[int, ...]
    """The guest's nodes of the interleave sets; none if they are devices."""
    devices: tuple[str, ...]
    """Devices of the interleave sets in the guest, or disks; none if they are nodes."""
    enumeration: tuple[Access, ...]
    """The kernel's accesses to CXL devices, in order; none if they were not to be kept."""

    def balance(self, balancing: Balancing) -> None:
        """Has the kernel treat pages so from now on. Raises SimulationError if it has no such setting."""
        for command in balancing.commands():
            self.guest.run(command, "setting how the kernel treats pages")

    def leave(self, room: int | None) -> None:
        """Leaves programs so many bytes of RAM from now on, if any are said; raises what `leave_room` raises."""
        if room is not None:
            leave_room(self.guest, len(self.machine.ram), room)

    def killed(self, code: int) -> str:
        """A sentence on why a program has this exit code: the kernel kills one as memory is short. Empty otherwise."""
        if code != 128 + signal.SIGKILL:
            return ""
        found = re.search(r"Killed process (\d+) \((.*)\)", self.emulator.line_with("Out of memory"))
        return f"the guest ran out of memory: its kernel killed {found[2]} ({found[1]})" if found else ""

    def run(
        self,
        program: Program,
        environment: Mapping[str, str],
        policy: Policy | None = None,
        streams: tuple[int, int, int] = (0, 1, 2),
        starter: Path | None = None,
    ) -> int:
        """Runs a program; gives its exit code. Raises InputError, and SimulationError if the guest ends.

        Args:
            environment: the variables of the program.
            policy: where its pages are.
            streams: the descriptors of its standard input, output and error.
            starter: what starts it and marks its time; none if its time is not marked.
        """
        before, front = policy.commands(self.machine, self.nodes) if policy is not None else ([], [])
        for command in before:
            self.guest.run(command, "setting the weights of nodes")
        with tempfile.TemporaryFile() as file:
            program.write(CpioWriter(file), environment, front, starter)
            file.seek(0)
            self.guest.unpack(file)
        return self.guest.run_program(f"sh /{START}", *streams)


@contextlib.contextmanager
def booted(
    machine: Machine,
    set_up: SetUp,
    mode: str = "kernel",
    firmware: Firmware | None = None,
    watch: Watch = lambda _doing: None,
    keep: bool = True,
    log: bool = False,
    reporting: Reporting | None = None,
) -> Iterator[BootedMachine]:
    """Boots a machine; it ends when this is left.

    Raises InputError if this computer has too little memory for it, and SimulationError if the guest does not boot, its
    kernel does not find the devices, or its decoders lead an address elsewhere than the spec does.

    Args:
        mode: one of linux.MODES.
        firmware: what the kernel is told of latency and bandwidth, if anything.
        keep: whether a checkpoint of the start is kept, and begun with if it is there.
        log: whether the kernel's accesses to CXL devices are kept, from when it begins to look for them.
        reporting: how QEMU reports what the guest does, if it does.
    """
    check_memory(machine, available_memory())
    given = (machine, set_up, mode, firmware, watch, keep, log, reporting or Reporting())
    with contextlib.ExitStack() as ends:
        yield entered(ends, lambda: _prepared(*given))


Prepared = TypeVar("Prepared")


def entered(ends: contextlib.ExitStack, begin: Callable[[], AbstractContextManager[Prepared]]) -> Prepared:
    """What begins, and ends with the stack. Raises what it raises.

    QEMU 10 aborts now and then with several processors, where one looks up a section of the addresses that another has
    just laid out anew (`iotlb_to_section`), as the firmware does. No program has begun yet: the guest is booted again.
    """
    for _ in range(_STARTS - 1):
        with contextlib.suppress(AbortedError):
            return ends.enter_context(begin())
    return ends.enter_context(begin())


@contextlib.contextmanager
def _prepared(
    machine: Machine,
    set_up: SetUp,
    mode: str,
    firmware: Firmware | None,
    watch: Watch,
    keep: bool,
    log: bool,
    reporting: Reporting,
) -> Iterator[BootedMachine]:
    with _started(machine, set_up, firmware, watch, keep, log, reporting, mode == linux.SWAP) as started:
        emulator, guest, trace = started
        watch("finding the memory on CXL")
        kernel = guest.run("uname -r", "asking for the kernel's version").strip()
        enumerated = _enumerated(machine, emulator, guest, trace, mode)
        followed, mapped = _compared(machine, guest)
        watch("taking the memory on CXL into use")
        nodes, devices = [], []
        if mode == "kernel":
            linux.use_as_nodes(guest)
            nodes = linux.nodes_of(guest, machine)
        elif mode == linux.SWAP:
            devices = linux.use_as_swap(guest)
        else:
            devices = linux.map_devices(guest, machine)
        yield BootedMachine(
            machine,
            guest,
            emulator,
            kernel,
            followed,
            tuple(mapped),
            tuple(nodes),
            tuple(devices),
            tuple(enumerated),
        )


def _compared(machine: Machine, guest: Guest) -> tuple[int, list[MappedSet]]:
    """Holds the kernel's decoders against the spec; gives how many addresses were followed, and where the sets are.

    Raises SimulationError for a difference.
    """
    if not machine.sets:
        return 0, []
    kernel = linux.kernel_map(guest)
    return check_map(machine, kernel), mapped_sets(machine, kernel)


def _enumerated(
    machine: Machine, emulator: Emulator, guest: Guest, trace: Trace | None, mode: str
) -> list[Access]:
    """Has the kernel find the devices and make the regions; gives its accesses if they are to be kept."""
    steps: list[tuple[str, list[Traced]]] = []

    def done(step: str) -> None:
        if trace is not None:
            steps.append((step, trace.step()))

    if trace is not None:
        trace.switch(emulator, True)
        linux.find_again(guest)
        done("buses")
    linux.load_modules(guest, mode)
    devices = linux.memory_devices(guest, machine)
    done("drivers")
    linux.create_regions(guest, machine, devices, mode)
    done("regions")
    if trace is None:
        return []
    trace.switch(emulator, False)
    where = places(guest, machine)
    return [access for step, accesses in steps for access in where.attributed(step, accesses)]


@contextlib.contextmanager
def _started(
    machine: Machine,
    set_up: SetUp,
    firmware: Firmware | None,
    watch: Watch,
    keep: bool,
    log: bool,
    reporting: Reporting,
    persistent: bool,
) -> Iterator[tuple[Emulator, Guest, Trace | None]]:
    """A guest whose kernel has started and has not seen CXL yet: from a checkpoint if there is one."""
    first = _first_files()
    with contextlib.ExitStack() as ends:
        tables = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        if firmware is not None:
            write_tables(machine, firmware, tables)
        kernel = f"{_KERNEL} {reporting.kernel}"
        options = [
            *machine_arguments(machine, firmware, tables, persistent),
            "-kernel",
            str(set_up.kernel),
            "-append",
            kernel,
            *reporting.clock,
            *reporting.plugin,
        ]
        trace = Trace(tables / "trace") if log else None
        options += trace.options() if trace is not None else []
        keep = keep and suits(machine)
        checkpoint = Checkpoint(
            set_up,
            [*machine_arguments(machine, firmware, persistent=persistent), kernel, *reporting.clock],
            first,
        )
        if keep and checkpoint.is_there():
            watch("resuming")
            with contextlib.ExitStack() as tried:
                emulator = tried.enter_context(
                    Emulator(set_up.qemu, [*options, *checkpoint.options()], reporting.preload)
                )
                guest = Guest(emulator)
                if _resumes(guest):
                    ends.enter_context(tried.pop_all())
                    yield emulator, guest, trace
                    return
            checkpoint.remove()
        watch("booting")
        files = ends.enter_context(tempfile.NamedTemporaryFile())
        files.write(set_up.guest.read_bytes() + first)
        files.flush()
        emulator = ends.enter_context(
            Emulator(set_up.qemu, [*options, "-initrd", files.name], reporting.preload)
        )
        guest = Guest(emulator)
        guest.wait_for_boot()
        if keep:
            watch("keeping a checkpoint")
            checkpoint.take(emulator)
        yield emulator, guest, trace


def _resumes(guest: Guest) -> bool:
    """Whether a guest from a checkpoint answers, and its kernel finds the devices again."""
    try:
        guest.ask("true", RESUMED)
        linux.find_again(guest)
    except SimulationError:
        return False
    return True


def _first_files() -> bytes:
    """The archive of the guest's first files that are ours; those of the set-up come before it."""
    file = io.BytesIO()
    archive = CpioWriter(file)
    archive.add_bytes("init", _INIT.read_bytes(), 0o755)
    for name in _LINKS:
        archive.add_folder(f"usr/{name}")
        archive.add_link(name, f"usr/{name}")
    archive.finish()
    return file.getvalue()
