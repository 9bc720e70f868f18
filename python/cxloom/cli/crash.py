"""``cxloom crash``: power that fails during a run, and what recovery finds."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AllAsJson, Plugins, Sets, Spec, whole_number
from cxloom.running.run import nanoseconds
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins


def crash(
    spec: Spec,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="Let the power fail at this instant of the run: 1us."),
    ] = None,
    every_event: Annotated[
        bool, typer.Option("--every-event", help="Before each event of the run, and at its end.")
    ] = False,
    drawn: Annotated[
        int | None,
        typer.Option(
            "--random", parser=whole_number(1), metavar="N", help="At N instants drawn from the whole run."
        ),
    ] = None,
    lose: Annotated[
        str | None,
        typer.Option(metavar="SWITCH", help="The power holds, and this switch is lost with its buffer."),
    ] = None,
    cuts: Annotated[
        int,
        typer.Option(
            parser=whole_number(0),
            metavar="N",
            help="Power fails again during recovery, N times in a row at most: at every event of it, or with "
            "--random at drawn ones.",
        ),
    ] = 1,
    history: Annotated[
        bool, typer.Option("--history/--no-history", help="Look for the shortest history of a loss.")
    ] = True,
    seed: Annotated[
        int, typer.Option(parser=whole_number(0), metavar="N", help="Seed for choosing the instants.")
    ] = 1,
    as_json: AllAsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no progress.")] = False,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Let the power fail during a run of SPEC.

    Says what recovery would find too old, and the shortest history that shows it. What was answered must be there, and
    what was read: memory with what it has answered for, and the entries of persist buffers, which recovery drains.

    Exit code 0: nothing was lost. 1: lines were lost, or the run or the search did not finish. 2: the input is wrong.
    """
    from cxloom.cli.interrupt import Interrupt
    from cxloom.cli.progress import CrashBar
    from cxloom.crash.power_failures import Progress
    from cxloom.crash.power_failures import crash as crashed
    from cxloom.crash.table import to_text
    from cxloom.system.system import System

    if sum((at is not None, every_event, drawn is not None)) != 1:
        raise InputError(
            "when the power fails", allowed="one of --at TIME, --every-event and --random N", path="--at"
        )
    load_plugins(plugins)
    system = System.load(spec)
    with Interrupt("the search") as interrupt, CrashBar(quiet) as bar:

        def watch(progress: Progress) -> str | None:
            bar.update(progress)
            return interrupt.reason

        found = crashed(
            system,
            at=None if at is None else nanoseconds(at, "--at"),
            every_event=every_event,
            drawn=drawn,
            lose=lose,
            cuts=cuts,
            history=history,
            seed=seed,
            overrides=[Override.parse(text) for text in sets],
            watch=watch,
        )
    print(json.dumps(found.to_json(), indent=2) if as_json else to_text(found))
    if found.lost_instants or found.other_ends or found.stopped:
        raise typer.Exit(1)
