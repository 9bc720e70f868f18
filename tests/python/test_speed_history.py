"""benchmarks/history.py: the page is what was counted, and marks what has become dearer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
history = pytest.importorskip("history")


def counts(bus: list[int]) -> list[object]:
    """Counts of some commits, a day each; all other systems take one instruction at each."""
    return [
        history.Count(f"2026-11-{1 + day:02}T00:00:00", f"{day:08}", name, number if name == "bus" else 1)
        for day, number in enumerate(bus)
        for name in history.SYSTEMS
    ]


def row(page: str, system: str) -> list[str]:
    line = next(line for line in page.splitlines() if line.startswith(f"| {system} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(
    ("bus", "told"),
    [
        ([1000], "least"),
        ([1010, 1000], "least"),
        ([1000, 1029], "+2.9 %"),
        ([1000, 1015, 1031], "**+3.1 %**"),
    ],
)
def test_a_row_is_compared_with_its_least_and_drift_is_bold(bus: list[int], told: str) -> None:
    assert row(history.page(counts(bus)), "bus") == ["bus", *(f"{each:,}" for each in bus), told]


def test_the_last_commits_are_shown_and_the_least_is_of_all() -> None:
    bus = [1000, *[2000] * history.SHOWN]
    assert row(history.page(counts(bus)), "bus") == ["bus", *["2,000"] * history.SHOWN, "**+100.0 %**"]


def test_a_commit_that_does_not_know_a_system_has_an_empty_cell() -> None:
    known = [each for each in counts([1000, 1000]) if (each.commit, each.system) != ("00000000", "bus")]
    assert row(history.page(known), "bus") == ["bus", "", "1,000", "least"]


def test_counting_again_takes_the_place_of_what_was_counted(tmp_path: Path) -> None:
    file = tmp_path / "history.csv"
    history.keep(counts([1000, 2000]), file)
    history.keep(counts([1000, 1500])[-len(history.SYSTEMS) :], file)
    assert history.kept(file) == sorted(counts([1000, 1500]))


def test_the_page_is_that_of_the_file() -> None:
    kept = history.kept()
    assert history.PAGE.read_text(encoding="utf-8") == history.page(kept).replace("DATE", kept[-1].date[:10])
