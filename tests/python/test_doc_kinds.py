"""The page on the command lists every category of kinds."""

from pathlib import Path

from cxloom import _core

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"

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
