"""The commands on systems with a GPU: docs/model/gpu.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validation.examples import slow, some

import cxloom as cx
from cxloom.bottleneck.shared_limits import all_resources

SYSTEMS = {
    "preset": "preset: gpu/a10-pcie4\n",
    "gen5": "preset: gpu/h100-pcie5\nworkload: {gpu: {direction: both}}\n",
    "through the host": """\
devices:
  host: {kind: host}
  cxl: {kind: memory, capacity: 4GiB}
  gpu: {kind: gpu}
links:
  - {between: [host, gpu], phy: pcie4-x16, flit: none, port_delay: 75ns}
  - {between: [host, cxl], phy: pcie5-x8, port_delay: 25ns}
address_map: [{to: cxl}]
workload:
  gpu: {pattern: transfer, size: 64KiB, footprint: 64MiB, requests: 8}
  host: {pattern: random, footprint: 64MiB, requests: 20000}
""",
    "peer to peer": """\
devices:
  host: {kind: host}
  sw: {kind: switch}
  cxl: {kind: memory, capacity: 4GiB}
  gpu: {kind: gpu, peer_to_peer: true, streams: 2}
links:
  - {between: [host, sw], phy: pcie5-x16, port_delay: 25ns}
  - {between: [sw, gpu], phy: pcie5-x16, port_delay: 25ns}
  - {between: [sw, cxl], phy: pcie5-x8, port_delay: 25ns}
address_map: [{to: cxl}]
workload: {gpu: {pattern: transfer, direction: out, size: 64KiB, footprint: 64MiB, requests: 8}}
""",
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "SPEC", "--json"),
    "check": ("check", "SPEC"),
    "explain": ("explain", "SPEC"),
    "draw": ("draw", "SPEC", "--out", "PICTURE"),
    "measure": ("measure", "SPEC", "latency"),
}


@pytest.mark.parametrize("command", some(COMMANDS))
@pytest.mark.parametrize("system", SYSTEMS)
def test_commands_work_on_systems_with_a_gpu(cxloom: Any, tmp_path: Path, system: str, command: str) -> None:
    spec, picture = tmp_path / "spec.yaml", tmp_path / "picture.svg"
    spec.write_text(SYSTEMS[system])
    places = {"SPEC": spec, "PICTURE": picture}
    done = cxloom(*(places.get(word, word) for word in COMMANDS[command]))
    assert done.code == 0, done.err
    if command == "run":
        result = json.loads(done.out)
        assert result["completed"]
        assert result["per_requester"]["gpu"]["large_accesses"] >= 8


@slow
def test_the_bandwidth_of_copies_grows_with_their_size() -> None:
    sizes = ("4KiB", "64KiB", "1MiB", "16MiB")
    found = [cx.run(cx.load("gpu/a10-pcie4").set("workload.gpu.size", size)) for size in sizes]
    rates = [each.bandwidth for each in found]
    assert rates == sorted(rates)
    assert rates[0] < 1 < 25.9 < rates[-1] < 26.36  # 31.51 GB/s x 0.902 x 256 / 276


@pytest.mark.parametrize("preset", ["gpu/a10-pcie4", "gpu/h100-pcie5"])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_a_call_of_a_small_copy_takes_what_is_measured(preset: str, direction: str) -> None:
    spec = cx.load(preset).set("workload.gpu.size", "64B").set("workload.gpu.direction", direction)
    took = cx.run(spec).summary["per_requester"]["gpu"]["large_access_ns"]
    assert 6000 < took < 7000  # gdrcopy: with its request, which is behind the launch


BESIDE = """
devices:
  host: {kind: host}
  other: {kind: host, queue: 256}
  gpu: {kind: gpu, host: host}
  sw: {kind: switch}
  mem: {kind: memory, capacity: 16GiB, media: {kind: fixed, latency: 100ns, bandwidth: 20GB/s}}
links:
  - {between: [host, gpu], phy: pcie4-x16, flit: none, port_delay: 75ns}
  - {between: [host, sw], bandwidth: 64GB/s}
  - {between: [other, sw], bandwidth: 64GB/s}
  - {between: [mem, sw], bandwidth: 64GB/s}
address_map: [{to: mem}]
workload:
  gpu: {pattern: transfer, size: 1MiB, footprint: 1GiB, requests: 12}
  other: {pattern: random, base: 8GiB, footprint: 8GiB, requests: 40000}
