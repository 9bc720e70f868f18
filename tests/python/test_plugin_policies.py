"""Policies from plug-ins: of DRAM, of switches, of caches and of routes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plugin_support import with_plugin
from validation.examples import slow, some

DRAM = """
devices:
  host: {kind: host, queue: 64}
  mem: {kind: memory, media: {kind: dram, preset: test-D5, refresh: "off"}}
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {pattern: random, requests: 2000, footprint: 1GiB}}
"""


def test_a_dram_scheduler_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "youngest.cpp", DRAM)

    def latency(scheduler: str) -> dict[str, float]:
        found: dict[str, float] = played.results(f"devices.mem.media.scheduler={scheduler}")["latency_ns"]
        return found

    # Who comes late goes first: the same work, but some wait for long, unless nobody has the patience.
    youngest = latency("youngest")
    assert youngest["max"] > 1.5 * latency("fr-fcfs")["max"]
    assert latency("{kind: youngest, patience: 0ns}")["max"] < youngest["max"]

    played.assert_kind(
        "devices.mem.media.scheduler=youngest",
        "DRAM scheduler",
        "The youngest access of each bank goes first",
    )


@slow
def test_a_dram_row_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "n_uses.cpp", DRAM)

    def rows(policy: str) -> dict[str, int]:
        # One access at a time, line after line: a row is used as often as the policy lets it.
        sets = [f"devices.mem.media.row_policy={policy}", "devices.host.queue=1", "run.warmup=0"]
        sets += ["workload.host={pattern: sequential, requests: 1024, footprint: 1MiB, reads: 1.0}"]
        measured = played.results(*sets)["per_memory"]["mem"]
        return {key: measured[key] for key in ("row_hits", "row_misses", "row_conflicts")}

    assert (
        rows("{kind: n-uses, uses: 1}")
        == rows("closed")
        == {
            "row_hits": 0,
            "row_misses": 1024,
            "row_conflicts": 0,
        }
    )
    often = rows("n-uses")
    assert often["row_conflicts"] == 0
    assert 700 < often["row_hits"] <= 768  # three of four; the last row of a bank may be used less often
    assert rows("{kind: n-uses, uses: 1000000}") == rows("open")

    played.assert_kind(
        "devices.mem.media.row_policy=n-uses",
        "DRAM row policy",
        "A row is closed after so many uses",
    )


@slow
def test_a_dram_refresh_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "idle_first.cpp", DRAM)

    def results(refresh: str) -> dict[str, Any]:
        # As many accesses in flight as banks, sixteen, leave some banks without work.
        sets = [f"devices.mem.media.refresh={refresh}", "devices.mem.media.preset=LPDDR5-6400"]
        sets += ["run.warmup=0", "devices.host.queue=16"]
        sets += ["workload.host={pattern: random, requests: 20000, footprint: 1GiB, reads: 1.0}"]
        found = played.results(*sets)
        return {key: found[key] for key in ("latency_ns", "per_memory")}

    in_turn = results("same-bank")
    assert results("{kind: idle-first, chooses: false}") == in_turn
    chosen = results("idle-first")
    assert chosen["latency_ns"]["mean"] < 0.99 * in_turn["latency_ns"]["mean"]
    refreshes = [each["per_memory"]["mem"]["refreshes"] for each in (chosen, in_turn)]
    assert refreshes[0] < refreshes[1]  # as often, in less time

    played.assert_kind(
        "devices.mem.media.refresh=idle-first",
        "DRAM refresh policy",
        "The set of banks with the least work is refreshed first",
    )
    refused = played.refusal("devices.mem.media.preset=DDR4-3200", "devices.mem.media.refresh=idle-first")
    assert "devices.mem.media.refresh: 'DDR4-3200' has no same-bank refresh" in refused


def test_reads_go_on_beside_writes_that_a_scheduler_never_picks(tmp_path: Path) -> None:
    played = with_plugin(
        tmp_path,
        "no_writes.cpp",
        """
