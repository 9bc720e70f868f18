"""Large systems: refused for what is wrong before they take time and memory, and built in little of both."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from validation.examples import pairs, slow

GIB = 1 << 30
MIB = 1 << 20

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "own_peak.py"
"""The command, which counts its own peak."""


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it took."""

    code: int
    out: str
    err: str
    seconds: float
    """Seconds of processor time."""
    peak: int
    """Bytes of memory."""


def command(folder: Path, spec: str, *arguments: str, limit: int = 4 * GIB) -> Ended:
    """`cxloom` with a spec, as a process of its own that can have so much memory."""
    (folder / "spec.yaml").write_text(spec)
    out, err = folder / "out", folder / "err"
    with out.open("w") as stdout, err.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-P", PROGRAM, arguments[0], "spec.yaml", *arguments[1:]],
            cwd=folder,
            stdout=stdout,
            stderr=stderr,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(
        process.returncode,
        out.read_text(),
        err.read_text(),
        usage.ru_utime + usage.ru_stime,
        int((folder / "peak").read_text()) * 1024,
    )


def devices(count: int, links: str = "") -> str:
    """A host and so many memories."""
    return (
        f"devices: {{host: {{kind: host}}, bus: {{kind: bus}}, "
        f"'mem[0-{count - 1}]': {{kind: memory, capacity: 1GiB}}}}\n"
        f"links: [{{between: [host, bus]}}{links}]\n"
        "address_map: [{to: mem0}]\n"
        "workload: {host: {pattern: random, requests: 2, footprint: 1MiB}}\n"
    )


def test_memories_without_links_are_refused_before_there_are_routes(tmp_path: Path) -> None:
    ended = command(tmp_path, devices(100_000), "check")
    assert ended.code == 2
    assert "no links lead from 'host' to this device" in ended.err
    assert ended.peak < GIB
    assert ended.seconds < 20  # 10^10 routes would take minutes


@slow
def test_more_links_than_a_device_can_number_are_refused(tmp_path: Path) -> None:
    ended = command(tmp_path, devices(70_000, ", {between: [bus, 'mem[*]']}"), "check")
    assert ended.code == 2
    assert "'bus' has more links than ports" in ended.err
    assert "65534" in ended.err
    assert ended.peak < GIB


def test_a_large_fabric_is_built_in_little_time_and_memory(tmp_path: Path) -> None:
    """32,640 links between 256 switches, and two requests from each of 256 hosts."""
    ended = command(
        tmp_path,
        "topology: {kind: fully-connected, switches: 256, placement: paired}\n"
        "workload: {'host*': {pattern: random, requests: 2, footprint: 1MiB}}\n",
        "run",
        "--json",
    )
    assert ended.code == 0, ended.err
    assert ended.peak < 200 * MIB
    assert ended.seconds < 5


def test_many_memories_are_nodes_of_many_hosts_in_little_time(tmp_path: Path) -> None:
    """Each of 250 hosts has a way to each of 250 nodes, 62,500 in all: none is looked for among all nodes."""
    ended = command(
        tmp_path,
        "devices: {bus: {kind: bus}, 'host[0-249]': {kind: host}, 'mem[0-249]': {kind: memory, capacity: 1GiB}}\n"
        "links: [{between: ['host[*]', bus]}, {between: [bus, 'mem[*]']}]\n"
        f"address_map: [{', '.join(f'{{to: mem{n}}}' for n in range(250))}]\n"
        "workload: {'host*': {pattern: random, requests: 2, footprint: 1MiB}}\n",
        "check",
    )
    assert ended.code == 0, ended.err
    assert ended.seconds < 3


MACHINE = 2 * GIB  # as much as a process of the next tests can have

