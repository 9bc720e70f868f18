"""`run.threads` of commands that play runs within: what they print is the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Outcome

import cxloom as cx
from cxloom.results.threads import lines_of_runs
from cxloom.sweeping.work import NO_PROCESSORS

SERVERS = """
devices:
  "host[0-1]": {kind: host, queue: 64}
  "local[0-1]": {kind: memory, capacity: 8MiB, media: {kind: fixed, latency: 60ns, bandwidth: 20GB/s}}
  "sw[0-1]": {kind: switch}
  "cxl[0-1]": {kind: memory, capacity: 64MiB, media: {kind: fixed, latency: 160ns, bandwidth: 20GB/s}}
links:
  - {between: [host0, local0], port_delay: 5ns}
  - {between: [host1, local1], port_delay: 5ns}
  - {between: ["host*", sw0], port_delay: 25ns}
  - {between: [sw0, sw1], port_delay: 25ns, delay: 200ns}
  - {between: [sw1, "cxl*"], port_delay: 25ns}
address_map: [{to: local0}, {to: local1}, {to: cxl0}, {to: cxl1, persistence: controller}]
workload:
  host0: {pattern: zipf, reads: 80%, requests: 3000, footprint: 4MiB, addresses: first-touch}
run: {seed: 3}
"""
FABRIC = """
model: llama-3-70b
requests:
  generate:
    {chats: 3, rate: 0.5/s, turns: 2, pause: 5s, system_tokens: 2048, system_prompts: 1,
     question_tokens: 100, answer_tokens: 5}
servers: {count: 2, flops: 2496TFLOP/s, memory_bandwidth: 16TB/s, devices: ["gpu*"]}
tiers: [{name: cxl, capacity: 64GiB, shared: true, devices: ["pool*"]}]
fabric:
  devices:
    host: {kind: host}
    "gpu[0-1]": {kind: gpu, peer_to_peer: true, streams: 2, posted: 256}
    "sw[0-2]": {kind: switch}
    "pool[0-1]": {kind: memory, capacity: 64GiB}
  links:
    - {between: [host, sw0], phy: pcie4-x16, flit: none, port_delay: 25ns}
    - {between: ["gpu*", sw0], phy: pcie4-x16, flit: none, port_delay: 25ns}
    - {between: [sw0, sw1], phy: pcie4-x16, flit: none, delay: 100ns}
    - {between: [sw0, sw2], phy: pcie4-x16, flit: none, delay: 100ns}
    - {between: [sw1, pool0], phy: pcie4-x16, flit: none, port_delay: 25ns}
    - {between: [sw2, pool1], phy: pcie4-x16, flit: none, port_delay: 25ns}
  address_map: [{to: pool0}, {to: pool1}]
