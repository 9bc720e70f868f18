"""Measuring a system as MLC, LMbench and STREAM measure machines: what comes out is what the parts come to."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figure_faults import faults, heading
from validation.examples import WHOLE, some

import cxloom as cx
from cxloom.measure import size_sweep

TWO_HOSTS = """\
name: two hosts
devices:
  h[0-1]: {kind: host, process_time: 10ns, queue: 16}
  sw: {kind: switch, switching_time: 0ns, port_delay: 0ns, port_bandwidth: unlimited}
  near: {kind: memory, capacity: 1GiB, controller_time: 0ns, media: {kind: fixed, latency: 40ns, bandwidth: 10GB/s}}
  far: {kind: memory, capacity: 1GiB, controller_time: 0ns, media: {kind: fixed, latency: 40ns, bandwidth: 5GB/s}}
links:
  - {between: [h0, sw]}
  - {between: [h1, sw], delay: 20ns}
  - {between: [sw, near]}
  - {between: [sw, far], delay: 100ns}
address_map: [{to: near}, {to: far}]
workload: {h0: {pattern: random, requests: 10, footprint: 1MiB}}
"""

CACHED = """\
name: caches
devices:
  host:
    kind: host
    process_time: 0ns
    cache:
      {size: 4KiB, ways: 0, access_time: 1ns, levels: [{size: 64KiB, ways: 0, access_time: 9ns, inclusive: true}]}
  mem: {kind: memory, capacity: 1GiB, controller_time: 0ns, media: {kind: fixed, latency: 90ns}}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 10, footprint: 1MiB}}
