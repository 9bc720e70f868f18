"""``cxloom study package`` and ``cxloom study reproduce``: artifacts of studies."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.base.words import counted
from cxloom.cli.options import AllAsJson, MostPoints, Quiet, SetsOfPoints, StudyFolder, StudyRunsAtATime
from cxloom.cli.study_runs import folder_of, run_stored, write_files
from cxloom.cli.writing import refuse_empty, write_text
from cxloom.display.console import output
from cxloom.spec.override import Override
from cxloom.study.file import MOST_POINTS, Study
from cxloom.study.runner import Outcome
from cxloom.study.shipped import collection, find

REPRODUCED = "reproduced"
"""Where points of a reproduction go, in the artifact, by default."""
_MOST_ROWS = 30


def package(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A shipped study, or the file of one.")],
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The artifact: a new directory.")],
    sets: SetsOfPoints = None,
    quick: Annotated[bool, typer.Option("--quick", help="The quick form of the study.")] = False,
    out_dir: StudyFolder = None,
    jobs: StudyRunsAtATime = None,
    most_points: MostPoints = MOST_POINTS,
    quiet: Quiet = False,
) -> None:
    """Package a study as an artifact that others can reproduce.

    Runs what has not been run yet, and makes a directory with the study, its files, the system of each point, all
    figures, versions and digests, and a command, ./reproduce, that runs it elsewhere and says what differs.

    Exit code 0: packaged. 1: a run could not finish. 2: the input is wrong; nothing was written.
    """
    from cxloom.artifact.inputs import read_inputs
    from cxloom.artifact.package import package as packaged
    from cxloom.artifact.package import refuse_directory

    target = Path(directory)
    if not directory or out_dir == "":
        raise InputError("the name of the directory is empty", allowed="a directory")
    refuse_directory(target)
    if (several := collection(name)) is not None:
        raise InputError(
            f"'{name}' is a collection", allowed=f"a study, such as {next(iter(several.members))}"
        )
    overrides = [Override.parse(text) for text in sets or ()]
    inputs = read_inputs(find(name), overrides, quick=quick, most_points=most_points)
    outcome = run_stored(inputs.study, folder_of(name, out_dir, alone=True), jobs, quiet)
    manifest = packaged(inputs, outcome, target, sets=sets or (), draw=write_files)
    if quiet:
        return
    points, files = counted(len(manifest.points), "point"), counted(len(manifest.files) + 1, "file")
    print(f"The artifact of {points} is in {target}: {files}. To run it again: {target / 'reproduce'}")
    if not outcome.passed:
        failed = sum(not each.passed and each.state == "failed" for each in outcome.comparisons)
        print(f"note: {counted(failed, 'expectation')} failed, and the artifact says so")


def reproduce(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="What `cxloom study package` made.")],
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            metavar="P",
            help="How far a figure may be off, such as 1%; by default as far as both intervals allow.",
        ),
    ] = None,
    out_dir: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Where results go; by default DIR/reproduced."),
    ] = None,
    jobs: StudyRunsAtATime = None,
    as_json: AllAsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run the study of an artifact again, and say what differs.

    Its files are held against their digests, and every figure against that of the artifact. A figure agrees if it is
    the same, or off by no more than the 95 % intervals of the two runs allow.

    Exit code 0: reproduced. 1: a file was changed, a figure differs, or a run could not finish. 2: DIR is no artifact.
    """
    from cxloom.artifact.reproduce import reproduce as reproduced

    refuse_empty(out_dir, "--out")
    allowed = None if tolerance is None else _share(tolerance)
    folder = Path(directory) / REPRODUCED if out_dir is None else Path(out_dir)

    def run(study: Study) -> Outcome:
        outcome = run_stored(study, folder, jobs, quiet)
        write_files(outcome, folder)
        return outcome

    found = reproduced(Path(directory), run, tolerance=allowed)
    differences = _as_csv(found.to_json()["figures"])
    write_text(folder / "differences.csv", differences)
    if as_json:
        print(json.dumps(found.to_json(), indent=2, allow_nan=False))
    elif not quiet:
        from rich.text import Text

        from cxloom.display.plain_table import print_whole

        out = output()
        out.print(Text(found.manifest.title))
        out.print(Text(found.sentence, style="bold"))
        for change in found.changed:
            out.print(Text(f"changed: {change}"), soft_wrap=True)
        table = found.table(_MOST_ROWS)
        if table.row_count:
            out.print()
            print_whole(table)
        for note in found.notes:
            out.print(Text(f"\nnote: {note}", style="dim"), soft_wrap=True)
        print(f"\nAll figures are in {folder / 'differences.csv'}")
    if not found.agrees:
        raise typer.Exit(1)


def _share(text: str) -> float:
    """A relative tolerance such as 1%."""
    try:
        share = float(text.removesuffix("%")) / 100 if text.endswith("%") else -1.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError("not a tolerance", found=f"'{text}'", allowed="0% to 100%", path="--tolerance")
    return share


def _as_csv(rows: list[dict[str, object]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()
