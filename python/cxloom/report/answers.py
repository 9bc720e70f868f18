"""Which command a JSON file is the answer of, and how there is a page of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cxloom.base.errors import InputError
from cxloom.results.outdir import SUMMARY
from cxloom.spec.file_kind import answer_of

_OF_RESULTS = "cxloom run SPEC --out DIR && cxloom report DIR"
_OF_RUNS = f"pages of runs: {_OF_RESULTS}"
_PAGES = {
    "cxloom sweep": "the directory of the sweep: cxloom report DIR",
    "cxloom plan": "cxloom plan FILE --html PAGE.html",
    "cxloom exec": "cxloom exec --html PAGE.html ...",
    "cxloom study run": "cxloom report STUDY",
}
"""The way to a page of what a command answers, where it is none of a run."""


def refuse_answer(found: dict[str, Any], file: Path) -> None:
    """Raises InputError, with the way to a page, for the answer of a command that this is no page of."""
    answered = answer_of(found) or ""
    if answered == "cxloom run":
        beside = file.name == SUMMARY
        raise InputError(
            "the summary of a run, and not the directory of its results",
            allowed=f"cxloom report {shlex.quote(str(file.parent))}" if beside else _OF_RESULTS,
            file=file,
        )
    if answered not in ("", "cxloom kv"):
        raise InputError(f"an answer of `{answered}`", allowed=_PAGES.get(answered, _OF_RUNS), file=file)