devices:
  writer: {kind: host, queue: 96}
  reader: {kind: host, queue: 1}
  bus: {kind: bus}
  mem: {kind: memory, capacity: 1GiB, media: {kind: dram, preset: DDR4-3200, scheduler: no-writes}}
links: [{between: [writer, bus]}, {between: [reader, bus]}, {between: [mem, bus]}]
address_map: [{to: [mem]}]
workload:
  writer: {pattern: random, footprint: 256MiB, reads: 0.0, requests: 2000}
  reader: {pattern: random, footprint: 256MiB, reads: 1.0, requests: 50}
run: {}
""",
    )
    stuck = played.command("run")
    assert stuck.returncode != 0
    assert "the DRAM scheduler 'no-writes' picks none of 64 queued write bursts" in stuck.stderr
    assert "writer: 96 requests" in stuck.stderr
    assert "reader:" not in stuck.stderr  # all of its reads were answered


SHARED = """
devices:
  "host[0-2]": {kind: host, queue: 64}
  hub: {kind: switch, queueing: voq, arbitration: round-robin}
  mem: {kind: memory, capacity: 1GiB}
links:
  - {between: [host0, hub]}
  - {between: [host1, hub]}
  - {between: [host2, hub]}
  - {between: [hub, mem], bandwidth: 4GB/s}
address_map: [{to: [mem]}]
workload:
  "host[0-2]": {pattern: random, footprint: 64MiB, reads: 0.0, requests: 20000}