"""


def drawn(measured: Any) -> bool:
    """It has a table, and a picture that says what it is of, with nothing cut."""
    figure = measured.figure()
    assert faults(figure) == []
    assert heading(figure).startswith(f"{measured.system}: {measured.title}")
    return bool(figure.axes) and measured.title in str(measured) and len(measured.frame()) > 0


def by(rows: list[dict[str, Any]], *keys: str, value: str) -> dict[Any, Any]:
    """A value of each row by others."""
    return {tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]]: row[value] for row in rows}


def test_the_matrix_has_the_sums_of_the_parts() -> None:
    measured = cx.measure.matrix(cx.System.from_yaml(TWO_HOSTS), reads=50)
    assert drawn(measured)
    assert measured.rows == [
        {"requester": "h0", "near": 50.0, "far": 250.0},
        {"requester": "h1", "near": 90.0, "far": 290.0},
    ]


def test_idle_latency_is_exact_and_says_where_it_goes() -> None:
    measured = cx.measure.latency(cx.System.from_yaml(TWO_HOSTS), requester="h1", memories=["far"], reads=50)
    assert drawn(measured)
    (row,) = measured.rows
    assert (row["least_ns"], row["latency_ns"], row["most_ns"]) == (290.0, 290.0, 290.0)
    assert row["breakdown_ns"] == {"process": 10.0, "propagation": 240.0, "media": 40.0}


@pytest.mark.parametrize("preset", ["dmsim/asic", "dmsim/fpga"])
def test_presets_measure_as_published(preset: str) -> None:
    found = by(cx.measure.latency(preset, reads=20).rows, "memory", value="latency_ns")
    assert found == {"local": 130.0, "cxl": {"dmsim/asic": 284.0, "dmsim/fpga": 374.0}[preset]}


def test_what_misses_has_looked_all_caches_up() -> None:
    """1 + 9 ns of look-ups before 90 of the memory: as `check` has it, as reads beyond the caches take, and as MLC
    measures it. A probe beside little load has the same, and a queue of n gives n lines in that time.
    """
    system = cx.System.from_yaml(CACHED).set("devices.host.queue", 10)
    (idle,) = cx.measure.latency(system, reads=50).rows
    assert (idle["least_ns"], idle["latency_ns"], idle["most_ns"]) == (100.0, 100.0, 100.0)
    assert idle["breakdown_ns"] == {"cache": 10.0, "media": 90.0}
    assert system.check()["routes"][0]["idle_read_ns"]["mean"] == 100.0
    assert cx.measure.sizes(system, largest="1MiB").rows[-1]["latency_ns"] == pytest.approx(100, abs=0.5)
    assert {row["latency_ns"] for row in cx.measure.loaded(system).rows} == {100.0}
    (reads, *_) = cx.measure.bandwidth(system).rows
    assert reads["bandwidth_gb_per_s"] == pytest.approx(64 * 10 / 100, rel=0.01)


def test_latency_over_size_steps_at_the_caches() -> None:
    """A fixed cycle under LRU hits all or nothing: in L1 to 4 KiB, in L2 to 64 KiB, beyond it never."""
    measured = cx.measure.sizes(cx.System.from_yaml(CACHED), largest="256KiB")
    assert drawn(measured)
    for row in measured.rows:
        size = row["bytes"]
        expected = 1.0 if size <= 4096 else 10.0 if size <= 65536 else 100.0
        assert row["latency_ns"] == expected, size
        assert row["l1_hits"] == (size <= 4096)
        assert row["l2_hits"] == (4096 < size <= 65536)
    assert [row["bytes"] for row in measured.rows][:6] == [512, 768, 1024, 1536, 2048, 3072]


def test_a_size_that_is_known_sooner_is_what_all_laps_give(monkeypatch: pytest.MonkeyPatch) -> None:
    """One level of LRU: one lap warms it, and a part of a lap tells the mean to 0.2 %.

    Pages of scattered frames meet in sets of four ways, so that between half and twice the cache some of them hit.
    """
    level = "{size: 256KiB, ways: 4, access_time: 10ns}"
    start, end = CACHED.index("{size: 4KiB"), CACHED.index("\n  mem:")
    system = cx.System.from_yaml(CACHED[:start] + level + CACHED[end:])
    soon = cx.measure.sizes(system, largest="1MiB").rows
    monkeypatch.setattr(size_sweep, "_is_steady_at_once", lambda *_: False)
    monkeypatch.setattr(size_sweep, "_KNOWN", "0.00001%")
    whole = cx.measure.sizes(system, largest="1MiB").rows
    assert 0.1 < by(whole, "bytes", value="l1_hits")[384 * 1024] < 0.9
    for one, all_laps in zip(soon, whole, strict=True):
        assert one["bytes"] == all_laps["bytes"]
        assert one["latency_ns"] == pytest.approx(all_laps["latency_ns"], rel=2 * 0.002), one["bytes"]
        assert one["l1_hits"] == pytest.approx(all_laps["l1_hits"], abs=0.01)


def test_loaded_latency_rises_from_idle_to_full() -> None:
    """Unloaded as idle; full, all that is in flight over the bandwidth, of which the probe has one."""
    measured = cx.measure.loaded(cx.System.from_yaml(TWO_HOSTS), memories=["near"])
    assert drawn(measured)
    first, *_, last = measured.rows
    assert first["latency_ns"] == pytest.approx(50, rel=0.03)
    assert last["bandwidth_gb_per_s"] == pytest.approx(10, rel=0.01)
    # 32 of the loading requesters and the probe are in flight, 64 B each; whose way is longer waits as long less.
    assert last["latency_ns"] == pytest.approx(33 * 64 / 10 - 20, rel=0.1)
    loads = [row["bandwidth_gb_per_s"] for row in measured.rows]
    assert all(later >= 0.999 * before for before, later in itertools.pairwise(loads))
    assert [row["delay_ns"] for row in measured.rows[:-1]] == sorted(
        (row["delay_ns"] for row in measured.rows[:-1]), reverse=True
    )


@pytest.mark.parametrize(
    ("narrow", "wide", "parts"),
    [({"bandwidth": "4GB/s"}, {"bandwidth": "16GB/s"}, (20, 80)), ({"queue": 16}, {"queue": 48}, (25, 75))],
    ids=["links", "queues"],
)
def test_hosts_of_unlike_limits_come_to_them_together(
    monkeypatch: pytest.MonkeyPatch, narrow: dict[str, Any], wide: dict[str, Any], parts: tuple[int, int]
) -> None:
    """With one delay for both the narrow host is at its limit, and the wide one far from it: no point is between."""
    monkeypatch.setattr("cxloom.measure.loaded_latency.SHARES", (0.3, 0.6, 0.9))
    both = {"narrow": narrow, "wide": wide}
    spec = {
        "devices": {name: {"kind": "host", "queue": each.get("queue", 64)} for name, each in both.items()}
        | {
            "sw": {"kind": "switch", "port_bandwidth": "200GB/s"},
            "mem": {"kind": "memory", "capacity": "1GiB", "media": {"kind": "fixed", "bandwidth": "100GB/s"}},
        },
        "links": [
            {"between": [name, "sw"], "bandwidth": each.get("bandwidth", "200GB/s")}
            for name, each in both.items()
        ]
        + [{"between": ["sw", "mem"], "bandwidth": "200GB/s"}],
        "address_map": [{"to": "mem"}],
    }
    measured = cx.measure.loaded(cx.System.from_yaml(json.dumps(spec)))
    *before, full = measured.rows
    for share, row in zip((0.3, 0.6, 0.9), before, strict=True):
        assert row["bandwidth_gb_per_s"] == pytest.approx(share * full["bandwidth_gb_per_s"], rel=0.08)
    if "bandwidth" in narrow:  # the curve has its knee where all of it is used
        assert before[-1]["latency_ns"] < 1.1 * before[0]["latency_ns"]
        assert full["latency_ns"] > 3 * before[0]["latency_ns"]
    assert f"the full load for mem is {parts[0]} % by narrow and {parts[1]} % by wide" in measured.note


def test_several_shares_of_reads_have_a_curve_each(monkeypatch: pytest.MonkeyPatch) -> None:
    # The memory's 10 GB/s are those of reads and of writes: whatever the share, that is the end of its curve.
    monkeypatch.setattr("cxloom.measure.loaded_latency.SHARES", (0.3,))
    system = cx.System.from_yaml(TWO_HOSTS)
    measured = cx.measure.loaded(system, memories=["near"], reads=[1.0, 0.5])
    assert drawn(measured)
    assert "100, 50 % reads" in measured.title
    assert [(row["reads"], row["delay_ns"] > 0) for row in measured.rows] == [
        (1.0, True),
        (1.0, False),
        (0.5, True),
        (0.5, False),
    ]
    for row in measured.rows[1::2]:
        assert row["bandwidth_gb_per_s"] == pytest.approx(10, rel=0.01)
    alone = cx.measure.loaded(system, memories=["near"], reads=0.5)
    of_numpy = cx.measure.loaded(system, memories=["near"], reads=np.float32(0.5))
    assert of_numpy.rows == alone.rows
    with pytest.raises(cx.InputError, match="a share of reads"):
        cx.measure.loaded(system, reads="half")
    assert alone.rows == measured.rows[2:]
    with pytest.raises(cx.InputError, match="a share of reads"):
        cx.measure.loaded(system, reads=[0.5, 2.0])
    with pytest.raises(cx.InputError, match="a share of reads"):
        cx.measure.loaded(system, reads=[])


def test_peak_bandwidth_is_the_least_of_media_and_requests_in_flight() -> None:
    measured = cx.measure.bandwidth(cx.System.from_yaml(TWO_HOSTS))
    assert drawn(measured)
    found = by(measured.rows, "memory", "mix", value="bandwidth_gb_per_s")
    assert len(found) == 10
    for (memory, _), value in found.items():
        assert value == pytest.approx({"near": 10, "far": 5}[memory], rel=0.01)


@pytest.mark.parametrize(("stores", "shares"), [("allocate", (2 / 3, 3 / 4)), ("streaming", (1, 1))])
def test_stream_counts_what_stream_counts(stores: str, shares: tuple[float, float]) -> None:
    """The kernel names its share of the lines on the bus: lines read, read for the store, and written."""
    measured = cx.measure.stream(cx.System.from_yaml(TWO_HOSTS), memories=["near"], stores=stores)
    assert drawn(measured)
    assert [row["kernel"] for row in measured.rows] == ["copy", "scale", "add", "triad"]
    for row in measured.rows:
        assert row["bus_gb_per_s"] == pytest.approx(10, rel=0.01)
        share = shares[row["kernel"] in ("add", "triad")]
        assert row["bandwidth_gb_per_s"] == pytest.approx(share * row["bus_gb_per_s"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["speed"], "unknown choice"),
        (["latency", "--stores", "allocate"], "latency takes no --stores"),
        (["latency", "--memory", "cx"], "no memory of this name has addresses"),
        (["latency", "--from", "hots"], "no requester of this name"),
        (["loaded", "--reads", "120%"], "not a share of reads"),
        (["latency", "--out", "picture.jpg"], "unsupported picture or table format"),
        (["sizes", "--largest", "64"], "--largest: not a size"),
        (["sizes", "--largest", "0KiB"], "no size that there is memory for"),
        (["sizes", "--largest", "64TiB"], "no size that there is memory for"),
        (["latency", "--set", "devices.host.quue=1"], "quue"),
        (["loaded", "--reads", "50%,0.5"], "a share of reads twice"),
        (["loaded", "--reads", "0%,,50%"], "not a share of reads"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    cxloom: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cxloom("measure", "dmsim/asic", *arguments)
    assert done.code == 2, done.err
    assert problem in " ".join(done.err.split())
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_tables_and_pictures(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    files = [tmp_path / "deep" / f"found.{form}" for form in ("json", "csv", "svg", "png", "pdf")]
    done = cxloom(
        "measure", "dmsim/fpga", "matrix", *(part for file in files for part in ("--out", str(file)))
    )
    assert done.code == 0, done.err
    assert "130.0" in done.out
    assert all(file.stat().st_size > 20 for file in files)
    assert sorted(file.name for file in files[0].parent.iterdir()) == sorted(file.name for file in files)
    assert json.loads(files[0].read_text())["rows"] == [{"requester": "host", "local": 130.0, "cxl": 374.0}]
    assert files[1].read_text().splitlines() == ["requester,local,cxl", "host,130.0,374.0"]


def test_json_is_for_programs(cxloom: Callable[..., Any]) -> None:
    done = cxloom("measure", "dmsim/local", "stream", "--json")
    found = json.loads(done.out)
    assert found["measure"] == "stream"
    assert {row["kernel"] for row in found["rows"]} == {"copy", "scale", "add", "triad"}


@pytest.mark.parametrize("tool", ["latency", "matrix", "sizes", "loaded", "bandwidth", "stream"])
def test_what_is_measured_before_events_says_so(
    tool: str, cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    """The far memory fails before its first read, and has a number all the same."""
    spec = tmp_path / "s.yaml"
    spec.write_text(TWO_HOSTS + "events: [{at: 1ns, fail: {device: far}}]\n")
    said = "the system is measured as it is before its events"
    shown = cxloom("measure", spec, tool)
    assert shown.code == 0, shown.err
    assert said in " ".join(shown.out.split())
    if tool == "loaded" and not WHOLE:  # it takes as long as all others
        return
    assert json.loads(cxloom("measure", spec, tool, "--json").out)["left_out"] == said
    spec.write_text(TWO_HOSTS)
    assert json.loads(cxloom("measure", spec, tool, "--json").out)["left_out"] == ""


def test_memories_that_share_addresses_are_counted_in_their_name() -> None:
    """Six memories behind one interleave were called by the first four."""
    spec = {
        "devices": {
            "h": {"kind": "host"},
            "sw": {"kind": "switch"},
            "m[0-5]": {"kind": "memory", "capacity": "1GiB"},
        },
        "links": [{"between": ["h", "sw"]}, {"between": ["sw", "m[*]"]}],
        "address_map": [{"to": "m[*]"}],
    }
    (row,) = cx.measure.latency(cx.System.from_yaml(json.dumps(spec)), reads=20).rows
    assert row["memory"] == "m0+m1+m2+3 more"
    spec["address_map"] = [{"to": "m[0-3]"}]
    (row,) = cx.measure.latency(cx.System.from_yaml(json.dumps(spec)), reads=20).rows
    assert row["memory"] == "m0+m1+m2+m3"


def test_a_probe_needs_a_way() -> None:
    text = TWO_HOSTS.replace("queue: 16}", "queue: 16, memory: {capacity: 1MiB}}")
    with pytest.raises(cx.InputError, match="memory of its own"):
        cx.measure.loaded(cx.System.from_yaml(text))


def cored(**core: object) -> cx.System:
    """A host without a cache whose accesses take 100 ns each, of which 256 fit into the memory."""
    devices = CACHED.replace("{kind: memory", "{kind: memory, queue: 256").replace(
        "process_time: 0ns", "process_time: 10ns"
    )
    system = cx.System.from_yaml(devices).set("devices.host.cache", "none").set("devices.host.queue", 256)
    return system.set("devices.host.core", core)


@pytest.mark.parametrize("tool", some(["bandwidth", "stream", "loaded"]))
def test_a_host_with_cores_loads_a_memory_with_all_of_them(tool: str) -> None:
    """8 lines that a core waits for, of 100 ns each, are 5.12 GB/s: of so many cores together so many times that."""
    cases: list[tuple[int, int | None]] = [(4, None), (16, 2)]
    if tool == "bandwidth":  # whose runs are few
        cases += [(16, None), (1, None)]
    for cores, threads in cases:
        measured = getattr(cx.measure, tool)(cored(mshrs=8, cores=cores), jobs=1, threads=threads)
        count = threads or cores
        assert f"{count} thread" in measured.title
        assert f"the load of host is of {count} thread" in measured.note
        assert "each waits for 8 lines at most (core.mshrs)" in measured.note
        if tool == "bandwidth":
            assert measured.rows[0]["bandwidth_gb_per_s"] == pytest.approx(count * 8 * 64 / 100, rel=0.03)
            # A queue of 256, its half and its quarter.
            assert {row["in_flight"] for row in measured.rows} <= {
                min(8 * count, each) for each in (256, 128, 64)
            }
    without = getattr(cx.measure, tool)(cx.System.from_yaml(CACHED), jobs=1)
    assert "thread" not in without.title + without.note


def test_the_peak_counts_prefetches_among_what_is_in_flight() -> None:
    """Two cores of 4 fill buffers: 8 lines of 100 ns at random, and 16 in sequence, where a streamer fills the rest."""
    streamer = {"kind": "streamer", "registers": 8}
    system = cored(
        mshrs=8, cores=2, fill_buffers=4, caches=[{"size": "4KiB", "ways": 4, "prefetch": streamer}]
    )
    for pattern, lines in (("random", 4), ("sequential", 8)):
        measured = cx.measure.bandwidth(system, jobs=1, pattern=pattern)
        reads = measured.rows[0]
        assert reads["in_flight"] == 2 * lines
        assert reads["bandwidth_gb_per_s"] == pytest.approx(2 * lines * 64 / 100, rel=0.05)
        assert "waits for 4 lines at most (core.fill_buffers), has 8 under way" in measured.note


@pytest.mark.parametrize(
    ("system", "threads", "said"),
    [(CACHED, 2, "threads need cores"), (None, 0, "too few threads")],
)
def test_threads_that_cannot_be(system: str | None, threads: int, said: str) -> None:
    with pytest.raises(cx.InputError, match=said):
        cx.measure.bandwidth(cx.System.from_yaml(system) if system else cored(), threads=threads)


def test_streams_are_no_measure_at_random() -> None:
    mixes = {
        pattern: {row["mix"] for row in cx.measure.bandwidth("esf/validation", pattern=pattern, jobs=2).rows}
        for pattern in ("sequential", "random")
    }
    assert mixes["sequential"] - mixes["random"] == {"triad-like"}


def few_pages(pages: int, hosts: int) -> cx.System:
    """Hosts at one memory of so many pages."""
    names = [f"host{i}" for i in range(hosts)]
    spec = {
        "devices": {
            **{name: {"kind": "host", "queue": 4} for name in names},
            "sw": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": f"{4 * pages}KiB"},
        },
        "links": [{"between": [name, "sw"], "bandwidth": "16GB/s"} for name in [*names, "mem"]],
        "address_map": [{"to": "mem"}],
        "workload": {name: {"pattern": "random", "footprint": "4KiB", "requests": 100} for name in names},
    }
    return cx.System.from_yaml(json.dumps(spec))


@pytest.mark.parametrize("pages", [1, 2, 3, 5])
def test_the_arrays_of_stream_fit_into_any_memory(pages: int) -> None:
    """Each array has a quarter of what a host has, in pages or in parts of them."""
    for hosts in (1, 2) if pages > 1 else (1,):
        measured = cx.measure.stream(few_pages(pages, hosts), jobs=1)
        assert len(measured.rows) == 4
        assert all(row["bus_gb_per_s"] > 0 for row in measured.rows)


def test_memory_of_fewer_pages_than_hosts_is_not_loaded_by_all() -> None:
    for tool in (cx.measure.bandwidth, cx.measure.stream, cx.measure.loaded):
        with pytest.raises(cx.InputError, match="fewer pages than requesters") as refused:
            tool(few_pages(2, 3), jobs=1)
        assert "mem, 2 of 4KiB for 3" in str(refused.value)
    with pytest.raises(cx.InputError, match="mem, 1 of 4KiB for 2"):  # the host and its probe
        cx.measure.loaded(few_pages(1, 1), jobs=1)
