"""The page of all published numbers: what is on it, and that no study with one is missing."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from cxloom.study.shipped import collection, names

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "validation.md"


def script() -> Any:
    found = importlib.util.spec_from_file_location("validation_page", ROOT / "scripts" / "validation.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # dataclasses look there
    found.loader.exec_module(module)
    return module


validation = script()


def comparison(**given: Any) -> dict[str, Any]:
    texts = dict.fromkeys(
        ("source", "derived", "note", "fitted", "open", "expected_text", "allowed_text"), ""
    )
    usual = {
        "at": {"case": "a"},
        "measure": "latency_ns.mean",
        "simulated": 110.0,
        "expected": 100.0,
        "published": None,
    }
    return {**texts, **usual, "state": "met", **given}


def section(*comparisons: dict[str, Any], day: str = "2026-01-01") -> Any:
    outcome = {"title": "A study", "source": "A paper", "comparisons": list(comparisons)}
    return validation.section_of(outcome, day)


def test_what_does_not_agree_stands_first_with_its_reason() -> None:
    text = validation.page(
        {
            "one": section(comparison(expected_text="100", allowed_text="5 %", source="Fig. 1")),
            "two": section(comparison(state="open", open="nobody|knows", expected_text="100")),
        },
        {"three": "nothing is set up"},
    )
    row = "| `two` | case a | `latency_ns.mean` | 100 | 110.0 | +10.0 % | open | nobody\\|knows |"
    assert row in text
    assert "\n`three` was not run: nothing is set up\n" in text
    assert text.index(row) < text.index("### one")
    assert "| case a | `latency_ns.mean` | 100 (5 %) | 110.0 | +10.0 % | met | Fig. 1 |" in text
    assert "| `met` | 1 |" in text
    assert "| `open` | 1 |" in text


def test_closed_forms_are_not_on_it_and_published_values_beside_them_are() -> None:
    text = validation.page(
        {
            "one": section(
                comparison(derived="65 + 35", source="ours"),
                comparison(derived="65 + 35", published=120.0, source="Fig. 2", state="bracket"),
            ),
        },
        {},
    )
    assert "| 120.0 | 110.0 | -8.3 % | bracket | Fig. 2 |" in text
    assert "ours" not in text
    assert section(comparison(derived="2 x 50")).rows == ()


def test_a_sign_has_no_error() -> None:
    text = validation.page({"one": section(comparison(expected=None, expected_text="falls"))}, {})
    assert "| falls | 110.0 |  | met |" in text


def test_a_page_is_read_as_it_was_written() -> None:
    """Cells with pipes in them and empty ones; what was not run again keeps its rows and its day."""
    sections = {
        "one": section(comparison(state="open", open="nobody|knows | why"), comparison(expected=None)),
        "two": section(comparison(state="fitted", fitted="all"), day="2026-02-02"),
    }
    text = validation.page(sections, {"one": "nothing is set up"})
    assert validation.sections_of(text) == sections
    assert "`one` was not run again, its rows are of 2026-01-01: nothing is set up" in text
    assert validation.page(validation.sections_of(text), {"one": "nothing is set up"}) == text


@pytest.mark.skipif(not PAGE.exists(), reason="make validation has not been run")
def test_every_study_with_a_published_number_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    on_page = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    studies = {name for name in names() if collection(name) is None}
    assert on_page <= studies
    assert {"dmsim/idle_latency", "char/latency", "esf/slowdown", "dmsim/full_latency"} <= on_page
    assert list(validation.sections_of(text)) == [name for name in names() if name in on_page]
