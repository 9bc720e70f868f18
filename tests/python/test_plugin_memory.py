"""A memory of a plug-in, with an agent before its controller, does what its description says, and tools see into it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plugin_support import Played, run, with_plugin

SPEC = """
devices:
  host: {kind: host}
  mem: {kind: packed-memory, capacity: 1GiB}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, footprint: 64MiB, requests: 4000, reads: 50%}}
"""
READS_ALONE = "workload.host.reads=100%"


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return with_plugin(tmp_path, "packed_memory.cpp", SPEC)


def test_a_read_alone_takes_the_time_to_unpack_longer(played: Played) -> None:
    """10 ns in the host, 40 in the controller, 45 in the media; 20 to unpack."""
    alone = played.results("devices.host.queue=1")
    assert alone["read"]["latency_ns"]["min"] == alone["read"]["latency_ns"]["max"] == 115
    assert alone["write"]["latency_ns"]["min"] == alone["write"]["latency_ns"]["max"] == 95
    assert alone["per_device"]["mem"]["unpacked"] == alone["reads"]


@pytest.mark.parametrize("engines", [2, 3])
def test_engines_bound_the_reads(played: Played, engines: int) -> None:
    full = played.results(READS_ALONE, f"devices.mem.engines={engines}")
    assert full["bandwidth_gb_per_s"] == pytest.approx(engines * 64 / 20, rel=0.02)
    assert full["per_device"]["mem"]["engines_mean"] == pytest.approx(engines, rel=0.02)
    assert sum(full["breakdown_ns"].values()) == pytest.approx(full["latency_ns"]["mean"])


def test_what_fills_up_in_it_is_named(played: Played) -> None:
    with_its_kind = ["--plugin", str(played.library), "--set", READS_ALONE, "--json"]
    said = json.loads(run("explain", str(played.spec), *with_its_kind).stdout)
    assert said["limit"] == "the engines of mem"
    (doubled,) = [each for each in said["what_ifs"] if each["twice"] == said["limit"]]
    assert doubled["set"] == {"devices.mem.engines": 4}
    assert doubled["gain"] == pytest.approx(1, abs=0.05)
