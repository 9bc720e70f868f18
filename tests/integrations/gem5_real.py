"""The module in integrations/gem5 within gem5 itself: `make gem5-check GEM5=FOLDER`.

CXLOOM_GEM5 names the program, built with EXTRAS as docs/gem5.md says. Testers check every byte that they load;
latencies are compared with sums from the rules, to the tick; means with what cxloom has for the same accesses without
gem5. gem5_programs_real.py has boards and programs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from gem5_support import (
    CXLOOM,
    EXPANDER,
    GEM5,
    IDLE_TICKS,
    LOGS,
    MEDIUM_TICKS,
    POOL,
    ROOT,
    SCRIPTS,
    gem5,
    replayed,
    resolved,
    statistics,
)

LOADS = int(os.environ.get("CXLOOM_GEM5_LOADS", "100000"))
"""Loads of a tester; of four a run has about six times as many accesses."""


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


def test_testers_find_their_bytes_where_upgrades_come_to_a_host_without_coherence(tmp_path: Path) -> None:
    system = resolved(tmp_path, EXPANDER.format(queue=64))
    arguments = ["--loads", str(LOADS // 10), "--system", system, "--last-bus", "above-it"]
    gem5(tmp_path, "memtest.py", *arguments)


# ---- Time


def test_a_read_takes_its_idle_latency(tmp_path: Path) -> None:
    system = resolved(tmp_path, EXPANDER.format(queue=64))
    stats = gem5(tmp_path, "traffic.py", "--system", system, "--requests", "100")
    assert stats["host.reads"] > 90
    assert stats["host.meanReadLatency"] == IDLE_TICKS


def test_a_medium_of_gem5_takes_its_own_time(tmp_path: Path) -> None:
    system = resolved(tmp_path, EXPANDER.format(queue=64))
    few = ["--requests", "7"]  # a read each microsecond: all before the first refresh, which they meet apart
    alone = gem5(tmp_path / "alone", "traffic.py", "--alone", *few)
    beside = gem5(tmp_path / "beside", "traffic.py", "--system", system, "--medium", "mem", *few)
    way = IDLE_TICKS - MEDIUM_TICKS
    assert beside["generator.avgReadLatency"] == alone["generator.avgReadLatency"] + way


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
    assert stats["host.meanReadLatency"] == pytest.approx(alone["latency_ns"]["mean"] * 1000, rel=0.01)


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
        assert on[f"host.{name}"] == restored[f"host.{name}"]


# ---- Systems of all kinds


SATURATED = """
devices:
  host: {kind: host, process_time: 10ns, queue: 64}
  other: {kind: host, queue: 32}
  switch: {kind: switch}
  mem: {kind: memory, capacity: 16MiB, controller_time: 40ns, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [host, switch], bandwidth: 32GB/s}
  - {between: [other, switch], bandwidth: 32GB/s}
  - {between: [switch, mem], bandwidth: 32GB/s}
address_map: [{to: mem}]
workload:
  other: {pattern: random, requests: 20000, footprint: 16MiB}
"""
VIRTUAL_SWITCH = """
devices:
  host: {kind: host, queue: 64}
  other: {kind: host}
  switch: {kind: switch, vcs: [{upstream: other, vppbs: 4, bind: [near]}, {upstream: host, vppbs: 4, bind: [mem]}]}
  near: {kind: memory, capacity: 16MiB}
  mem: {kind: memory, capacity: 16MiB}
links:
  - {between: [switch, host]}
  - {between: [switch, other]}
  - {between: [switch, near]}
  - {between: [switch, mem]}
address_map: [{to: near}, {to: mem}]
"""
EXPANDER_OF = """
devices:
  host: {kind: host, queue: 64}
  mem: {kind: memory, capacity: 64MiB, media: MEDIA}
