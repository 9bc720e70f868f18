"""``cxloom fit``: parameters of a system from what was measured on a machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson, Plugins, PointsAtATime, Quiet, Sets, Spec, share_of_reads, whole_number
from cxloom.cli.progress import FitBar
from cxloom.cli.writing import check_writable
from cxloom.fitting.fit import fit as fitted
from cxloom.fitting.result import Fit
from cxloom.spec.override import Override
from cxloom.spec.plugins import load_plugins
from cxloom.system.system import System


def fit(
    spec: Spec,
    to: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="What was measured: a table with reads, bandwidth_gb_per_s and latency_ns, or what MLC, lat_mem_rd "
            "or STREAM printed.",
        ),
    ],
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="PATH=LOW..HIGH",
            help="What is fitted; evenly in the logarithm with :log. May be repeated.",
        ),
    ],
    reads: Annotated[
        str | None, typer.Option(metavar="P", help="Share of reads of the load, where FILE does not say it.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="NAME", help="The memory that was measured; by default the first.")
    ] = None,
    requester: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="The requester that measured; by default the first."),
    ] = None,
    stores: Annotated[
        str | None,
        typer.Option("--stores", metavar="KIND", help="Of STREAM: allocate (by default) or streaming."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            parser=whole_number(1),
            metavar="N",
            help="Threads of each requester with cores that load the memory; by default one for each core.",
        ),
    ] = None,
    evaluations: Annotated[
        int,
        typer.Option(
            parser=whole_number(4),
            metavar="N",
            help="How many systems the search may play; intervals take some more.",
        ),
    ] = 60,
    sets: Sets = [],  # noqa: B006 - typer wants a list, and copies it
    jobs: PointsAtATime = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the fitted system, as .yaml.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Fit parameters of SPEC to what was measured on a machine.

    cxloom fit card.yaml --to loaded.txt --vary devices.cxl.controller_time=20ns..200ns

    FILE is a curve of latency by bandwidth, latency over size, or the rates of STREAM. Says how far the system is from
    it before and after, an interval for each parameter, which of them it does not tell, and the error at points that
    were held back.

    Exit code 0: fitted. 2: the input is wrong; nothing was written.
    """
    load_plugins(plugins)
    overrides = [Override.parse(text) for text in sets]
    if out is not None:
        if Path(out).suffix not in (".yaml", ".yml"):
            raise InputError("unsupported format of a spec", found=f"'{out}'", allowed=".yaml", path="--out")
        check_writable([Path(out)])
    share = None if reads is None else share_of_reads(reads, "--reads")
    with FitBar(quiet) as bar:
        found = fitted(
            spec,
            to,
            vary,
            reads=share,
            memory=memory,
            requester=requester,
            stores=stores,
            threads=threads,
            evaluations=evaluations,
            jobs=jobs,
            overrides=overrides,
            watch=bar.update,
        )
    if out is not None:
        system = System.load(spec).copy()
        for override in overrides:
            system.set(override.path, override.value.plain())
        for path, value in found.settings.items():
            system.set(path, value)
        system.save(out)
    if as_json:
        print(json.dumps(found.to_json(), indent=2, allow_nan=False))
    elif not quiet:
        _show(found, out)


def _show(found: Fit, out: str | None) -> None:
    from rich.text import Text

    from cxloom.display.console import output
    from cxloom.display.plain_table import print_whole

    console = output()
    console.print(Text(found.sentence, style="bold"))
    console.print()
    for at, table in enumerate(found.tables()):
        if at:
            console.print()
        print_whole(table)
    for note in found.notes:
        console.print(Text(f"\nnote: {note}", style="dim"))
    if out is not None:
        console.print(Text(f"\nWritten: {out}"), soft_wrap=True)
