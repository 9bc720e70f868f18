"""Studies: their files, their points, and what makes them pass or fail."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import DRAWN, WHOLE, slow, some

from cxloom.base.errors import InputError
from cxloom.spec.override import Override
from cxloom.study import names, read, run_study
from cxloom.study.compare import measured
from cxloom.study.file import Extent, extent
from cxloom.study.shipped import collection, find
from cxloom.study.state import State

Call = Callable[..., Any]

STUDY = """\
title: Latency of the media
source: nobody
system:
  preset: esf/validation
  workload: {host: {requests: 200}}
  run: {warmup: 0}
set: {devices.host.queue: 1, devices.bus.bandwidth: unlimited, "devices.mem[*].media.bandwidth": unlimited}
sweep:
  "devices.mem[*].media.latency": [45ns, 145ns]
  run.seed: [1, 2]
defaults: {measure: latency_ns.mean, tolerance: 0.1%, source: sum of the parts}
expect:
  - {at: {"devices.mem[*].media.latency": 45ns}, value: 197}
  - {at: {"devices.mem[*].media.latency": 145ns, run.seed: 2}, value: 297, tolerance: 0.5ns}
  - {at: {"devices.mem[*].media.latency": 145ns, run.seed: 2}, relative_to: {"devices.mem[*].media.latency": 45ns},
     value: 1.5076}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies are kept in build/ of the working directory: each test has one of its own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def test_a_sweep_is_the_product_of_its_axes(study_file: Path) -> None:
    study = read(study_file)
    axis = "devices.mem[*].media.latency"
    assert study.points == [
        {axis: "45ns", "run.seed": 1},
        {axis: "45ns", "run.seed": 2},
        {axis: "145ns", "run.seed": 1},
        {axis: "145ns", "run.seed": 2},
    ]
    latencies = [spec.plain()["devices"]["mem3"]["media"]["latency"] for spec in study.specs]
    assert latencies == ["45ns", "45ns", "145ns", "145ns"]
    assert all(spec.plain()["devices"]["host"]["queue"] == 1 for spec in study.specs)


def test_zip_and_cases(study_file: Path) -> None:
    study_file.write_text(
        "system: {preset: esf/validation}\nzip: true\n"
        "sweep: {run.seed: [1, 2], devices.host.queue: [8, 9]}\n"
        "cases: {fast: {devices.bus.bus_time: 0ns}, slow: {devices.bus.bus_time: 9ns}}\n"
    )
    study = read(study_file)
    assert [tuple(point.values()) for point in study.points] == [
        ("fast", 1, 8),
        ("fast", 2, 9),
        ("slow", 1, 8),
        ("slow", 2, 9),
    ]
    assert study.specs[2].plain()["devices"]["bus"]["bus_time"] == "9ns"
    assert study.specs[3].plain()["devices"]["host"]["queue"] == 9


def test_a_case_names_the_devices_of_a_region_as_a_spec_does(study_file: Path) -> None:
    study_file.write_text(
        "system: {preset: esf/validation}\n"
        "cases: {one: {address_map: [{to: mem0}]}, some: {address_map: [{to: 'mem[1-2]', interleave: 1KiB}]}}\n"
    )
    one, some = (spec.plain()["address_map"] for spec in read(study_file).specs)
    assert one == [{"to": ["mem0"]}]
    assert some == [{"to": ["mem1", "mem2"], "interleave": "1KiB"}]


def test_a_study_that_meets_its_expectations_passes(study_file: Path, subprocess_cxloom: Call) -> None:
    outcome = subprocess_cxloom("study", "run", study_file)
    assert outcome.code == 0, outcome.err
    assert "4 expectations: 4 met (4 published)" in outcome.out
    assert "expected: sum of the parts" in outcome.out
    assert outcome.err == ""


