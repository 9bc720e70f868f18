"""Artifacts of studies: packaged, moved, run again; and what differs is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import slow

import cxloom as cx
from cxloom.artifact.figures import Beside, Figure, Verdict, beside, figures_of, read_csv, to_csv
from cxloom.artifact.inputs import read_inputs
from cxloom.artifact.manifest import MANIFEST, read_manifest
from cxloom.artifact.package import FIGURES, package
from cxloom.artifact.reproduce import Reproduction, reproduce
from cxloom.study.compare import compare
from cxloom.study.file import Study
from cxloom.study.runner import Outcome, run_study

Call = Callable[..., Any]

SYSTEM = """
preset: ../presets/base.yaml
workload: {host: {trace: ../traces/few.txt, addresses: {kind: bind, nodes: [mem]}}}
"""
# A read takes 10 + 2 x 30 + 20 + 50 = 140 ns, with one in flight.
BASE = """
devices:
  host: {kind: host, queue: 1, process_time: 10ns}
  mem: {kind: memory, capacity: 1GiB, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], delay: 30ns}]
address_map: [{to: mem}]
"""
STUDY = """
title: A trace by the length of its way
source: closed form
system: ../systems/host.yaml
sweep: {"links[*].delay": [30ns, 60ns]}
derive: {longer: {ratio: [latency_ns.mean, {measure: latency_ns.mean, at: {"links[*].delay": 30ns}}]}}
table: {delay: "links[*].delay", mean_ns: latency_ns.mean}
plot: {x: delay, y: mean_ns}
defaults: {tolerance: 1%, source: closed form}
expect:
  - {at: {"links[*].delay": 30ns}, measure: latency_ns.mean, value: 140, derived: the sum of the parts}
  - {at: {"links[*].delay": 60ns}, measure: longer, value: 1.4286, derived: 200 / 140}
"""


def written(folder: Path) -> Path:
    """The study, with its system, what that starts from, and a trace, each in a folder of its own."""
    texts = {
        "presets/base.yaml": BASE,
        "systems/host.yaml": SYSTEM,
        "studies/way.yaml": STUDY,
        "traces/few.txt": "".join(f"{64 * line:#x} R\n" for line in range(200)),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "studies" / "way.yaml"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The outcome of the study, which is run once for all tests."""
    return run_study(read_inputs(written(tmp_path_factory.mktemp("ran"))).study, jobs=1)


def again(ran: Outcome) -> Callable[[Study], Outcome]:
    """Runs a study of the same points as if it were another run that gives the same."""
    return lambda study: Outcome(study, ran.summaries, compare(study, ran.summaries))


@pytest.fixture
def artifact(tmp_path: Path, ran: Outcome) -> Path:
    """An artifact, whose inputs are gone."""
    home = tmp_path / "home"
    inputs = read_inputs(written(home))
    package(inputs, ran, tmp_path / "artifact")
    shutil.rmtree(home)
    return tmp_path / "artifact"


def test_an_artifact_has_all_that_the_study_is_run_from(artifact: Path) -> None:
    files = {str(path.relative_to(artifact)) for path in artifact.rglob("*") if path.is_file()}
    study = {
        f"study/{each}"
        for each in ("studies/way.yaml", "systems/host.yaml", "presets/base.yaml", "traces/few.txt")
    }
    assert study <= files
    manifest = read_manifest(artifact)
    assert set(manifest.files) == files - {MANIFEST}
    assert manifest.made_by.cxloom == cx.__version__
    assert os.access(artifact / "reproduce", os.X_OK)
    assert "`cxloom run specs/1.yaml`" in (artifact / "README.md").read_text()
    assert "@software{cxloom" in (artifact / "cite.bib").read_text()


