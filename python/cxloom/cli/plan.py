"""``cxloom plan``: a pool of memory for the demand of many servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.cli.options import AsJson, OnDask, PointsAtATime, Quiet, ResultPage, Sets, whole_number
from cxloom.cli.progress import SweepBar
from cxloom.cli.resume import resumable, said_of
from cxloom.cli.writing import check_forms, check_writable, write_texts
from cxloom.planning.outcome import PlanOutcome
from cxloom.planning.plan import job_of
from cxloom.report.plan_directory import OUTCOME
from cxloom.spec.override import Override
from cxloom.sweeping.cluster import Cluster
from cxloom.sweeping.space import MOST_POINTS, Axis
from cxloom.sweeping.supervisor import Supervisor

FOLDER = Path("build/plans")
"""Where points are stored, in a folder of the name of the file, by default."""


def plan(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of servers, demand and designs (docs/plan.md).")
    ],
    sweep: Annotated[
        list[str],
        typer.Option(
            "--sweep",
            metavar="PATH=VALUES",
            help="Plan for each value of a path, such as designs.pool.heads=4,8,16. May be repeated.",
        ),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    sets: Sets = [],  # noqa: B006
    jobs: PointsAtATime = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Where all is kept; by default build/plans/NAME."),
    ] = None,
    html: ResultPage = None,
    dask: OnDask = None,
    most_points: Annotated[
        int,
        typer.Option(
            "--max-points", parser=whole_number(1), metavar="N", help="Refuse a plan of more points."
        ),
    ] = MOST_POINTS,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Plan a pool of memory for the demand of many servers.

    Designs of pods side by side: DRAM of servers, memory of devices, what is stranded, VMs that are refused, latency in
    the worst minute by simulation, and cost. A point is a design under a seed; points that are in the directory already
    are not computed again, so that the same command goes on after an interruption.

    cxloom plan rack.yaml --sweep designs.pool.heads=4,8,16

    Exit code 0: planned. 1: a point did not finish, or Ctrl-C. 2: the input is wrong.
    """
    if out == "":
        raise InputError("the name of the directory is empty", allowed="a directory", path="--out")
    pages = [] if html is None else [html]
    check_forms(pages, "page", [".html", ".htm"], "--html")
    check_writable(pages)
    folder = FOLDER / Path(file).stem if out is None else Path(out)
    job = job_of(
        file,
        folder,
        overrides=[Override.parse(text) for text in sets],
        axes=[Axis.parse(text) for text in sweep],
        most=most_points,
    )
    runner = Supervisor(jobs) if dask is None else Cluster(dask, jobs)
    with resumable(folder), SweepBar(quiet, "plan") as bar:
        found = job.carried_out(runner, begun=said_of(folder, quiet), watch=bar.update)
    text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    texts = {folder / OUTCOME: text + "\n"}
    if html is not None:
        from cxloom.report.plan_page import plan_page

        texts[html] = plan_page(found.to_json())
    write_texts(texts)
    if as_json:
        print(text)
    elif not quiet:
        _show(found, folder)


def _show(found: PlanOutcome, folder: Path) -> None:
    from rich.text import Text

    from cxloom.display.console import output
    from cxloom.display.plain_table import print_whole

    out = output()
    out.print(Text(found.sentence, style="bold"), soft_wrap=True)
    out.print()
    print_whole(found.table())
    for note in found.notes:
        out.print(Text(f"\nnote: {note}", style="dim"), soft_wrap=True)
    print(f"\nAll of it is in {folder / OUTCOME}; `cxloom report {folder}` makes a page of it")
