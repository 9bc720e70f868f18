"""The tutorials are followed word by word: their files written, their commands run, their outputs compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from validation.examples import some

PAGES = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))


def blocks(page: str) -> Iterator[tuple[str, str, str]]:
    """The fenced blocks of a page in order: language, the name of a file (or none), what is within."""
    yield from re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def matches(shown: str, said: str) -> bool:
    """Whether a page shows what was said: the same, but for trailing blanks, and `...` stands for anything."""
    lines = ["\n".join(line.rstrip() for line in text.strip("\n").split("\n")) for text in (shown, said)]
    pattern = ".*?".join(re.escape(piece) for piece in lines[0].split("..."))
    return re.fullmatch(pattern, lines[1], re.DOTALL) is not None


def follow(page: str, folder: Path) -> None:
    """Does in a folder what a page says. A command without a block of text behind it must say nothing."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "80"}
    command, said = "", ""
    for language, name, within in [*blocks(page), ("end", "", "")]:
        if language == "text":
            assert command, f"nothing says this:\n{within}"
            assert matches(within, said), f"{command}\nshown:\n{within}\nsaid:\n{said}"
            command = said = ""
            continue
        assert not said, f"{command}\nsays what the page does not show:\n{said}"
        if language == "sh":
            command = within
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            said = done.stdout
            assert done.returncode == 0, f"{command}\nexit code {done.returncode}:\n{said}"
        elif name:
            (folder / name).write_text(within, encoding="utf-8")


@pytest.mark.parametrize("page", some(PAGES), ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_shows(page: Path, tmp_path: Path) -> None:
    follow(page.read_text(encoding="utf-8"), tmp_path)


def test_there_are_tutorials() -> None:
    assert PAGES


@pytest.mark.parametrize(
    ("shown", "said", "same"),
    [
        ("mean 17.00 ns", "mean 17.00 ns\n", True),
        ("a  \nb", "a\nb   \n", True),
        ("mean 17.00 ns\n...", "mean 17.00 ns\nin 0.3 s\n", True),
        ("passed in ... s", "passed in 0.31 s", True),
        ("mean 17.00 ns", "mean 17.01 ns", False),
        ("mean 17.00 ns", "mean 17.00 ns\nand more", False),
        ("mean 17.00 ns\n...", "warning\nmean 17.00 ns\n", False),
    ],
)
def test_outputs_are_compared_to_the_digit(shown: str, said: str, same: bool) -> None:
    assert matches(shown, said) is same


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("```sh\necho 1\n```\n\n```text\n2\n```\n", "shown:"),
        ("```sh\necho 1\n```\n", "does not show"),
        ("```sh\necho 1\n```\n\n```sh\ntrue\n```\n", "does not show"),
        ("```sh\nfalse\n```\n", "exit code 1"),
        ("```text\n1\n```\n", "nothing says this"),
    ],
)
def test_a_page_that_is_wrong_is_found(page: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=re.escape(problem)):
        follow(page, tmp_path)


def test_files_of_a_page_are_there_for_its_commands(tmp_path: Path) -> None:
    follow("```yaml a.yaml\nx: 1\n```\n\n```sh\ncat a.yaml\n```\n\n```text\nx: 1\n```\n", tmp_path)
