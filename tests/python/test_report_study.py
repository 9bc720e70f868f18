"""Pages and figures of studies, of collections and of sweeps: what stands there, and what is refused."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_report import Page, plots_of, refused

import cxloom as cx
from cxloom.report.figures import sweep_figures
from cxloom.report.study_outcome import plain, read_outcome, write_outcome
from cxloom.report.sweep_page import figures_of, quantities
from cxloom.study import read, run_study
from cxloom.study.runner import Outcome
from cxloom.sweeping.result import SweepResult

Call = Callable[..., Any]

STUDY = """\
title: Latency & <shape>
source: nobody
about: |
  The first paragraph.
  The second.
explain: it differs since it must
system:
  preset: esf/validation
  workload: {host: {requests: 200}}
  run: {warmup: 0}
set: {devices.host.queue: 1, devices.bus.bandwidth: unlimited, "devices.mem[*].media.bandwidth": unlimited}
cases: {four: {}, slow: {devices.bus.bus_time: 9ns}}
sweep:
  "devices.mem*.media.latency": [45ns, 145ns, 245ns]
defaults: {measure: latency_ns.mean, tolerance: 0.1%, source: sum of the parts}
expect:
  - {at: {case: four, "devices.mem*.media.latency": 45ns}, value: 197}
  - {at: {case: four, "devices.mem*.media.latency": 145ns}, value: 297.1}
  - {at: {case: four, "devices.mem*.media.latency": 245ns}, value: 400}
  - {at: {case: four}, rises: "devices.mem*.media.latency"}
  - {at: {case: four}, measure: bandwidth_gb_per_s, least: 0.01, most: 10}
table:
  case: case
  media: "devices.mem*.media.latency"
  latency_ns: latency_ns.mean
  bandwidth_gb_per_s: bandwidth_gb_per_s
plots:
  latency: {x: media, y: latency_ns, lines: case}
  bars: {x: media, stack: [latency_ns, bandwidth_gb_per_s], panels: case}
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    path = tmp_path_factory.mktemp("study") / "study.yaml"
    path.write_text(STUDY)
    return run_study(read(path), jobs=1)


@pytest.fixture
def folder(outcome: Outcome, tmp_path: Path) -> Path:
    """A directory with the outcome."""
    write_outcome(outcome, tmp_path / "study", "cxloom study run study.yaml")
    return tmp_path / "study"


@pytest.fixture
def page(folder: Path, cxloom: Call) -> str:
    assert cxloom("report", folder).code == 0
    return (folder / "report.html").read_text()


def test_an_outcome_is_read_as_it_was_written(outcome: Outcome, folder: Path) -> None:
    found = read_outcome(folder)
    assert found == json.loads(json.dumps(plain(outcome, "cxloom study run study.yaml")))
    assert found["title"] == "Latency & <shape>"
    assert [point["at"] for point in found["points"]] == outcome.study.points
    assert found["points"][0]["latency_ns"]["mean"] == outcome.summaries[0]["latency_ns"]["mean"]
    assert found["table"] == outcome.table
    assert not found["passed"]
    (system,) = found["systems"]  # all points have the same devices and links
    assert list(system["spec"]["devices"]) == ["host", "bus", "mem0", "mem1", "mem2", "mem3"]


def test_systems_that_differ_are_each_kept_once(tmp_path: Path) -> None:
    study = tmp_path / "shapes.yaml"
    study.write_text(
        "title: Shapes\nsystem: {workload: {'host*': {pattern: random, requests: 20}}}\n"
        "cases:\n  a: {topology: {kind: ring, switches: 4}}\n  b: {topology: {kind: chain, switches: 4}}\n"
        "sweep: {run.seed: [1, 2]}\n"
    )
    systems = plain(run_study(read(study), jobs=1))["systems"]
    assert [system["at"] for system in systems] == [
        {"case": "a", "run.seed": 1},
        {"case": "b", "run.seed": 1},
    ]


