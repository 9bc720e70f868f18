"""``cxloom advise``: where the data of a workload or a program should live."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AllAsJson, Plugins, Quiet, RunsAtATime, Sets, Spec, written_to
from cxloom.cli.progress import SweepBar
from cxloom.cli.writing import check_forms, check_writable, write_texts
from cxloom.display.notes import folded
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins

FORMS = (".json", ".yaml")


def advise(
    spec: Spec,
    out: Annotated[
        list[str],
        written_to("Write all as .json, or SPEC with the proposed placement as .yaml."),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    trace: Annotated[
        str | None,
        typer.Option(
            "--replay",
            metavar="TRACE",
            help="Objects of a program, from its trace of `cxloom exec --record` or `cxloom trace capture`, and not "
            "of the workload's.",
        ),
    ] = None,
    objects: Annotated[
        str | None,
        typer.Option(
            "--objects",
            metavar="FILE",
            help="Objects of a program, from the .json of `cxloom exec --out` or a profile of that form, and not of "
            "the workload's.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of --replay and --objects: the device that runs the program."),
    ] = None,
    jobs: RunsAtATime = None,
    as_json: AllAsJson = False,
    quiet: Quiet = False,
    sets: Sets = [],  # noqa: B006
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Say where the data of SPEC should live, and what that gains.

    Runs SPEC with what two policies propose, with first touch and with uniform interleave. One sentence, a table, and
    a recipe of numactl and libnuma. What does not gain in its own run is not proposed.

    Exit code 0: advised. 1: a run could not finish. 2: the input is wrong, as that of a system with one memory;
    nothing was written.
    """
    from cxloom.advising.advice import advise as advised

    check_forms(map(Path, out), "advice", FORMS)
    if host is not None and trace is None and objects is None:
        raise InputError("--host has no effect without --replay or --objects", path="--host")
    if trace is not None and objects is not None:
        raise InputError(
            "a trace has its objects itself", allowed="one of --replay and --objects", path="--objects"
        )
    if trace is not None and any(file.endswith(".yaml") for file in out):
        raise InputError("a recorded program has no spec to write", allowed=".json", path="--out")
    check_writable(map(Path, out))
    load_plugins(plugins)
    overrides = [Override.parse(text) for text in sets]
    with SweepBar(quiet, "advise") as bar:
        if trace is None:
            found = advised(
                spec, profile=objects, host=host, jobs=jobs, watch=bar.update, overrides=overrides
            )
        else:
            from cxloom.advising.recorded import advise_recorded

            found = advise_recorded(spec, trace, host=host, jobs=jobs, watch=bar.update, overrides=overrides)
    text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    write_texts({Path(file): text + "\n" if file.endswith(".json") else found.to_yaml() for file in out})
    if as_json:
        print(text)
    elif not quiet:
        from rich.text import Text

        from cxloom.display.console import output

        console = output()
        console.print(Text(found.sentence, style="bold"))
        for each in (found.table(), found.table_of_objects()):
            console.print()
            console.print(each)
        console.print()
        console.print(Text(found.recipe), soft_wrap=True)  # lines to be copied
        for note in folded(found.notes):
            console.print(Text(f"\nnote: {note}", style="dim"))
        for line in found.threads:
            console.print(Text(f"\n{line}", style="dim"))
