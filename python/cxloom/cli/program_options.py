"""Options of commands that play a program on a simulated system: its pages, its core, what is written of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Membind = Annotated[
    str | None,
    typer.Option(metavar="MEM,MEM,...", help="The program's pages in these memories alone, as numactl does."),
]
Preferred = Annotated[
    str | None, typer.Option(metavar="MEM", help="Its pages in this memory as long as it has room.")
]
Interleave = Annotated[
    str | None, typer.Option(metavar="MEM,MEM,...", help="Its pages in these memories in turn.")
]
Core = Annotated[
    str | None,
    typer.Option(
        metavar="PROCESSOR",
        help="Take the processor of this preset in place of the host's: xeon-gold-6416h, xeon-platinum-8468v or "
        "epyc-9354.",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="TRACE", help="Keep what the system is given in this trace, for exec --replay."),
]
Exact = Annotated[
    bool, typer.Option("--exact", help="Simulate all of a long program, and not windows of it.")
]
AllowErrors = Annotated[
    bool,
    typer.Option(
        "--allow-errors",
        help="Show results although memory answered accesses with errors; without it that is exit code 125.",
    ),
]
ResultFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the results into this file, as JSON.")
]
