"""Each folder of the core says what lives there, and what may not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = 10


def rooms(core: Path) -> list[Path]:
    """The folders that have sources, and those that have such folders."""
    return sorted(
        {folder for file in core.rglob("*.?pp") for folder in file.parents if core in folder.parents}
    )


def faults(core: Path) -> Iterator[str]:
    for room in rooms(core):
        readme = room / "README.md"
        name = room.relative_to(core)
        if not readme.is_file():
            yield f"{name} has no README.md"
            continue
        text = readme.read_text(encoding="utf-8")
        if len(text.splitlines()) > MOST_LINES:
            yield f"{name}/README.md has more than {MOST_LINES} lines"
        if "Not here: " not in text:
            yield f"{name}/README.md does not say what is not here"
        for file in re.findall(r"`([\w/]+\.hpp|[\w/]+/)`", text):
            if not any((base / file).exists() for base in (room, room.parent, core, core.parent)):
                yield f"{name}/README.md names {file}, which is not there"


def test_each_room_says_what_lives_there() -> None:
    assert list(faults(ROOT / "core")) == []


def test_a_fault_is_found(tmp_path: Path) -> None:
    for room in ("a/b", "c", "d"):
        (tmp_path / room).mkdir(parents=True)
        (tmp_path / room / "x.hpp").touch()
    (tmp_path / "a" / "README.md").write_text("# A\n\nNot here: B. Start with `b/` and `y.hpp`.\n")
    (tmp_path / "a" / "b" / "README.md").write_text("# B\n" * 11)
    (tmp_path / "c" / "README.md").write_text("# C\n\nNot here: nothing. `x.hpp`\n")
    assert list(faults(tmp_path)) == [
        "a/README.md names y.hpp, which is not there",
        "a/b/README.md has more than 10 lines",
        "a/b/README.md does not say what is not here",
        "d has no README.md",
    ]
