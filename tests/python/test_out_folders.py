"""Whatever a command writes, it makes the folders that the name has, and none if it writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chakra_files import Written, write_trace

import cxloom as cx
from cxloom.cli.app import COMMANDS, loaded

Call = Callable[..., Any]

SPEC = """
devices:
  host: {kind: host, queue: 8}
  near: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 50ns, bandwidth: 20GB/s}}
  far: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 150ns, bandwidth: 20GB/s}}
links: [{between: [host, near], bandwidth: 32GB/s}, {between: [host, far], bandwidth: 32GB/s, delay: 50ns}]
address_map: [{to: near}, {to: far}]
workload: {host: {pattern: random, requests: 300, footprint: 1MiB, addresses: first-touch}}
"""
CURVE = "reads,bandwidth_gb_per_s,latency_ns\n1,1,100\n1,2,101\n1,3,103\n1,4,107\n1,5,120\n"
MLC = """Inject  Latency Bandwidth
Delay   (ns)    MB/sec
==========================
 00000  200.00    30000.0
 00200  110.00    20000.0
 01000  100.00     5000.0
"""


ROWS: dict[str, tuple[str, ...]] = {
    "run": ("s.yaml --out OUT/r",),
    "trace convert": ("t.txt OUT/t.parquet --tick 1ns",),
    "measure": ("s.yaml latency --out OUT/m.csv", "s.yaml latency --out OUT/m.svg"),
    "explain": ("s.yaml --out OUT/e.json",),
    "compare": ("s.yaml --with devices.host.queue=9 --out OUT/c.csv",),
    "find": ("s.yaml --vary devices.host.queue=1..4 --such-that bandwidth<1.5GB/s --out OUT/f",),
    "fit": (
        "s.yaml --to m.csv --vary devices.near.media.bandwidth=4GB/s..8GB/s --evaluations 4 --out OUT/f.yaml",
    ),
    "advise": ("s.yaml --out OUT/a.json", "s.yaml --out OUT/a.yaml"),
    "epochs": ("s.yaml --set workload.host.tiering=tpp --duration 1ms --check 0 --out OUT/e.json",),
    "import mlc": ("mlc.txt --reads 100% --out OUT/c.csv",),
    "tasks import": ("t.et --network 10GB/s --out OUT/t.jsonl",),
    "sweep": ("s.yaml --set devices.host.queue=1,2 --out OUT/s --csv OUT/more/s.csv",),
    "energy": ("s.yaml --out OUT/e.csv",),
    "draw": ("s.yaml --out OUT/d.svg",),
    "report": ("r --out OUT/r.html --figures OUT/figures",),
}
"""Command lines without their first words; OUT is a folder in a folder, neither of which is there."""

ELSEWHERE = {
    "trace capture": "`check_writable` of traces, as convert",
    "exec": "`check_writable` of traces and texts; runs programs",
    "boot": "`check_writable` of traces and texts; boots a machine",
    "offload flexgen": "`write_texts`, as explain",
    "offload zero": "`write_texts`, as explain",
    "kv": "`write_texts`, as explain",
    "import mess": "`write_text`, as import mlc",
    "import esf": "`write_text`, as import mlc",
    "import simcxl": "`write_text`, as import mlc",
    "plan": "the store of find",
    "study run": "the store of sweep",
    "study package": "a new directory, with those that it is in",
    "study reproduce": "the store of sweep",
    "demo": "the directory of run",
}
"""Commands with --out that no row has, and whose way of writing a row has."""


def with_out() -> Iterator[str]:
    """Commands that have an option --out."""

    def below(name: str, command: Any) -> Iterator[str]:
        for key, each in getattr(command, "commands", {}).items():
            yield from below(f"{name} {key}", each)
        if any("--out" in param.opts for param in command.params):
            yield name

    for name, (module, _) in COMMANDS.items():
        yield from below(name, loaded(module, name))


def test_every_command_with_an_out_is_tried() -> None:
    assert set(with_out()) | {"trace convert"} == {*ROWS, *ELSEWHERE}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "s.yaml").write_text(SPEC)
    (folder / "m.csv").write_text(CURVE)
    (folder / "mlc.txt").write_text(MLC)
    (folder / "t.txt").write_text("0x0 R 64\n0x40 W 64\n")
    write_trace(folder, Written(1, duration=5))
    cx.run(cx.load(folder / "s.yaml"), out=folder / "r")
    return folder


@pytest.mark.parametrize(
    ("command", "line"), [(command, line) for command, lines in ROWS.items() for line in lines]
)
def test_folders_are_made(
    command: str, line: str, inputs: Path, tmp_path: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    out = tmp_path / "one" / "two"
    words = [*command.split(), *line.replace("OUT", str(out)).split()]
    done = cxloom(*words)
    assert done.code == 0, done.err
    named = [Path(word) for word in words if word.startswith(str(out))]
    assert named
    assert all(path.exists() for path in named)


@pytest.mark.parametrize("command", ["trace convert", "fit", "measure", "run", "explain"])
def test_no_folder_is_left_of_what_is_refused(
    command: str, inputs: Path, tmp_path: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    line = ROWS[command][0].replace("s.yaml", "none.yaml").replace("t.txt", "none.txt")
    done = cxloom(*command.split(), *line.replace("OUT", str(tmp_path / "one" / "two")).split())
    assert done.code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["trace convert", "fit", "measure", "explain", "run", "draw"])
def test_a_file_in_the_place_of_a_folder_is_refused_before_any_work(
    command: str, inputs: Path, tmp_path: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs)
    (tmp_path / "file").write_text("precious")
    done = cxloom(*command.split(), *ROWS[command][0].replace("OUT", str(tmp_path / "file")).split())
    assert done.code == 2
    assert "director" in done.err
    assert (tmp_path / "file").read_text() == "precious"


MANY = {
    "sweep": ("--set", "devices.host.queue=1,2"),
    "find": ("--vary", "devices.host.queue=1..4", "--such-that", "bandwidth<1.5GB/s"),
}
"""Commands of many points."""


@pytest.mark.parametrize("command", MANY)
def test_a_directory_is_of_a_run_or_of_many_points(
    command: str, inputs: Path, tmp_path: Path, cxloom: Call
) -> None:
    """Each wrote beside the other, and the page of the directory was that of the run."""
    spec, points = inputs / "s.yaml", tmp_path / "points"
    before = sorted((inputs / "r").rglob("*"))
    done = cxloom(command, spec, *MANY[command], "--out", inputs / "r")
    assert (done.code, "holds the results of a run, 'summary.json'" in done.err) == (2, True), done.err
    assert sorted((inputs / "r").rglob("*")) == before
    assert cxloom(command, spec, *MANY[command], "--out", points).code == 0
    done = cxloom("run", spec, "--out", points)
    assert (done.code, "holds a sweep, 'sweep.json'" in done.err) == (2, True), done.err
    assert not (points / "summary.json").exists()


PLAN = """
servers: {count: 2, cores: 4}
demand: {pool_share: 40%, generate: {duration: 1d, rate: 40/d, lifetime: {mean: 2h}, sizes: [{cores: 1, memory: 2GiB}]}}
designs: {none: {kind: none}}
"""
OUTCOMES = {"a study": "outcome.json", "a plan": "plan.json"}


@pytest.mark.parametrize("there", OUTCOMES)
@pytest.mark.parametrize("command", ["sweep", "find", "study run", "plan"])
def test_a_directory_is_of_one_outcome(
    command: str, there: str, inputs: Path, tmp_path: Path, cxloom: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest was replaced, and the page of the directory was that of the earlier outcome."""
    monkeypatch.chdir(inputs)
    folder, file = tmp_path / "points", OUTCOMES[there]
    assert cxloom("sweep", "s.yaml", *MANY["sweep"], "--out", folder).code == 0
    (folder / file).write_text("{}")
    before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    Path("study.yaml").write_text("title: a\nsystem: s.yaml\n")
    Path("plan.yaml").write_text(PLAN)
    files = {"study run": ("study.yaml",), "plan": ("plan.yaml",)}
    words = files.get(command) or ("s.yaml", *MANY[command])
    done = cxloom(*command.split(), *words, "--out", folder)
    if (command, there) in (("study run", "a study"), ("plan", "a plan")):
        assert done.code == 0, done.err
    else:
        assert (done.code, f"holds {there}, '{file}'" in done.err) == (2, True), done.err
        assert {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()} == before
