"""Latency of a pod in its worst minute: against what `cxloom measure` finds, and against what load has to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plan_support import Row, found_of, plan_of

import cxloom as cx
from cxloom.planning.latency import _simulated
from cxloom.planning.pod import UNUSED, Pod, Scope, loaded_pod, template_of
from cxloom.planning.reach import reach_of
from cxloom.planning.worst import Worst

ONE: list[Row] = [(0, 600, 1, 64, 1, 0)]
DIRECT = {"pool": {"kind": "direct"}}
FIXED = {"kind": "direct", "device": "cxl/pins-x16-64"}
"""A device of fixed latency: its loaded latency has no refreshes in it."""


def latency(
    folder: Path, design: Any, rows: list[Row] = ONE, count: int = 1, **traffic: Any
) -> dict[str, Any]:
    given = {"per_gib": "10MB/s", "requests": 4000, **traffic}
    plan = plan_of(folder, rows, {"pool": design}, servers={"count": count, "cores": 64}, traffic=given)
    found: dict[str, Any] = found_of(plan)["latency"]
    return found


def test_one_server_on_one_device_has_the_latency_that_measure_finds(tmp_path: Path) -> None:
    (row,) = cx.measure.latency("expander/x16-ddr5").rows
    assert latency(tmp_path, {"kind": "direct"})["idle_ns"] == row["latency_ns"]


def test_a_server_with_cores_and_caches_makes_the_accesses_that_memory_sees(tmp_path: Path) -> None:
    """Its cores were refused beside a rate, and its cache made a read of each write. A line that misses has looked
    the cache up: 20 ns of this preset. Refreshes meet others of 2000 reads than with a core."""
    design = {"kind": "direct", "device": "server/xeon-gold-6416h"}
    (row,) = cx.measure.latency(design["device"]).rows
    found = latency(tmp_path, design, per_gib="1GB/s", reads=0.5, requests=20_000)
    assert found["idle_ns"] == pytest.approx(row["latency_ns"], rel=0.02)
    assert found["idle_ns"] > 107
    assert found["carried_gb_per_s"] == pytest.approx(found["asked_gb_per_s"], rel=0.05)


def test_without_load_the_loaded_latency_is_the_idle_one(tmp_path: Path) -> None:
    found = latency(tmp_path, FIXED, per_gib="1MB/s", reads=1.0)
    assert found["mean_ns"] == pytest.approx(found["idle_ns"], rel=1e-3)
    assert found["idle_ns"] == pytest.approx(114, rel=1e-2)  # the preset derives it


def test_load_makes_it_longer_and_a_narrow_link_more_so(tmp_path: Path) -> None:
    low, high = (latency(tmp_path, {"kind": "direct"}, per_gib=load) for load in ("10MB/s", "400MB/s"))
    narrow = latency(tmp_path, {"kind": "direct", "phy": "pcie5-x8"}, per_gib="400MB/s")
    assert low["mean_ns"] < high["mean_ns"] < narrow["mean_ns"]
    assert low["p99_ns"] <= high["p99_ns"]
    assert high["asked_gb_per_s"] == pytest.approx(64 * 0.4)
    assert high["carried_gb_per_s"] == pytest.approx(high["asked_gb_per_s"], rel=0.05)


def test_what_a_device_cannot_carry_is_said(tmp_path: Path) -> None:
    found = latency(tmp_path, {"kind": "direct"}, per_gib="2GB/s", requests=20_000)
    assert found["carried_gb_per_s"] < 0.7 * found["asked_gb_per_s"]
    assert any("do not keep up" in note for note in found["notes"])


def test_a_switch_takes_its_time_twice(tmp_path: Path) -> None:
    """There and back: 100 ns more of switching are 200 ns more of latency."""
    slow, fast = (
        latency(tmp_path, {**FIXED, "kind": "switched", "switching_time": time})["idle_ns"]
        for time in ("120ns", "20ns")
    )
    assert slow - fast == pytest.approx(200)
    assert fast > latency(tmp_path, FIXED)["idle_ns"]


def test_reads_patterns_and_arrivals_move_it(tmp_path: Path) -> None:
    base = latency(tmp_path, FIXED, per_gib="500MB/s")
    even = latency(tmp_path, FIXED, per_gib="500MB/s", arrivals="even")
    assert even["mean_ns"] < base["mean_ns"]  # nobody waits where gaps are all alike
    ddr = {"kind": "direct"}
    random, rows = (latency(tmp_path, ddr, per_gib="100MB/s", pattern=p) for p in ("random", "sequential"))
    assert rows["mean_ns"] < random["mean_ns"]  # open rows of DRAM
    all_reads = latency(tmp_path, ddr, per_gib="600MB/s", reads=1.0)
    half = latency(tmp_path, ddr, per_gib="600MB/s", reads=0.5)
    assert all_reads["mean_ns"] != half["mean_ns"]


def test_traffic_of_vms_adds_to_that_of_memory(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 600, 1, 16, 1, 0), (0, 600, 1, 16, 1, 0)]
    found = latency(tmp_path, {"kind": "direct"}, rows, per_gib="10MB/s", per_vm="1GB/s")
    assert found["asked_gb_per_s"] == pytest.approx(32 * 0.01 + 2 * 1)


def test_the_worst_minute_is_that_of_the_busiest_device(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 600, 1, 16, 1, 0), (130, 200, 1, 32, 1, 1), (150, 180, 1, 32, 1, 1)]
    found = latency(tmp_path, {"kind": "direct"}, rows, 2)
    assert found["at_s"] == 120
    assert found["slowest_server"] == 1
    assert found["asked_gb_per_s"] == pytest.approx(64 * 0.01)
    assert (found["servers"], found["devices"]) == (1, 1)


def test_a_vm_that_has_ended_has_no_traffic(tmp_path: Path) -> None:
    """One VM after the other: while the first one's slices are not free yet, only the second one reads."""
    rows: list[Row] = [(0, 100, 1, 16, 1, 0), (100, 200, 1, 16, 1, 0)]
    for delay in ("0s", "50s"):
        found = latency(tmp_path, {**FIXED, "release_delay": delay}, rows, per_gib="100MB/s")
        assert found["asked_gb_per_s"] == pytest.approx(16 * 0.1)


