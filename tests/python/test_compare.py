"""``cxloom compare``: differences that closed forms give, what chance explains, and what cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cxloom as cx
from cxloom.cli import run as run_command
from cxloom.results.comparison import compare
from cxloom.spec.resolved import Resolved
from cxloom.system.simulation import Simulation, build

Call = Callable[..., Any]

SPEC = """
devices:
  host: {kind: host, queue: 1, process_time: 10ns}
  mem: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], delay: 30ns}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 200, footprint: 1MiB}}
"""
LOADED = """
devices:
  host: {kind: host, queue: 32}
  mem: {kind: memory, media: {kind: dram, preset: DDR5-4800}}
links: [{between: [host, mem], bandwidth: 32GB/s, delay: 20ns}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 6000, reads: 70%, footprint: 1GiB}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "system.yaml"
    path.write_text(SPEC)
    return path


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    path = tmp_path / "loaded.yaml"
    path.write_text(LOADED)
    return path


def rows(text: str) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads(text)["rows"]}


def test_a_longer_way_is_where_the_difference_is(cxloom: Call, file: Path) -> None:
    """30 ns more each way and 15 ns of media: 75 ns on a read of 10 + 20 + 50 + 2 x 30 = 140 ns; one in flight, so that
    the bandwidth is 64 B a latency."""
    found = rows(
        cxloom("compare", file, "--with", "links[*].delay=60ns devices.mem.media.latency=65ns", "--json").out
    )
    mean = found["mean latency"]
    assert mean["values"] == [140.0, 215.0]
    assert mean["differences"][0]["difference"] == 75.0
    assert mean["differences"][0]["relative"] == pytest.approx(75 / 140)
    assert found["bandwidth"]["values"] == pytest.approx([64 / 140, 64 / 215])
    parts = {
        name: row["differences"][0]["difference"] for name, row in found.items() if row["part_of_latency"]
    }
    assert parts == {"propagation": 60.0, "media": 15.0}


def test_the_sentence_and_the_table_say_so(cxloom: Call, file: Path) -> None:
    shown = cxloom("compare", file, "--with", "links[*].delay=60ns").out
    said = " ".join(shown.split())
    assert "the mean latency is 60.0 ns higher (42.9 %) (propagation 60.0 ns)" in said
    assert "the bandwidth is 0.137 GB/s lower (30.0 %)" in said
    assert f"A {file}" in said
    assert "B links[*].delay=60ns" in said


def test_lines_that_nobody_asked_for_are_no_faster_answers(cxloom: Call, tmp_path: Path) -> None:
    """A prefetcher that fetches four lines behind each random one moves five times as much, and answers no request
    sooner: the sentence says both."""
    spec = tmp_path / "cached.yaml"
    spec.write_text(
        SPEC.replace("process_time: 10ns", "process_time: 10ns, cache: {size: 64KiB, ways: 4, mshrs: 64}")
    )
    ahead = "devices.host.cache.prefetch={kind: next-line, degree: 4}"
    done = cxloom("compare", spec, "--with", ahead, "--set", "workload.host.footprint=512MiB")
    assert done.code == 0, done.err
    assert "the bandwidth is" in " ".join(done.out.split())
    assert "requests are answered" in " ".join(done.out.split())
    moved = cxloom("compare", spec, "--with", "devices.mem.media.latency=150ns")
    assert "requests are answered" not in moved.out  # as many bytes a request


@pytest.mark.parametrize("sizes", [("32KiB", "1MiB"), ("1MiB", "32KiB")])
@pytest.mark.parametrize("requests", [900, 3000])
def test_hits_alone_have_no_bandwidth(sizes: tuple[str, str], requests: int, tmp_path: Path) -> None:
    """A relative interval of nothing was a division by zero."""
    spec = tmp_path / "cached.yaml"
    spec.write_text(SPEC.replace("process_time: 10ns", "process_time: 10ns, cache: {size: 64KiB, ways: 16}"))

    def of(footprint: str) -> cx.System:
        system = cx.load(spec).set("workload.host.footprint", footprint)
        return system.set("workload.host.requests", requests).set("run.warmup", 8000)

    found = cx.compare({size: of(size) for size in sizes})
    hits = sizes.index("32KiB")
    moved, answered = found.row("bandwidth"), found.row("requests answered")
    assert moved.values[hits] == 0
    assert moved.change(1).is_clear
    assert answered.change(1).is_clear
    assert "requests are answered" in found.sentences[0], "more bandwidth, and slower answers"


