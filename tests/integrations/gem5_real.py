"""The module in integrations/gem5 within gem5 itself: `make gem5-check GEM5=FOLDER`.

CXLOOM_GEM5 names the program, built with EXTRAS as docs/gem5.md says. Testers check every byte that they load;
latencies are compared with sums from the rules, to the tick; bandwidth with what cxloom has without gem5.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GEM5 = os.environ.get("CXLOOM_GEM5", "")
CXLOOM = ROOT / ".venv" / "bin" / "cxloom"
LOADS = int(os.environ.get("CXLOOM_GEM5_LOADS", "100000"))
"""Loads of a tester; of four a run has about six times as many accesses."""
SCRIPTS = ROOT / "integrations" / "gem5"

EXPANDER = """
devices:
  host: {{kind: host, process_time: 10ns, queue: {queue}}}
  mem: {{kind: memory, capacity: 16MiB, controller_time: 40ns, media: {{kind: fixed, latency: 45ns}}}}
links: [{{between: [host, mem], bandwidth: 32GB/s, header: 16B, data_header: 16B, port_delay: 25ns, delay: 5ns}}]
address_map: [{{to: mem}}]
"""
IDLE_TICKS = 208_000
"""10 + (25 + 0.5 + 5 + 25) + 40 + 45 + (25 + 2.5 + 5 + 25) ns: 16 bytes to the memory, and 80 back, at 32 GB/s."""
MEDIUM_TICKS = 45_000

POOL = """
devices:
  left: {kind: host, external_cache: true, queue: 256}
  right: {kind: host, external_cache: true, queue: 256}
  switch: {kind: switch}
  pool: {kind: memory, capacity: 16MiB, dcoh: {filter: {entries: FILTER}}}
links:
  - {between: [left, switch]}
  - {between: [right, switch]}
  - {between: [switch, pool]}
address_map: [{to: pool, coherence: hdm-db}]
"""


def resolved(folder: Path, spec: str) -> Path:
    """The spec as gem5's module wants it."""
    (folder / "system.yaml").write_text(spec)
    done = subprocess.run(
        [CXLOOM, "resolve", folder / "system.yaml"], capture_output=True, text=True, check=True
    )
    system = folder / "system.json"
    system.write_text(done.stdout)
    return system


