"""``cxloom report``: one self-contained page of results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cxloom.errors import InputError, reason_of
from cxloom.outdir import SUMMARY

PAGE = "report.html"


def report(
    results: Annotated[
        str,
        typer.Argument(metavar="DIR", help="A directory that `cxloom run --out` wrote."),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Where the page goes; by default DIR/report.html."),
    ] = None,
) -> None:
    """Write one HTML page of results.

    The page needs nothing else: no network, no other file.

    Exit code 0: written. 2: there are no results, or they are not whole; nothing was written.
    """
    folder = _folder(results)
    target = folder / PAGE if out is None else Path(out)
    if target.suffix not in (".html", ".htm"):
        raise InputError(
            "not the name of a page", found=f"'{target}'", allowed="a name that ends in .html", path="--out"
        )
    text = _page(folder)(folder)
    from cxloom.temporary import written_whole

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(target) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", file=target, path="--out") from None
    print(f"The page is {target}")


def _folder(results: str) -> Path:
    """The directory of results. Raises InputError for what is none."""
    if not results:
        raise InputError("the name of the directory is empty", allowed="a directory of results", path="DIR")
    folder = Path(results)
    try:
        if folder.is_dir():
            return folder
        problem = "not a directory" if folder.exists() else "no such directory"
    except (OSError, ValueError) as error:
        problem = reason_of(error) if isinstance(error, OSError) else str(error)
    raise InputError(problem, allowed="a directory that `cxloom run --out` wrote", file=folder)


def _page(folder: Path) -> Callable[[Path], str]:
    """What makes the page of such a directory."""
    if not (folder / SUMMARY).exists():
        raise InputError(
            f"no results here: there is no {SUMMARY}",
            allowed="a directory that `cxloom run --out` wrote",
            file=folder,
        )
    return _page_of_run


def _page_of_run(folder: Path) -> str:
    from cxloom.report.run_page import run_page
    from cxloom.results import Result

    return run_page(Result.load(folder), folder)
