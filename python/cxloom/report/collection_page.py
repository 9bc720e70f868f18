"""The page of several studies: how each came out, its plots, and the way to its own page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

from cxloom.report.page import Cell, Section, document, table, tiles
from cxloom.report.study_page import drawn, scatter, tally_of
from cxloom.study.state import State

Values = Mapping[str, Any]


def collection_page(title: str, about: str, outcomes: Mapping[str, Values], pages: Mapping[str, str]) -> str:
    """The text of the page.

    Args:
        title: what the studies have in common.
        about: a paragraph about them.
        outcomes: of each study its outcome, by name.
        pages: of each study where its own page is, from this one.
    """
    rows: list[list[Cell | str]] = [[name, *_row(outcome)] for name, outcome in outcomes.items()]
    comparisons = [each for outcome in outcomes.values() for each in outcome["comparisons"]]
    points = [point for outcome in outcomes.values() for point in outcome["points"]]
    quick = "the quick forms" if any(outcome["quick"] for outcome in outcomes.values()) else ""
    lead = tiles(
        [
            ("studies", str(len(outcomes)), quick),
            ("expectations", f"{len(comparisons):,}", tally_of(comparisons)),
            ("points", f"{len(points):,}", ""),
            ("simulated", f"{sum(point['cost']['cpu_seconds'] for point in points):.0f} s", "of CPU"),
        ]
    )
    head = ["study", "what it is", "points", "expectations", *State, "largest deviation"]
    sections = [
        Section("studies", "Studies", f"<p>{escape(about)}</p>{table(head, rows, caption='Studies')}")
    ]
    for name, outcome in outcomes.items():
        key = name.replace("/", "-")
        plots = "".join([*scatter(outcome["comparisons"], key), *drawn(outcome, key)])
        way = f'<p><a href="{escape(pages[name])}">The page of {escape(name)}</a></p>'
        why = "".join(f"<p>{escape(part)}</p>" for part in outcome["explain"].split("\n") if part.strip())
        sections.append(Section(key, outcome["title"], f'{way}{why}<div class="pair">{plots}</div>'))
    version = next(iter(outcomes.values()))["version"]
    return document(title, lead, sections, f"cxloom {escape(version)}. This page fetches nothing.")


def _look(state: State, count: int) -> str:
    looks = {State.MET: "good", State.FAILED: "bad"}
    return looks.get(state, "") if count else ""


def _row(outcome: Values) -> list[Cell]:
    comparisons = outcome["comparisons"]
    states = Counter(each["state"] for each in comparisons)
    valued = [abs(each["deviation"]) for each in comparisons if each["expected"]]
    largest = max(valued, default=None)
    return [
        Cell(outcome["title"], look="text"),
        Cell(f"{len(outcome['points']):,}", len(outcome["points"])),
        Cell(f"{len(comparisons):,}", len(comparisons)),
        *(Cell(f"{states[state]:,}", states[state], _look(state, states[state])) for state in State),
        Cell("-") if largest is None else Cell(f"{100 * largest:.2f} %", largest),
    ]
