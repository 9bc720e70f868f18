"""The page of a directory that ``cxloom plan`` wrote, and its figure for papers."""

from __future__ import annotations

import json
from pathlib import Path

from cxloom.base.errors import InputError, reason_of
from cxloom.report.directory import Figures, Pages
from cxloom.report.page import refused_unless_whole
from cxloom.report.study_outcome import PAGE
from cxloom.results.outdir import OF_PLAN

OUTCOME = OF_PLAN
"""All results of a plan, as ``cxloom plan --json`` prints them."""
_WHAT, _WRITTEN_BY = "the results of a plan", "cxloom plan"


def of_plan(folder: Path) -> Pages:
    """Pages of what ``cxloom plan --out`` wrote. Raises InputError if it is none of these."""
    file = folder / OUTCOME
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=file) from None
    except ValueError:
        raise InputError(f"not {_WHAT}: no JSON", allowed=f"what `{_WRITTEN_BY}` writes", file=file) from None

    def page() -> str:
        from cxloom.report.plan_page import plan_page

        with refused_unless_whole(_WHAT, _WRITTEN_BY, folder):
            return plan_page(found)

    def figures() -> Figures:
        from cxloom.report.plan_figures import plan_figures

        with refused_unless_whole(_WHAT, _WRITTEN_BY, folder):
            return plan_figures(found)

    return Pages(folder / PAGE, page, figures)
