"""A point of a sweep or of a study some of whose requests failed does not look like a good one."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import cxloom as cx
from cxloom.report.study_outcome import plain
from cxloom.report.study_page import study_page
from cxloom.report.study_table import show_outcome
from cxloom.report.sweep_page import sweep_page
from cxloom.study import read, run_study
from cxloom.sweeping.points_table import to_text

SPEC = """\
devices:
  host: {kind: host, queue: 1}
  mem:
    kind: memory
    capacity: 1MiB
    media: {kind: fixed, latency: 50ns}
    dynamic_capacity: {extents: [{size: 512KiB, host: host}]}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 1600, footprint: 512KiB}}
"""
"""The first half of the memory is there: of requests to all of it, about a half fails."""
SAID = "note: requests of 2 of 4 points were answered with an error, without data; no latency or bandwidth has them"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[cx.SweepResult, Path]:
    """A sweep of both, with two seeds each, and its directory."""
    folder = tmp_path_factory.mktemp("sweep")
    axes = {"workload.host.footprint": ["512KiB", "1MiB"], "run.seed": [1, 2]}
    system = cx.System.from_yaml(SPEC)
    return cx.sweep(system, axes, jobs=1, out=folder), folder


def test_the_table_of_a_sweep_counts_errors(swept: tuple[cx.SweepResult, Path]) -> None:
    result, folder = swept
    counts = result.columns["errors.requests"]
    assert counts[:2] == [0, 0]
    assert all(600 < count < 1000 for count in counts[2:])
    assert pl.read_parquet(folder / "results.parquet")["errors.requests"].to_list() == counts
    assert result.aggregate()["errors.requests"].to_list() == [0, sum(counts[2:]) / 2]
    head, good, bad, *notes = to_text(result, []).splitlines()
    assert head.split()[-1] == "errors"
    assert good.split()[-3:] == ["0", "±", "0"]
    assert float(bad.split()[-3]) == pytest.approx(sum(counts[2:]) / 2, abs=0.5)
    assert SAID in notes


def test_the_page_of_a_sweep_counts_errors(swept: tuple[cx.SweepResult, Path]) -> None:
    result, folder = swept
    page = sweep_page(result, folder)
    counts = result.columns["errors.requests"]
    assert SAID.removeprefix("note: ") in page
    assert f"{sum(counts):,}" in page
    assert ">errors<" in page


def test_a_sweep_without_errors_does_not_speak_of_them(tmp_path: Path) -> None:
    system = cx.System.from_yaml(SPEC)
    result = cx.sweep(system, {"devices.host.queue": [1]}, jobs=1, out=tmp_path)
    assert result.columns["errors.requests"] == [0]
    assert "error" not in to_text(result, [])
    assert "answered with an error" not in sweep_page(result, tmp_path)


def test_a_study_says_which_points_have_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC)
    file = tmp_path / "study.yaml"
    study = {
        "title": "Errors",
        "system": "spec.yaml",
        "sweep": {"workload.host.footprint": ["512KiB", "1MiB"]},
    }
    file.write_text(json.dumps(study))
    outcome = run_study(read(file), jobs=1)
    said = SAID.replace("2 of 4", "1 of 2")
    show_outcome(outcome)
    assert said in " ".join(capsys.readouterr().out.split())
    found = json.loads(json.dumps(plain(outcome)))
    assert found["points"][0]["errors"] == 0
    page = study_page(found, tmp_path)
    assert said.removeprefix("note: ") in page
    assert ">errors<" in page
    for point in found["points"]:  # as earlier versions wrote them
        del point["errors"]
    assert ">errors<" not in study_page(found, tmp_path)