"""


def test_a_neighbour_that_takes_from_a_gpu_gains_nothing_for_all() -> None:
    """More lines of the host instead of blocks of 512 B are more requests, and no more bytes."""
    found = cx.explain(cx.System.from_yaml(BESIDE), jobs=1)
    gains = {each.resource.name: each.gain for each in found.what_ifs}
    assert gains["the queue of other"] == pytest.approx(0, abs=0.02)
    assert found.limit is not None
    assert found.limit.name == "the data path of mem"
    # The GPU's tags, 256 x 512 B, bound it at 26.4 GB/s of its link; both together have 40 GB/s of the memory at most.
    assert 0.5 < gains["the data path of mem"] <= 1.01


@pytest.mark.parametrize(
    ("size", "queue", "noted"), [("16KiB", 1, True), ("16KiB", 2, False), ("4MiB", 1, False)]
)
def test_small_copies_that_wait_for_their_launch_are_explained(size: str, queue: int, noted: bool) -> None:
    """16 KiB take 0.6 us of the link and 0.6 us of latency behind 5.8 us of launch, and nothing is full."""
    spec = cx.load("gpu/a10-pcie4").set("workload.gpu.size", size).set("devices.gpu.queue", queue)
    found = cx.explain(spec, jobs=1)
    notes = [each for each in found.notes if "is its launch" in each]
    assert bool(notes) == noted
    if noted:
        assert notes[0].startswith("81 % of the time of a copy of gpu is its launch")
        twice = cx.run(spec.set("devices.gpu.queue", 2)).bandwidth
        assert twice > 1.5 * found.throughput


def test_runs_beside_a_gpu_are_not_compared_by_requests() -> None:
    """A host that takes from the GPU makes eight requests of what was one, and all bytes are as many."""
    spec = cx.System.from_yaml(BESIDE)
    found = cx.compare({"one": cx.run(spec), "other": cx.run(spec.set("devices.other.queue", 512))})
    assert "the bandwidth is" in found.sentences[0]
    assert "requests are answered" not in found.sentences[0]
    assert "requests answered" not in [row.name for row in found.rows]
    assert "of gpu" in found.sentences[0]


def test_measure_says_why_it_measures_no_gpu(cxloom: Any, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(SYSTEMS["preset"])
    done = cxloom("measure", spec, "latency", "--from", "gpu")
    assert done.code == 2
    assert "copies by DMA makes no accesses line by line" in done.err


@pytest.mark.parametrize("direction", ["in", "out", "both"])
def test_explain_knows_tags_of_reads_and_credits_of_writes(direction: str) -> None:
    spec = cx.load("gpu/a10-pcie4").set("workload.gpu.direction", direction)
    spec = spec.set("devices.gpu.launch_time", "0ns").set("devices.gpu.streams", 4)
    resources = {each.name: each for each in all_resources(spec.resolve().plain(), cx.run(spec).summary)}
    tags, posted = resources["the tags of gpu"], resources["the posted writes of gpu"]
    assert (tags.counts, posted.counts) == ("reads", "writes")
    assert (tags.busy > 0, posted.busy > 0) == (direction != "out", direction != "in")
    assert tags.busy <= 1
    assert posted.busy <= 1


def test_instructions_between_copies_are_refused(cxloom: Any, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(SYSTEMS["preset"] + "workload: {gpu: {trace: t.txt, pattern: null}}\n")
    for gap, code in ((0, 0), (9, 2)):
        head = "# cxloom-trace 2: address kind instruction_gap"
        (tmp_path / "t.txt").write_text(f"{head}\n0x0 R 0\n0x40 R {gap}\n")
        done = cxloom("check", spec)
        assert done.code == code, done.err
    assert "workload.gpu" in done.err
    assert "no instructions between its copies" in done.err


MIDDLE = """\
devices:
  host: {kind: host, memory: {capacity: 1MiB}, cache: {size: 64KiB}, home_agent: {}}
  gpu: {kind: gpu}
  a: {kind: memory, capacity: 1MiB}
  b: {kind: memory, capacity: 1MiB}
links:
  - {between: [host, gpu]}
  - {between: [host, a]}
  - {between: [host, b]}
address_map:
  - {to: host, coherence: hdm-h}
  - {to: a}
  - {to: b, coherence: hdm-h, home: host}
workload: {gpu: {pattern: transfer, size: 3MiB, footprint: 3MiB, requests: 1}}
"""


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_copy_is_checked_from_end_to_end(cxloom: Any, tmp_path: Path, command: str) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(MIDDLE)
    done = cxloom(command, spec)
    assert done.code == 2
    assert "spec.yaml:14:12: workload.gpu: DMA to memory that nobody keeps coherent" in done.err
    assert "found: 0x100000" in done.err
    spec.write_text(MIDDLE.replace(", cache: {size: 64KiB}", ""))
    done = cxloom(command, spec)
    assert done.code == 0, done.err


def copied(system: str, way: dict[str, str], **run: object) -> cx.Result:
    """A graph of one copy of 4 MiB between an object in the memory of a system and its GPU."""
    copy = {"name": "copy", "kind": "copy", "bytes": "4MiB", "on": "gpu"} | way
    spec = cx.System.from_yaml(SYSTEMS[system]).set("workload", {}).set("run", run).set("tasks.exact", True)
    place = {"kind": "bind", "nodes": ["cxl"]}
    spec = spec.set("tasks.objects", [{"name": "w", "size": "4MiB", "addresses": place}])
    return cx.run(spec.set("tasks.graph", [copy]))


IN, OUT = {"from": "w", "to": "gpu"}, {"from": "gpu", "to": "w"}


def test_a_long_copy_of_a_task_is_no_livelock() -> None:
    """Nobody is told of its requests, and many times as many messages pass as may pass in silence."""
    result = copied("peer to peer", IN, livelock_deliveries=100)
    assert not result.truncated
    assert result["tasks"]["per_task"]["copy"]["bytes"] == 4 << 20


@pytest.mark.parametrize(
    ("system", "way", "links"),
    [
        ("through the host", IN, {"cxl->host", "host->gpu"}),
        ("through the host", OUT, {"gpu->host", "host->cxl"}),
        ("peer to peer", IN, {"cxl->sw", "sw->gpu"}),
        ("peer to peer", OUT, {"gpu->sw", "sw->cxl"}),
    ],
)
def test_a_copy_of_a_task_is_on_each_link_of_its_way(
    system: str, way: dict[str, str], links: set[str]
) -> None:
    assert copied(system, way)["tasks"]["per_link"] == {link: {"w": 4 << 20} for link in links}
