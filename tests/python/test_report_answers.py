"""``cxloom report`` of a JSON file that another command wrote: whose it is, and how there is a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cxloom.report.answers import _OF_RUNS, _PAGES
from cxloom.spec.file_kind import ANSWERS

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["run", "esf/validation", "--json"], "the summary of a run, and not the directory of its results"),
        (
            ["compare", "esf/validation", "--with", "devices.host.queue=1", "--json"],
            "an answer of `cxloom compare`",
        ),
        (
            ["measure", "esf/validation", "latency", "--json"],
            "an answer of `cxloom measure`",
        ),
        (["check", "esf/validation", "--json"], "an answer of `cxloom check`"),
    ],
)
def test_the_answer_of_a_command_that_has_no_page_is_named(
    cxloom: Call, tmp_path: Path, command: list[str], words: str
) -> None:
    """These were said to be no results of servers with KV caches, whatever they were."""
    file = tmp_path / "answer.json"
    file.write_text(cxloom(*command).out)
    done = cxloom("report", file)
    said = " ".join(done.err.split())
    assert done.code == 2
    assert words in said
    assert "SPEC --out DIR && cxloom report DIR" in said
    assert "KV" not in said


def test_the_summary_of_a_directory_leads_to_the_directory(cxloom: Call, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    cxloom("run", "esf/validation", "--set", "workload.host.requests=200", "--out", folder, "--quiet")
    assert f"cxloom report {folder}" in " ".join(cxloom("report", folder / "summary.json").err.split())


@pytest.mark.parametrize("command", [name for name in ANSWERS if name not in ("cxloom run", "cxloom kv")])
def test_each_answer_is_told_by_its_own_keys(cxloom: Call, tmp_path: Path, command: str) -> None:
    keys, way = ANSWERS[command], _PAGES.get(command, _OF_RUNS)
    assert not [name for name, others in ANSWERS.items() if name != command and others <= keys]
    (tmp_path / "x.json").write_text(json.dumps(dict.fromkeys(sorted(keys), 0)))
    done = cxloom("report", tmp_path / "x.json")
    said = " ".join(done.err.split())
    assert done.code == 2
    assert f"an answer of `{command}`" in said
    assert way in said


@pytest.mark.parametrize("text", ["[1, 2]", "3", "null", '"name"'])
def test_json_that_is_no_map_is_no_result(cxloom: Call, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    done = cxloom("report", tmp_path / "x.json")
    assert (done.code, "its JSON is no map" in " ".join(done.err.split())) == (2, True)