@pytest.mark.parametrize("requests", [1, 5, 6])
def test_of_fewer_than_six_requests_nothing_is_known(file: Path, requests: int) -> None:
    """Those of one latency were known to nothing, so that each change was one, with intervals of percentiles."""
    few = cx.load(file).set("workload.host.requests", requests)
    far = cx.load(file).set("workload.host.requests", requests).set("links[*].delay", "600ns")
    found = cx.compare({"near": few, "far": far})
    for name in ("mean latency", "mean latency of reads", "p50 latency", "p99 latency"):
        assert found.row(name).change(1).is_clear == (requests >= 6), name
    assert (found.row("p50 latency").intervals[0] is None) == (requests < 6)
    assert ("the mean latency is the same, as far as the runs tell" in found.sentences[0]) == (requests < 6)


def test_another_seed_is_no_difference(cxloom: Call, loaded: Path) -> None:
    said = " ".join(cxloom("compare", loaded, "--with", "run.seed=7").out.split())
    assert "the mean latency is the same, as far as the runs tell" in said
    assert "?: as far as the runs tell, no change" in said


def test_intervals_of_differences_are_those_of_both_means(cxloom: Call, loaded: Path) -> None:
    mean = rows(cxloom("compare", loaded, "--with", "devices.host.queue=48", "--json").out)["mean latency"]
    first, second = mean["ci95"]
    was, now = mean["values"]
    below = ((now - second[0]) ** 2 + (first[1] - was) ** 2) ** 0.5
    above = ((second[1] - now) ** 2 + (was - first[0]) ** 2) ** 0.5
    change = mean["differences"][0]
    assert change["ci95"] == pytest.approx([change["difference"] - below, change["difference"] + above])
    assert change["ci95"][0] > 0, "half as many more in flight wait longer"


def test_parts_sum_to_the_difference() -> None:
    """Whatever has no row changes by less than a hundredth of the mean."""
    near, far = cx.run("dmsim/local"), cx.run("dmsim/switch")
    found = compare({"near": near, "far": far})
    parts = sum(row.change(1).difference for row in found.rows if row.is_part)
    assert parts == pytest.approx(far.latency.mean - near.latency.mean, rel=1e-6)
    assert found.names == ("near", "far")
    assert found.frame().columns == ["measure", "unit", "near", "far", "far: change"]
    with pytest.raises(KeyError):
        found.row("colour")


def test_results_that_are_there_are_compared_as_they_are(cxloom: Call, file: Path, tmp_path: Path) -> None:
    for name, delay in (("near", "30ns"), ("far", "60ns")):
        cxloom("run", file, "--set", f"links[*].delay={delay}", "--out", tmp_path / name)
    done = cxloom("compare", tmp_path / "near", tmp_path / "far", "--json")
    assert rows(done.out)["mean latency"]["values"] == [140.0, 200.0]
    refused = cxloom("compare", tmp_path / "near", file, "--seed", "3")
    assert refused.code == 2
    assert "results that are there are not run again" in refused.err


def test_what_one_system_has_not_is_no_number(cxloom: Call, file: Path) -> None:
    case = ("--with", "workload.host.reads=0%")
    lines = [line.split() for line in cxloom("compare", file, *case).out.splitlines()]
    line = next(line for line in lines if line[:4] == ["mean", "latency", "of", "reads,"])
    assert line[-2:] == ["-", "-"]
    row = rows(cxloom("compare", file, *case, "--json").out)["mean latency of reads"]
    assert (row["values"], row["differences"][0]["relative"]) == ([140.0, None], None)


