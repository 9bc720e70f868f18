"""A medium outside: as one of the spec of the same time, bounded by the controller's places; what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embed_support import EXAMPLE, compiled, copied, resolved, run

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return copied(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def program(installed: tuple[Path, Path]) -> Path:
    return compiled(PROGRAMS / "medium.c", installed[0].parent / "medium", installed)


@pytest.mark.parametrize(
    ("sets", "tags", "most"),
    [
        ((), 3000, None),
        (("devices.memory.queue=8",), 3000, 8),
        (("devices.memory.read_buffer=3", "devices.memory.write_buffer=2"), 3000, 5),
        # The controller carries these writes itself, behind their answers.
        (
            (
                "devices.memory.read_buffer=3",
                "devices.memory.write_buffer=2",
                "devices.memory.posted_writes=true",
            ),
            None,
            5,
        ),
    ],
)
def test_a_medium_outside_is_as_one_of_the_spec(
    tmp_path: Path,
    cxloom: Callable[..., Any],
    program: Path,
    sets: tuple[str, ...],
    tags: int | None,
    most: int | None,
) -> None:
    more = [part for each in sets for part in ("--set", each)]
    spec = resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "s.json", *more)
    flags = [] if tags else ["untagged"]
    own = run(program, "own", *flags, spec)
    assert own.returncode == 0, own.stdout
    for way in ("at_once", "later"):
        outside = run(program, way, *flags, spec)
        assert outside.returncode == 0, outside.stdout[:2000]
        # Each access is answered at the same picosecond. Where the controller has answers of its own, some are
        # ready at the same instant as one of the media, and the other of the two goes first.
        ends = [int(end) for end in outside.stdout.split()]
        apart = [abs(a - int(b)) for a, b in zip(ends, own.stdout.split(), strict=True)]
        assert max(apart) <= (0 if tags else 2500)
        at_once, writes, tagged = map(int, outside.stderr.split())
        assert 800 < writes < 1200
        assert tagged == (tags or 3000 - writes)
        if way == "later" and most:
            assert at_once == most


def test_misuse_of_a_medium_outside_is_refused(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path
) -> None:
    done = run(program, "misuse", resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "s.json"))
    assert done.returncode == 0, done.stdout


def test_the_example_with_a_medium(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    program = compiled(EXAMPLE / "medium.c", tmp_path / "medium", installed)
    done = run(program, resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "s.json"))
    assert done.returncode == 0, done.stderr
    # Rows of 32 accesses: each begins with a miss. The medium is what is waited for: of four under way each has
    # four accesses' time, but for the beginning.
    count, _, hits, *_ = done.stdout.split()
    assert (count, int(hits)) == ("1000", 1000 - 32)
