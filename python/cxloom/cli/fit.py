"""``cxloom fit``: parameters of a system from a curve that was measured on a machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson, Plugins, PointsAtATime, Quiet, Sets, Spec, share_of_reads, whole_number
from cxloom.cli.progress import FitBar
from cxloom.cli.writing import check_writable
from cxloom.fitting.fit import Fit
from cxloom.fitting.fit import fit as fitted
from cxloom.spec.plugins import load_plugins
from cxloom.spec.resolve import Override
from cxloom.system.system import System

if TYPE_CHECKING:
    from rich.table import Table


def fit(
    spec: Spec,
    to: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="The measured curve: a table with reads, bandwidth_gb_per_s and latency_ns, or what MLC printed.",
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
        str | None, typer.Option("--from", metavar="NAME", help="Whose probe it is; by default the first.")
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
    """Fit parameters of SPEC to a curve that was measured on a machine.

    cxloom fit card.yaml --to loaded.txt --vary devices.cxl.controller_time=20ns..200ns

    Says how far the system is from the curve before and after, an interval for each parameter, which of them the curve
    does not tell, and the error at points that were held back.

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
    print_whole(_parameters(found))
    console.print()
    print_whole(_points(found))
    if found.peaks:
        console.print()
        print_whole(_peaks(found))
    for note in found.notes:
        console.print(Text(f"\nnote: {note}", style="dim"))
    if out is not None:
        console.print(Text(f"\nWritten: {out}"), soft_wrap=True)


def _parameters(found: Fit) -> Table:
    from rich.text import Text

    from cxloom.display.plain_table import plain_table

    table = plain_table()
    table.add_column("parameter", no_wrap=True)
    for title in ("fitted", "95 % interval", ""):
        table.add_column(title, justify="right", no_wrap=True)
    grouped = {path for group in found.together for path in group}
    for each in found.parameters:
        told = "" if each.is_told else "told with others" if each.path in grouped else "not told"
        table.add_row(Text(each.path), str(each.value), f"{each.low} to {each.high}", told)
    return table


def _points(found: Fit) -> Table:
    from cxloom.display.plain_table import plain_table

    table = plain_table()
    for title in ("reads", "GB/s", "measured ns", "before ns", "fitted ns", "error", ""):
        table.add_column(title, justify="right", no_wrap=True)
    for each in found.points:
        table.add_row(
            f"{100 * each.point.reads:.0f} %",
            f"{each.point.bandwidth_gb_per_s:.1f}",
            f"{each.point.latency_ns:.1f}",
            f"{each.before_ns:.1f}",
            f"{each.after_ns:.1f}",
            f"{100 * (each.after_ns / each.point.latency_ns - 1):+.1f} %",
            "held back" if each.held_back else "",
        )
    return table


def _peaks(found: Fit) -> Table:
    from cxloom.display.plain_table import plain_table

    table = plain_table()
    for title in ("reads", "measured peak GB/s", "before", "fitted", "error"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in found.peaks:
        table.add_row(
            f"{100 * each.point.reads:.0f} %",
            f"{each.point.bandwidth_gb_per_s:.1f}",
            f"{each.before_gb_per_s:.1f}",
            f"{each.after_gb_per_s:.1f}",
            f"{100 * (each.after_gb_per_s / each.point.bandwidth_gb_per_s - 1):+.1f} %",
        )
    return table
