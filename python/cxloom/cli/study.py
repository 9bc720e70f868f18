"""``cxloom study``: published experiments, simulated beside their published values."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cxloom.base.errors import AbsentError, InputError, reason_of
from cxloom.cli.artifact import package, reproduce
from cxloom.cli.options import MostPoints, Quiet, SetsOfPoints, StudyFolder, StudyRunsAtATime
from cxloom.cli.study_runs import folder_of, run_stored, write_files
from cxloom.cli.writing import refuse_empty, write_text
from cxloom.display.console import messages, output
from cxloom.report.study_table import show_outcome, show_outcomes
from cxloom.spec.override import Override
from cxloom.study import names, read
from cxloom.study.file import MOST_POINTS, extent
from cxloom.study.runner import Outcome
from cxloom.study.shipped import Collection, collection, find

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
    counts: dict[str, tuple[int, int]] = {}
    titles: dict[str, str] = {}
    gathered: dict[str, Collection] = {}
    for name in names():
        if (several := collection(name)) is not None:
            gathered[name] = several
            continue
        study = extent(find(name))
        counts[name] = study.points, study.expectations
        titles[name] = study.title
    for name in names():
        if name in gathered:
            members = [counts[member] for member in gathered[name].members]
            runs, expectations = (sum(each) for each in zip(*members, strict=True))
            table.add_row(name, gathered[name].title, str(runs), str(expectations))
        else:
            table.add_row(name, titles[name], *map(str, counts[name]))
    out.print(table)


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped study, or the file of one.")],
    jobs: StudyRunsAtATime = None,
    most_points: MostPoints = MOST_POINTS,
    sets: SetsOfPoints = None,
    out_dir: StudyFolder = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run the quick form: fewer points and requests, as the file of the study says."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run a study; print what it gives beside what it should give.

    Each expectation is met, fitted (a parameter was chosen by it), bracket (it only bounds), open (it does not agree,
    and the study says why), or failed.

    Exit code 0: none failed. 1: one did, or a run could not finish. 2: the input is wrong, or what the study needs is
    not on this computer, such as the set-up of cxloom boot; a collection leaves such studies out, and says so.
    """
    refuse_empty(out_dir, "--out")
    several = collection(name)
    members = {name: find(name)} if several is None else several.members
    values = [Override.parse(text) for text in sets or ()]
    studies = {
        member: read(path, values, most_points=most_points, quick=quick) for member, path in members.items()
    }
    outcomes = {}
    left_out = None
    for member, study in studies.items():
        folder = folder_of(member, out_dir, alone=several is None)
        try:
            outcomes[member] = outcome = run_stored(study, folder, jobs, quiet)
        except AbsentError as absent:
            if several is None:
                raise
            left_out = absent
            messages().print(f"cxloom: {member} is left out: {absent}", highlight=False, soft_wrap=True)
            continue
        if not as_json and not quiet:
            show_outcome(outcome)
        written = write_files(outcome, folder)
        page = _write_page(outcome, folder, _command(member if several else name, sets, quick))
        if not quiet and not as_json:
            what = f"The table is in {written[0]}" if written else f"The points are in {folder}"
            pictures = f", the {_pictures(written)} in " + ", ".join(map(str, written[1:]))
            print(f"\n{what}{pictures if written[1:] else ''}\nThe page is {page}")
        if several is not None and not as_json and not quiet:
            print()
    if left_out is not None and not outcomes:
        raise left_out
    if as_json:
        plain = {member: _as_json(outcome) for member, outcome in outcomes.items()}
        print(json.dumps(plain if several else plain[name], indent=2, allow_nan=False))
    elif several is not None and not quiet:
        show_outcomes(several.title, outcomes)
    if several is not None:
        page = _write_page_of_all(several, name, out_dir)
        if not quiet and not as_json:
            print(f"\nThe page of all is {page}")
    if not all(outcome.passed for outcome in outcomes.values()):
        raise typer.Exit(1)


def _pictures(written: list[Path]) -> str:
    """The name for the files behind the first."""
    return "picture" if len(written) == 2 else "pictures"


def _write_page(outcome: Outcome, folder: Path, command: str) -> Path:
    """Writes the outcome and the page of it."""
    from cxloom.report.study_outcome import (  # with NumPy, for pictures of systems
        PAGE,
        read_outcome,
        write_outcome,
    )
    from cxloom.report.study_page import study_page

    try:
        write_outcome(outcome, folder, command)
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=folder) from None
    return write_text(folder / PAGE, study_page(read_outcome(folder), folder))


def _write_page_of_all(several: Collection, name: str, out_dir: str | None) -> Path:
    from cxloom.report.directory import of_collection

    folders = {member: folder_of(member, out_dir, alone=False) for member in several.members}
    place = folder_of(name, out_dir, alone=True)
    pages = of_collection(several.title, several.about, folders, place)
    return write_text(pages.place, pages.page())


def _command(name: str, sets: list[str] | None, quick: bool) -> str:
    """The command line that makes this again."""
    options = ["--quick"] * quick + [f"--set={each}" for each in sets or ()]
    return shlex.join(["cxloom", "study", "run", name, *options])


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
                "least": _finite(comparison.expectation.least),
                "most": _finite(comparison.expectation.most),
                "simulated": comparison.simulated,
                "deviation": comparison.deviation,
                "passed": comparison.passed,
                "state": comparison.state,
                "published": comparison.expectation.published,
                "source": comparison.expectation.source,
                "derived": comparison.expectation.derived,
                "note": comparison.expectation.note,
                "fitted": comparison.expectation.fitted,
                "open": comparison.expectation.open,
            }
            for comparison in outcome.comparisons
        ],
        "table": outcome.table,
    }


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


app.command("package")(package)
app.command("reproduce")(reproduce)
