"""``cxloom demo``: the validation system at work, as a table, a picture and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cxloom.base.errors import InputError
from cxloom.base.shipped import shipped_folder
from cxloom.cli.run import execute, finish
from cxloom.cli.writing import write_text
from cxloom.system.system import System
from cxloom.trace.emulator import missing_packages, what_to_type

PICTURE = "demo.png"


def demo(
    out: Annotated[str, typer.Option(metavar="DIR", help="Where results and picture go.")] = "build/demo",
) -> None:
    """Show and draw what cxloom does.

    Plays 32 Redis servers, from a trace of one, with their data in four CXL memories, draws where the time went, and
    writes the page of the run.
    """
    examples = shipped_folder("examples")
    if examples is None or not (examples / "demo.yaml").exists():
        raise InputError("the demonstration is not installed: there is no examples/demo.yaml")
    if not out:
        raise InputError("the name of the directory is empty", allowed="a directory", path="--out")
    print(
        "Playing 32 Redis servers, from a trace of one, on four CXL memories (examples/demo.yaml)\n",
        flush=True,
    )
    result, failure = execute(System.load(examples / "demo.yaml").resolve(), out, quiet=False)
    if failure is None or isinstance(failure, InputError):
        result.show()
    finish(failure)
    from cxloom.report.directory import of_run
    from cxloom.report.run_picture import (
        draw,  # Matplotlib takes a second to load: no other command waits for it
    )

    picture = draw(result, Path(out) / PICTURE)
    pages = of_run(Path(out))
    page = write_text(pages.place, pages.page())
    print(f"\nThe results are in {out}/, the picture in {picture}; open {page} in a browser")
    if packages := missing_packages():
        print(f"To run programs on simulated systems (`cxloom exec`): {what_to_type(packages)}")
