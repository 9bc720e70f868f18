"""Studies on the engine of sweeps: kept in a directory, resumed, and the same as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sweep_support import LATENCY, SPEC, stored
from validation.examples import slow

from cxloom.base.errors import SimulationError
from cxloom.study import read, run_study

Call = Callable[..., Any]
STUDY = f"""\
title: Seeds and latencies
system: spec.yaml
sweep:
  "{LATENCY}": [45ns, 145ns]
  run.seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
set: {{workload.host.requests: 20000}}
defaults: {{measure: latency_ns.mean, tolerance: 0.1%}}
expect:
  - {{at: {{"{LATENCY}": 45ns}}, value: 197, source: sum of the parts}}
  - {{at: {{"{LATENCY}": 145ns}}, value: 297, source: sum of the parts}}
table: {{seed: run.seed, mean: latency_ns.mean}}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "spec.yaml").write_text(SPEC)
    (folder / "seeds.yaml").write_text(STUDY)
    return folder / "seeds.yaml"


def without_cost(text: str) -> dict[str, Any]:
    outcome: dict[str, Any] = json.loads(text)
    for point in outcome["points"]:
        assert point["summary"].pop("cost")["requests"] >= 20000
    return outcome


@slow
def test_a_study_goes_on_after_its_driver_was_killed(
    study: Path, tmp_path: Path, subprocess_cxloom: Call
) -> None:
    whole = subprocess_cxloom("study", "run", study, "--out", tmp_path / "whole", "--json")
    assert whole.code == 0, whole.err
    out = tmp_path / "out"
    command = [sys.executable, "-m", "cxloom", "study", "run", str(study), "--out", str(out), "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while len(stored(out)) < 3:
            assert process.poll() is None
            time.sleep(0.003)
        process.kill()
    before = {path: path.read_bytes() for path in (out / "points").glob("*.json")}
    assert 3 <= len(before) < 20
    again = subprocess_cxloom("study", "run", study, "--out", out, "--json")
    assert again.code == 0, again.err
    # A worker that had just finished a point as its driver died has stored it, too.
    count = int(again.err.split()[0])
    assert len(before) <= count < 20
    assert again.err == f"{count} points of 20 in {out} already\n"
    assert without_cost(again.out) == without_cost(whole.out)
    assert {path: path.read_bytes() for path in before} == before
    assert (out / "table.csv").read_bytes() == (tmp_path / "whole" / "table.csv").read_bytes()


def test_a_file_from_anywhere_is_kept_in_the_working_directory(
    study: Path, tmp_path: Path, subprocess_cxloom: Call
) -> None:
    there = sorted(study.parent.iterdir())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess_cxloom("study", "run", study, "--set", "workload.host.requests=200", cwd=elsewhere)
    assert done.code == 0, done.err
    assert "The table is in build/studies/seeds/table.csv" in done.out
    assert sorted(study.parent.iterdir()) == there
    assert [path.name for path in elsewhere.iterdir()] == ["build"]
    assert len(stored(elsewhere / "build" / "studies" / "seeds")) == 20


def test_nothing_is_kept_unless_it_is_asked_for(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    assert run_study(read(study)).passed
    assert os.listdir(tmp_path / "temporary") == []
    assert sorted(os.listdir(tmp_path)) == ["mine", "temporary"]


def test_points_beside_one_that_cannot_finish_are_kept(study: Path, tmp_path: Path) -> None:
    study.write_text(
        "system: {preset: esf/validation, run: {livelock_deliveries: 1, warmup: 0}}\n"
        "set: {workload.host.requests: 40000}\nsweep: {devices.bus.bus_time: [15us, 1ns, 2ns]}\n"
    )
    with pytest.raises(SimulationError, match=r"at bus_time 15us: livelock"):
        run_study(read(study), out=tmp_path / "out")
    assert len(stored(tmp_path / "out")) == 3


def test_results_of_a_sweep_are_not_taken_for_those_of_a_study(study: Path, tmp_path: Path) -> None:
    """Both keep points by the same keys, so a study may use those of a sweep, and the other way round."""
    import cxloom as cx

    out = tmp_path / "out"
    swept = cx.sweep(
        study.parent / "spec.yaml",
        {"workload.host.requests": [20000], LATENCY: ["45ns", "145ns"]},
        seeds=10,
        out=out,
    )
    before = stored(out)
    outcome = run_study(read(study), out=out)
    assert stored(out) == before
    assert [summary["latency_ns"]["mean"] for summary in outcome.summaries] == swept.frame()[
        "latency_ns.mean"
    ].to_list()
