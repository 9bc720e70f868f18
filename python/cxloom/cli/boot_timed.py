"""The part of ``cxloom boot`` that says how long the program takes on the simulated system."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cxloom.base.errors import InputError, SimulationError
from cxloom.cli.interrupt import Interrupt
from cxloom.cli.messages import ANSWERED_WITH_ERRORS, show_error
from cxloom.cli.progress import ProgramLines
from cxloom.cli.writing import check_forms, check_writable, write_text
from cxloom.display.console import messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cxloom.booting.booted import BootedMachine
    from cxloom.booting.machine import Machine
    from cxloom.booting.policy import Policy
    from cxloom.booting.program import Program
    from cxloom.booting.timed import MachineResult, TimedProgram


@dataclass(frozen=True)
class Timing:
    """What is wanted of the time of a program."""

    region: str | None = None
    core: str | None = None
    record: Path | None = None
    exact: bool = False
    allow_errors: bool = False
    out: Path | None = None
    html: Path | None = None

    def refuse_without_time(self, why: str) -> None:
        """Raises InputError if one of them is given where there is no time."""
        given = {
            "--roi": self.region,
            "--core": self.core,
            "--record": self.record,
            "--exact": self.exact,
            "--allow-errors": self.allow_errors,
            "--out": self.out,
            "--html": self.html,
        }
        names = [name for name, value in given.items() if value]
        if names:
            raise InputError(
                f"these options are about the time of a program, and there is none {why}",
                found=", ".join(names),
                allowed="a program, without --untimed",
            )

    def check_files(self) -> None:
        """Raises InputError for files that could not be written in the end, before anything is booted."""
        from cxloom.trace.writer import check_writable as check_trace_writable

        check_forms([] if self.out is None else [self.out], "result", (".json",))
        check_forms([] if self.html is None else [self.html], "page", (".html", ".htm"), "--html")
        check_writable([path for path in (self.out, self.html) if path is not None])
        if self.record is not None:
            check_trace_writable(self.record)


@contextmanager
def prepared(timing: Timing, spec: str, sets: Sequence[str], machine: Machine) -> Iterator[TimedProgram]:
    """What the program will be played on: the system, and beside it the same with all pages near."""
    from cxloom.booting.timed import AS_IT_IS, NEAR, timed_program
    from cxloom.execution.processor import Processor
    from cxloom.spec.override import Override
    from cxloom.system.system import System

    processor = None if timing.core is None else Processor.load(timing.core)
    system = System.load(spec)
    for override in map(Override.parse, sets):
        system.set(override.path, override.value.plain())
    with timed_program(
        [system, system],
        machine.host,
        [NEAR, AS_IT_IS],
        processor,
        timing.region,
        machine.processors,
    ) as timed:
        yield timed


def run_timed(
    timing: Timing,
    timed: TimedProgram,
    guest: BootedMachine,
    program: Program,
    command: Sequence[str],
    policy: Policy | None,
    quiet: bool = False,
) -> int:
    """Runs the program and shows how long it takes, unless it is to be quiet; gives the exit code of the command."""
    from cxloom.execution.sampling import Sampling

    lines = ProgramLines(quiet)
    with Interrupt("the program") as interrupt:
        found = timed.run(
            guest,
            program,
            command,
            dict(os.environ),
            policy,
            region=timing.region,
            record=timing.record,
            sampling=None if timing.exact else Sampling(),
            interrupted=lambda: interrupt.reason is not None,
            watch=lines.update,
            watch_past=lines.past,
        )
    wrong = found.result.errors()
    if wrong and not timing.allow_errors:
        for system, said in wrong.items():
            show_error(SimulationError(f"the program cannot run on {system}: {said}"))
        return ANSWERED_WITH_ERRORS
    if not quiet:
        _show(found)
    if timing.out is not None:
        write_text(timing.out, json.dumps(found.to_dict(), indent=2) + "\n")
    if timing.html is not None:
        from cxloom.report.machine_page import machine_page

        write_text(timing.html, machine_page(found))
    if found.result.unrecorded is not None:
        raise found.result.unrecorded
    return 0 if found.result.ended is None else found.result.ended.command_code


def _show(found: MachineResult) -> None:
    from cxloom.report.execution_table import show
    from cxloom.report.machine_table import show_processes, show_times

    out = messages()
    show(found.result, out)
    show_times(found, out)
    show_processes(found, out)
    out.print(found.sentence(), style="dim", highlight=False, markup=False, soft_wrap=True)