def test_files_are_written_as_asked(cxloom: Call, file: Path, tmp_path: Path) -> None:
    table, everything = tmp_path / "t.csv", tmp_path / "all.json"
    done = cxloom("compare", file, file, "--out", table, "--out", everything, "--quiet")
    assert (done.code, done.out) == (0, "")
    assert pl.read_csv(table).columns == ["measure", "unit", str(file), f"{file} (2)", f"{file} (2): change"]
    assert json.loads(everything.read_text())["systems"] == [str(file), f"{file} (2)"]


def test_settings_of_all_and_a_seed_reach_every_run(cxloom: Call, file: Path) -> None:
    options = (
        "--set",
        "devices.host.process_time=20ns",
        "--with",
        "links[*].delay=60ns",
        "--seed",
        "3",
        "--json",
    )
    assert rows(cxloom("compare", file, *options).out)["mean latency"]["values"] == [150.0, 210.0]


def test_three_systems_are_compared_with_the_first(cxloom: Call, file: Path) -> None:
    cases = ("--with", "links[*].delay=60ns", "--with", "links[*].delay=0ns")
    mean = rows(cxloom("compare", file, *cases, "--json").out)["mean latency"]
    assert [each["difference"] for each in mean["differences"]] == [60.0, -60.0]


@pytest.mark.parametrize("case", ["devices.host.queu=1", "devices.host.queue=0", "queue"])
def test_a_wrong_case_is_told_at_its_option(case: str, cxloom: Call, file: Path) -> None:
    done = cxloom("compare", file, "--with", case)
    assert done.code == 2
    assert f"--with {case}" in done.err
    assert "--set" not in done.err


