"""The back end in integrations/sst within SST itself: `make sst-check SST=PREFIX`.

CXLOOM_SST names the folder into which sst-core and sst-elements were installed. The library of elements is compiled
here, as docs/sst.md says, and integrations/sst/stream.py is played: a generator of miranda above a cache of
memHierarchy. What must come out is derived from the spec, or is what SST has with its own memory of that latency.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import cxloom

SST = os.environ.get("CXLOOM_SST") or None
pytestmark = pytest.mark.skipif(SST is None, reason="needs an SST that is installed: make sst-check")

INTEGRATION = Path(__file__).parents[2] / "integrations" / "sst"
SYSTEM = """
devices:
  host: {{kind: host, process_time: 10ns, queue: {queue}}}
  mem: {{kind: memory, capacity: 64MiB, controller_time: 40ns, media: {{kind: fixed, latency: {latency}ns}}}}
links: [{{between: [host, mem], bandwidth: {rate}GB/s, header: 16B, data_header: 16B, port_delay: 25ns, delay: 5ns}}]
address_map: [{{to: mem}}]
"""
BOTH = """
devices:
  host: {kind: host, process_time: 10ns, queue: 256}
  near: {kind: memory, capacity: 16MiB, controller_time: 20ns, media: {kind: fixed, latency: 45ns}}
  far: {kind: memory, capacity: 16MiB, controller_time: 40ns, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [host, near], bandwidth: 32GB/s, header: 16B, data_header: 16B, port_delay: 0ns, delay: 5ns}
  - {between: [host, far], bandwidth: 32GB/s, header: 16B, data_header: 16B, port_delay: 25ns, delay: 5ns}
address_map: [{to: near}, {to: far}]
"""
NEAR = 10 + 2 * 5 + (16 + 80) / 32 + 20 + 45
"""Nanoseconds of a read of the near memory."""
CACHE_LINES = 512
"""Lines of a cache of 32 KiB."""
CYCLE = 0.5
"""Nanoseconds of the generator, at 2 GHz."""


def idle_latency(media: float, rate: float = 32) -> float:
    """Nanoseconds of a read: 16 bytes to the memory, and 80 back."""
    ways = 2 * (25 + 5 + 25) + (16 + 80) / rate
    return 10 + ways + 40 + media


def of_mem(latency: float = 45, rate: float = 32, queue: int = 256) -> str:
    return SYSTEM.format(latency=latency, rate=rate, queue=queue)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the library of elements."""
    folder = tmp_path_factory.mktemp("elements")
    config = subprocess.run(
        [f"{SST}/bin/sst-config", "--ELEMENT_CXXFLAGS"], capture_output=True, text=True, check=True
    )
    flags = ["-std=c++17", "-O1", "-fPIC", "-shared", *config.stdout.split()]
    ours = [f"-I{SST}/include", f"-I{cxloom.include_dir()}", f"-L{cxloom.library_dir()}"]
    built = ["-o", folder / "libcxloomsst.so", "-lcxloom", f"-Wl,-rpath,{cxloom.library_dir()}"]
    subprocess.run(["g++", *flags, *ours, INTEGRATION / "element.cpp", *built], check=True)
    return folder


@dataclass(frozen=True)
class Run:
    """What SST and cxloom have measured."""

    statistics: dict[str, float]
    """Sums, by component and statistic."""
    summary: dict[str, Any]

    @property
    def nanoseconds(self) -> float:
        return self.statistics["processor.cycles"] * CYCLE