"""
COMMANDS = {
    "advise": [],
    "crash": ["--random", "3", "--set", "workload.host0.addresses={kind: bind, nodes: [cxl1]}"],
    "epochs": [
        *("--duration", "10ms", "--window", "2000", "--check", "0", "--set", "workload.host0.requests=1e9"),
        *("--set", "workload.host0.tiering={kind: promote-on-fault, period: 1ms, scan: 256KiB}"),
    ],
    "explain": [],
    "measure": ["latency"],
}
"""By command, its arguments."""


def without_cost(found: Any) -> Any:
    """Without what each run took, and into how many parts it was divided."""
    if isinstance(found, dict):
        return {key: without_cost(value) for key, value in found.items() if key != "cost"}
    return [without_cost(each) for each in found] if isinstance(found, list) else found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_the_same(command: str, tmp_path: Path, cxloom: Callable[..., Outcome]) -> None:
    file = tmp_path / "servers.yaml"
    file.write_text(SERVERS)
    assert cx.load(file).check()["partitions"]["count"] > 2
    asked = (command, file, *COMMANDS[command], "--json", "--quiet", "--set")
    one, three = (cxloom(*asked, f"run.threads={threads}") for threads in (1, 3))
    assert (one.code, three.code) == (0, 0), one.err
    assert without_cost(json.loads(one.out)) == without_cost(json.loads(three.out))


def test_servers_of_language_models_find_the_same(tmp_path: Path, cxloom: Callable[..., Outcome]) -> None:
    file = tmp_path / "kv.yaml"
    file.write_text(FABRIC)
    asked = ("kv", file, "--json", "--quiet", "--set")
    one, three = (cxloom(*asked, f"fabric.run.threads={threads}") for threads in (1, 3))
    assert (one.code, three.code) == (0, 0), one.err
    found = without_cost(json.loads(one.out))
    assert found == without_cost(json.loads(three.out))
    assert found["fabric"]["sets"] > 0
    assert "threads" not in json.loads(one.out)["cost"]
    assert json.loads(three.out)["cost"]["threads"]["parts"] == 1
    shown = cxloom("kv", file, "--set", "fabric.run.threads=3").out
    assert "one thread: rates are measured in short runs" in shown


def test_epochs_say_that_they_have_one_thread(tmp_path: Path, cxloom: Callable[..., Outcome]) -> None:
    file = tmp_path / "servers.yaml"
    file.write_text(SERVERS)
    asked = ["epochs", file, *COMMANDS["epochs"], "--set"]
    one, three = (cxloom(*asked, f"run.threads={threads}").out for threads in (1, 3))
    assert "one thread" not in one
    assert three.endswith("one thread: rates are measured in short runs, which are not divided\n")


def test_advice_says_how_its_runs_were_divided(tmp_path: Path, cxloom: Callable[..., Outcome]) -> None:
    """Four placements are run, one at a time and with all processors, or side by side with a part of them each."""
    file = tmp_path / "servers.yaml"
    file.write_text(SERVERS)
    asked = ["advise", file, "--set"]
    assert "thread" not in cxloom(*asked, "run.threads=1").out
    said = " ".join(cxloom(*asked, "run.threads=64").out.split())
    assert re.search(r"4 runs, (1 thread|\d+ threads) each: .*; \d+% of the events side by side$", said), said


def test_runs_that_are_played_side_by_side_are_told_in_one_line() -> None:
    alone = {"events": 100, "threads": {"parts": 1, "reason": NO_PROCESSORS}}
    halved = {"events": 300, "threads": {"parts": 2, "events_side_by_side": 200, "events_of_busiest": 110}}
    assert lines_of_runs([{}, {"events": 9}]) == []
    assert lines_of_runs([{}, alone]) == [f"one thread: {NO_PROCESSORS}"]
    assert lines_of_runs([alone, alone]) == [f"2 runs, 1 thread each: {NO_PROCESSORS}"]
    said = f"2 runs, 1 to 2 threads each: {NO_PROCESSORS}; 50% of the events side by side"
    assert lines_of_runs([alone, halved]) == [said]


def test_a_program_says_why_it_has_one_thread(tmp_path: Path, cxloom: Callable[..., Outcome]) -> None:
    file = tmp_path / "servers.yaml"
    file.write_text(SERVERS)
    trace = tmp_path / "t.txt"
    trace.write_text("".join(f"0x{64 * line:x} R 64\n" for line in range(1000)))
    reason = "a program goes on while it is simulated"
    asked = ["exec", "--system", file, "--host", "host0", "--replay", trace]
    assert "one thread" not in cxloom(*asked).err
    file.write_text(SERVERS.replace("run: {seed: 3}", "run: {seed: 3, threads: 3}"))
    shown = cxloom(*asked, "--pages", "{kind: bind, nodes: [cxl0]}", "--out", tmp_path / "p.json")
    assert shown.code == 0
    assert shown.err.count(f"one thread: {reason}") == 1  # of both placements
    systems = json.loads((tmp_path / "p.json").read_text())["systems"]
    assert [each["cost"]["threads"] for each in systems] == [{"parts": 1, "reason": reason}] * 2
