"""Every number with a unit in docs/ is held by a test, or its page says by what it was measured.

A number of a page is held

- by a sentence of `figures.py`, which works it out;
- by a test that names the page, or that the page names, if it has the number (of a percentage, also the fraction);
- by a block of code of the page, which `test_doc_blocks.py` tries;
- by a parameter that declares it: `cxloom components` shows it;
- by a comment `<!-- measured by: COMMAND; written DAY -->` above it, as far as the next heading or paragraph that
  begins in bold: times of a machine and runs of minutes, which the command repeats. What nothing in the tree repeats,
  other simulators and states that are gone, has `<!-- measured once; written DAY -->`: it says what was. DAY is when
  the numbers came into the page;
- as what is given and not found out, a definition or a number of somebody else's, by a row of `GIVEN` with its source.

That a test has a number does not say that it works it out. What this finds is a number that stands in no test at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from figures import GIVEN, SENTENCES

from cxloom import _core

ROOT = Path(__file__).parents[2]
FOLLOWED = {"docs/tutorials/your-first-device.md"}
"""Pages that `test_tutorials.py` follows word by word."""
PAGES = sorted({str(file.relative_to(ROOT)) for file in (ROOT / "docs").rglob("*.md")} - FOLLOWED)
UNIT = (
    r"(?:[pnuµm]?s|[KMGT]?i?B(?:/s)?|kB|bytes|[MG]T/s|[kMG]?Hz|%|lines|flits|slots|cycles|clocks|instructions|"
    r"CPU-s|CPU seconds|seconds|minutes|million)"
)
QUANTITY = re.compile(rf"(?<![\w.^])(\d[\d,]*(?:\.\d+)?)\s?({UNIT})(?![\w/])")
NUMBER = re.compile(r"\d[\d,_']*(?:\.\d+)?")
MEASURED = re.compile(r"^<!-- measured (by: .+|once.*); written \d{4}-\d\d-\d\d -->$")
NOT_HERE = {"figures.py", Path(__file__).name}
TESTS = [
    file
    for folder in ("tests", "benchmarks")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in (".py", ".cpp", ".hpp") and file.name not in NOT_HERE
]


def value(number: str) -> float:
    return float(re.sub(r"[,_']", "", number))


def without_code(page: str) -> str:
    """A page whose blocks of code are empty lines."""
    return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), page, flags=re.DOTALL | re.M)


def claims(page: str) -> Iterator[tuple[int, str, str]]:
    """Line, number and unit of what a page says in words or in a table, unless it says by what it was measured."""
    measured = False
    before = ""
    for line, text in enumerate(without_code(page).splitlines(), 1):
        if text.startswith("<!-- measured"):
            assert MEASURED.match(text), f"line {line}: <!-- measured by: COMMAND; written YYYY-MM-DD -->"
            measured = True
        elif text.startswith(("#", "**")) and not before.startswith("<!-- measured"):
            measured = False
        before = text
        if not measured:
            for number, unit in QUANTITY.findall(re.sub(r"`[^`]*`", "``", text)):
                yield line, number, unit


@cache
def numbers_of(test: Path) -> tuple[str, frozenset[float]]:
    text = test.read_text(encoding="utf-8")
    return text, frozenset(value(number) for number in NUMBER.findall(text))


def in_its_tests(name: str, page: str) -> set[float]:
    """The numbers of all tests that name a page or that it names."""
    named = [
        re.escape(file).replace(r"\*", ".*") for file in re.findall(r"`[\w/]*?([\w*]+\.(?:py|cpp))`", page)
    ]
    found: set[float] = set()
    for test in TESTS:
        text, numbers = numbers_of(test)
        if name in text or any(re.fullmatch(each, test.name) for each in named):
            found |= numbers
    return found


@cache
def declared() -> set[tuple[float, str]]:
    return {(value(number), unit) for number, unit in QUANTITY.findall(json.dumps(_core.declarations()))}


@cache
def sentences(name: str) -> tuple[str, ...]:
    return tuple(SENTENCES[name]()) if name in SENTENCES else ()


def not_held(name: str, page: str) -> list[str]:
    """The numbers with a unit of a page that nothing holds, with their lines."""
    worked_out = {value(number) for each in sentences(name) for number in NUMBER.findall(each)}
    code = {
        value(number)
        for block in re.findall(r"^```.*?^```$", page, re.DOTALL | re.M)
        for number in NUMBER.findall(block)
    }
    known = worked_out | code | in_its_tests(name, page)
    return [
        f"{name}:{line}: {number} {unit}"
        for line, number, unit in claims(page)
        if value(number) not in known
        and not (unit == "%" and round(value(number) / 100, 9) in known)
        and (value(number), unit) not in declared()
        and not any(f"{number} {unit}" in each for each in (GIVEN["docs"], GIVEN.get(name, {})))
    ]


@pytest.mark.parametrize("name", PAGES)
def test_every_number_with_a_unit_is_held_or_was_measured(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    assert not_held(name, page) == []


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_are_what_is_worked_out(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    assert [each for each in sentences(name) if each not in page] == []


@pytest.mark.parametrize("name", sorted(GIVEN.keys() - {"docs"}))
def test_what_is_given_is_needed(name: str) -> None:
    said = {f"{number} {unit}" for _, number, unit in claims((ROOT / name).read_text(encoding="utf-8"))}
    assert GIVEN[name].keys() - said == set()


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("It takes 1234.5 ns.", ["1234.5 ns"]),
        ("At 98.76 % and 12,345 MB/s.", ["98.76 %", "12,345 MB/s"]),
        ("`latency: 1234.5ns`, 4321 of them, 2^63 ps.", []),
        ("```yaml\nlatency: 1234.5ns\n```\nSo it takes 1234.5 ns.", []),
        ("<!-- measured by: make bench; written 2026-11-27 -->\n| 1234.5 ns |\n\nand 98.76 %.\n", []),
        ("<!-- measured by: make bench; written 2026-11-27 -->\n1234.5 ns\n\n## Next\n98.76 %", ["98.76 %"]),
        ("<!-- measured by: make bench; written 2026-11-27 -->\n1234.5 ns\n\n**Next.** 98.76 %", ["98.76 %"]),
    ],
)
def test_numbers_that_nothing_holds_are_found(page: str, found: list[str]) -> None:
    assert [each.partition(": ")[2] for each in not_held("docs/none.md", page)] == found


def test_a_measurement_says_by_what_and_when() -> None:
    with pytest.raises(AssertionError, match="COMMAND"):
        list(claims("<!-- measured by: make bench -->\n1234.5 ns"))
