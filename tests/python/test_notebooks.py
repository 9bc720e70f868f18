"""The notebooks of the documentation: each of their cells is run, and stored without what it showed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from notebooks import executed
from validation.examples import slow

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
FILES = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a notebook writes goes into a folder of its own, and no window is opened."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")


def test_the_first_run(tmp_path: Path) -> None:
    shown = executed(FOLDER / "first-run.ipynb")
    picture, table, _, compared, _, explained, _ = map(str, shown)
    assert picture.startswith("<svg")
    assert "where a request's time went" in table.replace("&#x27;", "'")
    assert "CXL beside local" in compared
    assert "is limited by" in explained


def test_the_sweep_with_a_plot(tmp_path: Path) -> None:
    plt.switch_backend("agg")
    shown = executed(FOLDER / "sweep-and-plot.ipynb")
    plt.close("all")
    assert (tmp_path / "load.png").read_bytes().startswith(b"\x89PNG")
    assert "with latency.p99 &lt; 500ns" in str(shown[-2])


@slow
def test_your_own_device(tmp_path: Path) -> None:
    """In a process of its own, which then has another kind of device."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("notebooks.py"), FOLDER / "your-own-device.ipynb"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "devices.other.delay: the unit is missing" in done.stdout


def test_every_notebook_is_run_and_named() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert FILES
    for file in FILES:
        assert f'"{file.name}"' in source
        assert f"({file.name})" in page


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_that_was_shown_is_stored(file: Path) -> None:
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
