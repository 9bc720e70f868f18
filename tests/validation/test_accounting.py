"""What every run owes: each picosecond and each request accounted for, measures that agree with each other, the same
bytes for the same seed, and streams that nobody else disturbs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from validation.examples import some
from validation.systems import LINE, SEGMENTS, Run, changed, run
from validation.varied import VARIED

from cxloom import _core

ALL = pytest.mark.parametrize("name", VARIED)
_runs: dict[str, Run] = {}


def outcome_of(name: str) -> Run:
    """The run of a varied system, played once."""
    if name not in _runs:
        _runs[name] = run(VARIED[name])
    return _runs[name]


def lines_of(rows: dict[str, Any]) -> Any:
    """How many lines each access touches. The edges of the window may lie between the lines of one."""
    return (rows["address"] % LINE + rows["size"] + LINE - 1) // LINE


@ALL
def test_segments_sum_to_the_latency_of_every_request(name: str) -> None:
    outcome = outcome_of(name)
    rows = outcome.requests
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{segment}_ps"] for segment in SEGMENTS), latency)
    assert all((rows[f"{segment}_ps"] >= 0).all() for segment in SEGMENTS)
    assert (rows["created_ps"] >= 0).all()


@ALL
def test_requests_are_conserved(name: str) -> None:
    outcome = outcome_of(name)
    spec = VARIED[name]
    # Who is warm before others goes on until they are: its warm-up is longer.
    warmup = spec["run"].get("warmup", 0)
    wanted = sum(work["requests"] + warmup for work in spec["workload"].values())
    assert outcome.completed == outcome.expected >= wanted
    assert outcome.completed == wanted or (warmup > 0 and len(spec["workload"]) > 1)
    assert outcome.summary["completed"] is True
    assert outcome.summary["truncated"] is False
    rows = outcome.requests
    for node in np.unique(rows["requester"]):
        own = rows["id"][rows["requester"] == node]
        assert len(np.unique(own)) == len(own)
    # A requester that has run out of work closed the window: as many of its requests as were to be measured are in it.
    most = max(m["requests"] for m in outcome.summary["per_requester"].values())
    assert most >= max(work["requests"] for work in spec["workload"].values())


@ALL
def test_summary_agrees_with_the_rows(name: str) -> None:
    outcome = outcome_of(name)
    summary, rows = outcome.summary, outcome.requests
    latency = (rows["completed_ps"] - rows["created_ps"]) / 1000
    count = len(latency)
    assert summary["requests"] == count == summary["reads"] + summary["writes"]
    assert summary["reads"] == (rows["kind"] == 0).sum()
    assert summary["latency_ns"]["mean"] == pytest.approx(latency.mean(), rel=1e-9)
    assert summary["latency_ns"]["min"] == latency.min()
    assert summary["latency_ns"]["max"] == latency.max()
    for key, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
        exact = np.sort(latency)[int(np.ceil(share * count)) - 1]
        assert summary["latency_ns"][key] == pytest.approx(exact, rel=0.001)
    for segment in SEGMENTS:
        assert summary["breakdown_ns"][segment] == pytest.approx(
            rows[f"{segment}_ps"].mean() / 1000, rel=1e-9
        )
    assert sum(summary["breakdown_ns"].values()) == pytest.approx(summary["latency_ns"]["mean"], rel=1e-9)
    # What was sent to a memory (its controller saw it) moved its size, or a line if a cache sent it.
    cached = [outcome.nodes.index(n) for n, device in outcome.spec["devices"].items() if "cache" in device]
    size = np.where(np.isin(rows["requester"], cached), LINE, rows["size"])
    moved = size[rows["controller_ps"] > 0].sum()
    moved += LINE * (summary["write_backs"] + summary.get("prefetches", 0))
    whole = (lines_of(rows) == 1).all()
    assert summary["bandwidth_gb_per_s"] == pytest.approx(
        moved / summary["simulated_time_ns"], rel=1e-9 if whole else 0.01
    )
    assert summary["mean_hops"] == pytest.approx(rows["hops"].mean(), rel=1e-9)
    window = summary["simulated_time_ns"]
    assert rows["completed_ps"].max() - rows["completed_ps"].min() <= window * 1000 + 1
    assert 0 < window <= outcome.end_ns


@ALL
def test_parts_agree_with_the_whole(name: str) -> None:
    outcome = outcome_of(name)
    summary, rows = outcome.summary, outcome.requests
    parts = summary["per_requester"].values()
    lines = lines_of(rows)
    assert sum(m["requests"] for m in parts) == summary["requests"]
    assert sum(m["bandwidth_gb_per_s"] for m in parts) == pytest.approx(
        summary["bandwidth_gb_per_s"], rel=1e-9
    )
    assert summary["bandwidth_gb_per_s"] == pytest.approx(
        summary["read"]["bandwidth_gb_per_s"] + summary["write"]["bandwidth_gb_per_s"], rel=1e-9
    )
    for requester, measures in summary["per_requester"].items():
        own = rows["requester"] == outcome.nodes.index(requester)
        latency = (rows["completed_ps"] - rows["created_ps"])[own] / 1000
        assert measures["requests"] == own.sum()
        if own.any():
            assert measures["latency_ns"]["mean"] == pytest.approx(latency.mean(), rel=1e-9)
    for memory, measures in summary["per_memory"].items():
        # Behind a cache, hits and misses that wait for the line of another are served by no memory.
        own = (rows["target"] == outcome.nodes.index(memory)) & (rows["controller_ps"] > 0)
        latency = (rows["completed_ps"] - rows["created_ps"])[own].mean() / 1000
        if (lines == 1).all():
            assert measures["requests"] == own.sum()
            assert measures["latency_ns"]["mean"] == pytest.approx(latency, rel=1e-9)
        else:  # the last line of each access is what the access waited for
            assert measures["latency_ns"]["mean"] <= latency * (1 + 1e-9)
    total = sum(m["requests"] for m in summary["per_memory"].values())
    slack = 2 * outcome.spec["devices"]["host"].get("queue", 64) * (lines.max() - 1) if lines.max() > 1 else 0
    assert abs(total - int(lines[rows["controller_ps"] > 0].sum())) <= slack
    moved = sum(m["bandwidth_gb_per_s"] for m in summary["per_memory"].values())
    assert moved == pytest.approx(summary["bandwidth_gb_per_s"], rel=1e-9)
    for way in outcome.directions().values():
        assert 0.0 <= way["utilization"] <= 1.0 + 1e-12
        assert 0.0 <= (way["efficiency"] or 0.0) <= 1.0 + 1e-12
        assert way["queue_p50"] <= way["queue_p99"] <= way["queue_max"]
        assert way["queue_mean"] <= way["queue_max"]


@ALL
def test_series_agrees_with_the_summary(name: str) -> None:
    outcome = outcome_of(name)
    series, ways = outcome.series, outcome.directions()
    interval = 500.0
    window = outcome.summary["simulated_time_ns"]
    steps = int(window // interval)
    for hub, bus in outcome.summary["per_switch"].items():
        for way in ("upstream", "downstream") if "upstream_utilization" in bus else ():
            ways[f"{hub} {way}"] = {
                key: bus[f"{way}_{key}"] for key in ("utilization", "queue_mean", "queue_max")
            } | {key: bus[key] for key in ("turnaround",) if key in bus}
    ways |= outcome.summary["per_memory"]
    assert set(outcome.sampled) == set(ways)
    assert len(series["time_ps"]) in (steps * len(ways), (steps - 1) * len(ways))
    for i, sampled in enumerate(outcome.sampled):
        own = series["name"] == i
        busy = series["utilization"][own].sum() * interval
        if sampled in outcome.summary["per_memory"]:
            assert np.isnan(series["utilization"][own]).all()
        else:
            assert busy == pytest.approx(ways[sampled]["utilization"] * window, rel=0.02, abs=2 * interval)
        turned, turnaround = series["turnaround"][own], ways[sampled].get("turnaround")
        if turnaround is None:
            assert np.isnan(turned).all()
        else:
            assert turned.sum() * interval == pytest.approx(turnaround * window, rel=0.02, abs=2 * interval)
        waiting = series["queue"][own].sum() * interval
        peak = max(ways[sampled]["queue_max"], 1.0)
        assert waiting == pytest.approx(
            ways[sampled]["queue_mean"] * window, rel=0.02, abs=2 * interval * peak
        )


@ALL
def test_same_seed_same_bytes_in_any_slices(name: str) -> None:
    again = run(VARIED[name], slice_events=777)
    assert again.canonical() == outcome_of(name).canonical()
    other = run(changed(VARIED[name], ("run.seed", 2)))
    assert other.canonical() != outcome_of(name).canonical()


@ALL
def test_rows_are_in_the_order_of_completion_requester_and_id(name: str) -> None:
    rows = outcome_of(name).requests
    order = np.lexsort([rows["id"], rows["requester"], rows["completed_ps"]])
    assert np.array_equal(order, np.arange(len(order)))
    # Taken in parts, they are the same: what completes at the instant at hand stays for the next part.
    simulation = _core.Simulation(VARIED[name], {})
    parts = []
    while not simulation.advance(211):
        parts.append(simulation.take_requests())
    parts.append(simulation.take_requests())
    for column in rows:
        assert np.array_equal(np.concatenate([part[column] for part in parts]), rows[column])


def stream(outcome: Run, requester: str) -> list[tuple[int, ...]]:
    """The accesses of one requester, in the order of issue, as far as they were measured."""
    rows = outcome.requests
    own = rows["requester"] == outcome.nodes.index(requester)
    order = np.argsort(rows["id"][own])
    columns = [rows[key][own][order].tolist() for key in ("id", "address", "kind", "size")]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(("name", "first"), some(product(VARIED, [True, False])))
def test_another_device_does_not_change_a_stream(name: str, first: bool) -> None:
    # Without warm-up: with it the window would open when the stranger is warm too, at other requests of the stream.
    spec = changed(VARIED[name], ("run.warmup", 0))
    stranger = {"stranger": {"kind": "host"}, "store": {"kind": "memory"}, "between": {"kind": "bus"}}
    hubs = [n for n, d in spec["devices"].items() if d["kind"] in ("switch", "bus")]
    known = hubs[0] if hubs else "host"
    links = [
        {"between": ["stranger", "between"]},
        {"between": ["between", "store"]},
        {"between": ["between", known]},
    ]
    larger = changed(
        spec,
        ("devices", {**stranger, **spec["devices"]} if first else {**spec["devices"], **stranger}),
        ("links", links + spec["links"] if first else spec["links"] + links),
    )
    if hubs:  # otherwise it reaches no memory, and is just there
        larger["workload"]["stranger"] = {"pattern": "random", "footprint": "64KiB", "requests": 100_000}
    before, after = run(spec), run(larger)
    for requester in spec["workload"]:
        common = min(len(stream(before, requester)), len(stream(after, requester)))
        expected = {row[0]: row for row in stream(before, requester)}
        both = [row for row in stream(after, requester) if row[0] in expected]
        assert len(both) > common // 2
        assert all(row == expected[row[0]] for row in both)


def test_arrivals_of_an_open_loop_are_a_stream_of_their_own() -> None:
    spec = changed(VARIED["peers"], ("workload.host.requests", 30_000), ("workload.acc1.requests", 30_000))
    slower = changed(spec, ("devices.sw0.switching_time", "300ns"), ("workload.host.reads", 0.1))
    times = []
    for each in (spec, slower):
        outcome = run(each)
        rows = outcome.requests
        own = rows["requester"] == outcome.nodes.index("acc0")
        times.append(dict(zip(rows["id"][own].tolist(), rows["created_ps"][own].tolist(), strict=True)))
    common = times[0].keys() & times[1].keys()
    assert len(common) > 1000
    assert all(times[0][i] == times[1][i] for i in common)


def test_an_accelerator_is_a_memory_too() -> None:
    spec = changed(VARIED["peers"], ("workload", {"host": VARIED["peers"]["workload"]["host"]}))
    summary = run(spec).summary
    # Without work of their own they serve all the same, and their measures as memories stand by themselves.
    assert set(summary["per_memory"]) == {"acc0", "acc1", "mem"}
    assert set(summary["per_requester"]) == {"host"}
    assert summary["per_memory"]["acc0"]["requests"] > 0
    both = run(VARIED["peers"]).summary
    assert not set(both["per_memory"]["acc0"]) & {"in_flight_mean", "latency_mean_ns", "cache_hit_rate"}
    assert not set(both["per_requester"]["acc0"]) & {"queue_mean", "reads", "read_gb_per_s"}
    assert both["per_memory"]["acc0"]["requests"] != both["per_requester"]["acc0"]["requests"]
