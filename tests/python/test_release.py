"""What a release says of itself in several places, and what it is made with: `make package-check` makes one."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

import cxloom as cx

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
INSTALL = (ROOT / "docs/install.md").read_text(encoding="utf-8")


def test_one_version() -> None:
    version = PROJECT["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {cx.__version__, citation["version"]} == {version}


def test_the_changelog_begins_with_what_is_not_released_and_then_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    headings = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    assert headings[:2] == ["Unreleased", f"{citation['version']} - {citation['date-released'].isoformat()}"]
    dates = [date.fromisoformat(heading.partition(" - ")[2]) for heading in headings[1:]]
    assert dates == sorted(dates, reverse=True)
    kinds = {*re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_install_lists_every_extra() -> None:
    listed = re.findall(
        r"^\| `([a-z]+)` \|", INSTALL.partition("## Extras")[2].partition("##")[0], re.MULTILINE
    )
    assert sorted(listed) == sorted(PROJECT["project"]["optional-dependencies"])


def test_wheels_are_for_each_python_that_install_names() -> None:
    first, last = re.findall(r"from 3\.(\d+) to 3\.(\d+)", INSTALL)[0]
    assert PROJECT["project"]["requires-python"] == f">=3.{first}"
    build = PROJECT["tool"]["cibuildwheel"]["build"]
    assert build == f"cp3{{{','.join(map(str, range(int(first), int(last) + 1)))}}}-manylinux_*"


def uses(job: Any) -> list[str]:
    return [step["uses"] for step in job["steps"] if "uses" in step]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_name_actions_by_commits_and_ask_for_no_rights(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    actions = [action for job in workflow["jobs"].values() for action in uses(job)]
    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_one_job_publishes_what_the_others_made() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    publishing = [name for name, job in jobs.items() if any("publish" in action for action in uses(job))]
    assert publishing == ["publish"]
    assert {*jobs["publish"]["needs"]} == {*jobs} - {"publish"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "run" not in {key for step in jobs["publish"]["steps"] for key in step}


def test_a_wheel_says_on_what_terms_it_has_parts_of_others() -> None:
    files = PROJECT["project"]["license-files"]
    said = (ROOT / files[1]).read_text(encoding="utf-8")
    assert files == ["LICENSE", "THIRD_PARTY.txt"]
    for part in ("nanobind", "robin-map", "Zydis", "Zycore"):
        assert part in said
