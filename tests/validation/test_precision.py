"""How well the mean latency is known, and whether the window was stationary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from statistics import fmean

import pytest
from validation.systems import FREE, LINE, Spec, changed, generated, host_and_memory, host_bus_memories, run

from cxloom.results.comparison_rows import rows_of

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


def arrivals(load: float, requests: int, seed: int, lines: int = 1) -> Spec:
    """Two hosts that write over one narrow link, at random times, so many lines at once. Above 4 KiB each is a
    request."""
    work = {
        "pattern": "random",
        "reads": 0.0,
        "size": f"{LINE * lines}B",
        "requests": requests // lines // 2,
        "rate": f"{round(load / SERVICE / lines / 2 * 1e9)}/s",
        "arrivals": "poisson",
        "footprint": "1GiB",
    }
    return {
        "devices": {
            **{name: {"kind": "host", "queue": 1 << 16} for name in ("a", "b")},
            "sw": {"kind": "switch", "queueing": "voq"},
            "mem": {"kind": "memory", "capacity": "16GiB"},
        },
        "links": [
            *({"between": [name, "sw"], "bandwidth": "32GB/s"} for name in ("a", "b")),
            {"between": ["sw", "mem"], "bandwidth": "8GB/s", "reverse": {"bandwidth": "unlimited"}},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"a": work, "b": dict(work)},
        "run": {"warmup": 1000, "seed": seed},
    }


def closed(queue_length: int, requests: int, seed: int) -> Spec:
    """A closed loop of reads and writes on DRAM, which come in waves."""
    return host_and_memory({"bandwidth": "64GB/s"}, memory={"media": {"kind": "dram", "preset": "DDR4-3200"}},
                           host={"queue": queue_length}, work={"reads": 0.7, "requests": requests}, warmup=2000,
                           seed=seed)  # fmt: skip


STEADY: dict[str, Callable[[int, int], Spec]] = {
    "load 0.5": lambda requests, seed: queue(0.5, requests, seed),
    "load 0.8": lambda requests, seed: queue(0.8, requests, seed),
    "load 0.9": lambda requests, seed: queue(0.9, requests, seed),
    "load 0.95": lambda requests, seed: queue(0.95, requests, seed),
    "load 0.98": lambda requests, seed: queue(0.98, requests, seed),
    "two hosts, load 0.95": lambda requests, seed: arrivals(0.95, requests, seed),
    "bursts, load 0.5": lambda requests, seed: arrivals(0.5, requests, seed, lines=128),
    "DRAM, 16 in flight": lambda requests, seed: closed(16, requests, seed),
    "DRAM, 256 in flight": lambda requests, seed: closed(256, requests, seed),
}
"""Systems that do not change, by requests and seed."""


@pytest.mark.parametrize("name", STEADY)
def test_another_seed_is_named_as_a_change_no_more_often_than_intervals_say(name: str) -> None:
    """Changes are named in one pair in twenty, so of a measure in at most four of 20 but once in four hundred times.

    Percentiles, bandwidths and parts of the latency were named in up to 18 of them.
    """
    named: Counter[str] = Counter()
    for pair in range(20):
        summaries = tuple(run(STEADY[name](20_000, 2 * pair + i)).summary for i in range(2))
        for row in rows_of(summaries):
            named[row.requester or row.name] += row.change(1).is_clear
    assert max(named.values()) <= 4, named


@pytest.mark.parametrize("requests", [100, 500, 900])
def test_another_seed_of_few_requests_is_no_change_either(requests: int) -> None:
    """Too few for intervals. Bandwidths of reads and of writes, which vary by how many there are, were named in 20 of
    20 pairs."""
    named: Counter[str] = Counter()
    for pair in range(20):
        work = {"reads": 0.67, "requests": requests}
        bus = {"bandwidth": "16GB/s"}
        specs = (host_bus_memories(bus, work=work, host={"queue": 16}, seed=2 * pair + i) for i in range(2))
        for row in rows_of(tuple(run(spec).summary for spec in specs)):
            named[row.name] += row.change(1).is_clear
    assert {"bandwidth of reads", "bandwidth of writes", "mean latency of reads"} <= set(named)
    assert max(named.values()) <= 4, named


@pytest.mark.parametrize("name", ["p50", "p99"])
def test_intervals_of_percentiles_and_bandwidth_cover(name: str) -> None:
    """Against a run that is twenty times as long, and the bandwidth that was asked for."""
    exact = run(queue(0.8, 400_000, 1000)).summary["latency_ns"][name]
    within, moved = 0, 0
    for seed in range(40):
        summary = run(queue(0.8, 20_000, seed)).summary
        low, high = summary["latency_ns"][f"{name}_ci95"]
        within += low <= exact and (high is None or exact <= high)
        low, high = summary["bandwidth_ci95"]
        moved += low <= 0.8 * LINE / SERVICE <= high
    assert within >= 36
    assert moved >= 36


def covered(summary: Spec, exact: dict[str, float]) -> dict[str, bool]:
    """Which intervals of a run hold what is exact."""
    latency = summary["latency_ns"]
    ends = {"mean": latency["ci95"], "bandwidth": summary["bandwidth_ci95"]}
    ends |= {name: latency[f"{name}_ci95"] for name in ("p50", "p99", "p999")}
    return {
        name: low <= exact[name] and (high is None or exact[name] <= high)
        for name, (low, high) in ends.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("requests", [5000, 20_000])
@pytest.mark.parametrize("name", STEADY)
def test_how_often_intervals_cover(name: str, requests: int) -> None:
    """Against the means of ten long runs. Runs that are short beside their correlation cover less often, and most of
    them say so."""
    long = [run(STEADY[name](400_000, 10_000 + seed)).summary for seed in range(10)]
    exact = {each: fmean(run["latency_ns"][each] for run in long) for each in ("mean", "p50", "p99", "p999")}
    exact["bandwidth"] = fmean(run["bandwidth_gb_per_s"] for run in long)
    if name.startswith("load"):
        exact["mean"] = truth(float(name.split()[1]))
        exact["bandwidth"] = float(name.split()[1]) * LINE / SERVICE
    runs = [run(STEADY[name](requests, seed)).summary for seed in range(200)]
    shares = {each: fmean(covered(run, exact)[each] for run in runs) for each in exact}
    warned = fmean(any(SHORT in note for note in run["notes"]) for run in runs)
    print(
        f"| {name} | {requests} |",
        " | ".join(f"{share:.1%}" for share in shares.values()),
        f"| {warned:.0%} |",
    )
    assert min(shares.values()) >= (0.9 if warned < 0.1 else 0.7)


SHORT = "short beside the time for which latencies depend on each other"


def test_a_window_that_is_short_beside_what_its_queue_remembers_says_so() -> None:
    [note] = [note for note in run(queue(0.98, 5000, 1)).summary["notes"] if SHORT in note]
    assert re.search(r"tell the mean as well as \d+ independent ones would, one in each \d+ns", note)
    assert not any(SHORT in note for note in run(queue(0.5, 20_000, 1)).summary["notes"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "until", "least"),
    [
        (0.3, "0.1%", 0.93),
        (0.6, "0.5%", 0.93),
        (0.8, "2%", 0.93),
        (0.9, "5%", 0.91),
        (0.95, "5%", 0.86),
        (0.95, "10%", 0.79),
    ],
)
def test_runs_that_end_when_the_mean_is_known_know_it(load: float, until: str, least: float) -> None:
    covered, _, early = rates(load, 10_000_000, range(400), until)
    print(f"load {load}, until {until}: {covered:.1%} covered")
    assert early == 1.0
    assert least <= covered <= 0.99


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
