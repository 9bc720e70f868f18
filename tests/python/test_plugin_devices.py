"""Devices and media from plug-ins: what they do, and what they report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from plugin_support import PLUGINS, built, results_of, run, with_plugin
from validation.examples import slow, some

HOLDING = """\
devices:
  host: {kind: host, queue: 8}
  "mem[0-1]": {kind: memory, capacity: 1GiB}
  hub: {kind: KIND, switching_time: 20ns, port_delay: 0ns, port_bandwidth: 32GB/s, queueing: QUEUEING}
links:
  - {between: [host, hub], credits: 4}
  - {between: [mem0, hub], credits: 4}
  - {between: [mem1, hub], credits: 4}
address_map: [{to: [mem0, mem1], interleave: 256B}]
workload:
  host: {pattern: random, footprint: 64KiB, reads: 0.5, requests: 8000}
run: {warmup: 0}
"""


@pytest.mark.parametrize("queueing", some(["output", "voq", "fifo"]))
def test_a_switch_that_holds_data_may_come_from_a_plugin(tmp_path: Path, queueing: str) -> None:
    library = built(PLUGINS / "holding_switch.cpp")

    def results(kind: str, *more: str) -> dict[str, Any]:
        spec = tmp_path / f"{kind}.yaml"
        spec.write_text(HOLDING.replace("KIND", kind).replace("QUEUEING", queueing))
        summary = results_of(spec, library, *more)
        assert summary["requests"] == 8000
        return summary

    plain, none, all_lines = (
        results("switch"),
        results("holding-switch", "devices.hub.lines=0"),
        results("holding-switch"),
    )
    # Without room it is a switch; with room, a read of what was written ends there: no memory sees it.
    assert none["latency_ns"] == plain["latency_ns"]
    assert none["per_switch"]["hub"]["answered"] == 0
    answered = all_lines["per_switch"]["hub"]["answered"]
    served = sum(memory["reads"] for memory in all_lines["per_memory"].values())
    assert answered > 2000
    assert answered + served == all_lines["reads"]
    assert all_lines["read"]["latency_ns"]["min"] < plain["read"]["latency_ns"]["min"] - 40
    assert all_lines["latency_ns"]["mean"] < plain["latency_ns"]["mean"]
    assert sum(all_lines["breakdown_ns"].values()) == pytest.approx(all_lines["latency_ns"]["mean"])


MEMORY_SWITCH = """
devices:
  "host[0-1]": {kind: host, queue: 64}
  mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
  hub:
    {kind: memory-switch, switching_time: 20ns, memory: {capacity: 1GiB, media: {kind: fixed, latency: 45ns}}, HOW}
links:
  - {between: ["host[*]", hub], bandwidth: 32GB/s, credits: 4}
  - {between: [mem, hub], bandwidth: 32GB/s, credits: 4}
address_map: [{to: [mem, hub], interleave: 256B}]
workload:
  "host[*]": {pattern: random, footprint: 1MiB, reads: 0.5, requests: 4000}
