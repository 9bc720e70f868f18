"""``cxloom find``: how far a value can go before a condition stops holding, and which values are the best."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.cli.options import AsJson, Plugins, PointsAtATime, Quiet, Sets, Spec, whole_number
from cxloom.cli.progress import SweepBar
from cxloom.cli.resume import resumable
from cxloom.display.notes import folded
from cxloom.spec import presets
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins
from cxloom.sweeping.find import Found
from cxloom.sweeping.find import find as found_of
from cxloom.sweeping.optimum import TRIALS, Optimum

FOLDER = Path("build/find")
"""Where points are stored, in a folder of the name of the spec, by default."""


def find(
    spec: Spec,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="PATH=LOW..HIGH",
            help="What is varied; evenly in the logarithm with :log. With a goal it may be repeated, "
            "or be a list: PATH=a,b.",
        ),
    ],
    such_that: Annotated[
        list[str],
        typer.Option(
            "--such-that",
            metavar="'MEASURE < VALUE'",
            help="What has to hold: 'latency.p99 < 500ns', 'bandwidth >= 20GB/s', or any measure of `run --json`. "
            "With a goal it may be repeated.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    maximise: Annotated[
        str | None,
        typer.Option(
            "--maximise",
            "--maximize",
            metavar="MEASURE",
            help="A goal: the measure that is to be greatest, or a PATH that is varied. Needs Optuna.",
        ),
    ] = None,
    minimise: Annotated[
        str | None,
        typer.Option("--minimise", "--minimize", metavar="MEASURE", help="A goal: what is to be least."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            parser=whole_number(1),
            metavar="N",
            help=f"With a goal: how many points are tried ({TRIALS}).",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", parser=whole_number(0), metavar="N", help="With a goal: another one tries other points."
        ),
    ] = None,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    jobs: PointsAtATime = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Where points are kept; by default build/find/NAME."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Find how far a value can go under a condition, or the best values.

    Runs five values of the range, then divides the part in which the condition changes. With --maximise or --minimise
    several values are varied at once, and Optuna chooses the points. Points that are in the directory already are not
    run again.

    cxloom find system.yaml --vary devices.host.queue=1..256 --such-that 'latency.p99 < 500ns'

    cxloom find system.yaml --vary devices.host.queue=1..256 --vary links[0].delay=1ns..50ns --maximise bandwidth
    --such-that 'latency.p99 < 500ns'

    Exit code 0: found. 1: the condition holds with every value or with none, no point is one under the conditions, or
    Ctrl-C. 2: the input is wrong.
    """
    load_plugins(plugins)
    overrides = [Override.parse(text) for text in sets]
    folder = FOLDER / (spec if spec in presets.names() else Path(spec).stem) if out is None else Path(out)
    with resumable(folder), SweepBar(quiet, "find") as bar:
        found = found_of(
            spec,
            vary,
            such_that,
            maximise=maximise,
            minimise=minimise,
            trials=trials,
            seed=seed,
            jobs=jobs,
            out=folder,
            overrides=overrides,
            watch=bar.update,
        )
    if as_json:
        print(json.dumps(found.to_json(), indent=2, allow_nan=False))
    elif not quiet:
        _show(found)
    if not (found.changes if isinstance(found, Found) else found.best):
        raise typer.Exit(1)


def _show(found: Found | Optimum) -> None:
    from rich.text import Text

    from cxloom.display.console import output
    from cxloom.display.plain_table import print_whole

    out = output()
    out.print(Text(found.sentence, style="bold"))
    out.print()
    print_whole(found.table())
    for note in folded(found.notes):
        out.print(Text(f"\nnote: {note}", style="dim"))
