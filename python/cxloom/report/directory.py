"""The page of a directory of results, and its figures for papers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cxloom.base.errors import InputError, reason_of
from cxloom.report.answers import refuse_answer
from cxloom.report.study_outcome import OUTCOME, PAGE, read_outcome
from cxloom.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = dict[str, "Figure"]


@dataclass(frozen=True, slots=True)
class Pages:
    """How results are shown. Both raise InputError for results that are not whole."""

    place: Path
    """Where the page goes by default."""
    page: Callable[[], str]
    """Its text."""
    figures: Callable[[], Figures]
    """Figures for papers, by name."""


def of_run(folder: Path) -> Pages:
    """Pages of what ``cxloom run --out`` wrote."""
    result = Result.load(folder)

    def page() -> str:
        from cxloom.report.run_page import run_page

        return run_page(result, folder)

    def figures() -> Figures:
        from cxloom.report.figures import run_figures

        return run_figures(result)

    return Pages(folder / PAGE, page, figures)


def of_study(folder: Path) -> Pages:
    """Pages of what ``cxloom study run`` wrote."""
    outcome = read_outcome(folder)

    def page() -> str:
        from cxloom.report.study_page import study_page

        return study_page(outcome, folder)

    def figures() -> Figures:
        from cxloom.report.figures import study_figures

        return study_figures(outcome)

    return Pages(folder / PAGE, page, figures)


def of_collection(title: str, about: str, folders: Mapping[str, Path], place: Path) -> Pages:
    """Pages of several studies; studies that have not been run are left out. Raises InputError if none has."""
    ran = {name: folder for name, folder in folders.items() if (folder / OUTCOME).exists()}
    outcomes = {name: read_outcome(folder) for name, folder in (ran or folders).items()}
    pages = {name: os.path.relpath(folder / PAGE, place) for name, folder in ran.items()}

    def page() -> str:
        from cxloom.report.collection_page import collection_page

        return collection_page(title, about, outcomes, pages)

    def figures() -> Figures:
        from cxloom.report.figures import study_figures

        return {
            f"{name.replace('/', '-')}-{key}": figure
            for name, outcome in outcomes.items()
            for key, figure in study_figures(outcome).items()
        }

    return Pages(place / PAGE, page, figures)


def of_sweep(folder: Path) -> Pages:
    """Pages of what ``cxloom sweep`` wrote."""
    from cxloom.sweeping.result import SweepResult

    result = SweepResult.load(str(folder))

    def page() -> str:
        from cxloom.report.sweep_page import sweep_page

        return sweep_page(result, folder)

    def figures() -> Figures:
        from cxloom.report.figures import sweep_figures

        return sweep_figures(result)

    return Pages(folder / PAGE, page, figures)


def of_serving(file: Path) -> Pages:
    """Pages of what ``cxloom kv --out`` wrote. Raises InputError if it is none of these, such as another command's."""
    from cxloom.kv.serving import Served
    from cxloom.report.page import refused_unless_whole

    written_by = "cxloom kv --out FILE.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=file) from None
    except ValueError:
        raise InputError(
            "not a result: it is no JSON", allowed=f"what `{written_by}` writes", file=file
        ) from None
    if not isinstance(found, dict):
        raise InputError(
            "not a result of servers with KV caches: its JSON is no map",
            allowed=f"what `{written_by}` writes",
            file=file,
        )
    refuse_answer(found, file)
    with refused_unless_whole("a result of servers with KV caches", written_by, file):
        served = Served(found["name"], found, found["cost"])

    def page() -> str:
        from cxloom.report.serving_page import serving_page

        with refused_unless_whole("a result of servers with KV caches", written_by, file):
            return serving_page(served)

    def figures() -> Figures:
        from cxloom.report.figures import serving_figures

        with refused_unless_whole("a result of servers with KV caches", written_by, file):
            return serving_figures(served.found)

    return Pages(file.with_suffix(".html"), page, figures)