run: {warmup: 0}
"""


@slow
def test_a_switch_with_memory_in_it_may_come_from_a_plugin(tmp_path: Path) -> None:
    library = built(PLUGINS / "memory_switch.cpp")
    spec = tmp_path / "spec.yaml"

    # Alone, a memory behind the switch costs more by 25 ns of ports each way, 20 ns of the switch on the way back, and,
    # if heads do not pass on, 16 B and 80 B at 32 GB/s.
    for forwarding, further in (("store-and-forward", 73), ("cut-through", 70)):
        for queueing in ("output", "voq", "fifo"):
            spec.write_text(MEMORY_SWITCH.replace("HOW", f"queueing: {queueing}, forwarding: {forwarding}"))
            busy = results_of(spec, library)
            served = busy["per_memory"]
            for key in ("reads", "writes"):
                assert sum(memory[key] for memory in served.values()) == busy[key]
            assert served["hub"]["requests"] > 3000
            assert sum(busy["breakdown_ns"].values()) == pytest.approx(busy["latency_ns"]["mean"])
            # An answer out of the switch, and for `mem` a request too; those of the ends of the window aside.
            expected = 2 * served["mem"]["requests"] + served["hub"]["requests"]
            assert busy["per_switch"]["hub"]["messages"] == pytest.approx(expected, abs=128)

            slowly = ["workload.host*.requests=50", "workload.host*.reads=1"]
            slowly += ["workload.host0.rate=100k/s", "workload.host1.rate=90k/s"]
            quiet = results_of(spec, library, *slowly)
            inside, outside = (quiet["per_memory"][name]["latency_ns"]["min"] for name in ("hub", "mem"))
            assert outside - inside == further

    # What it measures is declared: by the kind, by its media, and by the run for all switches and memories.
    declared = json.loads(run("components", "--json", "--plugin", str(library)).stdout)
    own = [*declared["devices"]["memory-switch"]["statistics"], *declared["media"]["fixed"]["statistics"]]
    for group in ("per_switch", "per_memory"):
        (every,) = (measure["parts"] for measure in declared["measures"] if measure["name"] == group)
        names = {measure["name"] for measure in (*own, *every)}
        assert busy[group]["hub"].keys() - names == set(), group


SMART_NIC = """
devices:
  nic: {kind: smart-nic, target: mem, queue: 8}
  gpu: {kind: accelerator, memory: {capacity: 1GiB}}
  mem: {kind: memory, capacity: 1GiB}
  sw: {kind: switch}
links: [{between: [nic, sw]}, {between: [gpu, sw]}, {between: [mem, sw]}]
address_map: [{to: [mem, gpu], interleave: 256B}]
workload: {nic: {pattern: random, requests: 2000, footprint: 1MiB}}
run: {warmup: 0}
"""


def test_each_agent_of_a_device_reports_once(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "smart_nic.cpp", SMART_NIC)
    summary = played.results()
    assert summary["per_requester"]["nic"]["requests"] == 2000
    assert summary["per_io"]["nic"].keys() == {"packets", "latency_ns", "breakdown_ns"}
    assert summary["per_io"]["nic"]["packets"] > 10
    # What no role of its reports, and nothing of an accelerator that has roles alone.
    assert summary["per_device"] == {"nic": {"uptime_ns": summary["simulated_time_ns"]}}


def test_traffic_of_which_a_plugin_measures_little_is_no_limit_that_is_known(tmp_path: Path) -> None:
    """The bytes of its packets are unknown, so that nothing is said of a bound beside them."""
    done = with_plugin(tmp_path, "smart_nic.cpp", SMART_NIC).command("explain")
    assert done.returncode == 0, done.stderr
    assert "is limited by the queue of nic" in done.stdout
    assert "I/O engine" not in done.stdout


def test_results_show_what_a_plugin_does_not_measure_as_unknown(tmp_path: Path) -> None:
    done = with_plugin(tmp_path, "smart_nic.cpp", SMART_NIC).command("run")
    assert done.returncode == 0, done.stderr
    assert re.search(r"nic +\d+ +- +240", done.stdout), done.stdout


MIRROR = """
devices:
  host: {kind: host, queue: 16}
  mem: {kind: memory, media: {kind: mirrored, of: {kind: fixed, latency: 100ns, banks: 1}}}
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {pattern: random, requests: 2000, footprint: 1MiB, reads: 1.0}}
"""


def test_media_of_a_plugin_may_hold_media(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "mirrored.cpp", MIRROR)

    def bandwidth(*settings: str) -> float:
        return float(played.results(*settings)["bandwidth_gb_per_s"])

    # Each half reads a line in 100 ns; both write the same.
    assert bandwidth() == pytest.approx(2 * 0.64, rel=0.02)
    assert bandwidth("workload.host.reads=0.0") == pytest.approx(0.64, rel=0.02)
    # It may stand behind a cache, and hold one; a mistake far inside is found where it is.
    cached = "devices.mem.media={kind: cached, size: 1MiB, backing: {kind: mirrored}}"
    assert bandwidth(cached) > 5 * 0.64
    assert bandwidth("devices.mem.media.of={kind: cached, size: 1MiB, backing: fixed}") > 5 * 0.64
    wrong = "devices.mem.media={kind: cached, backing: {kind: mirrored, of: {kind: fixd}}}"
    refused = played.refusal(wrong)
    assert "devices.mem.media.backing.of.kind" in refused
    assert "did you mean 'fixed'?" in refused
