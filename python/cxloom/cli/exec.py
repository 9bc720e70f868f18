"""``cxloom exec``: run a program on a simulated system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.cli.interrupt import Interrupt
from cxloom.cli.writing import write_text
from cxloom.execution import LEVELS, execute
from cxloom.report.console import messages
from cxloom.report.execution import show
from cxloom.spec.plugins import load_plugin
from cxloom.system import System
from cxloom.trace.capture import CacheLevel
from cxloom.trace.cli import levels_of, told_on_terminals

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command("exec", context_settings={"allow_interspersed_args": False})
def exec_(
    command: Annotated[list[str], typer.Argument(metavar="PROGRAM ARGS", help="What to run, after --.")],
    spec: Annotated[
        str,
        typer.Option("--system", metavar="SPEC", help="The system: a spec file, or a shipped preset."),
    ],
    against: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Compare with the same program on this system.")
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The device that runs it; the only host if nothing is said."),
    ] = None,
    caches: Annotated[
        list[str],
        typer.Option(
            "--levels",
            metavar="LEVEL,LEVEL,...",
            help="The caches that each core has for itself, the nearest first, "
            f"{CacheLevel.FORM.partition(',')[0]}; {','.join(map(str, LEVELS))} if nothing is said.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    region: Annotated[
        str | None,
        typer.Option(
            "--roi",
            metavar="SYMBOL",
            help="Only this function of the program counts, with all that it calls, or, as 'marks', what is between "
            "the marks of <cxloom/roi.h>.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the results into this file, as JSON.")
    ] = None,
    plugins: Annotated[
        list[str],
        typer.Option("--plugin", metavar="LIB", help="Load more kinds of components. May be repeated."),
    ] = [],  # noqa: B006
) -> None:
    """Run a program on a simulated system.

    QEMU emulates the x86-64 Linux program, and what it does to memory is simulated: how long it would take there, and
    where its time would go, is shown on standard error. Standard input and output are the program's. Ctrl-C ends the
    program and shows what it did up to then. Exit code: the program's own, 128 and the signal's number if one ended it;
    1: interrupted, or the program cannot be followed; 2: QEMU or the program is missing, or the input is wrong.
    """
    levels = levels_of(caches) if caches else LEVELS
    for plugin in plugins:
        load_plugin(plugin)
    systems = [System.load(name) for name in (against, spec) if name is not None]
    with Interrupt("the program") as interrupt:
        result = execute(
            command,
            systems,
            host=host,
            caches=levels,
            region=region,
            interrupted=lambda: interrupt.reason is not None,
            watch=told_on_terminals(),
        )
    show(result, messages())
    if out is not None:
        write_text(out, json.dumps(result.to_dict(), indent=2) + "\n")
    raise typer.Exit(result.ended.command_code)
