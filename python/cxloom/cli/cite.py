"""``cxloom cite``: what a paper cites that uses results of a system."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from cxloom.base.words import counted
from cxloom.citing.cited import Citations, cited_by
from cxloom.cli.options import AsJson, Plugins
from cxloom.display.console import messages
from cxloom.results.outdir import is_stored
from cxloom.results.result import Result
from cxloom.spec.plugins import load_plugins
from cxloom.system.system import System


def cite(
    result: Annotated[
        str,
        typer.Argument(
            metavar="RESULT",
            help="A directory that `cxloom run --out` wrote, a spec file, or a shipped preset.",
        ),
    ],
    as_json: AsJson = False,
    plugins: Plugins = [],  # noqa: B006 - typer wants a list, and copies it
) -> None:
    """Print what to cite for RESULT, as BibTeX.

    cxloom, and the publications that the components of the system name as the sources of their parameters; a comment
    before each says which. What a preset or a study is from stands in its file: cxloom presets NAME.

    cxloom cite build/results > cxloom.bib

    Exit code 0: printed. 2: RESULT is no result, spec or preset.
    """
    load_plugins(plugins)
    resolved = Result.load(result).spec if is_stored(os.fspath(result)) else System.load(result).resolve()
    found = cited_by(resolved)
    if as_json:
        print(json.dumps(found.to_json(), indent=2))
        return
    print(found.bibtex(), end="")
    _say_what_is_not(found)


def _say_what_is_not(found: Citations) -> None:
    from rich.text import Text

    if found.elsewhere:
        sources = counted(len(found.elsewhere), "other source")
        note = (
            f"note: {sources} of parameters are no publications (own choices, data sheets): --json lists them"
        )
        messages().print(Text(note, style="dim"))