def test_a_study_that_misses_one_fails_with_code_1(study_file: Path, subprocess_cxloom: Call) -> None:
    study_file.write_text(STUDY.replace("value: 297", "value: 300"))
    outcome = subprocess_cxloom("study", "run", study_file, "--json", "--jobs", "1")
    assert outcome.code == 1, outcome.err
    result = json.loads(outcome.out)
    assert not result["passed"]
    failed = [each for each in result["expectations"] if not each["passed"]]
    assert [(each["expected"], each["measure"]) for each in failed] == [(300, "latency_ns.mean")]
    assert failed[0]["simulated"] == pytest.approx(297)
    assert failed[0]["deviation"] == pytest.approx(-0.01)
    assert len(result["points"]) == 4
    assert result["points"][0]["summary"]["requests"] == 200


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("sweep:", "sweeep:", 8, "did you mean 'sweep'?"),
        ("system:", "sytem:", 3, "did you mean 'system'?"),
        ("  run.seed: [1, 2]", "  run.sede: [1, 2]", 10, "did you mean 'run.seed'?"),
        ("  run.seed: [1, 2]", "  run.seed: []", 10, "no values to sweep"),
        ("145ns]", "145ns, 9]", 9, "the unit is missing"),
        ("value: 297", "value: 297ns", 14, "not a number"),
        ("tolerance: 0.5ns", "tolerance: 0.5GB/s", 14, "not a tolerance"),
        ("tolerance: 0.5ns", "tolerance: narrow", 14, "not a tolerance"),
        ("run.seed: 2}, value", "run.seed: 3}, value", 14, "no point has run.seed = 3"),
        ("run.seed: 2}, value", "run.sed: 2}, value", 14, "did you mean 'run.seed'?"),
        ("value: 297,", "valeu: 297,", 14, "did you mean 'value'?"),
        ("measure: latency_ns.mean, ", "", 13, "'measure' of an expectation is missing"),
        (
            "set: {devices.host.queue: 1",
            "set: {devices.host.queu: 1",
            7,
            "did you mean 'devices.host.queue'?",
        ),
    ],
)
def test_a_mistake_in_a_study_is_refused(
    study_file: Path, cxloom: Call, old: str, new: str, line: int, words: str
) -> None:
    assert old in STUDY
    study_file.write_text(STUDY.replace(old, new, 1))
    outcome = cxloom("study", "run", study_file)
    assert outcome.code == 2, outcome.err
    assert words in outcome.err
    assert f"study.yaml:{line}:" in outcome.err or "--set" in outcome.err


def test_an_unknown_study_is_refused(cxloom: Call) -> None:
    outcome = cxloom("study", "run", "esf/topologeis")
    assert outcome.code == 2
    assert "did you mean 'esf/topologies'?" in outcome.err


def test_shipped_studies_are_listed(cxloom: Call) -> None:
    listed = cxloom("study", "list").out
    assert {
        "cxl/flit_bandwidth",
        "dmsim/all",
        "esf/all",
        "esf/topologies",
        "fabric/routing",
        "memory/curves",
    } <= set(names())
    for name in names():
        assert name in listed
        title = re.search(r"^title: (.+)$", find(name).read_text(encoding="utf-8"), re.MULTILINE)
        assert title
        assert title[1].strip('"') in " ".join(listed.split()) or len(title[1]) > 40


@pytest.mark.parametrize("name", some([name for name in names() if collection(name) is None]))
def test_a_shipped_study_is_valid(name: str) -> None:
    study = read(find(name))
    assert study.expectations
    assert extent(find(name)) == Extent(study.title, len(study.points), len(study.expectations))
    for each in study.expectations:
        # A value of a closed form says how it follows.
        assert each.value is None or "closed form" not in each.source or each.derived, each.place


@pytest.mark.parametrize("paper", some(["char", "dmsim", "esf", "kv"]))
def test_all_of_a_paper_is_every_study_of_it(paper: str) -> None:
    several = collection(f"{paper}/all")
    assert several is not None
    others = [name for name in names() if name.startswith(f"{paper}/") and name != f"{paper}/all"]
    assert [*several.members] == others
    assert all(read(path, quick=True).quick for path in several.members.values())


def test_a_collection_is_refused_where_it_names_nothing(tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "one.yaml").write_text(STUDY)
    for studies, says in (
        ("[two]", "no study of this name beside the collection"),
        ("[]", "no studies in the collection"),
        ("[one], system: {}", "unknown key 'system'"),
    ):
        (tmp_path / "all.yaml").write_text("{title: x, studies: " + studies + "}\n")
        outcome = cxloom("study", "run", tmp_path / "all.yaml")
        assert outcome.code == 2
        assert says in outcome.err
    (tmp_path / "all.yaml").write_text('title: Both\nstudies: ["o*"]\n')
    outcome = cxloom("study", "run", tmp_path / "all.yaml")
    assert outcome.code == 0, outcome.err
    assert "Both" in outcome.out
    assert f"{tmp_path}/one" in outcome.out


@slow
def test_routing_strategies_carry_what_the_loads_allow(subprocess_cxloom: Call) -> None:
    outcome = subprocess_cxloom("study", "run", "fabric/routing")
    assert outcome.code == 0, outcome.out


@slow
@pytest.mark.parametrize(
    "name", [name for name in names() if name.startswith("char/") and name != "char/all"]
)
def test_a_server_gives_what_its_study_says(name: str, tmp_path: Path, subprocess_cxloom: Call) -> None:
    outcome = subprocess_cxloom("study", "run", name, "--out", tmp_path / "out", "--jobs", "1")
    assert outcome.code == 0, outcome.out


