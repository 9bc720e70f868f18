"""``cxloom boot``: a stock Linux on a machine with the CXL devices of a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.cli.boot_timed import Timing
from cxloom.cli.interrupt import terminable
from cxloom.cli.options import Plugins, Quiet, ResultPage, Sets
from cxloom.cli.program_options import (
    AllowErrors,
    Core,
    Exact,
    Interleave,
    Membind,
    Preferred,
    Record,
    ResultFile,
)
from cxloom.cli.progress import BootBar
from cxloom.cli.run import resolve
from cxloom.cli.writing import check_writable

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("boot")
def boot(
    spec: Annotated[
        str | None,
        typer.Argument(metavar="SPEC", help="A spec file, or a shipped preset such as dmsim/asic."),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROGRAM ARGS", help="What to run in the guest, after --; by default a shell."
        ),
    ] = None,
    set_up_only: Annotated[
        bool,
        typer.Option(
            "--setup",
            help="Fetch QEMU, a kernel and the guest's tools from Debian's packages, without root; once.",
        ),
    ] = False,
    mirror: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Of --setup: a mirror of Debian; by default that of apt's own sources."
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="NAME", help="The host that boots; by default the only one.")
    ] = None,
    local: Annotated[
        str | None,
        typer.Option(
            metavar="MEM,MEM,...",
            help="Which memories are the host's RAM, with * and ?; all others are on CXL. By default those that it "
            "reaches by links that take no time, and by no root port.",
        ),
    ] = None,
    processors: Annotated[
        int, typer.Option(metavar="N", help="Processors of the guest, each a core of the host.")
    ] = 1,
    mode: Annotated[
        str,
        typer.Option(
            metavar="MODE",
            help="kernel: memory on CXL is nodes without processors. device: it is devices, /dev/dax0.0 and so on, "
            "which programs map. swap: it is where pages go that RAM has no room for.",
        ),
    ] = "kernel",
    membind: Membind = None,
    preferred: Preferred = None,
    interleave: Interleave = None,
    weighted: Annotated[
        str | None,
        typer.Option(
            "--weighted-interleave",
            metavar="MEM=PAGES,...",
            help="Its pages in these memories in turn, so many in each: local=3,cxl=1. Exact to the page of 4 KiB "
            "with --large-pages never.",
        ),
    ] = None,
    tiering: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help="What the kernel does with pages: off, numa (to who uses them), demotion (down where memory is "
            "short), tiering (hot ones up, and demotion); by default as the kernel sets it.",
        ),
    ] = None,
    periods: Annotated[
        float,
        typer.Option(
            "--scan-periods",
            metavar="FACTOR",
            help="With --tiering numa or tiering: the kernel's periods of scanning times this, as its clock goes "
            "by instructions.",
        ),
    ] = 1.0,
    large_pages: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help="Which mappings get pages of 2 MiB: always (all that are large enough), madvise (those that ask), "
            "never; by default as the kernel sets it.",
        ),
    ] = None,
    room: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Leave programs so much of the host's own memory, 8MiB or more: the rest is taken, so that they need "
            "memory on CXL.",
        ),
    ] = None,
    files: Annotated[
        list[Path],
        typer.Option(
            "--file",
            metavar="PATH",
            help="Take this file or folder along, under the same path. The program and the libraries that it is linked "
            "with need not be named. May be repeated.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    log: Annotated[
        str | None,
        typer.Option(
            metavar="enumeration[=FILE]",
            help="How the kernel finds the CXL devices and sets them up: its accesses by step and device, as a table "
            "on standard error, or each of them, as CSV, in FILE.",
        ),
    ] = None,
    cold: Annotated[
        bool,
        typer.Option(
            "--cold", help="Boot from the start, without a checkpoint of an earlier run, and keep none."
        ),
    ] = False,
    untimed: Annotated[
        bool,
        typer.Option(
            "--untimed", help="Only run the program: how long it takes on the simulated system is not said."
        ),
    ] = False,
    region: Annotated[
        str | None,
        typer.Option(
            "--roi",
            metavar="marks",
            help="Only what is between the marks of <cxloom/roi.h> counts; the whole program by default.",
        ),
    ] = None,
    core: Core = None,
    record: Record = None,
    exact: Exact = False,
    allow_errors: AllowErrors = False,
    out: ResultFile = None,
    html: ResultPage = None,
    sets: Sets = [],  # noqa: B006
    plugins: Plugins = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Boot a stock Linux on a machine with the CXL devices of SPEC.

    QEMU emulates the machine, and the kernel's own CXL driver finds the devices, makes the regions of the address map,
    and gives them to programs. What the kernel has programmed is compared with the address map. The program gets
    standard input, output and error, and its exit code is that of the command. What the processors do while it runs,
    the kernel included, is simulated as cxloom exec does: how long it takes there is shown on standard error.

    Exit code: the program's own, 128 and the signal's number if one ended it; 1: interrupted, or the guest does not
    boot, does not find the devices or maps them otherwise than SPEC; 2: nothing is set up, or the input is wrong; 125:
    memory answered accesses of the program with errors.
    """
    _check_what(spec, set_up_only, mirror)
    with terminable():
        if spec is None:
            _set_up(mirror, quiet)
            return
        log_file = _log_file(log)
        resolved = resolve(spec, sets, plugins)
        from cxloom.booting.balancing import Balancing
        from cxloom.booting.linux import check_mode
        from cxloom.booting.policy import Policy
        from cxloom.booting.program import Program
        from cxloom.booting.room import room_of
        from cxloom.booting.system import machine_of_system
        from cxloom.cli.booting import Boot, run

        names = None if local is None else [name.strip() for name in local.split(",")]
        machine = machine_of_system(resolved, host, names, processors)
        check_mode(mode, machine)
        policy = Policy.parse(
            {
                "membind": membind,
                "preferred": preferred,
                "interleave": interleave,
                "weighted-interleave": weighted,
            }
        )
        if policy is not None:
            policy.check(machine, mode)
            if not command:
                raise InputError(
                    "a placement of pages is for a program on nodes", allowed="PROGRAM ARGS after --"
                )
        balancing = Balancing(tiering, periods, large_pages)
        balancing.check(mode)
        left = room_of(room, machine)
        program = Program(command, files) if command else None
        if program is None and files:
            raise InputError(
                "files are for a program", found=f"--file {files[0]}", allowed="PROGRAM ARGS after --"
            )
        timing = Timing(region, core, record, exact, allow_errors, out, html)
        timed = program is not None and not untimed
        timing.check_files()
        if not timed:
            timing.refuse_without_time("with --untimed" if untimed else "in a shell")
        code = run(
            Boot(
                spec,
                tuple(sets),
                resolved,
                machine,
                mode,
                program,
                tuple(command or ()),
                policy,
                balancing,
                left,
                timing if timed else None,
                cold,
                log is not None,
                log_file,
                quiet,
            )
        )
    raise typer.Exit(code)