def test_the_page_of_a_study_is_whole(page: str) -> None:
    parsed = Page(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert "Latency & <shape>" in parsed.text
    for text in (
        "nobody",
        "The first paragraph.",
        "The second.",
        "it differs since it must",
        "2 met (2 published), 4 bracketed, 1 failed",
    ):
        assert text in parsed.text
    assert "cxloom study run study.yaml" in parsed.text
    assert "sum of the parts" in page


def test_every_comparison_stands_with_its_deviation_and_verdict(page: str, outcome: Outcome) -> None:
    assert page.count(">met<") == 2
    assert page.count(">bracket<") == 4
    assert page.count(">FAILED<") == 1
    rows = re.findall(r"<tr>(<td.*?)</tr>", page)
    missed = next(row for row in rows if "FAILED" in row)
    cells = re.findall(r">([^<]*)</td>", missed)
    simulated = outcome.summaries[2]["latency_ns"]["mean"]
    assert math.isclose(simulated, 397, abs_tol=0.1)
    assert cells[:5] == ["four", "245ns", "397.0", "400.0", f"{100 * (simulated / 400 - 1):+.2f} %"]
    assert "rises" in page


def test_the_plots_of_a_study_hold_its_values(page: str, outcome: Outcome) -> None:
    found = dict(plots_of(page))
    assert list(found) == [
        "study-scatter",
        "deviations",
        "plot-latency-0",
        "plot-bars-0",
        "plot-bars-1",
        "breakdown",
    ]
    scatter = found["study-scatter"]["data"]
    assert scatter[1]["x"] == [197, 297.1, 400]
    assert scatter[1]["y"] == [summary["latency_ns"]["mean"] for summary in outcome.summaries[:3]]
    lines = found["plot-latency-0"]["data"]
    assert [trace["name"] for trace in lines] == ["four", "slow"]
    assert lines[1]["y"] == [row["latency_ns"] for row in outcome.table[3:]]
    deviations = {trace["name"]: trace for trace in found["deviations"]["data"]}
    assert deviations["outside"]["x"] == [-2.0]  # by 0.75 % where 0.1 % is allowed, at the edge of the plot
    assert all(abs(share) <= 1 for share in deviations["within"]["x"])


def test_the_command_writes_the_page_of_a_study(cxloom: Call, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    out = tmp_path / "out"
    done = cxloom("study", "run", tmp_path / "study.yaml", "--out", out, "--set", "run.seed=7")
    assert done.code == 1  # one is missed
    assert f"The page is {out / 'report.html'}" in done.out
    written = (out / "report.html").read_text()
    assert "--set=run.seed=7" in written
    told, quiet = cxloom("report", out), cxloom("report", out, "--quiet")
    assert (told.code, quiet.code) == (0, 0)
    assert f"The page is {out / 'report.html'}" in told.out
    assert (quiet.out, quiet.err) == ("", "")
    assert (out / "report.html").read_text() == written


def test_a_collection_has_a_page_with_the_way_to_each(cxloom: Call, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies").mkdir()
    for name in ("one", "two"):
        (tmp_path / "studies" / f"{name}.yaml").write_text(STUDY.replace("Latency &", f"Study {name} &"))
    (tmp_path / "studies" / "all.yaml").write_text("title: All of them\nabout: Two.\nstudies: ['*']\n")
    assert cxloom("report", "studies/all.yaml").code == 2  # none has been run
    assert cxloom("study", "run", "studies/all.yaml", "--quiet").code == 1
    page = tmp_path / "build" / "studies" / "all" / "report.html"
    text = page.read_text()
    assert "4 met (4 published), 8 bracketed, 2 failed" in Page(text).text
    for name in ("one", "two"):
        assert f"Study {name} &amp; &lt;shape&gt;" in text
    ways = re.findall(r'href="([^"#]+)"', re.sub(r"<script>.*?</script>", "", text, flags=re.S))
    assert len(ways) == 2
    assert all((page.parent / way).resolve().is_file() for way in ways)
    again = cxloom("report", "studies/all.yaml", "--out", tmp_path / "again.html")
    assert again.code == 0
    assert (tmp_path / "again.html").read_text() == text
    assert cxloom("report", "studies/one.yaml").code == 0


def test_a_study_that_was_not_run_is_refused_with_the_way_to_run_it(
    cxloom: Call, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    said = cxloom("report", "esf/topologies")
    assert said.code == 2
    assert "has not been run here" in said.err
    assert "allowed: cxloom study run esf/topologies" in said.err
    said = cxloom("report", "esf/topologys")
    assert said.code == 2
    assert "did you mean 'esf/topologies'?" in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is no JSON, or cut off"),
        ('{"schema": 1, "ti', "it is no JSON, or cut off"),
        ("[]", "no 'title'"),
        ("{}", "no 'title'"),
    ],
)
def test_an_outcome_that_is_none_is_refused(cxloom: Call, folder: Path, text: str, said: str) -> None:
    (folder / "outcome.json").write_text(text)
    assert said in refused(cxloom, folder)


@pytest.mark.parametrize("key", ["comparisons", "points", "axes", "version", "about"])
def test_an_outcome_without_a_key_is_refused(cxloom: Call, folder: Path, key: str) -> None:
    found = read_outcome(folder)
    del found[key]
    (folder / "outcome.json").write_text(json.dumps(found))
    assert f"no '{key}'" in refused(cxloom, folder)


def test_an_outcome_of_another_schema_is_refused(cxloom: Call, folder: Path) -> None:
    (folder / "outcome.json").write_text(json.dumps(read_outcome(folder) | {"schema": 99}))
    assert "of another version" in refused(cxloom, folder)


# --- sweeps ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep") / "s"
    system = cx.System(preset="esf/validation")
    system.workload("host", requests=300)
    grid = {
        "devices.host.queue": [64, 1, 8],
        "workload.host.reads": ["100%", "50%"],
        "devices.bus.bus_time": ["1ns"],
    }
    cx.sweep(system, grid, seeds=2, jobs=1, out=folder)
    return folder


def test_a_sweep_is_drawn_along_its_longest_axis(swept: Path) -> None:
    result = SweepResult.load(str(swept))
    figures = figures_of(result)
    assert list(figures) == ["bandwidth_gb_per_s", "latency_ns-mean", "latency_ns-p99", "loaded"]
    bandwidth = figures["bandwidth_gb_per_s"]
    assert [trace["name"] for trace in bandwidth["data"]] == ["reads 100%", "reads 50%"]
    assert bandwidth["layout"]["xaxis"]["type"] == "log"
    means = result.aggregate()
    for trace, reads in zip(bandwidth["data"], ("100%", "50%"), strict=True):
        assert trace["x"] == [1, 8, 64]
        rows = {
            row["devices.host.queue"]: row for row in means.to_dicts() if row["workload.host.reads"] == reads
        }
        assert trace["y"] == [rows[queue]["bandwidth_gb_per_s"] for queue in (1, 8, 64)]


def test_a_sweep_of_many_combinations_shows_every_point(tmp_path: Path) -> None:
    system = cx.load("esf/validation").set("workload.host.requests", 20).set("run.warmup", 0)
    draw = {"devices.host.queue": "1..64", "devices.bus.bus_time": "1ns..9ns"}
    result = cx.sweep(system, draw=draw, samples=40, jobs=1, out=tmp_path / "drawn")
    figures = figures_of(result)
    for name in ("bandwidth_gb_per_s", "loaded"):
        [trace] = figures[name]["data"]
        assert trace["mode"] == "markers"
        assert len(trace["x"]) == len(trace["y"]) == len(trace["text"]) == 40
    bandwidths = dict(zip(figures["bandwidth_gb_per_s"]["data"][0]["text"], trace["x"], strict=True))
    for row in result.frame().to_dicts():
        text = f"queue {row['devices.host.queue']}, bus_time {row['devices.bus.bus_time']}"
        assert bandwidths[text] == row["bandwidth_gb_per_s"]
    assert all(
        made.axes[0].get_lines()[0].get_linestyle() == "None" for made in sweep_figures(result).values()
    )


def test_points_of_an_axis_of_words_are_not_joined(tmp_path: Path) -> None:
    system = cx.load("esf/validation").set("workload.host.requests", 20).set("run.warmup", 0)
    axes = {"workload.host.pattern": ["random", "sequential"], "devices.host.queue": [1]}
    result = cx.sweep(system, axes, jobs=1, out=tmp_path / "words")
    for figure in figures_of(result).values():
        [trace] = figure["data"]
        assert trace["mode"] == "markers"
        assert trace["text"] == ["pattern random, queue 1", "pattern sequential, queue 1"]
    assert all(
        made.axes[0].get_lines()[0].get_linestyle() == "None" for made in sweep_figures(result).values()
    )


def test_quantities_of_one_unit_are_numbers() -> None:
    assert quantities(["45ns", "100 ns"]) == ([45, 100], "ns")
    assert quantities([1, 8.5]) == ([1, 8.5], "")
    assert quantities(["1GB/s", "1ns"]) is None
    assert quantities(["lru", "fifo"]) is None


def test_the_page_of_a_sweep_is_whole_and_names_what_failed(
    cxloom: Call, swept: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    shutil.copytree(swept, folder)
    for file in list((folder / "points").iterdir())[:1]:
        file.unlink()
    assert cxloom("report", folder).code == 0
    text = Page((folder / "report.html").read_text()).text
    assert "11 of 12" in text
    assert "missing" in text
    (folder / "sweep.json").write_text("{")
    assert "not the manifest of a sweep" in refused(cxloom, folder)


# --- figures ---------------------------------------------------------------------------------------------------------


def test_figures_are_written_as_pdf_and_png(cxloom: Call, folder: Path, swept: Path, tmp_path: Path) -> None:
    cx.run("esf/validation", out=tmp_path / "run")
    cases = {
        folder: ["bars", "latency"],
        swept: ["bandwidth_gb_per_s", "latency_ns-mean", "latency_ns-p99", "loaded"],
        tmp_path / "run": ["breakdown", "slower", "system"],
    }
    for results, names in cases.items():
        figures = tmp_path / f"figures of {results.name}"
        done = cxloom("report", results, "--out", tmp_path / "page.html", "--figures", figures)
        assert (done.code, done.err) == (0, "")
        assert sorted(path.name for path in figures.iterdir()) == sorted(
            f"{name}.{form}" for name in names for form in ("pdf", "png")
        )
        for path in figures.iterdir():
            assert path.read_bytes().startswith(b"%PDF" if path.suffix == ".pdf" else b"\x89PNG")
    (tmp_path / "file").write_text("")
    said = cxloom("report", folder, "--out", tmp_path / "page.html", "--figures", tmp_path / "file")
    assert said.code == 2
    assert "--figures: cannot be written" in said.err