def test_two_servers_on_one_device_are_slower_than_on_two(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 600, 1, 64, 1, 0), (0, 600, 1, 64, 1, 1)]
    shared = latency(tmp_path, {"kind": "multi-headed", "heads": 2}, rows, 2, per_gib="300MB/s")
    apart = latency(tmp_path, {"kind": "direct"}, rows, 2, per_gib="300MB/s")
    assert shared["servers"] == 2
    assert shared["mean_ns"] > apart["mean_ns"]


def test_servers_of_a_sparse_pod_go_to_their_own_devices_alone() -> None:
    """A ring: each device has the traffic of its two servers, and nothing passes the switch that joins all."""
    from cxloom.planning.designs import Sparse
    from cxloom.planning.inputs import Traffic

    ring = Sparse(kind="sparse", graph=((0, 1), (1, 2), (2, 0)), device="cxl/pins-x16-64")
    reach = reach_of(ring, 3)
    traffic = {(s, u): 1e9 * (1 + s) for s, units in enumerate(reach.units_of) for u in units}
    worst = Worst(0, 1, dict.fromkeys(traffic, 1.0), traffic)
    given = Traffic.model_validate({"per_gib": "1GB/s", "requests": 3000})
    pod = Pod(ring, reach, template_of(ring, ""))
    result = _simulated(loaded_pod(pod, worst, Scope((0, 1, 2), (0, 1, 2), True), given, 1))
    passed = {
        direction: flow["messages"]
        for link, directions in result["per_link"].items()
        for direction, flow in directions.items()
        if UNUSED in link
    }
    assert len(passed) == 2 * 6
    assert set(passed.values()) == {0}
    moved = {name: each.bandwidth for name, each in result.per_requester.items()}
    assert moved["server2"] / moved["server0"] == pytest.approx(3, rel=0.2)
