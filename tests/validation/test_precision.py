"""How well the mean latency is known, and whether the window was stationary."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from validation.systems import FREE, Spec, changed, generated, host_and_memory, run

SERVICE = 10.0
"""A write's 80 bytes at 8 GB/s, in ns: with Poisson arrivals an M/D/1 queue."""


def queue(load: float, requests: int, seed: int = 1) -> Spec:
    """A host that writes over a narrow link, at random times."""
    wire = {"bandwidth": "8GB/s", "reverse": {"bandwidth": "unlimited"}}
    work = {
        "reads": 0.0,
        "requests": requests,
        "rate": f"{round(load / SERVICE * 1e9)}/s",
        "arrivals": "poisson",
    }
    return host_and_memory(wire, host={"queue": 1 << 16}, work=work, warmup=2000, seed=seed)


def truth(load: float) -> float:
    """The mean latency: of a write alone, and the wait of Pollaczek and Khinchine."""
    alone = run(changed(queue(load, 1), ("workload.host.rate", "1k/s"), ("run.warmup", 0))).latency
    return alone + load * SERVICE / (2 * (1 - load))


def rates(load: float, requests: int, seeds: range, until: str | None = None) -> tuple[float, float, float]:
    """Shares of the runs whose interval covers the truth, that are not stationary, and that end early."""
    mean, covered, flagged, early = truth(load), 0, 0, 0
    for seed in seeds:
        spec = queue(load, requests, seed)
        summary = run(changed(spec, ("run.until", {"ci": until})) if until else spec).summary
        low, high = summary["latency_ns"]["ci95"]
        covered += low <= mean <= high
        flagged += summary["stationary"] is False
        early += summary["requests"] < requests
    return covered / len(seeds), flagged / len(seeds), early / len(seeds)


def test_intervals_cover_the_truth_and_steady_windows_are_stationary() -> None:
    # With 60 seeds 95 % is known to 3 %, one standard deviation.
    covered, flagged, _ = rates(0.6, 6000, range(60))
    assert 0.90 <= covered <= 1.0
    assert flagged <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("load", "requests"), [(0.3, 4000), (0.6, 8000), (0.8, 30_000), (0.9, 200_000)])
def test_of_many_runs_as_many_intervals_cover_as_they_say(load: float, requests: int) -> None:
    covered, flagged, _ = rates(load, requests, range(400))
    print(f"load {load}, {requests} requests: {covered:.1%} covered, {flagged:.2%} flagged")
    assert 0.90 <= covered <= 0.98
    assert flagged <= 0.025


@pytest.mark.slow
@pytest.mark.parametrize(("load", "until"), [(0.3, "0.1%"), (0.6, "0.5%"), (0.8, "2%")])
def test_runs_that_end_when_the_mean_is_known_know_it(load: float, until: str) -> None:
    covered, _, early = rates(load, 10_000_000, range(400), until)
    print(f"load {load}, until {until}: {covered:.1%} covered")
    assert early == 1.0
    assert 0.88 <= covered <= 0.98


