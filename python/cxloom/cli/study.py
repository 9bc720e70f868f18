"""``cxloom study``: published experiments, simulated beside their published values."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from cxloom.report.study import show_outcome
from cxloom.study import names, read, run_study
from cxloom.study.runner import Outcome
from cxloom.study.shipped import find

app = typer.Typer(help="Run published experiments.", no_args_is_help=True)


@app.command("list")
def list_studies() -> None:
    """List the studies that come with cxloom."""
    out = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("what it is")
    table.add_column("runs", justify="right")
    table.add_column("expectations", justify="right")
    for name in names():
        study = read(find(name))
        table.add_row(name, study.title, str(len(study.points)), str(len(study.expectations)))
    out.print(table)


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped study, or the file of one.")],
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, metavar="N", help="Runs at a time; by default one a processor."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no progress and no table.")] = False,
) -> None:
    """Run a study; print what it gives beside what it should give.

    Exit code 0: every expectation is met. 1: one is not, or a run could not finish. 2: the input is wrong.
    """
    study = read(find(name))
    out = Console(stderr=True)
    with Progress(
        TextColumn("running"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=out,
        transient=True,
        disable=quiet or not out.is_terminal,
    ) as bar:
        task = bar.add_task("", total=len(study.points))
        outcome = run_study(study, jobs=jobs, done=lambda count: bar.update(task, completed=count))
    if as_json:
        print(json.dumps(_as_json(outcome), indent=2, allow_nan=False))
    elif not quiet:
        show_outcome(outcome)
    if not outcome.passed:
        raise typer.Exit(1)


def _as_json(outcome: Outcome) -> dict[str, object]:
    return {
        "title": outcome.study.title,
        "passed": outcome.passed,
        "points": [
            {"at": point, "summary": summary}
            for point, summary in zip(outcome.study.points, outcome.summaries, strict=True)
        ],
        "expectations": [
            {
                "at": comparison.point,
                "measure": comparison.expectation.measure,
                "expected": comparison.expectation.value,
                "simulated": comparison.simulated,
                "deviation": comparison.deviation,
                "passed": comparison.passed,
                "source": comparison.expectation.source,
                "derived": comparison.expectation.derived,
            }
            for comparison in outcome.comparisons
        ],
    }