def _check_what(spec: str | None, set_up_only: bool, mirror: str | None) -> None:
    if (spec is None) == (not set_up_only):
        raise InputError(
            "what is to be booted?", allowed="either SPEC, with PROGRAM ARGS after -- or a shell, or --setup"
        )
    if mirror is not None and not set_up_only:
        raise InputError(
            "a mirror is for the set-up", found=f"--mirror {mirror}", allowed="--mirror URL with --setup"
        )


def _log_file(log: str | None) -> Path | None:
    """The file that a log is for; None if there is none. Raises InputError for what is no log, or cannot be written."""
    what, equals, name = (log or "enumeration").partition("=")
    if what != "enumeration" or (equals and not name):
        raise InputError("no log", found=f"'{log}'", allowed="enumeration, or enumeration=FILE", path="--log")
    if not name:
        return None
    check_writable([Path(name)])
    return Path(name)


def _set_up(mirror: str | None, quiet: bool) -> None:
    from cxloom.booting.folder import set_up_folder
    from cxloom.booting.set_up import set_up

    with BootBar(quiet) as bar:
        done = set_up(mirror, bar.update)
    if not quiet:
        qemu = ".".join(map(str, done.set_up.qemu.version))
        print(
            f"set up: QEMU {qemu}, Linux {done.set_up.kernel_version}, from {counted(done.packages, 'package')} "
            f"({done.fetched_bytes / 1e6:.0f} MB); {done.kept_bytes / 1e6:.0f} MB in {set_up_folder()}"
        )
