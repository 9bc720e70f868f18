"""The module in integrations/gem5 within gem5 itself: `make gem5-check GEM5=FOLDER`.

CXLOOM_GEM5 names the program, built with EXTRAS as docs/gem5.md says. Testers check every byte that they load;
latencies are compared with sums from the rules, to the tick; means with what cxloom has for the same accesses without
gem5. Programs want a gem5 that runs RISC-V, and a compiler for it; boards want gem5's standard library.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
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


def cxloom(*arguments: str | Path) -> str:
    return subprocess.run([CXLOOM, *arguments], capture_output=True, text=True, check=True).stdout


def resolved(folder: Path, spec: str, *arguments: str | Path) -> Path:
    """The spec as gem5's module wants it."""
    (folder / "system.yaml").write_text(spec)
    system = folder / "system.json"
    system.write_text(cxloom("resolve", folder / "system.yaml", *arguments))
    return system


def output(folder: Path, script: str, *arguments: str | Path, flags: tuple[str, ...] = ()) -> str:
    """What a run that ends well prints."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [GEM5, "--outdir", folder, *flags, SCRIPTS / script, *map(str, arguments)]
    settings = {**os.environ, "CXLOOM_PYTHON": str(CXLOOM.with_name("python"))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
    assert "ended at" in done.stdout
    return done.stdout


def statistics(folder: Path, window: int = -1) -> dict[str, float]:
    """By their names below the system or board."""
    windows = (folder / "stats.txt").read_text().split("Begin Simulation Statistics")
    rows = (line.split() for line in windows[window].splitlines())
    return {
        row[0].partition(".")[2] or row[0]: float(row[1])
        for row in rows
        if len(row) > 1 and ("." in row[0] or row[0] == "simTicks")
    }


def gem5(folder: Path, script: str, *arguments: str | Path, flags: tuple[str, ...] = ()) -> dict[str, float]:
    """The statistics of a run that ends well."""
    output(folder, script, *arguments, flags=flags)
    return statistics(folder)


LOGS = ("--debug-flags=CxlHost", "--debug-file=accesses.txt")


def replayed(folder: Path, spec: str, *arguments: str | Path, host: str = "host", offset: int = 0) -> dict:
    """The summary of cxloom without gem5 for the accesses that the module logged, each at its time."""
    words = {"read": "R", "write": "W"}
    pattern = re.compile(r"access (\w+) of (\d+) bytes at (\w+), ready at (\d+)")
    accesses = sorted(
        (int(ready), words[kind], int(address, 16), int(size))
        for kind, size, address, ready in pattern.findall((folder / "accesses.txt").read_text())
    )
    lines = [f"{address:#x} {kind} {ready} {size}" for ready, kind, address, size in accesses]
    header = "# cxloom-trace 2: address kind timestamp size"
    (folder / "accesses.trace").write_text("\n".join([header, *lines, ""]))
    played = f"  {host}: {{trace: accesses.trace, replay: timestamps}}\n"
    spec = (
        spec.replace("workload:\n", f"workload:\n{played}")
        if "workload:" in spec
        else f"{spec}workload:\n{played}"
    )
    (folder / "replayed.yaml").write_text(spec)
    return json.loads(cxloom("run", folder / "replayed.yaml", "--json", *arguments))


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


# ---- Boards and programs


@cache
def built_with() -> dict[str, bool]:
    """What this gem5 has."""
    probe = (
        "import json, importlib.util\nfrom m5.defines import buildEnv\n"
        "has = lambda name: importlib.util.find_spec(name) is not None\n"
        "print('\\nbuilt with', json.dumps({'riscv': bool(buildEnv.get('USE_RISCV_ISA')), 'boards': has('gem5')}))"
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [GEM5, "--outdir", folder, "-c", probe]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.rsplit("built with", 1)[-1]))


def wants(*features: str) -> None:
    for feature in features:
        if not built_with()[feature]:
            pytest.skip(f"this gem5 is built without {feature}")


def program(folder: Path, source: Path, *flags: str) -> Path:
    """A program for RISC-V."""
    wants("riscv")
    compiler = shutil.which("riscv64-linux-gnu-gcc")
    if compiler is None:
        pytest.skip("no compiler for RISC-V")
    built = folder / source.stem
    always = ["-O2", "-static", "-std=gnu11", f"-I{ROOT / 'include'}"]
    subprocess.run([compiler, *always, *flags, source, "-o", built, "-lm", "-pthread"], check=True)
    return built


def test_a_generator_of_a_board_reads_from_the_system(tmp_path: Path) -> None:
    wants("boards")
    (tmp_path / "system.yaml").write_text(EXPANDER.format(queue=64))
    stats = gem5(tmp_path, "board_traffic.py", "--system", tmp_path / "system.yaml")
    assert stats["memory.host.reads"] > 90
    assert stats["memory.host.meanReadLatency"] == IDLE_TICKS


CYCLE = 1000 / 3
"""Ticks, at 3 GHz."""
WAY_THROUGH_CACHES = 24 * CYCLE
"""Of a miss: look-ups of 1 and 10 cycles, buses of 1 and 7 on the way down; 2, 1, 1 and 1 up again."""
PROGRAMS = ROOT / "examples" / "programs"


def test_a_chase_of_pointers_takes_the_latency_of_the_system(tmp_path: Path) -> None:
    wants("boards")
    chase = program(tmp_path, PROGRAMS / "chase.c", "-DCXLOOM_GEM5")
    (tmp_path / "system.yaml").write_text(EXPANDER.format(queue=64))
    lines, steps = 8192, 4000
    arguments = ["--system", tmp_path / "system.yaml", "--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB"]
    said = output(tmp_path, "one_host.py", *arguments, "--", chase, str(lines), str(steps))
    assert f"chase: lines in the cycle: {lines}\n" in said
    between_marks = statistics(tmp_path, 1)
    assert between_marks["memory.host.meanReadLatency"] == pytest.approx(IDLE_TICKS, rel=0.03)
    missed = (
        between_marks["memory.host.reads"] / steps
    )  # a step rarely finds its line in the 32 KiB of a cache
    assert missed > 0.9
    way = missed * (IDLE_TICKS + WAY_THROUGH_CACHES)
    assert between_marks["simTicks"] / steps == pytest.approx(way, rel=0.03)


def test_a_stream_takes_what_its_accesses_take_without_gem5(tmp_path: Path) -> None:
    wants("boards")
    stream = program(tmp_path, PROGRAMS / "stream.c")
    spec = EXPANDER.format(queue=64)
    (tmp_path / "system.yaml").write_text(spec)
    arguments = ["--system", tmp_path / "system.yaml", "--size", "16MiB", "--l1", "4KiB", "--l2", "32KiB"]
    said = output(tmp_path, "one_host.py", *arguments, "--", stream, "8192", "1", "1", flags=LOGS)
    assert "stream: numbers that are right: 8192\n" in said
    stats = statistics(tmp_path)
    alone = replayed(tmp_path, spec)
    # What is under way at the end of the program is not answered in gem5.
    assert stats["memory.host.reads"] == pytest.approx(alone["read"]["requests"], rel=0.001)
    assert stats["memory.host.writes"] == pytest.approx(alone["write"]["requests"], rel=0.001)
    mean = alone["read"]["latency_ns"]["mean"] * 1000
    assert stats["memory.host.meanReadLatency"] == pytest.approx(mean, rel=0.001)
    assert mean > 1.01 * IDLE_TICKS, "accesses wait for each other"


@pytest.mark.parametrize("shares", [[], ["--shares"]])
def test_programs_of_two_hosts_see_what_the_other_has_written(tmp_path: Path, shares: list[str]) -> None:
    handover = program(tmp_path, SCRIPTS / "handover.c")
    system = tmp_path / "system.json"
    system.write_text(cxloom("resolve", SCRIPTS / "pool.yaml"))
    rounds = 30
    said = output(tmp_path, "two_hosts.py", "--system", system, *shares, "--", handover, str(rounds))
    stats = statistics(tmp_path)
    for side in (0, 1):
        assert f"handover: side {side} saw 0 wrong words in {rounds} rounds\n" in said
        # The other side takes the line of the number and eight of the table whenever it is its turn.
        assert stats[f"hosts{side}.dirtySnoops"] >= (rounds - 1) * 9


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