run: {warmup: 1000}
"""


@slow
def test_an_arbitration_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "input_shares.cpp", SHARED)

    def shares(arbitration: str) -> list[float]:
        hosts = played.results(f"devices.hub.arbitration={arbitration}")["per_requester"]
        rates = [hosts[f"host{i}"]["bandwidth_gb_per_s"] for i in range(3)]
        return [rate / sum(rates) for rate in rates]

    # All three have writes waiting for the memory's link all the time, so that each gets its share of it.
    assert shares("round-robin") == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=0.002)
    assert shares("{kind: input-shares, weights: [1, 1, 1]}") == pytest.approx(
        [1 / 3, 1 / 3, 1 / 3], abs=0.002
    )
    assert shares("{kind: input-shares, weights: [1, 2, 5]}") == pytest.approx(
        [1 / 8, 2 / 8, 5 / 8], abs=0.002
    )

    played.assert_kind(
        "devices.hub.arbitration=input-shares",
        "arbitration",
        "Inputs have shares of a port by weight",
    )
    ideal = played.refusal("devices.hub.arbitration=input-shares", "devices.hub.queueing=output")
    assert "devices.hub.arbitration: arbitration other than round-robin needs queues at the inputs" in ideal


CACHE = """
devices:
  host: {kind: host, cache: {size: 4KiB, ways: 8}}
  mem: {kind: memory}
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {pattern: zipf, exponent: 1.1, requests: 5000, footprint: 1MiB}}
"""


@slow
def test_a_victim_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "fewest_uses.cpp", CACHE)

    def hit_rate(policy: str) -> float:
        found = played.results(f"devices.host.cache.policy={policy}")
        return float(found["per_requester"]["host"]["cache_hit_rate"])

    # What is popular stays, which is best where popularity does not change; one that forgets at once keeps no order.
    assert hit_rate("fewest-uses") > hit_rate("lru")
    assert hit_rate("{kind: fewest-uses, most: 1}") < hit_rate("fewest-uses")
    assert hit_rate("lfu") > hit_rate("lru")

    played.assert_kind(
        "devices.host.cache.policy=fewest-uses",
        "victim policy",
        "The line with the fewest uses leaves",
    )


DOWNWARDS = """
devices:
  host: {kind: host, queue: 1, issue_interval: 120ns, cache: {size: 4KiB}}
  mem: {kind: memory, capacity: 1MiB}
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {trace: down.trace}}
"""


def test_a_prefetcher_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "lines_before.cpp", DOWNWARDS)
    # Four pages from the top line to the lowest.
    accesses = [f"{line * 64:#x} R 0" for line in reversed(range(256))]
    (tmp_path / "down.trace").write_text("\n".join(accesses) + "\n")

    def host(prefetch: str) -> dict[str, Any]:
        found = played.results(f"devices.host.cache.prefetch={prefetch}")
        measures: dict[str, Any] = found["per_requester"]["host"]
        return measures

    # All lines of each page but the top line have come when they are wanted; below line 0 there is nothing to ask for.
    before = host("lines-before")
    assert before["cache_hit_rate"] == (256 - 4) / 256
    assert before["prefetches"] == before["prefetches_useful"] == 256 - 4
    whole = host("{kind: lines-before, page: 1MiB, lines: 4, registers: 4}")
    assert whole["prefetches"] == whole["prefetches_useful"] == 256 - 1
    assert host("next-line")["prefetches_useful"] == 0
    assert "prefetches" not in host("none")

    played.assert_kind(
        "devices.host.cache.prefetch=lines-before",
        "prefetcher",
        "The lines before one that is new",
    )
    wrong = "devices.host.cache.prefetch={kind: lines-before, page: 100B}"
    assert "devices.host.cache.prefetch.page" in played.refusal(wrong)  # at least 128B


SPINES = """
topology: {kind: spine-leaf, leaves: 2, spines: 2, devices_per_leaf: 4, link: {bandwidth: 8GB/s}}
workload: {"host*": {pattern: random, requests: 500, footprint: 1MiB}}
"""


@slow
def test_a_routing_strategy_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "first.cpp", SPINES)

    def messages_of_spines(routing: str) -> list[int]:
        links = played.results(f"run.routing={routing}")["per_link"]
        spines = [[way["messages"] for name, ends in links.items() for way in ends.values() if spine in name]
                  for spine in ("spine0", "spine1")]  # fmt: skip
        return [sum(each) for each in spines]

    assert all(messages_of_spines("deterministic"))
    first, second = messages_of_spines("first")
    assert first > 0
    assert second == 0
    assert messages_of_spines("{kind: first, last: true}") == [second, first]

    played.assert_kind("run.routing=first", "routing", "always the first")


PARALLEL = """
devices: {host: {kind: host}, mem: {kind: memory}, "sw[0-3]": {kind: switch}}
links:
  - {between: [host, sw0]}
  - {between: [sw0, sw1]}
  - {between: [sw0, sw2]}
  - {between: [sw1, sw3]}
  - {between: [sw2, sw3]}
  - {between: [mem, sw3]}
address_map: [{to: [mem]}]
workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}
"""


@pytest.mark.parametrize(
    ("spec", "chosen", "said"),
    some(
        [
            (CACHE, "devices.host.cache.policy=astray-victim", "the victim policy chose slot 1000000 of set"),
            (PARALLEL, "run.routing=astray-routing", "the routing strategy chose way 2 of 2"),
            (
                SHARED,
                "devices.hub.arbitration=astray-arbitration",
                "the arbitration of 'hub' chose queue 1000000 of",
            ),
            (
                DRAM.replace("test-D5", "DDR5-4800"),
                "devices.mem.media.refresh=astray-refresh",
                "the refresh policy chose set 1000000 of rank 0",
            ),
        ]
    ),
)
def test_a_policy_that_chooses_what_there_is_not_is_named(
    tmp_path: Path, spec: str, chosen: str, said: str
) -> None:
    done = with_plugin(tmp_path, "astray.cpp", spec).command("run", chosen)
    assert done.returncode == 1
    assert said in done.stderr
    assert f"(kind '{chosen.partition('=')[2]}' of the plug-in" in done.stderr
    assert "Traceback" not in done.stderr