def play(
    folder: Path, library: Path, spec: str, *arguments: str | int, threads: int = 1
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    (folder / "system.yaml").write_text(spec)
    resolve = [sys.executable, "-m", "cxloom", "resolve", str(folder / "system.yaml")]
    (folder / "system.json").write_bytes(subprocess.run(resolve, capture_output=True, check=True).stdout)
    files = [folder / "system.json", "--summary", folder / "summary.json", "--statistics", folder / "sst.csv"]
    options = " ".join(map(str, [*files, *arguments]))
    command = [f"{SST}/bin/sst", f"--add-lib-path={library}", f"--num-threads={threads}"]
    return subprocess.run(
        [*command, INTEGRATION / "stream.py", f"--model-options={options}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def measured(folder: Path, library: Path, spec: str, *arguments: str | int, threads: int = 1) -> Run:
    done = play(folder, library, spec, *arguments, threads=threads)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    with (folder / "sst.csv").open() as file:
        rows = [{name.strip(): value.strip() for name, value in row.items()} for row in csv.DictReader(file)]
    sums = {f"{row['ComponentName']}.{row['StatisticName']}": float(row["Sum.u64"]) for row in rows}
    summary = folder / "summary.json"
    return Run(sums, json.loads(summary.read_text()) if summary.exists() else {})


READS = 300


@pytest.mark.parametrize("media", [45, 245])
def test_one_read_at_a_time_takes_the_idle_latency(tmp_path: Path, library: Path, media: int) -> None:
    """To the picosecond what it takes with SST's own memory of that latency."""
    spec, latency = of_mem(media), idle_latency(media)
    ours = measured(tmp_path / "ours", library, spec, "--requests", READS)
    theirs = measured(
        tmp_path / "theirs", library, spec, "--requests", READS, "--simple", "--latency", f"{latency:.0f}ns"
    )
    assert ours.summary["read"]["requests"] == READS
    assert ours.summary["read"]["latency_ns"]["mean"] == latency
    assert ours.summary["read"]["latency_ns"]["max"] == latency
    assert ours.statistics == theirs.statistics


def of_cxloom_alone(folder: Path, spec: str, requests: int) -> float:
    """Nanoseconds a line of sequential reads."""
    workload = (
        f"workload: {{host: {{pattern: sequential, reads: 100%, requests: {requests}, footprint: 16MiB}}}}\n"
    )
    (folder / "alone.yaml").write_text(spec + workload)
    command = [sys.executable, "-m", "cxloom", "run", str(folder / "alone.yaml"), "--json"]
    summary = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return 64 / summary["bandwidth_gb_per_s"]


def test_a_stream_of_reads_has_the_bandwidth_of_the_system_alone(tmp_path: Path, library: Path) -> None:
    under_way = 64
    spec = of_mem(rate=4, queue=under_way)
    requests = 4000
    ours = measured(tmp_path, library, spec, "--requests", requests, "--under-way", under_way)
    a_line = ours.nanoseconds / requests
    assert a_line == pytest.approx(80 / 4, rel=0.01)
    assert a_line == pytest.approx(of_cxloom_alone(tmp_path, spec, requests), rel=0.01)


def test_a_stream_of_writes_has_the_bandwidth_of_a_slow_link(tmp_path: Path, library: Path) -> None:
    """A line is read, and written back when another takes its place: the last ones stay in the cache.

    To the host go 80 bytes of a read, and 16 that answer a write; the other way less.
    """
    requests = 4000
    arguments = ["--requests", requests, "--under-way", 64, "--writes"]
    ours = measured(tmp_path, library, of_mem(rate=4), *arguments)
    assert ours.summary["read"]["requests"] == requests
    written_back = requests - CACHE_LINES
    assert ours.summary["write"]["requests"] == written_back
    assert ours.nanoseconds == pytest.approx((80 * requests + 16 * written_back) / 4, rel=0.03)


def test_what_is_more_than_most_waits_in_the_controller(tmp_path: Path, library: Path) -> None:
    arguments = ["--requests", READS, "--under-way", 64]
    few = measured(tmp_path / "few", library, of_mem(), *arguments, "--most", 2)
    assert few.summary["read"]["latency_ns"]["mean"] == pytest.approx(idle_latency(45), rel=0.01)
    # The controller tries again with each of its cycles, of a nanosecond.
    assert few.nanoseconds / READS == pytest.approx(idle_latency(45) / 2, rel=0.01)
    many = measured(tmp_path / "many", library, of_mem(), *arguments)
    assert many.nanoseconds < few.nanoseconds / 5


def test_its_memory_begins_where_it_is_told(tmp_path: Path, library: Path) -> None:
    for offset, latency in (("0B", NEAR), ("16MiB", idle_latency(45))):
        arguments = ["--requests", READS, "--offset", offset]
        ours = measured(tmp_path / offset, library, BOTH, *arguments)
        assert ours.summary["read"]["latency_ns"]["mean"] == latency


def test_runs_are_the_same_on_one_thread_and_on_two(tmp_path: Path, library: Path) -> None:
    arguments = ["--requests", READS, "--under-way", 16, "--writes"]
    first, again, parallel = (
        measured(tmp_path / str(run), library, of_mem(rate=4), *arguments, threads=threads)
        for run, threads in enumerate((1, 1, 2))
    )
    assert first == again
    assert parallel.summary == first.summary


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "nobody"], 'host: there is no device "nobody" in the system'),
        (["--size", 128], "no region"),
        (["--most", 0], "most is 0"),
        (["--offset", "64MiB"], "no region"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, library: Path, arguments: list[str | int], said: str) -> None:
    done = play(tmp_path, library, of_mem(), *arguments)
    assert done.returncode == 2
    assert said in done.stderr + done.stdout
    assert not (tmp_path / "summary.json").exists()


def test_a_system_that_cannot_be_opened_is_said(tmp_path: Path, library: Path) -> None:
    (tmp_path / "wrong.json").write_text('{"devices": {}}')
    for system, said in (("nowhere.json", "cannot be read"), ("wrong.json", "wrong.json")):
        command = [f"{SST}/bin/sst", f"--add-lib-path={library}", INTEGRATION / "stream.py"]
        done = subprocess.run(
            [*command, f"--model-options={tmp_path / system}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert said in done.stderr + done.stdout
