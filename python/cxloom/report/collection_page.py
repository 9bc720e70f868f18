"""The page of several studies: how each came out, its plots, and the way to its own page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from cxloom.report.page import Cell, Section, document, table, tiles
from cxloom.report.study_page import drawn, scatter

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
    met = sum(each["passed"] for each in comparisons)
    points = [point for outcome in outcomes.values() for point in outcome["points"]]
    quick = "the quick forms" if any(outcome["quick"] for outcome in outcomes.values()) else ""
    lead = tiles(
        [
            ("studies", str(len(outcomes)), quick),
            ("expectations met", f"{met} of {len(comparisons)}", "all" if met == len(comparisons) else ""),
            ("points", f"{len(points):,}", ""),
            ("simulated", f"{sum(point['cost']['cpu_seconds'] for point in points):.0f} s", "of CPU"),
        ]
    )
    head = ["study", "what it is", "points", "expectations", "met", "largest deviation"]
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


def _row(outcome: Values) -> list[Cell]:
    comparisons = outcome["comparisons"]
    met = sum(each["passed"] for each in comparisons)
    valued = [abs(each["deviation"]) for each in comparisons if each["expected"]]
    largest = max(valued, default=None)
    verdict = "" if not comparisons else "good" if met == len(comparisons) else "bad"
    return [
        Cell(outcome["title"], look="text"),
        Cell(f"{len(outcome['points']):,}", len(outcome["points"])),
        Cell(f"{len(comparisons):,}", len(comparisons)),
        Cell(f"{met:,}", met, verdict),
        Cell("-") if largest is None else Cell(f"{100 * largest:.2f} %", largest),
    ]
