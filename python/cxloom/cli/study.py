"""``cxloom study``: published experiments, simulated beside their published values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from cxloom.cli.arguments import whole_number
from cxloom.cli.interrupt import terminable
from cxloom.errors import InputError, reason_of
from cxloom.report.console import messages, output
from cxloom.report.study import show_outcome
from cxloom.spec.resolve import Override
from cxloom.study import names, read, run_study
from cxloom.study.file import MOST_POINTS
from cxloom.study.runner import Outcome
from cxloom.study.shipped import find
from cxloom.words import counted

_MANY = 100
"""So many runs are worth a line before they begin."""

app = typer.Typer(
    help="Run published experiments.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@app.command("list")
def list_studies() -> None:
    """List the studies that come with cxloom."""
    out = output()
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
        typer.Option(
            "--jobs", parser=whole_number(1), metavar="N", help="Runs at a time; by default one a processor."
        ),
    ] = None,
    most_points: Annotated[
        int,
        typer.Option(
            "--max-points", parser=whole_number(1), metavar="N", help="Refuse a study of more points."
        ),
    ] = MOST_POINTS,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Set a value at all points; may be repeated."),
    ] = None,
    out_dir: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Where the table and the picture go, of a study that has them; by default build/studies/NAME.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no progress and no table.")] = False,
) -> None:
    """Run a study; print what it gives beside what it should give.

    Exit code 0: every expectation is met. 1: one is not, or a run could not finish. 2: the input is wrong.
    """
    if out_dir == "":
        raise InputError("the name of the directory is empty", allowed="a directory", path="--out")
    study = read(find(name), [Override.parse(text) for text in sets or ()], most_points=most_points)
    if len(study.points) >= _MANY and not quiet:
        messages().print(counted(len(study.points), "run"))
    err = messages(soft_wrap=False)
    with (
        terminable(),
        Progress(
            TextColumn("running"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=err,
            transient=True,
            disable=quiet or not err.is_terminal,
        ) as bar,
    ):
        task = bar.add_task("", total=len(study.points))
        outcome = run_study(study, jobs=jobs, done=lambda count: bar.update(task, completed=count))
    if as_json:
        print(json.dumps(_as_json(outcome), indent=2, allow_nan=False))
    elif not quiet:
        show_outcome(outcome)
    if study.columns:
        folder = Path("build/studies") / Path(name).with_suffix("") if out_dir is None else Path(out_dir)
        written = _write(outcome, folder)
        if not quiet and not as_json:
            print(f"\nThe table is in {written[0]}" + "".join(f", the picture in {p}" for p in written[1:]))
    if not outcome.passed:
        raise typer.Exit(1)


def _write(outcome: Outcome, folder: Path) -> list[Path]:
    """Writes the table and, if the study has one, the picture."""
    from cxloom.report.curves import draw, write_table  # Matplotlib takes a second to load

    rows, study = outcome.table, outcome.study
    try:
        written = [write_table(rows, folder / "table.csv")]
        if study.plot is not None:
            written.append(draw(rows, study.plot, study.title, folder / "plot.png"))
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=folder) from None
    return written


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
        "table": outcome.table,
    }
