"""``cxloom tasks``: graphs of tasks from files of others."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson, Quiet
from cxloom.cli.writing import check_forms, check_writable, write_texts

app = typer.Typer(
    help="Import traces of training as graphs of tasks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def tasks() -> None:
    """Import traces of training as graphs of tasks."""


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An execution trace of Chakra (.et).")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="Where the tasks go, as .jsonl: `tasks.file` of a spec."),
    ],
    device: Annotated[
        str, typer.Option(metavar="NAME", help="The device whose DMA engine copies tensors.")
    ] = "gpu",
    tensors: Annotated[str, typer.Option(metavar="NAME", help="The object that tensors are in.")] = "tensors",
    window: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="A trace has no addresses: each tensor is behind the one before it, and the first again where so much "
            "has no room left.",
        ),
    ] = "1GiB",
    compute: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="time: by recorded durations. ops: by num_ops of nodes on the GPU, at --flops.",
        ),
    ] = "time",
    flops: Annotated[
        float | None, typer.Option(metavar="RATE", help="With --compute ops: operations per second.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Bandwidth of communication whose duration is not recorded, such as 50GB/s; without it such a "
            "trace is refused.",
        ),
    ] = None,
    control: Annotated[
        bool,
        typer.Option("--control", help="Wait also for what nodes need by control, and not by data alone."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Import an execution trace of Chakra as a graph of tasks.

    Dependences, durations and sizes of tensors are those of the trace. The section `tasks` that a spec needs beside the
    file is printed. Nodes that the trace gives no time are noted on stderr.

    Exit code 0: imported. 2: the input is wrong; nothing was written.
    """
    from cxloom.tasks.chakra.convert import import_chakra

    check_forms([out], "graph", [".jsonl"])
    check_writable([out])
    try:
        found = import_chakra(
            file,
            device=device,
            tensors=tensors,
            window=window,
            compute=compute,
            flops=flops,
            network=network,
            control=control,
        )
    except InputError as error:
        if error.path:
            error.path = f"--{error.path}"
        raise
    write_texts({out: found.lines()})
    section = found.section(out.name)
    if as_json:
        said = {"sentence": found.sentence, "notes": found.notes, "version": found.trace.version}
        print(json.dumps(said | {"tasks": section}, indent=2))
    elif not quiet:
        print(f"{found.sentence}\n\ntasks:")
        for key, value in section.items():
            print(f"  {key}: {json.dumps(value) if isinstance(value, list) else value}".replace('"', ""))
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
