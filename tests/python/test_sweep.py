"""Sweeps: what is run, what comes out, and what is refused before anything is run."""

from __future__ import annotations

import gc
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sweep_support import LATENCY, REST_NS, SPEC, Poisoned, engine, records_of, stored

import cxloom as cx
from cxloom.base.errors import InputError, SimulationError
from cxloom.sweeping.engine import Shard
from cxloom.sweeping.schedule import ATTEMPTS, Schedule
from cxloom.sweeping.space import Axis
from cxloom.sweeping.supervisor import Supervisor
from cxloom.sweeping.work import Task

Call = Callable[..., Any]
DEADLOCK = {"run.livelock_deliveries": 1, "devices.bus.bus_time": "15us", "workload.host.requests": 40000}
"""A system that counts as livelocked: the watch is set to one delivery without an answer (test_study.py)."""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC)
    return path


def test_every_combination_is_a_point(spec: Path, tmp_path: Path, subprocess_cxloom: Call) -> None:
    sets = ("--set", f"{LATENCY}=45ns,145ns", "--set", "devices.host.queue=1,2")
    done = subprocess_cxloom("sweep", spec, *sets, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    points = json.loads(done.out)["points"]
    assert [tuple(point["set"].values()) for point in points] == [
        ("45ns", 1),
        ("45ns", 2),
        ("145ns", 1),
        ("145ns", 2),
    ]
    for point in points:
        latency = REST_NS + int(point["set"][LATENCY].removesuffix("ns"))
        if point["set"]["devices.host.queue"] == 1:
            assert point["latency_ns.mean"] == pytest.approx(latency, rel=1e-9)
        assert point["status"] == "finished"
        assert point["requests"] == 200
    frame = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert frame.columns[:5] == [LATENCY, "devices.host.queue", "key", "status", "error"]
    assert frame["latency_ns.mean"].to_list() == [point["latency_ns.mean"] for point in points]
    assert set(frame["key"]) == stored(tmp_path / "out")


def test_a_point_is_what_run_gives(spec: Path) -> None:
    """The engine runs a point in another process; a run in this one must give the same."""
    result = cx.sweep(spec, {"devices.host.queue": [4, 8], "run.seed": [7]})
    for index, at in enumerate(result.points):
        system = cx.load(spec)
        for path, value in at.items():
            system.set(path, value)
        summary = cx.run(system).summary
        assert result.summary(index) == {key: value for key, value in summary.items() if key != "cost"}


def test_points_that_are_there_are_not_run_again(spec: Path, tmp_path: Path, subprocess_cxloom: Call) -> None:
    out = tmp_path / "out"
    first = subprocess_cxloom("sweep", spec, "--set", "devices.host.queue=1,2", "--out", out)
    assert first.err == ""
    times = {path: path.stat().st_mtime_ns for path in (out / "points").iterdir()}
    more = subprocess_cxloom("sweep", spec, "--set", "devices.host.queue=4,2,1", "--out", out)
    assert more.code == 0
    assert "2 points of 3" in more.err
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert pl.read_parquet(out / "results.parquet")["devices.host.queue"].to_list() == [4, 2, 1]
    assert len(stored(out)) == 3


def test_a_point_that_fails_stops_no_other(spec: Path, tmp_path: Path, subprocess_cxloom: Call) -> None:
    points = [
        {"run.seed": 1},
        {"devices.host.queue": "many"},  # no number: seen before anything is run
        {"workload.host.footprint": "1TiB"},  # more than there is: seen when the system is built
        DEADLOCK,
        {"run.seed": 2},
    ]
    (tmp_path / "points.yaml").write_text(json.dumps(points))
    out = tmp_path / "out"
    done = subprocess_cxloom("sweep", spec, "--points", tmp_path / "points.yaml", "--out", out, "--json")
    assert done.code == 1, done.err
    rows = json.loads(done.out)["points"]
    assert [row["status"] for row in rows] == ["finished", "refused", "refused", "unfinished", "finished"]
    assert "points.yaml:1: devices.host.queue: not a whole number" in rows[1]["error"]
    assert "footprint" in rows[2]["error"]
    assert rows[3]["error"].startswith("livelock")
    assert rows[3]["truncated"] is True
    assert rows[0]["error"] is None
    before = (out / "results.parquet").read_bytes()
    again = subprocess_cxloom("sweep", spec, "--points", tmp_path / "points.yaml", "--out", out)
    assert again.code == 1
    assert "unfinished at livelock_deliveries 1" in again.out
    assert (out / "results.parquet").read_bytes() == before


def test_a_table_can_be_derived_again(spec: Path, tmp_path: Path, subprocess_cxloom: Call) -> None:
    out = tmp_path / "out"
    measure = "per_memory.*.queue_mean"
    sets = ("--set", "devices.host.queue=1,2", "--seeds", 3, "--measure", measure)
    assert subprocess_cxloom("sweep", spec, *sets, "--out", out).code == 0
    names = ("results.parquet", "aggregate.parquet")
    before = [(out / name).read_bytes() for name in names]
    assert "per_memory.mem3.queue_mean" in pl.read_parquet(out / "results.parquet").columns
    for name in names:
        (out / name).unlink()
    spec.unlink()  # it needs nothing else
    csv = tmp_path / "table.csv"
    assert subprocess_cxloom("sweep", "--rebuild", out, "--csv", csv).code == 0
    rows = pl.read_csv(csv)
    assert rows.columns == pl.read_parquet(out / "results.parquet").columns
    assert (
        rows["latency_ns.mean"].to_list()
        == pl.read_parquet(out / "results.parquet")["latency_ns.mean"].to_list()
    )
    assert subprocess_cxloom("sweep", "--rebuild", out, "--csv", tmp_path / "table.xls").code == 2
    assert [(out / name).read_bytes() for name in names] == before
    loaded = cx.SweepResult.load(str(out))
    assert len(loaded) == 6
    assert loaded.frame().equals(pl.read_parquet(out / "results.parquet"))


def test_seeds_give_a_mean_and_its_interval() -> None:
    system = cx.load("esf/validation").set("workload.host.requests", 500).set("run.warmup", 0)
    result = cx.sweep(system, {"devices.host.queue": [64, 1]}, seeds=4)
    assert [at["run.seed"] for at in result.points] == [1, 2, 3, 4] * 2
    rows = result.frame().filter(pl.col("devices.host.queue") == 64)["latency_ns.mean"].to_list()
    mean = sum(rows) / 4
    # Student's t of three degrees of freedom: 3.182 in any table.
    half = 3.182446 * math.sqrt(sum((each - mean) ** 2 for each in rows) / 3) / 2
    assert half > 0
    first = result.aggregate().row(0, named=True)
    assert first["seeds"] == 4
    assert first["latency_ns.mean"] == pytest.approx(mean)
    assert first["latency_ns.mean:low"] == pytest.approx(mean - half)
    assert first["latency_ns.mean:high"] == pytest.approx(mean + half)
    assert {"bandwidth_ci95.low", "latency_ns.p99_ci95.high"} <= set(result.frame().columns)
    assert not any(name == "run.seed" or "ci95" in name for name in result.aggregate().columns)


def test_null_is_not_what_the_spec_says() -> None:
    system = cx.load("esf/validation").set("workload.host.requests", 100).set("run.warmup", 0)
    system.set("workload.host.rate", "1M/s")
    points = [{"workload.host.rate": None, "devices.host.queue": 8}, {"devices.host.queue": 8}]
    result = cx.sweep(system, points=points, seeds=2, jobs=1)
    assert result.frame()["workload.host.rate"].to_list() == ["null", "null", None, None]
    means = result.aggregate()
    assert means["seeds"].to_list() == [2, 2]
    assert means["bandwidth_gb_per_s"][0] > 2 * means["bandwidth_gb_per_s"][1]


def test_nothing_is_kept_unless_it_is_asked_for(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a directory the points live as long as the result."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    result = cx.sweep(spec, {"run.seed": [1, 2]})
    summary = result.summary(1)
    assert summary is not None
    assert summary["seed"] == 2
    del result
    gc.collect()
    assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises(InputError, match="matches nothing"):
        cx.sweep(spec, {"run.sede": [1, 2]})
    assert list((tmp_path / "temporary").iterdir()) == []


def test_another_sweep_in_the_directory_takes_the_old_tables_away(spec: Path, tmp_path: Path) -> None:
    """What is there is never the table of one sweep beside the points of another."""
    cx.sweep(spec, {"run.seed": [1, 2]}, out=tmp_path / "out")
    assert (tmp_path / "out" / "aggregate.parquet").exists()
    template = cx.load(spec).template()
    found = engine(template, tmp_path / "out", [Axis.of("run.seed", [2, 3])])
    with pytest.raises(KeyboardInterrupt):
        found.carry_out(Poisoned(template, "run.seed", []), Supervisor(1), watch=interrupted)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["points", "sweep.json"]


def interrupted(_schedule: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"schema": 1, "points": 3, "core": 1}', "no JSON", None])
def test_a_manifest_that_is_none_is_refused(
    spec: Path, tmp_path: Path, cxloom: Call, damage: str | None
) -> None:
    out = tmp_path / "out"
    cx.sweep(spec, {"run.seed": [1]}, out=out)
    text = (out / "sweep.json").read_text()
    (out / "sweep.json").write_text(text.replace('"schema": 1', '"schema": 0') if damage is None else damage)
    words = "of another version of cxloom" if damage is None else "not the manifest of a sweep"
    rebuilt = cxloom("sweep", "--rebuild", out)
    assert (rebuilt.code, words in rebuilt.err) == (2, True), rebuilt.err
    again = cxloom("sweep", spec, "--set", "run.seed=1,2", "--out", out)
    if damage is None or "core" in damage:  # one of a sweep all the same, which another one may follow
        assert again.code == 0
    else:
        assert (again.code, words in again.err) == (2, True), again.err


def test_seeds_start_from_that_of_the_spec(spec: Path) -> None:
    result = cx.sweep(cx.load(spec).set("run.seed", 40), seeds=2)
    assert [at["run.seed"] for at in result.points] == [40, 41]


def test_a_grid_multiplies_with_points(spec: Path) -> None:
    result = cx.sweep(
        spec, {"run.seed": [1, 2]}, points=[{LATENCY: "45ns"}, {"devices.host.queue": 2}], jobs=1
    )
    assert [dict(at) for at in result.points] == [
        {"run.seed": 1, LATENCY: "45ns"},
        {"run.seed": 1, "devices.host.queue": 2},
        {"run.seed": 2, LATENCY: "45ns"},
        {"run.seed": 2, "devices.host.queue": 2},
    ]
    assert result.frame()["devices.host.queue"].to_list() == [None, 2, None, 2]


def test_values_keep_their_kind(spec: Path) -> None:
    """Lists and maps are values like others; a column of them is JSON."""
    media = [{"kind": "fixed", "latency": "45ns"}, {"kind": "fixed", "latency": "145ns"}]
    result = cx.sweep(spec, {"devices.mem[*].media": media})
    assert result.frame()["latency_ns.mean"].to_list() == pytest.approx([REST_NS + 45, REST_NS + 145])
    assert json.loads(result.frame()["devices.mem[*].media"][1]) == media[1]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1,2,4", [1, 2, 4]),
        ("a=1", [1]),
        ("a= x , y ", ["x", "y"]),
        ("a=[1,2],[3,4]", [[1, 2], [3, 4]]),
        ("a=[1,2]", [[1, 2]]),
        (
            "a={kind: fixed, latency: 45ns},{kind: dram}",
            [{"kind": "fixed", "latency": "45ns"}, {"kind": "dram"}],
        ),
        ("a='x,y',z", ["x,y", "z"]),
        ('a="mem[*]"', ["mem[*]"]),
        ("a=null,true,1.5,67%,8GB/s", [None, True, 1.5, "67%", "8GB/s"]),
        ("a=1,2,", [1, 2]),
    ],
)
def test_values_of_an_axis(text: str, values: list[object]) -> None:
    axis = Axis.parse(text)
    assert axis.path == "a"
    assert [node.plain() for node in axis.values] == values


