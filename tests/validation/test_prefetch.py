"""Lines that caches ask for ahead of their use: what is measured of them, and how a run with them ends."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from validation.law_examples import EXAMPLES
from validation.laws import LAWS, Path, flattened, law_of
from validation.laws.look import Look
from validation.prefetchers import PREFETCHER
from validation.random_systems import may_deadlock
from validation.rich_systems import rich_systems
from validation.systems import Run, Spec, changed, finished, logged

from cxloom import _core
from cxloom.base.errors import SimulationError


def check_off_by_one(look: Look, noticed: Counter[Path]) -> None:
    """The law of each statistic of prefetches that says what it must be notices one more, and one less."""
    for path, value in flattened(look.summary):
        if not path[-1].startswith("prefetches"):
            continue
        pattern, statement, names = law_of(path)
        look.path, look.decisive = path, False
        statement(look, value, *names)
        if not look.decisive:
            continue
        for wrong in (value + 1, value - 1):
            with pytest.raises(AssertionError):
                statement(look, wrong, *names)
        noticed[pattern] += value > 0


def test_laws_of_prefetches_notice_one_more_and_one_less() -> None:
    noticed: Counter[Path] = Counter()

    @settings(max_examples=60)
    @given(rich_systems(), PREFETCHER)
    def play(spec: Spec, prefetcher: Spec) -> None:
        first = next(iter(spec["workload"]))
        cache = spec["devices"][first].setdefault("cache", {"size": "4KiB", "ways": 0})
        cache["prefetch"] = prefetcher
        try:
            look = Look(logged(spec))
        except SimulationError:
            assert may_deadlock(spec)
            return
        check_off_by_one(look, noticed)

    for each in EXAMPLES:
        check_off_by_one(Look(logged(each)), noticed)
    play()
    assert set(noticed) == {pattern for pattern in LAWS if pattern[-1].startswith("prefetches")}


def one_access(prefetch: Spec, **devices: Spec) -> Spec:
    """One access of a host, on a slow link, and what comes ahead because of it."""
    cache = {"size": "4KiB", "prefetch": prefetch}
    return {
        "devices": {
            "host": {"kind": "host", "cache": cache},
            "sw": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1MiB"},
            **devices,
        },
        "links": [{"between": [name, "sw"], "bandwidth": "1GB/s"} for name in ("host", "mem", *devices)],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "sequential", "requests": 1, "reads": 1.0, "footprint": "64KiB"}},
        "run": {"warmup": 0},
        "outputs": {"requests": True},
    }


def data_for_host(outcome: Run) -> list[int]:
    """When lines came to the host, ps."""
    columns, _ = outcome.protocol
    data = _core.Simulation.opcode_names().index("MemData")
    return sorted(columns["time_ps"][columns["opcode"] == data].tolist())


@pytest.mark.parametrize("coherence", ["none", "hdm-db"])
def test_a_run_ends_with_the_last_line_that_comes_ahead(coherence: str) -> None:
    spec = one_access({"kind": "next-line", "degree": 8})
    if coherence != "none":
        spec["devices"]["mem"]["dcoh"] = {}
        spec["address_map"][0]["coherence"] = coherence
    outcome = logged(spec)
    summary, host = outcome.summary, outcome.summary["per_requester"]["host"]
    assert summary["completed"]
    assert host["prefetches"] == 8
    assert {host[f"prefetches_{end}"] for end in ("useful", "late", "useless", "dropped")} == {0}
    # The window closes with the only request, before anything has come ahead.
    times = data_for_host(outcome)
    assert len(times) == 1 + 8
    [completed] = outcome.requests["completed_ps"].tolist()
    assert completed == times[0] < times[1]
    assert "prefetches" not in summary
    assert outcome.end_ns == times[-1] / 1000


def ended(spec: Spec) -> Run:
    """Plays what must come to its end within a few thousand events, with a log of its messages."""
    simulation = _core.Simulation(spec, {})
    simulation.log_protocol([])
    assert simulation.advance(10_000)
    return finished(simulation, spec)


@pytest.mark.parametrize("traffic", ["dma-write", "dma-read", "config-read"])
def test_io_beside_it_ends_with_the_last_line_that_comes_ahead(traffic: str) -> None:
    engine = {"kind": "io-engine", "target": "mem", "traffic": traffic, "rate": "0.2GB/s", "size": "64B"}
    if traffic == "config-read":
        del engine["size"]
    outcome = ended(one_access({"kind": "next-line", "degree": 16}, nic=engine))
    assert outcome.summary["completed"]
    assert outcome.summary["per_requester"]["host"]["prefetches"] == 16
    columns, _ = outcome.protocol
    nic = outcome.nodes.index("nic")
    packets = columns["sent_ps"][columns["source"] == nic].tolist()
    times = data_for_host(outcome)
    # It goes on while lines come, and begins nothing after the last one; what is under way then is let through.
    assert times[0] < max(packets) <= times[-1]
    assert times[-1] / 1000 <= outcome.end_ns < times[-1] / 1000 + 2000


@pytest.mark.parametrize("fail", [False, True])
def test_a_run_ends_when_what_was_asked_for_ahead_is_lost(fail: bool) -> None:
    spec = one_access({"kind": "next-line", "degree": 8})
    outage = {"at": "20ns", "length": "5us", "fail": fail}
    spec["links"][1] = {"between": ["mem", "sw"], "phy": "pcie5-x1", "outage": outage}
    outcome = logged(spec)
    host = outcome.summary["per_requester"]["host"]
    assert outcome.summary["completed"]
    assert host["prefetches"] == 8
    assert outcome.summary["errors"]["requests"] == fail
    assert (outcome.end_ns > 5000) != fail


def test_what_no_region_holds_is_not_asked_for() -> None:
    spec = one_access({"kind": "next-line", "degree": 100, "registers": 1000, "page": "1TiB"})
    spec["workload"]["host"] |= {"base": hex(2**20 - 64), "footprint": "64B"}
    host = logged(spec).summary["per_requester"]["host"]
    assert host["prefetches"] == host["prefetches_dropped"] == 0
    spec["workload"]["host"]["base"] = hex(2**20 - 64 * 4)
    assert logged(spec).summary["per_requester"]["host"]["prefetches"] == 3


@pytest.mark.parametrize("kind", ["next-line", "stride", "best-offset"])
def test_requests_are_the_same_with_and_without_a_prefetcher(kind: str) -> None:
    """Whatever it asks for: each is answered once."""
    spec = one_access({"kind": kind})
    spec["workload"]["host"] |= {"requests": 500, "reads": 0.5, "pattern": "random", "footprint": "64KiB"}
    with_it = logged(spec)
    without = logged(changed(spec, ("devices.host.cache.prefetch", "none")))
    for outcome in (with_it, without):
        assert outcome.completed == 500
    order = [np.argsort(outcome.requests["id"]) for outcome in (with_it, without)]
    for column in ("id", "address", "kind", "size"):
        assert np.array_equal(with_it.requests[column][order[0]], without.requests[column][order[1]])
    assert "prefetches" not in without.summary["per_requester"]["host"]