QUICK = [
    name
    for name in names()
    if name.startswith(("char/", "dmsim/", "esf/"))
    and not name.startswith("dmsim/full_")
    and collection(name) is None
]
"""Those that boot a machine are not among them: `make boot-check`."""


DRAWN_OF_THEM = some(QUICK[4:] + QUICK[:4], DRAWN)  # from there on they take least
TAKES_MOST = "char/tiering"  # as long as the others of these together


@pytest.mark.parametrize("name", [name for name in DRAWN_OF_THEM if WHOLE or name != TAKES_MOST])
def test_the_quick_form_of_a_study_meets_its_expectations(name: str) -> None:
    study = read(find(name), quick=True)
    outcome = run_study(study, jobs=2)
    missed = [
        (comparison.point, comparison.expectation.measure, comparison.simulated)
        for comparison in outcome.comparisons
        if comparison.state is State.FAILED
    ]
    assert outcome.comparisons
    assert not missed


def test_a_point_that_cannot_finish_is_named(study_file: Path, subprocess_cxloom: Call) -> None:
    study_file.write_text(
        "system: {preset: esf/validation, run: {livelock_deliveries: 1, warmup: 0}}\n"
        "set: {workload.host.requests: 40000}\nsweep: {devices.bus.bus_time: [1ns, 15us]}\n"
    )
    outcome = subprocess_cxloom("study", "run", study_file)
    assert outcome.code == 1
    assert outcome.err.startswith("error: at bus_time 15us: livelock")


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def cpu_seconds(pid: str) -> float:
    """The processor time of a process so far: unlike the time of day, it tells how far it has come."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]) / os.sysconf(
        "SC_CLK_TCK"
    )


@slow
def test_ctrl_c_ends_a_study_quietly(study_file: Path) -> None:
    study_file.write_text("system: {preset: esf/validation}\nset: {workload.host.requests: 100000000}\n")
    command = [sys.executable, "-m", "cxloom", "study", "run", str(study_file)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        while not any(cpu_seconds(child) > 2 for child in children(process.pid)):
            assert process.poll() is None
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert stderr.startswith("error: interrupted: what is finished is in build/studies/study; ")
    assert stderr.count("\n") == 1


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_study(number: signal.Signals, study_file: Path) -> None:
    study_file.write_text("system: {preset: esf/validation}\nset: {workload.host.requests: 100000000}\n")
    command = [sys.executable, "-m", "cxloom", "study", "run", str(study_file)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not any(cpu_seconds(child) > 1 for child in children(process.pid)):
            assert process.poll() is None
            time.sleep(0.1)
        workers = children(process.pid)
        process.send_signal(number)
        process.wait(timeout=60)
        until = time.monotonic() + 60
        while any(alive(worker) for worker in workers) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(alive(worker) for worker in workers)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == (1 if number == signal.SIGTERM else -number)


def test_a_measure_is_found_by_its_path() -> None:
    summary = {
        "latency_ns": {"mean": 5.0},
        "per_link": {"a-b": {"a->b": {"utilization": 1}}},
        "stop_reason": "x",
    }
    assert measured(summary, "latency_ns.mean") == 5.0
    assert measured(summary, "per_link.a-b.a->b.utilization") == 1
    for path in ("latency_ns.men", "latency_ns", "stop_reason", "latency_ns.mean.x"):
        with pytest.raises(InputError):
            measured(summary, path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("system: nowhere.yaml", ["'{}/nowhere.yaml': no such file"]),
        ("system: stduy.yaml", ["'{}/stduy.yaml': no such file", "did you mean 'study.yaml'?"]),
        ("system: .", ["'{}/.': a directory, not a file"]),
        ("system: /dev/zero", ["'/dev/zero': a device, not a file"]),
    ],
)
def test_the_file_of_a_system_that_cannot_be_read(
    tmp_path: Path, cxloom: Call, line: str, words: list[str]
) -> None:
    (tmp_path / "study.yaml").write_text(f"title: x\n{line}\n")
    outcome = cxloom("study", "run", tmp_path / "study.yaml")
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {tmp_path}/study.yaml:2:9: system: the file of the system, ")
    for word in words:
        assert word.format(tmp_path) in outcome.err


def test_a_mistake_in_the_file_of_a_system_is_named_by_its_own_line(tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "study.yaml").write_text("title: x\nsystem: system.yaml\n")
    (tmp_path / "system.yaml").write_text("name: x\ndevices: [\n")
    outcome = cxloom("study", "run", tmp_path / "study.yaml")
    assert outcome.err.startswith(f"error: {tmp_path}/system.yaml:2:")


def test_an_expectation_says_where_it_is_from(tmp_path: Path, cxloom: Call) -> None:
    """It has a source, and may say how it was derived; without a source nothing is run."""
    system = "system: {preset: esf/validation, workload: {host: {requests: 200}}}\n"
    expect = "expect: [{measure: requests, value: 200, tolerance: 0%MORE}]\n"
    for more, said in {
        ", source: a book": ["expected: a book"],
        ", source: a book, derived: by thought": ["expected: a book (derived: by thought)"],
    }.items():
        (tmp_path / "study.yaml").write_text(system + expect.replace("MORE", more))
        outcome = cxloom("study", "run", tmp_path / "study.yaml")
        assert outcome.code == 0, outcome.err
        assert [line for line in outcome.out.splitlines() if line.startswith("expected")] == said
    for more, says in {
        "": "'source' of an expectation is missing",
        ", derived: by thought": "'source' of an expectation is missing",
        ', source: " "': "'source' of an expectation is empty",
    }.items():
        (tmp_path / "study.yaml").write_text(system + expect.replace("MORE", more))
        outcome = cxloom("study", "run", tmp_path / "study.yaml")
        assert outcome.code == 2
        assert f"{tmp_path}/study.yaml:2:" in outcome.err
        assert says in outcome.err


def test_measures_are_looked_for_before_the_first_point_runs(
    study_file: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cxloom.study.carried.Supervisor", None)  # no point can be run
    text = STUDY.replace("measure: latency_ns.mean", "measure: latency_ns.men")
    study_file.write_text(text.replace("value: 297, tolerance: 0.5ns", "value: 297, measure: bandwidth_gbps"))
    outcome = cxloom("study", "run", study_file)
    assert outcome.code == 2
    for words in (
        f"error: {study_file}:11:21: defaults.measure: no measure 'latency_ns.men'",
        "did you mean 'mean'?",
        "expect[1].measure: no measure 'bandwidth_gbps'",
        "did you mean 'bandwidth_gb_per_s'?",
    ):
        assert words in outcome.err


def test_a_sweep_alone_has_a_table(study_file: Path, tmp_path: Path, cxloom: Call) -> None:
    study_file.write_text(STUDY.partition("defaults:")[0])
    outcome = cxloom("study", "run", study_file, "--out", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    rows = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert rows[0] == "latency,seed,requests,gb_per_s,mean_ns,p99_ns"
    assert [row.split(",")[:2] for row in rows[1:]] == [
        ["45ns", "1"], ["45ns", "2"], ["145ns", "1"], ["145ns", "2"],
    ]  # fmt: skip
    assert {row.split(",")[4] for row in rows[1:]} == {"197.0", "297.0"}
    assert all(name in outcome.out for name in rows[0].split(","))


def test_too_many_points_are_refused_before_they_are_made(study_file: Path, cxloom: Call) -> None:
    axes = "".join(f'  "devices.mem{i}.queue": [{", ".join(map(str, range(1, 101)))}]\n' for i in range(4))
    cases = "cases: {a: {}, b: {}}\n"
    study_file.write_text(
        f"system: {{preset: esf/validation}}\n{cases}sweep:\n{axes}  run.seed: [1, 2, 3, 4, 5]\n"
    )
    outcome = cxloom("study", "run", study_file)
    assert outcome.code == 2
    assert f"error: {study_file}:3:1: sweep: the study has too many points" in outcome.err
    assert "found: 1,000,000,000" in outcome.err
    study_file.write_text(STUDY)
    assert "found: 4" in cxloom("study", "run", study_file, "--max-points", "3").err
    assert "not a whole number from 1 on" in cxloom("study", "run", study_file, "--max-points", "-1").err


def test_curves_of_a_memory_rise_with_the_load_and_fall_with_the_writes() -> None:
    study = read(
        find("memory/curves"), [Override.of("workload.load.requests", 10_000), Override.of("run.warmup", 200)]
    )
    delays = ("200ns", "10ns", "4ns", "1ns")
    chosen = [i for i, point in enumerate(study.points) if point["devices.load.issue_interval"] in delays]
    study.points[:], study.specs[:] = [study.points[i] for i in chosen], [study.specs[i] for i in chosen]
    rows = run_study(study).table
    assert len(rows) == 16
    curves = [rows[start : start + 4] for start in range(0, 16, 4)]
    for curve in curves:
        for column in ("bandwidth_gb_per_s", "latency_ns"):
            values = [row[column] for row in curve]
            assert values == sorted(values)
        assert 46 < curve[0]["latency_ns"] < 62
        assert 25 < curve[-1]["bandwidth_gb_per_s"] < 38.4
    saturated = [curve[-1]["bandwidth_gb_per_s"] for curve in curves]
    assert saturated == sorted(saturated, reverse=True), "the more writes, the less bandwidth"