def test_a_space_within_braces_separates_no_settings(cxloom: Call, file: Path) -> None:
    case = "devices.mem.media={kind: fixed, latency: 95ns} links[*].delay=60ns"
    apart = "devices.mem.media.latency=95ns links[*].delay=60ns"
    both = [cxloom("compare", file, "--with", each, "--json") for each in (case, apart)]
    assert both[0].code == 0, both[0].err
    assert rows(both[0].out)["mean latency"]["values"] == rows(both[1].out)["mean latency"]["values"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["SPEC"], "nothing to compare with"),
        (["SPEC", "--with", ""], "no values to set"),
        (["SPEC", "--with", "devices.hots.queue=2"], "did you mean 'devices.host.queue'?"),
        (["SPEC", "nosuch"], "no such file, and no preset of this name"),
        (["SPEC", "SPEC", "--out", "table.xlsx"], "unsupported table format"),
        (["SPEC", "SPEC", "--out", "/proc/table.csv"], "cannot be written"),
        (["SPEC"] * 27, "too many to compare"),
        (["SPEC", "--with", "workload.host.requests=0"], "requests"),
    ],
)
def test_what_cannot_be_compared(
    cxloom: Call, file: Path, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    done = cxloom("compare", *(str(file) if word == "SPEC" else word for word in arguments))
    assert done.code == 2
    assert reason in done.err
    assert sorted(tmp_path.iterdir()) == [file]


def test_a_run_that_does_not_finish_is_said(cxloom: Call, file: Path) -> None:
    done = cxloom("compare", file, "--with", "links[*].delay=60ns", "--max-time", "5us")
    assert done.code == 1
    assert "unfinished" in done.err


class AtOnce:
    """A signal that comes as soon as a run has begun."""

    def __init__(self) -> None:
        self.reason: str | None = None

    def __enter__(self) -> AtOnce:
        self.reason = "interrupted"
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""


def test_after_an_interrupt_no_further_system_is_run(
    cxloom: Call, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Resolved] = []

    def counted(spec: Resolved) -> Simulation:
        built.append(spec)
        return build(spec)

    monkeypatch.setattr(run_command, "Interrupt", AtOnce)
    monkeypatch.setattr(run_command, "build", counted)
    cases = ("--with", "devices.host.queue=2", "--with", "devices.host.queue=4")
    done = cxloom("compare", file, *cases, "--set", "workload.host.requests=1000000", "--json")
    assert (done.code, len(built)) == (1, 1)
    assert done.out == ""
    assert "stopped: interrupted" in done.err


def test_stored_results_of_a_stopped_run_are_said_to_be(cxloom: Call, file: Path, tmp_path: Path) -> None:
    stopped = tmp_path / "stopped"
    assert cxloom("run", file, "--max-time", "5us", "--out", stopped, "--quiet").code == 1
    for command in (["compare", stopped, file], ["run", file, "--against", stopped]):
        said = " ".join(cxloom(*command).out.split())
        assert "note: A was stopped before its end" in said
        assert said.count("was stopped before its end") == 1
    assert json.loads(cxloom("compare", stopped, file, "--json").out)["unfinished"] == [str(stopped)]


def test_what_runs_say_of_themselves_is_said_once_for_all_or_of_one(cxloom: Call, loaded: Path) -> None:
    def said(*changes: str) -> list[str]:
        done = cxloom("compare", loaded, *(word for each in changes for word in ("--with", each)))
        return [line for line in " ".join(done.out.split()).split("note: ")[1:] if "unset" in line]

    unset = "bandwidth unset, treated as infinite (no queueing): links host->mem, mem->host"
    assert said("devices.host.queue=8") == []
    assert said("links[0].bandwidth=unlimited") == [f"B: {unset}"]
    both = ["links[0].bandwidth=unlimited devices.host.queue=8", "links[0].bandwidth=unlimited"]
    assert said(*both) == [f"B and C: {unset}"]
    every = cxloom(
        "compare", loaded, "--set", "links[0].bandwidth=unlimited", "--with", "devices.host.queue=8"
    )
    assert f"note: {unset}" in " ".join(every.out.split())


def test_fewer_than_two_results_in_python(file: Path) -> None:
    with pytest.raises(cx.InputError, match="nothing to compare with"):
        cx.compare({"one": cx.run(file)})


def test_a_run_is_compared_against_another_system(
    cxloom: Call, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 ns more each way, of 140 ns."""
    monkeypatch.chdir(file.parent)
    ran = " ".join(
        cxloom("run", file.name, "--set", "links[*].delay=60ns", "--against", file.name).out.split()
    )
    assert "system.yaml as set beside system.yaml: the bandwidth is" in ran
    assert "the mean latency is 60.0 ns higher (42.9 %) (propagation 60.0 ns)." in ran


def test_a_run_is_compared_against_stored_results(
    cxloom: Call, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    cxloom("run", file, "--out", "before")
    file.write_text(SPEC.replace("latency: 50ns", "latency: 90ns"))
    ran = " ".join(cxloom("run", file.name, "--against", "before").out.split())
    assert "system.yaml beside before:" in ran
    assert "the mean latency is 40.0 ns higher" in ran


def test_what_a_run_cannot_be_compared_against(cxloom: Call, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, words in (
        (["--against", file, "--json"], "--against is no part of --json"),
        (["--against", tmp_path / "nosuch.yaml"], "no such file"),
    ):
        done = cxloom("run", file, "--out", out, *arguments)
        assert done.code == 2
        assert words in " ".join(done.err.split())
        assert not out.exists()


def test_a_system_that_does_not_finish_is_no_measure_for_a_run(
    cxloom: Call, file: Path, tmp_path: Path
) -> None:
    long = tmp_path / "long.yaml"
    long.write_text(SPEC.replace("requests: 200", "requests: 2000"))
    done = cxloom("run", file, "--against", long, "--max-time", "100us")
    assert done.code == 1
    assert "unfinished" in done.err
    assert " beside " not in done.out


def test_a_run_of_errors_alone_says_so() -> None:
    """It had "no request in its measured window", as if the window were too short."""
    system = cx.System()
    system.host("host").host("other").memory("mem").add(
        "switch",
        "sw",
        vcs=[{"upstream": "other", "vppbs": 1, "bind": ["mem"]}, {"upstream": "host", "vppbs": 1}],
    )
    system.connect("host", "sw").connect("other", "sw").connect("mem", "sw").map("mem")
    system.workload("host", pattern="random", requests=50, footprint="1MiB")
    with pytest.raises(cx.InputError, match="answered with data") as refused:
        cx.compare({"one": system, "same": system})
    assert refused.value.found.startswith("50 requests were answered with an error, without data")
