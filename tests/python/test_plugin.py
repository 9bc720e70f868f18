"""A component built outside the tree against the public header works like one inside."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from plugin_support import PLUGINS, assert_of_the_plugin, built, results_of, run

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(scope="module")
def library() -> Path:
    return built(EXAMPLE / "retimer.cpp")


@pytest.fixture(scope="module")
def astray() -> Path:
    return built(PLUGINS / "astray.cpp")


def test_a_plugin_runs_and_its_parameter_counts(library: Path) -> None:
    # There and back through the retimer: 2 x 7 ns, and the rest is 10 process + 40 controller + 45 media.
    summary = results_of(EXAMPLE / "retimer.yaml", library, "devices.host.queue=1")
    assert summary["latency_ns"]["mean"] == 10 + 40 + 45 + 2 * 7
    # It is no switch, and measures nothing.
    assert summary["per_switch"] == {}
    assert "per_device" not in summary


def test_a_plugin_is_described(library: Path) -> None:
    shown = run("components", "retimer", "--plugin", str(library))
    assert shown.returncode == 0, shown.stderr
    assert "Regenerates the signal" in shown.stdout
    assert "10ns" in shown.stdout


def test_without_the_plugin_the_kind_is_unknown() -> None:
    refused = run("run", str(EXAMPLE / "retimer.yaml"))
    assert refused.returncode == 2
    assert "unknown device kind 'retimer'" in refused.stderr
    assert "for a kind of a plug-in: --plugin LIB" in refused.stderr


def test_with_a_plugin_nobody_is_told_of_plugins(library: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text((EXAMPLE / "retimer.yaml").read_text().replace("kind: retimer", "kind: oracle"))
    refused = run("run", str(spec), "--plugin", str(library))
    assert refused.returncode == 2
    assert "unknown device kind 'oracle'" in refused.stderr
    assert "dcoh or retimer" in refused.stderr
    assert "--plugin" not in refused.stderr


def test_what_is_no_plugin_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "libfake.so"
    fake.write_text("not a library")
    refused = run("run", str(EXAMPLE / "retimer.yaml"), "--plugin", str(fake))
    assert refused.returncode == 2
    assert "libfake.so" in refused.stderr


IN_PYTHON = """
import cxloom as cx
library = {library!r}
assert not hasattr(cx.System(), "retimer")
cx.load_plugin(library)
system = cx.System()
system.host("host", queue=1).retimer("wire", delay="7ns").memory("mem", capacity="1GiB")
system.connect("host", "wire").connect("wire", "mem").map("mem")
system.workload("host", pattern="random", requests=100, footprint="1MiB")
print(cx.run(system).latency.mean)
try:
    system.retimer("other", dely="7ns")
except cx.InputError as error:
    print(error.suggestion)
try:
    cx.load_plugin(library)
except cx.InputError as error:
    print(error)
