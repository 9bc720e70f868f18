"""What the pages on specs and the command show is valid as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cxloom as cx
from cxloom import _core
from cxloom.spec.declared import TOP_LEVEL
from cxloom.study import read

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", blocks("spec.md", "yaml"))
def test_specs_are_valid(text: str) -> None:
    assert cx.run(cx.System.from_yaml(text).set("workload.host.requests", 100))["completed"]


@pytest.mark.parametrize("text", blocks("cli.md", "yaml"))
def test_studies_are_valid(text: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(text)
    study = read(tmp_path / "study.yaml")
    assert len(study.points) == 4
    assert len(study.expectations) == 2


def test_every_top_level_key_is_described() -> None:
    page = (DOCS / "spec.md").read_text(encoding="utf-8")
    for key in TOP_LEVEL:
        assert f"| `{key}` |" in page


def test_every_key_of_the_summary_is_described() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    for measure in _core.declarations()["measures"]:
        assert f"`{measure['name']}`" in page, measure["name"]
