"""``cxloom epochs``: minutes of tiering."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson, Plugins, Quiet, Sets, Spec, whole_number, written_to
from cxloom.cli.progress import EpochBar
from cxloom.cli.writing import check_forms, check_writable, write_texts
from cxloom.epochs.study import play_epochs
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins


def epochs(
    spec: Spec,
    duration: Annotated[
        str, typer.Option("--duration", metavar="TIME", help="Simulated time, such as 600s.")
    ] = "600s",
    epoch: Annotated[
        str | None,
        typer.Option("--epoch", metavar="TIME", help="Simulated time of a row; by default a hundredth."),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            parser=whole_number(1),
            metavar="N",
            help="Accesses of each short run of lines that gives a rate; by default 20000.",
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            metavar="SHARE",
            help="A rate holds while no node's share of the accesses is further from its window's; by default 5%.",
        ),
    ] = None,
    check: Annotated[
        int,
        typer.Option(
            "--check",
            parser=whole_number(0),
            metavar="N",
            help="Accesses of a small copy that is run by epochs and line by line; 0: none.",
        ),
    ] = 200_000,
    out: Annotated[
        list[str],
        written_to("Write all as .json."),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    as_json: AsJson = False,
    quiet: Quiet = False,
    sets: Sets = [],  # noqa: B006
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Play the tiering of SPEC for minutes.

    By epochs of pages, with the same policies and costs as a run, at the rates of short runs of lines at the placement
    of the moment. A small copy of SPEC is played by epochs and line by line, and the difference is part of the result.

    Exit code 0: played. 2: the input is wrong, or nothing that epochs can give; nothing was written.
    """
    check_forms(map(Path, out), "study", [".json"])
    check_writable(map(Path, out))
    load_plugins(plugins)
    with EpochBar(quiet) as bar:
        found = play_epochs(
            spec,
            duration=duration,
            epoch=epoch,
            window=window,
            tolerance=None if tolerance is None else _share(tolerance),
            check=check or None,
            watch=bar.update,
            overrides=[Override.parse(text) for text in sets],
        )
    text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    write_texts({Path(file): text + "\n" for file in out})
    if as_json:
        print(text)
    elif not quiet:
        from rich.text import Text

        from cxloom.display.console import output
        from cxloom.results.threads import threads_lines

        console = output()
        console.print(Text(found.sentence, style="bold"))
        for table in (found.table(), found.table_of_nodes()):
            console.print()
            console.print(table)
        for line in filter(None, [found.error, *found.notes, *threads_lines(found.cost)]):
            console.print(Text(f"\n{line}"), soft_wrap=True)


def _share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise InputError(
            "not a share", found=f"'{text}'", allowed="a share, such as 5%", path="--tolerance"
        ) from None
