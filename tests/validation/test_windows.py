"""When the measured window opens and closes, and that it measures a steady state."""

from __future__ import annotations

import numpy as np
import pytest
from validation.systems import changed, generated, host_and_memory, run


@pytest.mark.parametrize("warmup", [0, 1, 64, 500])
def test_one_requester_measures_exactly_its_requests(warmup: int) -> None:
    spec = host_and_memory(work={"requests": 1000}, warmup=warmup)
    outcome = run(changed(spec, ("outputs.requests", True)))
    assert outcome.summary["requests"] == 1000
    assert outcome.completed == warmup + 1000
    # The first measured request takes the slot of an answered one: 63 of the warm-up are still on their way.
    assert outcome.requests["id"].min() == max(0, warmup - 63)


def test_the_window_opens_at_the_first_measured_issue() -> None:
    # One at a time, 95 ns each: five warm-up requests, then ten measured ones.
    spec = host_and_memory(host={"queue": 1}, work={"requests": 10}, warmup=5)
    outcome = run(changed(spec, ("outputs.requests", True)))
    assert outcome.summary["simulated_time_ns"] == 10 * 95.0
    assert outcome.requests["created_ps"].tolist() == [95_000 * i for i in range(5, 15)]


def test_warm_up_leaves_no_trace_of_cold_caches() -> None:
    spec = host_and_memory(
        host={"cache": {"size": "64KiB", "ways": 0}},
        work={"requests": 1000, "pattern": "sequential", "footprint": "32KiB"},
    )
    assert run(spec).summary["per_requester"]["host"]["cache_hit_rate"] < 0.5
    warm = run(changed(spec, ("run.warmup", 600)))
    assert warm.summary["per_requester"]["host"]["cache_hit_rate"] == 1.0
    assert warm.bandwidth == 0.0


def test_the_drain_does_not_dilute_saturated_bandwidth() -> None:
    # One of two hosts on one memory link has a hundred times the work: while both are at it the wire is full.
    spec = generated(
        "spine-leaf",
        {"requests": 2000},
        {"warmup": 500},
        leaves=2,
        spines=1,
        devices_per_leaf=2,
        link={"bandwidth": "8GB/s", "header": "0B", "data_header": "0B"},
    )
    spec["workload"]["host1"].update(requests=200_000, rate="10M/s")
    outcome = run(spec)
    assert outcome.bandwidth == pytest.approx(8.0, rel=0.005)
    assert outcome.end_ns > 100 * outcome.summary["simulated_time_ns"]
    assert outcome.summary["per_requester"]["host0"]["requests"] == 2000


def test_longer_runs_agree_with_shorter_ones() -> None:
    spec = generated("ring", {"requests": 3000, "reads": 0.7}, {"warmup": 500}, switches=4, placement="paired",
                     switch={"kind": "switch", "port_bandwidth": "16GB/s"})  # fmt: skip
    short = run(spec)
    long = run(changed(spec, *((f"workload.{host}.requests", 30_000) for host in spec["workload"])))
    assert short.bandwidth == pytest.approx(long.bandwidth, rel=0.03)
    assert short.latency == pytest.approx(long.latency, rel=0.03)


def test_several_requesters_share_one_window() -> None:
    spec = generated("chain", {"requests": 1500}, {"warmup": 200}, switches=4, placement="paired")
    spec["devices"]["host0"]["queue"] = 4
    outcome = run(changed(spec, ("outputs.requests", True)))
    rows = outcome.requests
    window = outcome.summary["simulated_time_ns"] * 1000
    counts = {host: (rows["requester"] == outcome.nodes.index(host)).sum() for host in spec["workload"]}
    # Who was warm before the last has in the window some of the requests that it issued before.
    assert 1500 <= max(counts.values()) <= 1500 + 64
    assert counts["host0"] < 200
    assert np.ptp(rows["completed_ps"]) <= window
