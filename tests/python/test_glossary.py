"""The glossary has each word once, in order, and no word that nobody uses."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def words_of(page: str) -> list[str]:
    """The first column of its table."""
    return re.findall(r"^\| (?!word |---)([^|]+?) \|", page, re.M)


GLOSSARY = ROOT / "docs" / "glossary.md"
WORDS = words_of(GLOSSARY.read_text(encoding="utf-8"))


def test_words_come_once_and_in_order() -> None:
    assert len(WORDS) > 50
    assert sorted(set(WORDS), key=str.lower) == WORDS


def test_each_word_is_used() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page != GLOSSARY]
    sources = list((ROOT / "core").rglob("*.hpp"))
    text = "\n".join(file.read_text(encoding="utf-8") for file in [*pages, *sources]).lower()
    forms = {word: word.partition(" (")[0].lower() for word in WORDS}
    unused = [word for word, form in forms.items() if form not in text and form.replace(" ", "") not in text]
    assert unused == []


def test_a_table_is_read() -> None:
    assert words_of("| word | meaning |\n| --- | --- |\n| b | c |\n| logical device (LD) | x |\n") == [
        "b",
        "logical device (LD)",
    ]