def test_the_spec_of_a_point_runs_by_itself_and_is_the_same(artifact: Path, ran: Outcome) -> None:
    for point, summary in zip(read_manifest(artifact).points, ran.summaries, strict=True):
        result = cx.run(artifact / point.spec)
        assert result["spec_hash"] == summary["spec_hash"] == point.hash
        assert result.latency.mean == summary["latency_ns"]["mean"]


def test_it_is_reproduced_wherever_it_lies(artifact: Path, ran: Outcome, tmp_path: Path) -> None:
    moved = artifact.rename(tmp_path / "moved")
    found = reproduce(moved, again(ran))
    assert found.agrees
    assert found.sentence == "Reproduced: 4 figures, all the same."
    assert [each.packaged and each.packaged.value for each in found.figures][:2] == [140.0, 200.0]
    assert {each.verdict for each in found.figures} == {Verdict.SAME}


def test_a_figure_that_was_changed_is_said(artifact: Path, ran: Outcome) -> None:
    file = artifact / FIGURES
    file.write_text(file.read_text().replace("140.0", "141.0", 1))
    found = reproduce(artifact, again(ran))
    assert not found.agrees
    assert found.changed == ["expected/figures.csv is not as it was packaged: its SHA-256 is another"]
    [each] = found.differing
    assert (each.figure.name, each.difference) == ("mean_ns", -1.0)
    assert "-1.00 (-0.71 %)" in str(found)
    assert "different" in found._repr_html_()
    assert reproduce(artifact, again(ran), tolerance=0.01).differing == []


def test_an_input_that_was_changed_or_is_gone_is_said(artifact: Path, ran: Outcome) -> None:
    (artifact / "specs" / "1.yaml").unlink()
    trace = artifact / "study" / "traces" / "few.txt"
    trace.write_text(trace.read_text().replace("R", "W", 1))
    found = reproduce(artifact, again(ran))
    assert len(found.changed) == 2
    assert not found.agrees
    assert found.systems[0].startswith("2 points of 2: the system is another here than was packaged")


def test_what_is_another_in_a_system_is_named(artifact: Path, ran: Outcome) -> None:
    base = artifact / "study" / "presets" / "base.yaml"
    base.write_text(base.read_text().replace("20ns", "25ns"))
    [said] = reproduce(artifact, again(ran)).systems
    assert said.endswith("At delay 30ns: devices.mem.controller_time was 20ns, is 25ns")


def test_a_state_that_changes_is_a_difference(artifact: Path, ran: Outcome) -> None:
    study = artifact / "study" / "studies" / "way.yaml"
    study.write_text(study.read_text().replace("value: 140", "value: 150"))
    [each] = reproduce(artifact, again(ran)).differing
    assert each.packaged is not None
    assert each.here is not None
    assert (each.packaged.state, each.here.state) == ("met", "failed")


def beside_of(one: float, half: float, other: float, tolerance: float | None = None) -> Beside:
    [found] = beside([Figure("a", "p", one, half)], [Figure("a", "p", other, half)], tolerance)
    return found


def test_a_difference_within_both_intervals_says_nothing() -> None:
    """3 and 3 make 4.24."""
    assert beside_of(100.0, 3.0, 104.2).verdict is Verdict.WITHIN
    assert beside_of(100.0, 3.0, 104.3).verdict is Verdict.DIFFERENT
    assert beside_of(100.0, 3.0, 104.2, tolerance=0.04).verdict is Verdict.DIFFERENT
    assert beside_of(100.0, 0.0, 100.0 * (1 + 1e-14)).verdict is Verdict.SAME


def test_a_figure_that_only_one_of_them_has_is_different() -> None:
    found = beside([Figure("a", "p", 1.0, 0.0)], [Figure("b", "p", 1.0, 0.0)])
    assert [each.verdict for each in found] == [Verdict.DIFFERENT] * 2
    assert [
        each.verdict for each in beside([Figure("a", "p", None, 0.0)], [Figure("a", "p", None, 0.0)])
    ] == ["same"]


