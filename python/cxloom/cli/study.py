"""``cxloom study``: published experiments, simulated beside their published values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cxloom.cli.arguments import whole_number
from cxloom.cli.progress import SweepBar
from cxloom.cli.resume import resumable, said_of
from cxloom.errors import InputError, reason_of
from cxloom.report.console import messages, output
from cxloom.report.study import show_outcome
from cxloom.spec.resolve import Override
from cxloom.study import names, read, run_study
from cxloom.study.file import MOST_POINTS, Study
from cxloom.study.runner import Outcome
from cxloom.study.shipped import find
from cxloom.words import counted

FOLDER = Path("build/studies")
"""Where a study is stored, in a folder of its name, if nothing is said."""

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
            help="Where points, table and picture go; by default build/studies/NAME.",
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
    folder = _folder(name) if out_dir is None else Path(out_dir)
    outcome = _run(study, folder, jobs, quiet)
    if as_json:
        print(json.dumps(_as_json(outcome), indent=2, allow_nan=False))
    elif not quiet:
        show_outcome(outcome)
    written = _write(outcome, folder) if study.columns else []
    if not quiet and not as_json:
        what = f"The table is in {written[0]}" if written else f"The points are in {folder}"
        print(f"\n{what}" + "".join(f", the picture in {p}" for p in written[1:]))
    if not outcome.passed:
        raise typer.Exit(1)


def _folder(name: str) -> Path:
    """Where a study goes if nothing is said: of one that comes with cxloom its name, of a file that of the file."""
    return FOLDER / (name if name in names() else Path(name).stem)


def _run(study: Study, folder: Path, jobs: int | None, quiet: bool) -> Outcome:
    """Runs what is not in the folder yet, with progress. Raises SimulationError for Ctrl-C."""
    if len(study.points) >= _MANY and not quiet:
        messages().print(counted(len(study.points), "run"))
    with resumable(folder), SweepBar(quiet) as bar:
        return run_study(study, jobs=jobs, out=folder, begun=said_of(folder, quiet), watch=bar.update)


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