"""


def test_a_plugin_is_loaded_in_python(library: Path) -> None:
    code = IN_PYTHON.format(library=str(library))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    mean, suggestion, twice = done.stdout.splitlines()
    assert float(mean) == 10 + 40 + 45 + 2 * 7
    assert suggestion == "delay"
    assert "libretimer.so" in twice


DRAM = """
devices:
  host: {kind: host, queue: 64}
  mem: {kind: memory, media: {kind: dram, preset: test-D5, refresh: "off"}}
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {pattern: random, requests: 2000, footprint: 1GiB}}
"""


def test_a_dram_scheduler_may_come_from_a_plugin(tmp_path: Path) -> None:
    library = built(PLUGINS / "youngest.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(DRAM)

    def latency(scheduler: str) -> dict[str, float]:
        found: dict[str, float] = results_of(spec, library, f"devices.mem.media.scheduler={scheduler}")[
            "latency_ns"
        ]
        return found

    # Who comes late goes first: the same work, but some wait for long, unless nobody has the patience.
    youngest = latency("youngest")
    assert youngest["max"] > 1.5 * latency("fr-fcfs")["max"]
    assert latency("{kind: youngest, patience: 0ns}")["max"] < youngest["max"]

    assert_of_the_plugin(
        library,
        spec,
        "devices.mem.media.scheduler=youngest",
        "DRAM scheduler",
        "The youngest access of each bank goes first",
    )


def test_a_dram_row_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    library = built(PLUGINS / "n_uses.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(DRAM)

    def rows(policy: str) -> dict[str, int]:
        # One access at a time, line after line: a row is used as often as the policy lets it.
        sets = [f"devices.mem.media.row_policy={policy}", "devices.host.queue=1", "run.warmup=0"]
        sets += ["workload.host={pattern: sequential, requests: 1024, footprint: 1MiB, reads: 1.0}"]
        measured = results_of(spec, library, *sets)["per_memory"]["mem"]
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

    assert_of_the_plugin(
        library,
        spec,
        "devices.mem.media.row_policy=n-uses",
        "DRAM row policy",
        "A row is closed after so many uses",
    )


def test_a_dram_refresh_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    library = built(PLUGINS / "idle_first.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(DRAM)

    def results(refresh: str) -> dict[str, Any]:
        # Of sixteen banks as many accesses in flight leave some without work.
        sets = [f"devices.mem.media.refresh={refresh}", "devices.mem.media.preset=LPDDR5-6400"]
        sets += ["run.warmup=0", "devices.host.queue=16"]
        sets += ["workload.host={pattern: random, requests: 20000, footprint: 1GiB, reads: 1.0}"]
        found = results_of(spec, library, *sets)
        return {key: found[key] for key in ("latency_ns", "per_memory")}

    in_turn = results("same-bank")
    assert results("{kind: idle-first, chooses: false}") == in_turn
    chosen = results("idle-first")
    assert chosen["latency_ns"]["mean"] < 0.99 * in_turn["latency_ns"]["mean"]
    refreshes = [each["per_memory"]["mem"]["refreshes"] for each in (chosen, in_turn)]
    assert refreshes[0] < refreshes[1]  # as often, in less time

    assert_of_the_plugin(
        library,
        spec,
        "devices.mem.media.refresh=idle-first",
        "DRAM refresh policy",
        "The set of banks with the least work is refreshed first",
    )
    refused = run(
        "run",
        *(str(spec), "--plugin", str(library), "--set", "devices.mem.media.preset=DDR4-3200"),
        *("--set", "devices.mem.media.refresh=idle-first"),
    )
    assert refused.returncode == 2
    assert "devices.mem.media.refresh: 'DDR4-3200' has no same-bank refresh" in refused.stderr


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


def test_an_arbitration_may_come_from_a_plugin(tmp_path: Path) -> None:
    library = built(PLUGINS / "input_shares.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(SHARED)

    def shares(arbitration: str) -> list[float]:
        hosts = results_of(spec, library, f"devices.hub.arbitration={arbitration}")["per_requester"]
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

    assert_of_the_plugin(
        library,
        spec,
        "devices.hub.arbitration=input-shares",
        "arbitration",
        "Inputs have shares of a port by weight",
    )
    ideal = run(
        "check",
        *(str(spec), "--plugin", str(library), "--set", "devices.hub.arbitration=input-shares"),
        *("--set", "devices.hub.queueing=output"),
    )
    assert ideal.returncode == 2
    assert (
        "devices.hub.arbitration: arbitration other than round-robin needs queues at the inputs"
        in ideal.stderr
    )


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


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
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
    library = built(PLUGINS / "smart_nic.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(SMART_NIC)
    summary = results_of(spec, library)
    assert summary["per_requester"]["nic"]["requests"] == 2000
    assert summary["per_io"]["nic"].keys() == {"packets", "latency_ns", "breakdown_ns"}
    assert summary["per_io"]["nic"]["packets"] > 10
    # What no role of its reports, and nothing of an accelerator that has roles alone.
    assert summary["per_device"] == {"nic": {"uptime_ns": summary["simulated_time_ns"]}}


CACHE = """
devices:
  host: {kind: host, cache: {size: 4KiB, ways: 8}}
  mem: {kind: memory}
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {pattern: zipf, exponent: 1.1, requests: 5000, footprint: 1MiB}}
"""


def test_a_victim_policy_may_come_from_a_plugin(tmp_path: Path) -> None:
    library = built(PLUGINS / "fewest_uses.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(CACHE)

    def hit_rate(policy: str) -> float:
        found = results_of(spec, library, f"devices.host.cache.policy={policy}")
        return float(found["per_requester"]["host"]["cache_hit_rate"])

    # What is popular stays, which is best where popularity does not change; one that forgets at once keeps no order.
    assert hit_rate("fewest-uses") > hit_rate("lru")
    assert hit_rate("{kind: fewest-uses, most: 1}") < hit_rate("fewest-uses")
    assert hit_rate("lfu") > hit_rate("lru")

    assert_of_the_plugin(
        library,
        spec,
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
    library = built(PLUGINS / "lines_before.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(DOWNWARDS)
    # Four pages from the top line to the lowest.
    accesses = [f"{line * 64:#x} R 0" for line in reversed(range(256))]
    (tmp_path / "down.trace").write_text("\n".join(accesses) + "\n")

    def host(prefetch: str) -> dict[str, Any]:
        found = results_of(spec, library, f"devices.host.cache.prefetch={prefetch}")
        measures: dict[str, Any] = found["per_requester"]["host"]
        return measures

    # Of each page but the top line all have come when they are wanted; below line 0 there is nothing to ask for.
    before = host("lines-before")
    assert before["cache_hit_rate"] == (256 - 4) / 256
    assert before["prefetches"] == before["prefetches_useful"] == 256 - 4
    whole = host("{kind: lines-before, page: 1MiB, lines: 4, registers: 4}")
    assert whole["prefetches"] == whole["prefetches_useful"] == 256 - 1
    assert host("next-line")["prefetches_useful"] == 0
    assert "prefetches" not in host("none")

    assert_of_the_plugin(
        library,
        spec,
        "devices.host.cache.prefetch=lines-before",
        "prefetcher",
        "The lines before one that is new",
    )
    wrong = "devices.host.cache.prefetch={kind: lines-before, page: 100B}"
    refused = run("check", str(spec), "--plugin", str(library), "--set", wrong)
    assert refused.returncode == 2
    assert "devices.host.cache.prefetch.page" in refused.stderr  # at least 128B


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
    ],
)
def test_a_policy_that_chooses_what_there_is_not_is_named(
    astray: Path, tmp_path: Path, spec: str, chosen: str, said: str
) -> None:
    (tmp_path / "spec.yaml").write_text(spec)
    done = run("run", str(tmp_path / "spec.yaml"), "--plugin", str(astray), "--set", chosen)
    assert done.returncode == 1
    assert said in done.stderr
    assert f"(kind '{chosen.partition('=')[2]}' of the plug-in" in done.stderr
    assert "Traceback" not in done.stderr


MIRROR = """
devices:
  host: {kind: host, queue: 16}
  mem: {kind: memory, media: {kind: mirrored, of: {kind: fixed, latency: 100ns, banks: 1}}}
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {pattern: random, requests: 2000, footprint: 1MiB, reads: 1.0}}
"""


def test_media_of_a_plugin_may_hold_media(tmp_path: Path) -> None:
    library = built(PLUGINS / "mirrored.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(MIRROR)

    def bandwidth(*settings: str) -> float:
        return float(results_of(spec, library, *settings)["bandwidth_gb_per_s"])

    # Each half reads a line in 100 ns; both write the same.
    assert bandwidth() == pytest.approx(2 * 0.64, rel=0.02)
    assert bandwidth("workload.host.reads=0.0") == pytest.approx(0.64, rel=0.02)
    # It may stand behind a cache, and hold one; a mistake far inside is found where it is.
    cached = "devices.mem.media={kind: cached, size: 1MiB, backing: {kind: mirrored}}"
    assert bandwidth(cached) > 5 * 0.64
    assert bandwidth("devices.mem.media.of={kind: cached, size: 1MiB, backing: fixed}") > 5 * 0.64
    wrong = "devices.mem.media={kind: cached, backing: {kind: mirrored, of: {kind: fixd}}}"
    refused = run("check", str(spec), "--plugin", str(library), "--set", wrong)
    assert refused.returncode == 2
    assert "devices.mem.media.backing.of.kind" in refused.stderr
    assert "did you mean 'fixed'?" in refused.stderr


SPINES = """
topology: {kind: spine-leaf, leaves: 2, spines: 2, devices_per_leaf: 4, link: {bandwidth: 8GB/s}}
workload: {"host*": {pattern: random, requests: 500, footprint: 1MiB}}
"""


def test_a_routing_strategy_may_come_from_a_plugin(tmp_path: Path) -> None:
    library = built(PLUGINS / "first.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPINES)

    def messages_of_spines(routing: str) -> list[int]:
        links = results_of(spec, library, f"run.routing={routing}")["per_link"]
        spines = [[way["messages"] for name, ends in links.items() for way in ends.values() if spine in name]
                  for spine in ("spine0", "spine1")]  # fmt: skip
        return [sum(each) for each in spines]

    assert all(messages_of_spines("deterministic"))
    first, second = messages_of_spines("first")
    assert first > 0
    assert second == 0
    assert messages_of_spines("{kind: first, last: true}") == [second, first]

    assert_of_the_plugin(library, spec, "run.routing=first", "routing", "always the first")


def test_reads_go_on_beside_writes_that_a_scheduler_never_picks(tmp_path: Path) -> None:
    library = built(PLUGINS / "no_writes.cpp")
    spec = tmp_path / "spec.yaml"
    spec.write_text("""
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
""")
    stuck = run("run", str(spec), "--plugin", str(library))
    assert stuck.returncode != 0
    assert "the DRAM scheduler 'no-writes' picks none of 64 queued write bursts" in stuck.stderr
    assert "writer: 96 requests" in stuck.stderr
    assert "reader:" not in stuck.stderr  # all of its reads were answered
