"""``cxloom energy``: where the energy of a run goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.cli.options import AsJson, Plugins, Quiet, Sets, Spec, written_to
from cxloom.cli.progress import ProgressBar
from cxloom.cli.writing import check_forms, check_writable, write_text
from cxloom.display.notes import folded
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins

FORMS = (".json", ".csv")


def energy(
    spec: Spec,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures", metavar="FILE", help="Energy a bit and a second of parts (docs/energy.md)."
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="TIME",
            help="Energy over time, too: of each part of the window of this length.",
        ),
    ] = None,
    out: Annotated[list[str], written_to("Write the account (.json, .csv).")] = [],  # noqa: B006
    as_json: AsJson = False,
    quiet: Quiet = False,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Run SPEC, and say what each of its ports, switches and memories needs.

    Rows are counted by the core where currents of the devices are known, and otherwise by figures a bit and a second
    that you give, or by estimates: the last column says which. --every runs the system once more, and gives the same of
    each part of the measured window; a .csv is then of these.

    Exit code 0: accounted for. 1: the system could not finish, or its measured window has no length. 2: the input is
    wrong; nothing was written.
    """
    from cxloom.consumption.consumed import energy as consumed
    from cxloom.running.run import nanoseconds

    files = [Path(name) for name in out]
    check_forms(files, "account", FORMS)
    check_writable(files)
    load_plugins(plugins)
    every_ns = None if every is None else nanoseconds(every, "--every")
    overrides = [Override.parse(text) for text in sets]
    with ProgressBar(quiet) as bar:
        found = consumed(spec, figures, every_ns=every_ns, overrides=overrides, watch=bar.update)
    text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    for file in files:
        frame = found.frame_over_time() if found.over_time else found.frame()
        write_text(file, text + "\n" if file.suffix == ".json" else frame.write_csv())
    if as_json:
        print(text)
    elif not quiet:
        from rich.text import Text

        from cxloom.display.console import output

        console = output()
        shown = found.shown()
        console.print(Text("\n".join(shown.sentences), style="bold"))
        for table in shown.tables:
            console.print()
            console.print(table)
        for note in folded(shown.notes):
            console.print(Text(f"\n{note}", style="dim"))
