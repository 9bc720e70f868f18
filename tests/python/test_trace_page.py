"""The page on traces: both of its commands give the numbers that it has, and each command names the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import slow

import cxloom as cx

Call = Callable[..., Any]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the page."""
    for name, text in re.findall(r"```yaml (\S+)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(text)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@slow
@pytest.mark.usefixtures("followed")
def test_the_program_takes_what_the_page_says(cxloom: Call) -> None:
    done = cxloom(
        "exec", "--system", "far.yaml", "--against", "near.yaml", "--replay", "examples/redis.parquet"
    )
    rows = {line.strip().split("  ")[0]: line.split() for line in done.err.splitlines()}
    assert rows["time"][1:] == ["18.4", "ms", "31.4", "ms"]
    assert "takes 31.4 ms instead of 18.4" in PAGE
    slowdown = float(rows["slowdown"][-1])
    assert f"it is {slowdown:.2f} times as slow" in PAGE
    near = [
        float(rows[part][len(part.split())].removesuffix("%")) for part in ("busy", "dependent computation")
    ]
    assert f"{sum(near):.0f} % is computing" in PAGE


@pytest.mark.usefixtures("followed")
def test_the_memory_gives_what_the_page_says() -> None:
    near, far = (cx.run(name).bandwidth for name in ("near.yaml", "far.yaml"))
    assert f"The memory has {near / far:.2f} times the bandwidth nearby" in PAGE


def test_each_command_names_the_other(cxloom: Call) -> None:
    assert "exec --replay" in " ".join(cxloom("run", "--help").out.split())
    assert "cxloom run" in " ".join(cxloom("exec", "--help").out.split())
