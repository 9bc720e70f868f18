"""``cxloom report``: one self-contained page of results, and figures for papers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxloom.base.errors import InputError, reason_of
from cxloom.cli.options import QuietFile
from cxloom.cli.writing import check_writable, refuse_empty, write_text
from cxloom.results.outdir import SUMMARY

if TYPE_CHECKING:
    from cxloom.report.directory import Pages

_ALLOWED = (
    "a directory that `cxloom run --out`, `cxloom study run`, `cxloom sweep` or `cxloom plan` wrote, a file of "
    "`cxloom kv --out`, "
    "or a study that was run"
)


def report(
    results: Annotated[
        str,
        typer.Argument(
            metavar="DIR|FILE|STUDY",
            help="A directory that `cxloom run --out`, `cxloom study run`, `cxloom sweep` or `cxloom plan` wrote, a "
            "file that `cxloom kv --out` wrote, or the name of a study that was run here.",
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Where the page goes; by default DIR/report.html, or FILE.html."
        ),
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option("--figures", metavar="DIR", help="Write the figures too, each as PDF and as PNG."),
    ] = None,
    quiet: QuietFile = False,
) -> None:
    """Write one HTML page of results.

    The page needs nothing else: no network, no other file.

    Exit code 0: written. 2: there are no results, or they are not whole; nothing was written.
    """
    refuse_empty(figures, "--figures")
    if out is not None and Path(out).suffix not in (".html", ".htm"):
        raise InputError(
            "not the name of a page", found=f"'{out}'", allowed="a name that ends in .html", path="--out"
        )
    pages = _pages(results)
    text = pages.page()
    place = pages.place if out is None else Path(out)
    if figures is not None:  # nothing is written where one of the two cannot be
        check_writable([place])
        _check_figures(Path(figures))
    target = write_text(place, text)
    written = [f"The page is {target}"]
    if figures is not None:
        names = _write_figures(pages, Path(figures))
        written.append(f"the figures in {figures} are {', '.join(names)}, each as .pdf and .png")
    if not quiet:
        print("; ".join(written))


def _check_figures(folder: Path) -> None:
    try:
        check_writable([folder / "figure.pdf"])
    except InputError as error:
        raise InputError(error.problem, file=folder, path="--figures") from None


def _write_figures(pages: Pages, folder: Path) -> list[str]:
    from cxloom.display import style

    found = pages.figures()
    try:
        for name, figure in found.items():
            for form in ("pdf", "png"):
                style.save(figure, folder / f"{name}.{form}")
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=folder, path="--figures") from None
    return list(found)


def _pages(results: str) -> Pages:
    """The pages to show. Raises InputError for what is no result."""
    if not results:
        raise InputError("the name of the directory is empty", allowed=_ALLOWED, path="DIR")
    folder = Path(results)
    try:
        is_directory, exists = folder.is_dir(), folder.exists()
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error)
        raise InputError(reason, allowed=_ALLOWED, file=folder) from None
    if is_directory:
        return _of_directory(folder)
    if exists and folder.suffix == ".json":
        from cxloom.report.directory import of_serving

        return of_serving(folder)
    if exists and folder.suffix not in (".yaml", ".yml"):
        raise InputError("not a directory", allowed=_ALLOWED, file=folder)
    return _of_study(results)


def _of_directory(folder: Path) -> Pages:
    from cxloom.report.directory import of_run, of_study, of_sweep
    from cxloom.report.plan_directory import OUTCOME as PLAN
    from cxloom.report.plan_directory import of_plan
    from cxloom.report.study_outcome import OUTCOME
    from cxloom.results.outdir import MANIFEST

    for name, found in ((SUMMARY, of_run), (OUTCOME, of_study), (PLAN, of_plan), (MANIFEST, of_sweep)):
        if (folder / name).exists():
            return found(folder)
    raise InputError(
        f"no results here: there is no {SUMMARY}, {OUTCOME} or {MANIFEST}", allowed=_ALLOWED, file=folder
    )


def _of_study(name: str) -> Pages:
    from cxloom.cli.study_runs import folder_of
    from cxloom.report.directory import of_collection, of_study
    from cxloom.study.shipped import collection, find

    if _is_spec(name):
        swept = _swept(name)
        ways = f"cxloom report {swept}" if swept else _way_to_page(name)
        raise InputError("what is simulated, not results of it", allowed=ways, file=name)
    try:
        several = collection(name)
    except InputError as error:
        if error.line is not None or Path(name).suffix:  # there is one, and something is wrong in it
            raise
        if found := _of_own_name(name):
            return found
        raise InputError(
            f"no such directory, and {error.problem}",
            allowed=_ALLOWED,
            suggestion=error.suggestion,
            file=name,
        ) from None
    if several is not None:
        folders = {member: folder_of(member, None, alone=False) for member in several.members}
        return of_collection(several.title, several.about, folders, folder_of(name, None, alone=True))
    find(name)
    folder = folder_of(name, None, alone=True)
    if not folder.is_dir():
        raise InputError(
            f"the study '{name}' has not been run here",
            allowed=f"cxloom study run {shlex.quote(name)}",
            file=folder,
        )
    return of_study(folder)


def _of_own_name(name: str) -> Pages | None:
    """The pages of one's own study or sweep, named as the folder of its results or as its file without the ending."""
    from cxloom.cli.study_runs import FOLDER
    from cxloom.report.study_outcome import OUTCOME

    if (FOLDER / name / OUTCOME).exists():
        return _of_directory(FOLDER / name)
    if swept := _swept(name):
        return _of_directory(swept)
    return _of_study(f"{name}.yaml") if Path(f"{name}.yaml").exists() else None


def _swept(name: str) -> Path | None:
    """Where a sweep of a spec is, if it is where a sweep goes by itself."""
    from cxloom.cli.sweep import FOLDER
    from cxloom.results.outdir import MANIFEST
    from cxloom.spec import presets

    folder = FOLDER / (name if name in presets.names() else Path(name).stem)
    return folder if (folder / MANIFEST).exists() else None


def _is_spec(name: str) -> bool:
    """Whether this is a preset, or a file with a system in it and no study of one."""
    from cxloom.spec import presets
    from cxloom.spec.file_kind import FileKind, kind_of
    from cxloom.spec.reader import read_file

    if not Path(name).exists():
        return name in presets.names()
    return kind_of(read_file(name).map().keys()) is not FileKind.STUDY


def _way_to_page(name: str) -> str:
    """The command line that makes the page of a system, or of servers with a KV cache."""
    from cxloom.spec.file_kind import FileKind, kind_of
    from cxloom.spec.reader import read_file

    quoted = shlex.quote(name)
    if Path(name).exists() and kind_of(read_file(name).map().keys()) is FileKind.PLAN:
        return f"cxloom plan {quoted} --html page.html"
    if Path(name).exists() and kind_of(read_file(name).map().keys()) is FileKind.SERVERS:
        return f"cxloom kv {quoted} --html page.html"
    return f"cxloom run {quoted} --out results && cxloom report results"