BASE = """\
devices:
  host: {kind: host}
  acc: {kind: accelerator, memory: {capacity: 1GiB}}
  mem: {kind: memory, capacity: 1GiB, media: {kind: nvm}}
links:
  - {between: [host, mem]}
  - {between: [host, acc]}
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 100000000, footprint: 1MiB}}
"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("devices.host.cache.size", "64GiB"),
        ("devices.acc.cache.size", "16GiB"),
        ("devices.host.queue", "16777216"),
    ],
)
def test_what_the_machine_has_no_memory_for_is_refused_with_the_number(
    tmp_path: Path, path: str, value: str
) -> None:
    ended = command(tmp_path, BASE, "run", "--set", f"{path}={value}", limit=MACHINE)
    assert ended.code == 2, ended.err
    assert ended.err.startswith(f"error: {path}: more than the memory of this machine")
    found = re.search(rf"found: {value}, which takes about ([\d.]+) GB of ([\d.]+) GB in all", ended.err)
    allowed = re.search(r"allowed: ([\d.]+) GB in all", ended.err)
    assert found, ended.err
    assert allowed, ended.err
    assert float(found[2]) >= float(found[1]) > float(allowed[1])
    assert float(allowed[1]) < MACHINE / 1e9
    assert ended.peak < GIB / 4


def test_a_queue_that_the_workload_never_fills_is_no_matter(tmp_path: Path) -> None:
    few = BASE.replace("100000000", "100")
    ended = command(tmp_path, few, "run", "--set", "devices.host.queue=16777216", limit=MACHINE)
    assert ended.code == 0, ended.err


BUFFERS = (
    BASE.replace("  mem:", '  "mem[0-39]":')
    .replace("host, mem]", 'host, "mem[*]"]')
    .replace("{to: mem", '{policy: capacity, to: "mem*"')
)
WANTED = "devices.mem[*].media.read_buffer=1048576"


def test_many_small_things_are_counted_together(tmp_path: Path) -> None:
    """Each of the memories takes 92 MB for its buffer, which is nothing; 40 take 3.7 GB."""
    ended = command(tmp_path, BUFFERS, "check", "--set", WANTED, limit=MACHINE)
    assert ended.code == 2, ended.err
    assert "devices.mem" in ended.err
    assert ".media.read_buffer: more than the memory of this machine" in ended.err


def test_to_check_takes_no_more_than_one_system(tmp_path: Path) -> None:
    """Each of the 40 memories has 8 MB of buckets from the first moment on."""
    few = BUFFERS.replace("100000000", "10")
    checked, ran = (
        command(tmp_path, few, what, "--json", "--set", WANTED, limit=8 * GIB) for what in ("check", "run")
    )
    assert checked.code == ran.code == 0, checked.err + ran.err
    assert ran.peak > 300 * MIB
    assert checked.peak < 1.2 * ran.peak


@pytest.mark.parametrize(("ways", "what"), pairs([8, 0], ["run", "check"]))
def test_a_large_cache_takes_memory_where_it_holds_lines(tmp_path: Path, what: str, ways: int) -> None:
    """2 GiB in lines of 64 bytes would be more than half a GB of tags, and seconds of building."""
    cache = f"devices.host.cache={{size: 2GiB, ways: {ways}}}"
    few = BASE.replace("100000000", "1000")
    ended = command(tmp_path, few, what, "--json", "--set", cache, limit=8 * GIB)
    assert ended.code == 0, ended.err
    assert ended.peak < 100 * MIB
    assert ended.seconds < 2


@slow
@pytest.mark.parametrize("path", ["devices.host.cache.size=1GiB", "devices.host.queue=500000"])
def test_the_estimate_is_near_what_a_run_takes(tmp_path: Path, path: str) -> None:
    """`check` says how much, and a run takes more than half and not more than all of it beyond the smallest.

    Steps of 4 KiB reach every page of the tags of a cache, once it has gone over 128 MiB.
    """
    small = BASE.replace("100000000", "500000").replace("random", "strided, stride: 4KiB")
    small = small.replace("footprint: 1MiB", "footprint: 128MiB")
    told = []
    taken = []
    for setting in ("devices.host.queue=1", path):
        checked = command(tmp_path, small, "check", "--json", "--set", setting)
        told.append(json.loads(checked.out)["memory_bytes"])
        ran = command(tmp_path, small, "run", "--quiet", "--set", setting)
        assert ran.code == 0, ran.err
        taken.append(ran.peak)
    share = (taken[1] - taken[0]) / (told[1] - told[0])
    assert 0.5 < share < 1.1
