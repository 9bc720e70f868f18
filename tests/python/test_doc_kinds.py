"""The page on the command lists every category of kinds, and each kind, segment and header for plug-ins is told of."""

import re
from pathlib import Path

import pytest

from cxloom import _core

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = DOCS / "cli.md"

KINDS = {
    "devices": "devices",
    "media": "media",
    "schedulers": "DRAM schedulers",
    "row_policies": "row and refresh policies",
    "refresh_policies": "row and refresh policies",
    "collectors": "collectors of garbage",
    "victims": "victim policies",
    "prefetchers": "prefetchers",
    "routing": "routing",
    "arbitration": "arbitration",
    "patterns": "patterns",
    "placements": "placements of pages",
    "tiering": "tiering policies",
    "kv_policies": "policies of KV caches",
    "topologies": "topologies",
}
"""What the page on the command calls each category of kinds."""


def test_every_category_of_kinds_is_listed_where_they_are() -> None:
    assert KINDS.keys() == _core.declarations()["categories"].keys()
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for beginning in ("| `components [KIND]` |", "`--plugin LIB` loads more kinds of"):
        sentence = text[text.index(beginning) :][:400]
        for words in KINDS.values():
            assert words in sentence, (beginning, words)


def code_in(page: str) -> str:
    """What is code on a page: blocks, and what stands between backquotes."""
    return "\n".join(re.findall(r"^```.*?^```$|`[^`\n]+`", page, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("category", KINDS)
def test_every_kind_is_told_of(category: str) -> None:
    code = "\n".join(code_in(page.read_text(encoding="utf-8")) for page in DOCS.rglob("*.md"))
    words = set(re.findall(r"[\w-]+", code))
    kinds = _core.declarations()[category]  # type: ignore[literal-required]
    without = sorted(set(kinds) - words)
    assert not without, (
        f"{category} that no page in docs/ names (docs/model/ has one for each sort): {without}"
    )


def test_every_segment_is_told_of() -> None:
    page = (DOCS / "model" / "results.md").read_text(encoding="utf-8")
    names = [segment["name"] for segment in _core.declarations()["segments"]]
    without = [name for name in names if f"`{name}`" not in page]
    assert not without, f"segments that docs/model/results.md does not name (Segments): {without}"


def test_every_public_header_is_told_of() -> None:
    """But the one that all of them include."""
    text = PAGE.read_text(encoding="utf-8")
    headers = {file.name for file in (ROOT / "include" / "cxloom").glob("*.hpp")} - {"plugin.hpp"}
    without = sorted(name for name in headers if f"`<cxloom/{name}>`" not in text)
    assert not without, f"docs/cli.md (Plug-ins) does not name {without}"
