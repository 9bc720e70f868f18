"""What an error tells people to type works when they do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_lines import wrong_in
from validation.examples import some

Call = Callable[..., Any]
ROOT = Path(__file__).parents[2]
SPEC = """\
devices: {host: {kind: host}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 100}}
"""
STUDY = """\
title: A study
system: {preset: esf/validation, workload: {host: {requests: 100}}}
sweep: {devices.host.queue: [1, 2]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "system.yaml").write_text(SPEC)
    (tmp_path / "a study.yaml").write_text(STUDY)
    (tmp_path / "mine.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "typed",
    some(
        [
            "report system.yaml",
            "report system",
            "report esf/validation",
            "report mine.yaml",
            "report mine",
            "report 'a study.yaml'",
            "report 'a study'",
            "study run mine",
            "run system",
            "sweep system --set devices.host.queue=1,2",
            "check systen.yaml",
            "draw memory/local-remote-cx --out x.svg",
        ]
    ),
)
def test_advice_is_followed_to_the_end(cxloom: Call, folder: Path, typed: str) -> None:
    first = cxloom(*shlex.split(typed))
    assert first.code == 2, first
    advised = list(commands_in(first.err)) or [shlex.split(typed)]
    if near := re.search(r"did you mean '([^']+)'", first.err):
        advised = [[near[1] if word == wrong_of(typed) else word for word in shlex.split(typed)]]
    for each in advised:
        said = cxloom(*each)
        assert said.code == 0, (each, said.err)
    again = cxloom(*shlex.split(typed))
    assert again.code == 0 or near or "allowed: cxloom run" in first.err, again


def wrong_of(typed: str) -> str:
    """The name that is wrong in a command: of the file, the preset or the study."""
    words = shlex.split(typed)
    return words[2] if words[0] == "study" else words[1]


def commands_in(text: str) -> Iterator[list[str]]:
    """The commands behind `allowed:`, in their order."""
    for line in re.findall(r"allowed: (cxloom .*)", text):
        for each in line.split(" && "):
            program, *words = shlex.split(each)
            assert program == "cxloom"
            yield words


def test_results_are_found_by_the_name_of_what_was_run(cxloom: Call, folder: Path) -> None:
    assert cxloom("study", "run", "mine.yaml").code == 0
    assert cxloom("report", "mine").code == 0
    assert cxloom("sweep", "system.yaml", "--set", "devices.host.queue=1,2").code == 0
    assert "build/sweeps/system/report.html" in cxloom("report", "system").out.replace("\n", "")


# --- commands that texts of ours name ---

SOURCES = [
    *(ROOT / "python").rglob("*.py"),
    *(file for folder in ("core", "bindings") for file in (ROOT / folder).rglob("*.[ch]pp")),
]
QUOTED = re.compile(r"`+cxloom ([^`\n]+?)`+")


@pytest.mark.parametrize(
    "file", [file for file in SOURCES if QUOTED.search(file.read_text(encoding="utf-8"))], ids=str
)
def test_commands_in_messages_exist(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("{{", "{").replace('"\n', '"')
    wrong = [each for line in QUOTED.findall(text) for each in wrong_in(line.replace("'", "").split())]
    assert wrong == []


def test_commands_that_do_not_exist_are_found() -> None:
    assert list(wrong_in(["bake", "SPEC"])) == ["bake"]
    assert list(wrong_in(["run", "SPEC", "--outt", "DIR", "--set=a=1"])) == ["run --outt"]
    assert list(wrong_in(["trace", "inform", "FILE"])) == ["trace inform"]
    assert list(wrong_in(["exec", "--system", "SPEC", "--", "ls", "--all"])) == []