def five(warmup: int, queue_of_slow: int = 64) -> Spec:
    """One host behind a fast link and four behind narrow ones, with one memory: the one is 50 times as fast."""
    slow = [f"slow{i}" for i in range(4)]
    work = {"pattern": "random", "footprint": "1MiB"}
    return {
        "devices": {
            "fast": {"kind": "host", "queue": 16},
            **{name: {"kind": "host", "queue": queue_of_slow} for name in slow},
            "sw": {"kind": "switch", "queueing": "voq"},
            "mem": {"kind": "memory", "media": {"kind": "fixed", "latency": "40ns", "banks": 8}},
        },
        "links": [
            {"between": ["fast", "sw"], "bandwidth": "32GB/s"},
            *({"between": [name, "sw"], "bandwidth": "1GB/s"} for name in slow),
            {"between": ["sw", "mem"], "bandwidth": "64GB/s"},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {
            "fast": {**work, "requests": 60_000},
            **{name: {**work, "requests": 500} for name in slow},
        },
        "run": {"warmup": warmup},
    }


def test_the_mean_does_not_depend_on_the_warm_up() -> None:
    means, intervals = [], []
    for warmup in (200, 2000, 20_000):
        summary = run(five(warmup)).summary
        assert summary["stationary"] is True, summary["notes"]
        means.append(summary["latency_ns"]["mean"])
        intervals.append(summary["latency_ns"]["ci95"])
        # The slow ones have 64 requests in flight on a wire that takes 80 ns for each.
        assert summary["per_requester"]["slow0"]["latency_ns"]["p50"] == pytest.approx(64 * 80, rel=0.02)
    assert max(low for low, _ in intervals) <= min(high for _, high in intervals)
    assert means == pytest.approx([means[0]] * 3, rel=0.02)


def notes_on_the_window(summary: Spec) -> Iterator[str]:
    return (note for note in summary["notes"] if "not stationary" in note)


def test_a_window_that_opens_while_queues_fill_is_not_stationary() -> None:
    # Warm-up requests are fewer than the queue of the slow ones holds: all are issued at once.
    summary = run(changed(five(200, 2048), ("workload.fast.requests", 40_000))).summary
    assert summary["stationary"] is False
    (note,) = notes_on_the_window(summary)
    assert "longer run.warmup" in note


def test_more_work_than_the_system_can_do_is_not_stationary() -> None:
    summary = run(queue(1.1, 4000)).summary
    assert summary["stationary"] is False
    (note,) = notes_on_the_window(summary)
    assert "its second half is" in note


def test_a_link_that_degrades_in_the_window_is_not_stationary() -> None:
    phy = {"phy": "pcie5-x16", "flit": "68B"}
    spec = host_and_memory(phy, work={"requests": 20_000}, warmup=1000)
    steady = run(spec).summary
    assert steady["stationary"] is True
    middle = steady["simulated_time_ns"] * 0.7
    degraded = {"at": f"{round(middle)}ns", "phy": "pcie5-x4"}
    summary = run(changed(spec, ("links.0.degraded", degraded))).summary
    assert summary["stationary"] is False


@pytest.mark.parametrize(
    ("slower", "words"), [("x8", r"\d+ % higher than that"), ("x1", "1[456] times that")]
)
def test_a_note_says_by_how_much_the_halves_differ(slower: str, words: str) -> None:
    # As many lines in flight behind a sixteenth of the lanes, from the middle on: 16 times the latency by Little's law.
    phy = {"phy": "pcie5-x16", "flit": "68B"}
    spec = host_and_memory(phy, host={"queue": 1024}, work={"requests": 40_000}, warmup=2000)
    middle = run(spec).summary["simulated_time_ns"] / 2
    degraded = {"at": f"{round(middle)}ns", "phy": f"pcie5-{slower}"}
    (note,) = notes_on_the_window(run(changed(spec, ("links.0.degraded", degraded))).summary)
    assert re.search(f"its second half is {words} of the other; ", note), note


def test_phases_longer_than_the_window_are_not_stationary() -> None:
    phase = {"pattern": "random", "requests": 4000}
    spec = changed(queue(0.5, 8000), ("workload.host", {"phases": [{**phase, "reads": 1.0}, {**phase, "reads": 0.0}]}),
                   ("run.warmup", 0))  # fmt: skip
    assert run(spec).summary["stationary"] is False


def test_too_few_requests_say_nothing() -> None:
    summary = run(queue(0.5, 900)).summary
    assert summary["latency_ns"]["ci95"] is None
    assert summary["stationary"] is None
    assert run(queue(0.5, 1000)).summary["stationary"] is not None


def test_steady_fabrics_are_stationary() -> None:
    # Random systems in their steady state: hardly any is flagged.
    flagged = []
    for seed in range(12):
        for shape in ("ring", "chain", "spine-leaf"):
            more = (
                {"leaves": 2, "spines": 1, "devices_per_leaf": 2}
                if shape == "spine-leaf"
                else {"switches": 4}
            )
            spec = generated(shape, {"requests": 1500, "reads": 0.7}, {"warmup": 600, "seed": seed},
                             link={"bandwidth": "16GB/s", **FREE}, **more)  # fmt: skip
            flagged.append(run(spec).summary["stationary"] is False)
    assert sum(flagged) <= 2
