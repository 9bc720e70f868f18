"""Numbers at the ends of what a serving run takes: each is played, or refused with its key and exit code 2."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kv_support import SERVING, write_trace
from validation.examples import slow

import cxloom as cx

SPEC = """\
model: llama-3-8b
requests: {generate: {chats: 20, rate: 1/s, turns: 2, system_tokens: 2048}}
servers: {count: 1, flops: 312TFLOP/s, memory_bandwidth: 2TB/s}
tiers:
  - {name: cxl, capacity: 4GiB, bandwidth: 25GB/s}
"""


@pytest.fixture
def kv(cxloom: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """The command on a small file, with values set in it."""
    file = tmp_path / "kv.yaml"
    file.write_text(SPEC)

    def run(*sets: str) -> Any:
        return cxloom("kv", str(file), "--json", *(word for each in sets for word in ("--set", each)))

    return run


def test_one_size_of_a_tier_takes_the_place_of_the_other(kv: Callable[..., Any], tmp_path: Path) -> None:
    done = kv("tiers.cxl.blocks=20")
    assert json.loads(done.out)["tiers"]["cxl"]["capacity_blocks"] == 20
    back = kv("tiers.cxl.blocks=20", "tiers.cxl.capacity=2GiB")
    assert json.loads(back.out)["tiers"]["cxl"]["capacity_blocks"] == 32
    (tmp_path / "kv.yaml").write_text(SPEC.replace("capacity: 4GiB", "capacity: 4GiB, blocks: 20"))
    both = kv()
    assert both.code == 2
    assert "both 'capacity' and 'blocks' are given" in both.err


def test_rates_below_one_a_second_are_rates(kv: Callable[..., Any]) -> None:
    spans = {}
    for rate in ("1/s", "0.1/s", "6/min", "360/h"):
        requests = cx.kv.generate_requests(chats=500, rate=rate, turns=1)
        spans[rate] = requests[-1]["arrival_s"]
    assert spans["0.1/s"] == pytest.approx(10 * spans["1/s"], rel=1e-6)
    assert spans["6/min"] == pytest.approx(spans["0.1/s"]) == pytest.approx(spans["360/h"])
    assert kv("requests.generate.rate=0.1/s").code == 0


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ("requests.generate.rate=0/s", "requests.generate.rate: not a rate"),
        ("requests.generate.rate=0.000001/s", "requests.generate.rate: requests that arrive too late"),
        ("servers.memory_bandwidth=1B/s", "servers.memory_bandwidth: a step of decoding that takes too long"),
        ("servers.flops=1FLOP/s", "servers.flops: a prefill that takes too long"),
        ("requests.speed=0.000000000001", "requests.speed: requests that arrive too late"),
        ("servers.memory_bandwidth=16kB/s", "servers: a run that goes on too long"),
        ("every=1ps", "every: a series of more than 100000 rows"),
    ],
)
def test_times_without_end_are_refused_at_their_key(kv: Callable[..., Any], sets: str, said: str) -> None:
    done = kv(sets)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("recompute", ["cost", "never"])
def test_writes_without_end_are_played_and_find_nothing(recompute: str) -> None:
    tiers = [{"name": "slow", "blocks": 600, "bandwidth": "1B/s"}]
    found = cx.kv.serve({**SERVING, "tiers": tiers, "recompute": recompute}).found
    assert found["tiers"]["slow"]["written_bytes"] == found["hit_tokens"] == 0
    assert "Writes to slow fall behind" in found["notes"][0]


def test_a_capacity_below_a_block_is_noted() -> None:
    """It was a tier of 0 blocks, without a word. One that is written so has none on purpose."""
    small, none = (
        cx.kv.serve({**SERVING, "tiers": [{"name": "small", **size}]}).found
        for size in ({"capacity": "10KiB"}, {"blocks": 0})
    )
    assert small["tiers"]["small"]["capacity_blocks"] == none["tiers"]["small"]["capacity_blocks"] == 0
    assert "The capacity of small, 10KiB, is less than a block of" in small["notes"][0]
    assert none["notes"] == []


def test_a_run_of_no_length_has_no_shares(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    trace = write_trace(tmp_path, [(0, 1, 1, [1])])
    file = tmp_path / "kv.yaml"
    file.write_text(SPEC)
    sets = ("--set", f"requests={{trace: {trace}}}", "--set", "servers.flops=999999999999PFLOP/s")
    done = cxloom("kv", str(file), "--json", *sets)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["time_s"], found["tokens_per_s"]) == (0, None)
    assert cxloom("kv", str(file), *sets).code == 0


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"\x01\xff\xfe\x80" * 100 + b"\n", ":1: not JSON"),
        (
            b'{"timestamp": 0, "input_length": "\xff", "output_length": 1, "hash_ids": [1]}\n',
            ":1: 'input_length'",
        ),
        (b'{"timestamp": 0, "input_length": 9, "output_length": 1073741824, "hash_ids": [1]}\n', "16777216"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(
    kv: Any, tmp_path: Path, written: bytes, said: str
) -> None:
    trace = tmp_path / "bad.jsonl"
    trace.write_bytes(written)
    done = kv(f"requests={{trace: {trace}}}")
    assert done.code == 2
    assert said in done.err.replace("\n", "")


@pytest.mark.parametrize("policy", ["fifo", "lru", "lfu", "s3-fifo", "far"])
def test_a_tier_of_no_blocks_finds_nothing_under_any_policy(policy: str) -> None:
    requests = cx.kv.generate_requests(chats=10, rate="1/s")
    assert cx.kv.hits(requests, [{"name": "none", "blocks": 0, "policy": policy}])["hit_blocks"] == 0


@slow
def test_many_servers_with_tiers_of_their_own_take_little_room() -> None:
    """What one server has does not grow with how many others there are. Measured in a process of its own."""
    servers = {**SERVING["servers"], "count": 1024}
    tiers = [{"name": "dram", "blocks": 10, "bandwidth": "20GB/s"}]
    spec = {**SERVING, "servers": servers, "tiers": tiers}
    # What `getrusage` calls the peak of a process begins with that of who started it.
    program = f"import cxloom as cx; cx.kv.serve({spec!r}); print(open('/proc/self/status').read())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    peak = re.search(r"^VmHWM:\s+(\d+) kB", done.stdout, re.MULTILINE)
    assert peak
    assert int(peak[1]) * 1024 < 500e6