def test_nothing_is_run_or_written_for_what_is_refused(
    spec: Path, tmp_path: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "twice.csv").write_text("run.seed,run.seed\n1,2\n")
    (tmp_path / "short.csv").write_text("run.seed,devices.host.queue\n1\n")
    (tmp_path / "map.yaml").write_text("run.seed: 1\n")
    (tmp_path / "nothing.yaml").write_text("- {}\n")
    (tmp_path / "bad.parquet").write_text("no Parquet")
    (tmp_path / "rows.csv").write_text("run.seed,devices.host.quue\n1,\n2,7\n")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "results.parquet").write_text("mine")
    queue = ("--set", "devices.host.queue=1,2")
    worst: list[tuple[tuple[object, ...], str]] = [
        (("--set", "devices.host.quue=1,2"), "did you mean 'devices.host.queue'?"),
        (("--set", "devices.hst.queue=1"), "matches nothing"),
        (("--set", "devices..queue=1"), "not a path"),
        (("--set", "devices.host.queue"), "not an axis of a sweep"),
        (("--set", "=1,2"), "not an axis of a sweep"),
        (("--set", "devices.host.queue="), "no values to sweep"),
        (("--set", "devices.host.queue=[1,2"), "not YAML"),
        (("--set", "devices.host.queue=1]"), "not YAML"),
        (("--set", "devices.host.queue=1,,2"), "not YAML"),
        (("--set", "devices.host.queue=1..8"), "--draw PATH=LOW..HIGH --samples N"),
        (("--set", "devices.host.queue=1,2,1"), "a value that is there twice"),
        (("--set", "devices.host.queue=many,few"), "not a whole number"),  # no point can be run
        ((*queue, "--set", "devices.host.queue=4"), "the path is set twice"),
        ((*queue, "--seeds", "0"), "not a whole number from 1 on"),
        ((*queue, "--seeds", "2", "--set", "run.seed=1"), "the path is set twice"),
        ((*queue, "--shard", "3/2"), "not a shard"),
        ((*queue, "--shard", "0/2"), "not a shard"),
        ((*queue, "--shard", "2"), "not a shard"),
        ((*queue, "--jobs", "0"), "not a whole number from 1 on"),
        ((*queue, "--max-points", "1"), "the sweep has too many points"),
        ((*queue, "--out", ""), "the name of the directory is empty"),
        ((*queue, "--out", "foreign"), "holds 'results.parquet' and is none of a sweep"),
        ((*queue, "--out", "empty.csv"), "not a directory"),
        ((*queue, "--plugin", "gone.so"), "gone.so"),
        (("--points", "gone.csv"), "no such file"),
        (("--points", "gone.parquet"), "no such file"),
        (("--points", "spec.txt"), "not a table of points"),
        (("--points", "empty.csv"), "no points"),
        (("--points", "twice.csv"), "a column twice"),
        (("--points", "short.csv"), "short.csv:2: a row of another length"),
        (("--points", "map.yaml"), "not a list of points"),
        (("--points", "nothing.yaml"), "a point that sets nothing"),
        (("--points", "bad.parquet"), "not Parquet"),
        (("--points", "rows.csv"), "rows.csv:3:1: the path 'devices.host.quue' matches nothing"),
        (("--rebuild", "foreign"), "a spec beside --rebuild"),
    ]
    there = sorted(tmp_path.rglob("*"))
    for arguments, words in worst:
        done = cxloom("sweep", spec, *arguments)
        assert (done.code, words in done.err) == (2, True), (arguments, done)
        assert sorted(tmp_path.rglob("*")) == there, arguments
    assert "no sweep here" in cxloom("sweep", "--rebuild", "foreign").err
    assert "no spec is named" in cxloom("sweep").err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"grid": {"devices.host.queue": "1,2"}}, "not a list of values"),
        ({"grid": {"devices.host.queue": []}}, "no values to sweep"),
        ({"grid": {3: [1]}}, "not a text"),
        ({"grid": ["a"]}, "not a grid"),
        ({"grid": {"devices.host.queue": [object()]}}, "not a value for a spec"),
        ({"points": {"run.seed": 1}}, "not a list of points"),
        ({"points": [3]}, "not a point"),
        ({"points": []}, "no points"),
        ({"seeds": 0}, "not a count"),
        ({"seeds": True}, "not a count"),
        ({"jobs": 1.5}, "not a count"),
        ({"grid": {"run.seed": [1]}, "out": ""}, "the name of the directory is empty"),
    ],
)
def test_wrong_arguments_in_python(spec: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        cx.sweep(spec, **given)


def test_shards_share_the_points(spec: Path, tmp_path: Path, subprocess_cxloom: Call) -> None:
    sets = ("--set", "devices.host.queue=1,2,3,4,5", "--jobs", 1)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert subprocess_cxloom("sweep", spec, *sets, "--out", whole).code == 0
    first = subprocess_cxloom("sweep", spec, *sets, "--out", parts, "--shard", "2/2")
    assert first.code == 0, first.err
    assert len(stored(parts)) == 2
    assert "3 points of others missing" in first.out
    assert not (parts / "results.parquet").exists()
    assert subprocess_cxloom("sweep", spec, *sets, "--out", parts, "--shard", "1/2").code == 0
    for name in ("results.parquet", "sweep.json"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes()


def test_every_key_is_in_one_shard() -> None:
    keys = [str(key) for key in range(17)]
    for count in range(1, 20):
        shares = [Shard(index, count).share(keys) for index in range(1, count + 1)]
        assert sorted(key for share in shares for key in share) == sorted(keys)
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_point_that_kills_its_process_is_lost_alone(spec: Path, tmp_path: Path) -> None:
    template = cx.load(spec).template()
    path = "run.seed"
    found = engine(template, tmp_path, [Axis.of(path, range(1, 9))])
    found.carry_out(Poisoned(template, path, [3, 8]), Supervisor(2))
    records = records_of(found)
    assert [record.status for record in records if record] == [
        "lost" if seed in (3, 8) else "finished" for seed in range(1, 9)
    ]
    assert records[2] is not None
    assert records[2].error == (
        "its process died 4 times, the last time alone: killed by SIGABRT: poisoned by 3"
    )
    # It is tried again when the sweep is: whatever killed it may be gone.
    found.carry_out(Poisoned(template, path, []), Supervisor(2))
    assert {record.status for record in records_of(found) if record} == {"finished"}


def test_a_point_that_needs_the_machine_for_itself_gets_it(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one would whose memory is enough for one process alone."""
    given: list[tuple[str, int]] = []  # each task's key, and how many tasks were under way with it
    following = Schedule.next

    def noted(schedule: Schedule) -> Task | None:
        task = following(schedule)
        if task is not None:
            given.append((task.key, schedule.running))
        return task

    monkeypatch.setattr(Schedule, "next", noted)
    template = cx.load(spec).template()
    grid = [Axis.of("workload.host.requests", [30000 + index for index in range(6)])]
    found = engine(template, tmp_path, grid)
    found.carry_out(
        Poisoned(template, "workload.host.requests", [30000], deaths=tmp_path / "deaths"), Supervisor(2)
    )
    assert {record.status for record in records_of(found) if record} == {"finished"}
    key = found.manifest.points[0].key
    running = [together for each, together in given if each == key]
    assert len(running) == ATTEMPTS + 1
    assert running[-1] == 1
    assert max(together for _, together in given) == 2


def test_workers_that_cannot_start_are_no_reason_to_wait(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nonsense = ["/bin/sh", "-c", "echo no Python here >&2; exit 3"]
    monkeypatch.setattr("cxloom.sweeping.worker.command", lambda _tasks, _lifeline: nonsense)
    with pytest.raises(
        SimulationError, match="no worker can be started: it ended with code 3: no Python here"
    ):
        cx.sweep(spec, {"run.seed": [1, 2, 3]})


def test_a_disk_that_is_full_is_said(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the points is one that cannot take a file."""
    template = cx.load(spec).template()
    found = engine(template, tmp_path, [Axis.of("run.seed", [1, 2])])
    monkeypatch.setattr("cxloom.sweeping.store.Store.prepare", lambda self: self.folder.symlink_to("/proc"))
    with pytest.raises(InputError, match="results cannot be written here"):
        found.carry_out(Poisoned(template, "run.seed", []), Supervisor(1))


def test_a_path_that_matches_at_some_points_is_refused_at_the_others() -> None:
    """What a topology takes depends on its kind: a path is wrong beforehand only if it is wrong everywhere."""
    system = cx.System.from_yaml(
        "topology: {kind: chain, switches: 4}\n"
        'workload: {"host*": {pattern: random, requests: 5, footprint: 1MiB}}\nrun: {warmup: 0}\n'
    )
    fitting = [
        {"topology": {"kind": "ring", "switches": 4}},
        {"topology": {"kind": "spine-leaf", "leaves": 2, "spines": 1, "devices_per_leaf": 2}},
    ]
    result = cx.sweep(system, {"topology": [each["topology"] for each in fitting], "topology.leaves": [2, 4]})
    assert result.statuses == ["refused", "refused", "finished", "finished"]
    assert "leaves" in (result.errors[0] or "")
    hosts = [len((result.summary(index) or {})["per_requester"]) for index in (2, 3)]
    assert hosts[1] == 2 * hosts[0]
    with pytest.raises(InputError, match="leafs"):
        cx.sweep(system, {"topology": [each["topology"] for each in fitting], "topology.leafs": [2, 4]})
