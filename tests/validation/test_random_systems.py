"""Properties of every system, tried on random ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from validation.examples import examples
from validation.found_systems import FOUND
from validation.random_systems import may_deadlock, systems
from validation.systems import LINE, SEGMENTS, Run, Spec, changed, host_bus_memories, run
from validation.unloaded import Unloaded

from cxloom.base.errors import SimulationError


def play(spec: Spec) -> Run | None:
    """The run, or none if it was diagnosed as a deadlock where there can be one."""
    try:
        return run(spec)
    except SimulationError as error:
        if not (may_deadlock(spec) and "deadlock" in str(error) and "circle:" in str(error)):
            raise
        return None


def check_requests(outcome: Run) -> None:
    """Every request answered once, every picosecond accounted for."""
    spec, summary, rows = outcome.spec, outcome.summary, outcome.requests
    # Who is warm before others goes on until they are: its warm-up is longer.
    warmup = spec["run"]["warmup"]
    wanted = sum(work["requests"] + warmup for work in spec["workload"].values())
    assert outcome.completed == outcome.expected >= wanted
    assert outcome.completed == wanted or (warmup > 0 and len(spec["workload"]) > 1)
    assert summary["completed"]
    kinds = summary["reads"] + summary["writes"] + summary.get("atomics", 0)
    assert len(rows["id"]) == summary["requests"] == kinds
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{segment}_ps"] for segment in SEGMENTS), latency)
    assert all((rows[f"{segment}_ps"] >= 0).all() for segment in SEGMENTS)
    for node in np.unique(rows["requester"]):
        own = rows["id"][rows["requester"] == node]
        assert len(np.unique(own)) == len(own)
    assert 0 <= summary["simulated_time_ns"] <= outcome.end_ns + 1e-9


def check_sums(outcome: Run) -> None:
    """The parts of the summary make up the whole."""
    summary = outcome.summary
    parts = summary["per_requester"].values()
    assert sum(m["requests"] for m in parts) == summary["requests"]
    assert sum(m["bandwidth_gb_per_s"] for m in parts) == pytest.approx(
        summary["bandwidth_gb_per_s"], rel=1e-9
    )
    served = [m["requests"] for m in summary["per_memory"].values() if "requests" in m]
    assert sum(served) <= summary["requests"]
    assert sum(summary["breakdown_ns"].values()) == pytest.approx(
        summary["latency_ns"]["mean"], rel=1e-9, abs=1e-9
    )
    ordered = [summary["latency_ns"][key] for key in ("min", "p50", "p90", "p99", "p999", "max")]
    assert ordered == sorted(ordered)


def registers(device: Spec) -> int:
    """Lines that may be on their way to a requester ahead of their use."""
    prefetch = device.get("cache", {}).get("prefetch", "none")
    return 16 if isinstance(prefetch, str) else int(prefetch.get("registers", 16))


def check_bounds(outcome: Run) -> None:
    """Nothing is busier than always, and nobody moves more than its wires let pass."""
    summary = outcome.summary
    for name, way in outcome.directions().items():
        for key in ("utilization", "efficiency"):
            assert way[key] is None or -1e-12 <= way[key] <= 1 + 1e-9, (name, key)
    for name, hub in summary["per_switch"].items():
        for key, value in hub.items():
            if "utilization" in key or key == "efficiency":
                assert value is None or -1e-12 <= value <= 1 + 1e-9, (name, key)
    window = summary["simulated_time_ns"]
    model = Unloaded(outcome.spec)
    for name, measures in summary["per_requester"].items():
        device = outcome.spec["devices"][name]
        assert measures["in_flight_mean"] <= device.get("queue", 64) + 1e-9
        if "memory" in device or window == 0:
            continue
        limits = [
            rate
            for hub in model.graph.neighbours[name]
            for rate in (model.rate(name, hub), model.rate(hub, name))
        ]
        if all(limit is not None for limit in limits):
            most = sum(float(1000 / Fraction(limit)) for limit in limits if limit)
            size = (
                LINE if "cache" in device else int(outcome.spec["workload"][name]["size"].removesuffix("B"))
            )
            # What was on its way when the window opened counts when it arrives, and so do write-backs and prefetches.
            slack = (2 * (device.get("queue", 64) + 1) + registers(device)) * size / window
            assert measures["bandwidth_gb_per_s"] <= most + slack + 1e-9


def check_latency_floor(outcome: Run) -> None:
    """No request is faster than one that meets nobody on the same way."""
    spec, rows = outcome.spec, outcome.requests
    if spec["run"]["routing"] != "deterministic":
        return
    model = Unloaded(spec)
    floors: dict[tuple[str, str, bool], int] = {}
    for i in range(len(rows["id"])):
        requester, target = outcome.nodes[rows["requester"][i]], outcome.nodes[rows["target"][i]]
        if "cache" in spec["devices"][requester]:
            continue
        key = requester, target, bool(rows["kind"][i])
        if key not in floors:
            floors[key] = model.request(*key, int(rows["size"][i]), spec["run"]["route_by"])
        assert rows["completed_ps"][i] - rows["created_ps"][i] >= floors[key], key


def check_everything(spec: Spec) -> None:
    """All properties, unless the run was rightly given up."""
    outcome = play(spec)
    if outcome is None:
        return
    check_requests(outcome)
    check_sums(outcome)
    check_bounds(outcome)
    check_latency_floor(outcome)


@given(systems())
def test_every_run_keeps_its_accounts(spec: Spec) -> None:
    check_everything(spec)


@pytest.mark.parametrize("number", range(len(FOUND)))
def test_what_once_failed_stays_mended(number: int) -> None:
    check_everything(FOUND[number])


@settings(max_examples=examples(20))
@given(systems())
def test_every_run_gives_the_same_bytes_again(spec: Spec) -> None:
    outcome = play(spec)
    if outcome is None:
        return
    assert run(spec, slice_events=97).canonical() == outcome.canonical()


HALF_DUPLEX = changed(
    host_bus_memories({"duplex": "half", "turnaround": "3.4ns", "bandwidth": "2GB/s"}, memories=1),
    (
        "workload.host",
        {"pattern": "random", "requests": 20, "reads": 0.5, "footprint": "1MiB", "size": "32B"},
    ),
)
"""A bus whose turns take time: what waits for one is booked, and what waits for the bus is counted at once."""


def without_its_own_note(summary: Spec) -> Spec:
    """A series that is longer than the run says so."""
    others = [note for note in summary["notes"] if not note.startswith("the series has no rows")]
    return {**summary, "notes": others}


@settings(max_examples=examples(15))
@given(systems())
@example(HALF_DUPLEX)
def test_what_is_recorded_changes_no_result(spec: Spec) -> None:
    watched = play({**spec, "outputs": {"requests": True, "series": "100ns"}})
    alone = play({**spec, "outputs": {}})
    assert (watched is None) == (alone is None)
    assert watched is None or alone is None or without_its_own_note(watched.summary) == alone.summary