def test_figures_are_read_as_they_were_written(ran: Outcome, tmp_path: Path) -> None:
    figures = [*figures_of(ran), Figure("text", 'a "point", far', "lru", 0.0), Figure("none", "", None, 0.0)]
    file = tmp_path / "figures.csv"
    file.write_text(to_csv(figures))
    assert read_csv(file) == figures
    file.write_text(to_csv(figures) + "cut,off\n")
    with pytest.raises(cx.InputError, match="cut off"):
        read_csv(file)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("../traces/few.txt", "../traces/fewer.txt", "no such file"),
        ("../traces/few.txt", "HOME/traces/few.txt", "another machine has not"),
        ("../presets/base.yaml", "../presets/bases.yaml", "no such file"),
    ],
)
def test_a_study_that_others_cannot_run_is_refused(
    ran: Outcome, tmp_path: Path, before: str, after: str, reason: str
) -> None:
    file = written(tmp_path / "home")
    system = tmp_path / "home" / "systems" / "host.yaml"
    system.write_text(SYSTEM.replace(before, after.replace("HOME", str(tmp_path / "home"))))
    with pytest.raises(cx.InputError, match=reason):
        package(read_inputs(file), ran, tmp_path / "artifact")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["package", "way.yaml", "full"], "it is there already"),
        (["package", "way.yaml", ""], "the name of the directory is empty"),
        (["package", "nosuch", "new"], "unknown study"),
        (["package", "esf/all", "new"], "'esf/all' is a collection"),
        (["package", "system.yaml", "new"], "system.yaml"),
        (["reproduce", "full"], "no artifact"),
        (["reproduce", "nosuch"], "no such directory"),
        (["reproduce", "odd"], "no manifest of an artifact"),
        (["reproduce", "later"], "another form"),
        (["reproduce", "full", "--tolerance", "much"], "not a tolerance"),
    ],
)
def test_what_can_be_neither_packaged_nor_reproduced(
    cxloom: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(written(tmp_path / "home"), "way.yaml")
    Path("system.yaml").write_text(BASE)
    for name, text in (
        ("full", None),
        ("odd", '{"form": 1, "study": "../../etc"}'),
        ("later", '{"form": 2}'),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / ("file" if text is None else MANIFEST)).write_text(text or "")
    done = cxloom("study", *arguments)
    assert done.code == 2
    assert reason in " ".join(done.err.split())
    assert not Path("new").exists()


@slow
def test_the_commands_and_the_script(cxloom: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = written(tmp_path / "home")
    done = cxloom("study", "package", study, "artifact", "--jobs", "1")
    assert done.code == 0
    assert "The artifact of 2 points is in artifact" in done.out
    expected = tmp_path / "artifact" / "expected"
    assert {file.name for file in expected.iterdir()} == {"figures.csv", "table.csv", "plot.png"}
    command = tmp_path / "command"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cxloom "$@"\n')
    command.chmod(0o755)
    script = [tmp_path / "artifact" / "reproduce", "--jobs", "1", "--out", "again", "--json"]
    run = subprocess.run(script, capture_output=True, text=True, env=os.environ | {"CXLOOM": str(command)})
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["agrees"] is True
    figures = expected / "figures.csv"
    figures.write_text(figures.read_text().replace("200.0", "190.0"))
    done = cxloom("study", "reproduce", "artifact", "--out", "again")
    assert done.code == 1
    assert "Not reproduced: 4 figures: 3 the same, 0 within what is allowed, 1 different" in " ".join(
        done.out.split()
    )
    missing = subprocess.run(script, capture_output=True, text=True, env=os.environ | {"CXLOOM": "nosuch"})
    assert missing.returncode == 2
    assert "nosuch is not installed" in missing.stderr


def test_nothing_else_is_in_what_is_shown(artifact: Path, ran: Outcome) -> None:
    found: Reproduction = reproduce(artifact, again(ran))
    assert str(found) == found.sentence
