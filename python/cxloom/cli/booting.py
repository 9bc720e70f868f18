"""What ``cxloom boot`` does once its options are read: boots the machine, and runs a program or a shell on it."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from cxloom.base.words import counted
from cxloom.booting.balancing import Balancing
from cxloom.booting.booted import PATH, BootedMachine, Reporting, booted
from cxloom.booting.checkpoint import notes_on_checkpoints
from cxloom.booting.enumeration import Times
from cxloom.booting.firmware import firmware_of
from cxloom.booting.folder import find_set_up
from cxloom.booting.machine import Machine
from cxloom.booting.performance import measured
from cxloom.booting.places import check_has_ram
from cxloom.booting.policy import Policy
from cxloom.booting.program import Program
from cxloom.booting.system import bare
from cxloom.booting.terminal import run_shell
from cxloom.cli.boot_timed import Timing, prepared, run_timed
from cxloom.cli.enumeration import show_enumeration
from cxloom.cli.progress import BootBar
from cxloom.display.console import messages
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import describe


@dataclass(frozen=True)
class Boot:
    """What is booted, and for what."""

    spec: str
    sets: tuple[str, ...]
    resolved: Resolved
    machine: Machine
    mode: str
    program: Program | None
    """None: a shell."""
    command: tuple[str, ...]
    policy: Policy | None
    balancing: Balancing
    room: int | None
    """Bytes of RAM that programs are left; None: all."""
    timing: Timing | None
    """None: the program's time is not asked for."""
    cold: bool
    log: bool
    """Whether the enumeration is shown, or written to `log_file`."""
    log_file: Path | None
    quiet: bool


def run(boot: Boot) -> int:
    """Boots, and runs; gives the exit code of the command. Raises InputError and SimulationError."""
    with contextlib.ExitStack() as ends:
        timing, machine = boot.timing, boot.machine
        played = None
        if timing is not None:
            check_has_ram(machine)
            played = ends.enter_context(prepared(timing, boot.spec, boot.sets, machine))
        set_up = find_set_up()
        if not boot.quiet:
            _tell_beforehand(boot)
        with BootBar(boot.quiet) as bar:
            bar.update("measuring the system")
            firmware = firmware_of(machine, measured(boot.resolved, machine))
        bar = ends.enter_context(BootBar(boot.quiet))
        reporting = Reporting() if played is None else played.reporting
        guest = ends.enter_context(
            booted(machine, set_up, boot.mode, firmware, bar.update, not boot.cold, boot.log, reporting)
        )
        bar.stop()
        if not boot.quiet:
            _tell(machine, guest)
        if boot.log:
            spec = bare(boot.resolved)
            show_enumeration(guest.enumeration, Times(machine, spec.plain(), describe(spec)), boot.log_file)
        guest.balance(boot.balancing)
        guest.leave(boot.room)
        if boot.program is None:
            return _shell(guest)
        if timing is None or played is None:
            code = guest.run(boot.program, dict(os.environ), boot.policy)
        else:
            code = run_timed(timing, played, guest, boot.program, boot.command, boot.policy, boot.quiet)
        if why := guest.killed(code):
            messages().print(f"cxloom: {why}", soft_wrap=True, highlight=False, markup=False)
        if code != 0:
            for name in boot.program.left_here():
                text = f"cxloom: {name} is here, and not in the guest: --file {name} takes it along"
                messages().print(text, soft_wrap=True, highlight=False, markup=False)
        return code


def _shell(guest: BootedMachine) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return run_shell(guest)
    return guest.guest.run_program(f"PATH={PATH} sh", 0, 1, 2)


def _tell_beforehand(boot: Boot) -> None:
    """Says what will be booted, on standard error."""
    notes = [*boot.machine.notes]
    if not boot.cold:
        notes += notes_on_checkpoints(boot.machine)
    if boot.policy is not None:
        notes += boot.policy.notes(boot.balancing.large_pages)
    for note in notes:
        messages().print(f"cxloom: {note}", style="dim", soft_wrap=True, highlight=False)


def _tell(machine: Machine, guest: BootedMachine) -> None:
    """Says what was booted, on standard error."""
    out = messages()
    where = [f"{'+'.join(each.targets)} is " for each in machine.sets]
    names = [f"node {node}" for node in guest.nodes] or list(guest.devices)
    parts = ", ".join(f"{what}{name}" for what, name in zip(where, names, strict=True))
    followed = f"; its decoders are those of the address map ({counted(guest.addresses, 'address')} followed)"
    text = f"cxloom: Linux {guest.kernel}" + (f": {parts}{followed}" if parts else "")
    out.print(text, style="dim", soft_wrap=True, highlight=False)
