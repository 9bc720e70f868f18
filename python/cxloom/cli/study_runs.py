"""What commands on studies share: where a study is kept, how it is run with progress, and what is written of it."""

from __future__ import annotations

from pathlib import Path

from cxloom.base.words import counted
from cxloom.cli.progress import SweepBar
from cxloom.cli.resume import resumable, said_of
from cxloom.display.console import messages
from cxloom.study import names, run_study
from cxloom.study.file import Study
from cxloom.study.runner import Outcome

FOLDER = Path("build/studies")
"""Where a study is stored, in a folder of its name, by default."""

_MANY = 100
"""So many runs are worth a line before they begin."""


def folder_of(member: str, out_dir: str | None, *, alone: bool) -> Path:
    """Where a study goes: of one that comes with cxloom its name, of a file that of the file, by default."""
    own = Path(member) if member in names() else Path(Path(member).stem)
    if out_dir is None:
        return FOLDER / own
    return Path(out_dir) if alone else Path(out_dir) / own


def run_stored(study: Study, folder: Path, jobs: int | None, quiet: bool) -> Outcome:
    """Runs what is not in the folder yet, with progress. Raises SimulationError for Ctrl-C."""
    if len(study.points) >= _MANY and not quiet:
        messages().print(counted(len(study.points), "run"))
    with resumable(folder), SweepBar(quiet) as bar:
        return run_study(study, jobs=jobs, out=folder, begun=said_of(folder, quiet), watch=bar.update)


def write_files(outcome: Outcome, folder: Path) -> list[Path]:
    """Writes the table and the pictures that the study asks for, if it does."""
    if not outcome.study.columns:
        return []
    from cxloom.report.study_plots import write_files as write  # Matplotlib takes a second to load

    return write(outcome, folder)