def gem5(folder: Path, script: str, *arguments: str | Path) -> dict[str, float]:
    """The statistics of a run that ends well."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [GEM5, "--outdir", folder, SCRIPTS / script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
    assert "ended at" in done.stdout
    last = (folder / "stats.txt").read_text().rsplit("Begin Simulation Statistics", 1)[-1]
    rows = (line.split() for line in last.splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) > 1 and row[0].startswith("system.")}


# ---- Every byte


@pytest.mark.parametrize("clusters", [0, 2])
@pytest.mark.parametrize("snoops", ["0ns", "1us", "100ns", "20ns"])
@pytest.mark.parametrize("clean", [[], ["--writeback-clean"]])
def test_testers_find_their_bytes_beside_random_snoops(
    tmp_path: Path, clusters: int, snoops: str, clean: list[str]
) -> None:
    arguments = [
        "--loads",
        str(LOADS),
        "--clusters",
        str(clusters),
        "--testers",
        "4" if clusters == 0 else "2",
    ]
    gem5(tmp_path, "memtest.py", *arguments, "--snoops", snoops, *clean)


@pytest.mark.parametrize("hosts", ["left", "left,right"])
@pytest.mark.parametrize("entries", [65536, 64])
@pytest.mark.parametrize("shares", [[], ["--shares"]])
@pytest.mark.parametrize("clean", [[], ["--writeback-clean"]])
def test_testers_find_their_bytes_in_a_coherent_pool(
    tmp_path: Path, hosts: str, entries: int, shares: list[str], clean: list[str]
) -> None:
    system = resolved(tmp_path, POOL.replace("FILTER", str(entries)))
    arguments = ["--loads", str(LOADS), "--hosts", hosts, "--system", system]
    # A functional write does not see an answer that is on the bus of another host.
    functional = ["--functional", "0"] if "," in hosts else []
    gem5(tmp_path, "memtest.py", *arguments, *functional, *shares, *clean)


# ---- Time


def test_a_read_takes_its_idle_latency(tmp_path: Path) -> None:
    system = resolved(tmp_path, EXPANDER.format(queue=64))
    stats = gem5(tmp_path, "traffic.py", "--system", system, "--requests", "100")
    assert stats["system.host.reads"] > 90
    assert stats["system.host.meanReadLatency"] == IDLE_TICKS


def test_a_medium_of_gem5_takes_its_own_time(tmp_path: Path) -> None:
    system = resolved(tmp_path, EXPANDER.format(queue=64))
    few = ["--requests", "7"]  # a read each microsecond: all before the first refresh, which they meet apart
    alone = gem5(tmp_path / "alone", "traffic.py", "--alone", *few)
    beside = gem5(tmp_path / "beside", "traffic.py", "--system", system, "--medium", "mem", *few)
    way = IDLE_TICKS - MEDIUM_TICKS
    assert beside["system.generator.avgReadLatency"] == alone["system.generator.avgReadLatency"] + way


@pytest.mark.parametrize("most", [1, 8, 64])
def test_reads_beside_each_other_take_as_long_as_in_the_system_alone(tmp_path: Path, most: int) -> None:
    spec = EXPANDER.format(queue=most)
    system = resolved(tmp_path, spec)
    requests = 20_000
    workload = (
        f"workload: {{host: {{pattern: sequential, reads: 100%, requests: {requests}, footprint: 16MiB}}}}\n"
    )
    (tmp_path / "alone.yaml").write_text(spec + workload)
    done = subprocess.run(
        [CXLOOM, "run", tmp_path / "alone.yaml", "--json"], capture_output=True, text=True, check=True
    )
    alone = json.loads(done.stdout)
    arguments = ["--most", str(most), "--interval", "1ns", "--requests", str(requests)]
    stats = gem5(tmp_path, "traffic.py", "--system", system, *arguments)
    assert stats["system.host.meanReadLatency"] == pytest.approx(alone["latency_ns"]["mean"] * 1000, rel=0.01)


# ---- The same again


def test_two_runs_are_the_same(tmp_path: Path) -> None:
    system = resolved(tmp_path, POOL.replace("FILTER", "64"))
    arguments = ["--loads", "5000", "--hosts", "left,right", "--system", system]
    first = gem5(tmp_path / "first", "memtest.py", *arguments)
    second = gem5(tmp_path / "second", "memtest.py", *arguments)
    assert repr(first) == repr(second)  # rates of nothing are no number


def test_what_goes_on_behind_a_checkpoint_is_what_is_restored(tmp_path: Path) -> None:
    spec = EXPANDER.format(queue=64).replace(
        "{kind: fixed, latency: 45ns}", "{kind: dram, preset: DDR5-4800}"
    )
    system = resolved(tmp_path, spec)
    arguments = ["--system", system, "--interval", "5ns", "--requests", "2000"]
    checkpoint = tmp_path / "checkpoint"
    on = gem5(tmp_path / "on", "traffic.py", *arguments, "--checkpoint", checkpoint)
    restored = gem5(tmp_path / "restored", "traffic.py", *arguments, "--restore", checkpoint)
    for name in ("reads", "readLatency"):
        assert on[f"system.host.{name}"] == restored[f"system.host.{name}"]


# ---- Mistakes


@pytest.mark.parametrize(
    ("spec", "arguments", "says"),
    [
        (EXPANDER.format(queue=1), ["--host", "hots"], "hots"),
        (EXPANDER.format(queue=1), ["--size", "32MiB"], "the memory of"),
        (EXPANDER.format(queue=1), ["--medium", "men"], "men"),
        ("{}", [], "devices"),
    ],
)
def test_what_is_wrong_is_said_before_the_first_tick(
    tmp_path: Path, spec: str, arguments: list[str], says: str
) -> None:
    system = tmp_path / "system.json"
    if spec == "{}":
        system.write_text(spec)
    else:
        system = resolved(tmp_path, spec)
    command = [GEM5, "--outdir", tmp_path, SCRIPTS / "traffic.py", "--system", system, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "fatal: " in done.stderr
    assert says in done.stderr