links: [{between: [host, mem], bandwidth: 64GB/s, port_delay: 25ns}]
address_map: [{to: mem}]
"""
NVM = EXPANDER_OF.replace("MEDIA", "{kind: nvm, preset: optane-dcpmm}")
SSD = EXPANDER_OF.replace(
    "MEDIA",
    "{kind: cached, size: 4MiB, page: 4KiB, policy: lru, cache: {kind: dram, preset: DDR5-4800},"
    " backing: {kind: flash, preset: z-nand, channels: 8, over_provisioning: 28%}}",
)


@pytest.mark.parametrize(
    ("spec", "traffic"),
    [
        (EXPANDER.format(queue=64), ["--interval", "2ns", "--reads", "70"]),
        (SATURATED, ["--interval", "40ns"]),
        (VIRTUAL_SWITCH, ["--interval", "20ns", "--offset", "16MiB"]),
        (NVM, ["--interval", "100ns", "--reads", "50"]),
        (SSD, ["--interval", "20us", "--size", "64MiB"]),
    ],
    ids=["link", "saturated", "virtual-switch", "nvm", "ssd"],
)
def test_accesses_take_what_they_take_without_gem5(tmp_path: Path, spec: str, traffic: list[str]) -> None:
    system = resolved(tmp_path, spec)
    requests = ["--random", "--requests", "1000", *traffic]
    stats = gem5(tmp_path, "traffic.py", "--system", system, *requests, flags=LOGS)
    alone = replayed(tmp_path, spec)
    assert stats["host.reads"] + stats["host.writes"] == alone["per_requester"]["host"]["requests"]
    reads = alone["per_requester"]["host"] if "other:" in spec else alone["read"]
    assert stats["host.meanReadLatency"] == pytest.approx(reads["latency_ns"]["mean"] * 1000, rel=1e-6)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_kinds_of_a_plugin_are_in_the_system(tmp_path: Path) -> None:
    include = subprocess.run(
        [CXLOOM.with_name("python"), "-c", "import cxloom; print(cxloom.include_dir())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    library = tmp_path / "libretimer.so"
    source = ROOT / "examples" / "plugin" / "retimer.cpp"
    flags = ["-std=c++20", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run(["g++", *flags, source, "-o", library], check=True)
    spec = EXPANDER.format(queue=8)
    retimed = spec.replace("devices:", "devices:\n  retimer: {kind: retimer, delay: 7ns}").replace(
        "links: [{between: [host, mem], ", "links: [{between: [host, retimer]}, {between: [retimer, mem], "
    )
    plugin = ["--plugin", str(library)]
    system = resolved(tmp_path, retimed, *plugin)
    stats = gem5(tmp_path, "traffic.py", "--system", system, "--requests", "100", *plugin)
    # Twice through the retimer, and the bytes leave it by a link without a bound.
    assert stats["host.meanReadLatency"] == IDLE_TICKS + 2 * 7_000


@pytest.mark.parametrize("hosts", ["left", "left,right"])
@pytest.mark.parametrize("shares", [[], ["--shares"]])
def test_testers_find_their_bytes_without_time(tmp_path: Path, hosts: str, shares: list[str]) -> None:
    system = resolved(tmp_path, POOL.replace("FILTER", "64"))
    arguments = ["--loads", str(LOADS // 5), "--hosts", hosts, "--system", system, "--atomic"]
    gem5(tmp_path, "memtest.py", *arguments, *shares)


def test_a_fork_goes_on_as_its_parent(tmp_path: Path) -> None:
    system = resolved(tmp_path, EXPANDER.format(queue=8))
    arguments = ["--system", system, "--interval", "2ns", "--requests", "2000", "--fork"]
    gem5(tmp_path / "parent", "traffic.py", *arguments)
    parent, child = statistics(tmp_path / "parent"), statistics(tmp_path / "parent.child")
    assert parent["host.reads"] > 900
    for name in ("host.reads", "host.readLatency"):
        assert parent[name] == child[name]


# ---- Mistakes


@pytest.mark.parametrize(
    ("spec", "arguments", "says"),
    [
        (EXPANDER.format(queue=1), ["--host", "hots"], "hots"),
        (EXPANDER.format(queue=1), ["--size", "32MiB"], "the memory of"),
        (EXPANDER.format(queue=1), ["--medium", "men"], "men"),
        ("{}", [], "devices"),
        (VIRTUAL_SWITCH, [], "without data"),  # the first memory of the map is another host's
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


def test_shared_copies_below_a_bus_that_upgrades_them_unseen_are_refused(tmp_path: Path) -> None:
    system = resolved(tmp_path, POOL.replace("FILTER", "64"))
    arguments = ["--system", system, "--hosts", "left,right", "--shares", "--last-bus", "point-of-coherency"]
    command = [GEM5, "--outdir", tmp_path, SCRIPTS / "memtest.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "fatal: system.hosts0: shares is set, and system.buses" in done.stderr + done.stdout
