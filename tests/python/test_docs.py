"""What the pages on specs and the command show is valid as it stands, and what pages name is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cxloom as cx
from cxloom import _core
from cxloom.spec.declared import sections
from cxloom.study import read
from cxloom.study.compare import check

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "integrations").rglob("*.md")])
FOLDERS = (
    "benchmarks",
    "bindings",
    "core",
    "docs",
    "examples",
    "include",
    "integrations",
    "python",
    "scripts",
    "studies",
    "tests",
)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


MAKEABLE = set(
    re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)


@pytest.mark.parametrize("text", blocks("spec.md", "yaml"))
def test_specs_are_valid(text: str) -> None:
    assert cx.run(cx.System.from_yaml(text).set("workload.host.requests", 100))["completed"]


@pytest.mark.parametrize("text", blocks("cli.md", "yaml"))
def test_studies_are_valid(text: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(text)
    study = read(tmp_path / "study.yaml")
    assert len(study.points) == 4
    assert len(study.expectations) == 4
    check(study)
    assert len(read(tmp_path / "study.yaml", quick=True).points) == 2


def test_every_top_level_key_is_described() -> None:
    page = (DOCS / "spec.md").read_text(encoding="utf-8")
    for key in sections():
        assert f"| `{key}` |" in page


def test_every_key_of_the_summary_is_described() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    for measure in (*_core.declarations()["measures"], *_core.declarations()["link"]["statistics"]):
        assert f"`{measure['name']}`" in page, measure["name"]


# --- what pages name ---


def anchors(page: str) -> set[str]:
    """What a link may lead to within a page: its headings as GitHub spells them."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def files_named(name: str) -> Iterator[Path]:
    """Files of the tree that are called so, wherever they lie."""
    for folder in FOLDERS:
        yield from (ROOT / folder).rglob(name)


def dead_names(file: Path, page: str) -> Iterator[str]:
    """Links that lead nowhere, goals of make and paths of the tree that are not there.

    Words in capitals stand for any name.
    """
    for target in re.findall(r"\]\(([^)\s]+)\)", page):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        if not path:
            if anchor not in anchors(page):
                yield target
            continue
        other = file.parent / path
        if not other.exists() or (anchor and anchor not in anchors(other.read_text(encoding="utf-8"))):
            yield target
    shell = "\n".join(re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    for goals in re.findall(r"`make ([a-z0-9 -]+)", page) + re.findall(
        r"^make ([a-z0-9 -]+)", shell, re.MULTILINE
    ):
        yield from (f"make {goal}" for goal in goals.split() if goal not in MAKEABLE)
    for name in re.findall(r"`([a-z][a-z0-9_]*\.(?:py|cpp|hpp))`", page):
        if not any(files_named(name)):
            yield name
    for path in re.findall(rf"`((?:{'|'.join(FOLDERS)})/[^`\s]*)`", page):
        if not re.search(r"\b[A-Z]{2,}", path) and not list(ROOT.glob(path.rstrip("/"))):
            yield path


@pytest.mark.parametrize("file", PAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_and_paths_lead_somewhere(file: Path) -> None:
    assert list(dead_names(file, file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("page", "dead"),
    [
        (
            "[a](docs/spec.md#spec-files) `core/base/` `tests/core/*/*/bus_test.cpp` `core/device/NAME.hpp`",
            [],
        ),
        ("[a](https://example.org/gone.md) `64GB/s`", []),
        ("`make lint-format lint-python`, `make same-bytes BASE=HEAD`", []),
        ("`make lint-format bread`", ["make bread"]),
        ("[a](docs/gone.md)", ["docs/gone.md"]),
        ("[a](docs/spec.md#gone)", ["docs/spec.md#gone"]),
        ("# Here\n\n[a](#here) [b](#there)", ["#there"]),
        ("`core/coherence/cache_array.hpp`", ["core/coherence/cache_array.hpp"]),
        ("`flit_rows.py` `bus_test.cpp` `gone_rows.py`", ["gone_rows.py"]),
        ("```sh\nmake build lint   # and more\nmake bread\n```\n\nmake beer", ["make bread"]),
    ],
)
def test_dead_names_are_found(page: str, dead: list[str]) -> None:
    assert list(dead_names(ROOT / "README.md", page)) == dead


# --- words ---

TEXTS = {".cpp", ".hpp", ".h", ".py", ".md", ".yaml", ".txt"}
UNWANTED = re.compile(
    r"\blone\b|\b(?:queue|bit|entry|line|slot|event|access) a (?:class|line|request|pair|second)\b"
)
"""Words that need a second reading: what stands for `alone` or `single`, and `a` for `per`."""


def unwanted(text: str) -> list[str]:
    return UNWANTED.findall(text)


@pytest.mark.parametrize("folder", ["core", "python", "docs", "bindings"])
def test_rates_are_written_with_per(folder: str) -> None:
    files = [file for file in (ROOT / folder).rglob("*") if file.suffix in TEXTS]
    assert len(files) > 5
    found = {
        f"{file.relative_to(ROOT)}:{number}": words
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if (words := unwanted(line))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one bit a line, a lone read", ["bit a line", "lone"]),
        ("an entry a pair; one event a second", ["entry a pair", "event a second"]),
        ("one entry per pair, a clone, an event at once, alone", []),
        ("requests per second: the line of a request", []),
    ],
)
def test_unwanted_words_are_found(text: str, words: list[str]) -> None:
    assert unwanted(text) == words
