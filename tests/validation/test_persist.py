"""Persistent switches against theory: Little's law for their entries, M/D/N in an open loop, hits and coalescing of
random lines, and what must hold of any of them in random systems."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.persist_recursion import forwarded, random_lines
from validation.systems import PERSIST_SEGMENTS, SEGMENTS, Run, Spec, run

from cxloom import _core

TAG, DATA = 0.388, 0.785
T = TAG + DATA
W, S, C, P, READ, WRITE = 50.0, 20.0, 40.0, 10.0, 100.0, 200.0
PERSIST = P + 2 * (W + S) + T
DRAIN = 2 * (W + S) + C + WRITE


def chain(
    work: Spec, host: Spec | None = None, switches: int = 1, media: Spec | None = None, **buffer: Any
) -> Spec:
    """A host, switches of which the first has the buffer, and persistent memory without banks."""
    names = [f"sw{i + 1}" for i in range(switches)]
    medium = media or {"kind": "fixed", "latency": f"{READ}ns", "write_latency": f"{WRITE}ns"}
    devices: Spec = {"host": {"kind": "host", **(host or {})}}
    devices |= {name: {"kind": "switch"} for name in names}
    devices["sw1"]["persist_buffer"] = buffer
    devices["mem"] = {"kind": "memory", "media": medium}
    order = list(devices)
    return {
        "devices": devices,
        "links": [{"between": list(pair), "port_delay": "25ns"} for pair in pairwise(order)],
        "address_map": [{"to": ["mem"], "persistence": "media"}],
        "workload": {"host": {"pattern": "random", "footprint": "64MiB", "persists": 1.0, **work}},
        "run": {"warmup": 2000, "seed": 1},
        "outputs": {"requests": True, "versions": True},
    }


def buffer_of(outcome: Run, name: str = "sw1") -> Spec:
    """What its buffer did."""
    measures: Spec = outcome.summary["per_switch"][name]["persist_buffer"]
    return measures


# K persists at a time and N entries, each of which is busy for D + t: X = min(K / unloaded latency, N / (D + t)).
@pytest.mark.parametrize("switches", [1, 3])
@pytest.mark.parametrize("entries", [4, 16, 32])
@pytest.mark.parametrize("at_a_time", [1, 8, 16])
def test_the_entries_bound_what_is_persisted(switches: int, entries: int, at_a_time: int) -> None:
    outcome = run(chain({"requests": 6000}, {"queue": at_a_time}, switches, entries=entries))
    drain = 2 * switches * (W + S) + C + WRITE
    rate = min(at_a_time / PERSIST, entries / (drain + T))
    assert outcome.rate == pytest.approx(rate, rel=0.01)
    assert outcome.latency == pytest.approx(at_a_time / rate, rel=0.01)
    assert buffer_of(outcome)["entries_mean"] == pytest.approx(outcome.rate * (drain + T), rel=0.01)


def wait_of_md_n(servers: int, load: float, service: float, customers: int = 400_000) -> float:
    """The mean wait of M/D/N, by the times at which customers come and servers are free: they are free in turn."""
    draw = np.random.default_rng(7)
    comes = np.cumsum(draw.exponential(service / (servers * load), customers))
    free = np.zeros(servers)
    waits = 0.0
    for i, at in enumerate(comes):
        begins = max(at, free[i % servers])
        waits += begins - at
        free[i % servers] = begins + service
    return waits / customers


# The controller takes t a write in the same queue, which is M/D/1 and small.
@pytest.mark.parametrize("load", [0.3, 0.6, 0.9])
def test_the_wait_in_an_open_loop_is_that_of_md_n(load: float) -> None:
    entries = 4
    rate = load * entries / (DRAIN + T)  # a nanosecond
    work = {"requests": 120_000, "rate": f"{rate * 1000:.6f}M/s", "arrivals": "poisson"}
    outcome = run(chain(work, {"queue": 4096}, entries=entries))
    waits = outcome.segment("persist_queue")
    assert outcome.latency == pytest.approx(PERSIST + waits, rel=1e-6)
    expected = wait_of_md_n(entries, load, DRAIN + T)
    assert PERSIST + waits == pytest.approx(PERSIST + expected, rel=0.03)


# Reading goes by chance: a line is found if it is among the mean number of Dirty entries of m lines.
@pytest.mark.parametrize("lines", [32, 128])
def test_random_lines_coalesce_as_often_as_they_are_dirty(lines: int) -> None:
    work = {"requests": 40_000, "footprint": f"{64 * lines}B"}
    outcome = run(chain(work, {"queue": 1}, policy="forward"))
    measures = buffer_of(outcome)
    share = measures["coalesced"] / measures["persists"]
    assert share == pytest.approx(measures["dirty_mean"] / lines, rel=0.02)


def test_few_lines_coalesce_all_and_are_never_drained() -> None:
    outcome = run(chain({"requests": 1000, "footprint": "768B"}, {"queue": 1}, policy="forward"))
    assert buffer_of(outcome)["coalesced"] == buffer_of(outcome)["persists"]
    assert buffer_of(outcome)["drains"] == 0
    assert outcome.latency == pytest.approx(PERSIST)


def test_the_mean_read_is_between_a_hit_and_a_miss() -> None:
    work = {"requests": 20_000, "footprint": "4KiB", "persists": 0.5}
    outcome = run(chain(work, {"queue": 1}, policy="forward"))
    reads = outcome.summary["reads"]
    hits = buffer_of(outcome)["read_hits"] / reads
    miss = P + 4 * W + 2 * S + C + READ
    assert outcome.summary["read"]["latency_ns"]["mean"] == pytest.approx(
        miss - hits * (miss - PERSIST), rel=1e-6
    )


# Deep in saturation, without locality: B lines per batch, and the one that drains for the write that finds none Empty.
def test_forwarding_can_lose() -> None:
    work = {"requests": 20_000}
    outcome = run(chain(work, {"queue": 64}, policy="forward"))
    assert outcome.rate == pytest.approx(5 / (DRAIN + 2 * T), rel=0.05)
    plain = chain(work, {"queue": 8})
    del plain["devices"]["sw1"]["persist_buffer"]
    assert run(plain).rate == pytest.approx(8 / (P + 4 * W + 2 * S + C + WRITE), rel=0.01)
    assert outcome.rate < run(plain).rate


# Where fewer wait, the queue runs empty within a cycle, and the form does not hold: the rules, step by step.
@pytest.mark.parametrize("entries", [4, 8, 16, 32])
@pytest.mark.parametrize("at_a_time", [1, 2, 4, 8, 16])
def test_forwarding_carries_what_its_rules_give(entries: int, at_a_time: int) -> None:
    outcome = run(chain({"requests": 6000}, {"queue": at_a_time}, policy="forward", entries=entries))
    assert outcome.rate == pytest.approx(forwarded(at_a_time, entries, DRAIN), rel=0.005)
    # Each is in Drain for D, and for the t before if its batch begins it.
    drains = buffer_of(outcome)["drain_mean"]
    assert 0.995 * outcome.rate * DRAIN <= drains <= 1.005 * outcome.rate * (DRAIN + T)


# With d Dirty lines of m a persist coalesces by d / m, and there is one more if it does not: 9 to 12 of 16 entries.
@pytest.mark.parametrize("cache", ["none", "drop", "keep"])
def test_coalescing_is_the_same_behind_any_cache_and_hits_are_not(cache: str) -> None:
    lines = 32
    work: Spec = {"requests": 100_000, "footprint": f"{64 * lines}B", "persists": 0.5}
    host: Spec = {"queue": 1}
    if cache != "none":
        host["cache"] = {"size": "64KiB"}
        work["flush"] = cache
    measures = buffer_of(outcome := run(chain(work, host, policy="forward")))
    odds = sum(d / (lines - d) for d in range(9, 13))
    form = odds / (odds + 4)
    rules = random_lines(lines, forward=True, cache=cache)
    assert rules.coalesced == pytest.approx(form, rel=0.01)
    assert measures["coalesced"] / measures["persists"] == pytest.approx(form, rel=0.02)
    reads = measures["read_hits"] + outcome.summary["per_memory"]["mem"]["reads"]
    assert measures["read_hits"] == pytest.approx(rules.read_hits * reads, rel=0.02)
    assert (reads == 0) == (cache == "keep")


# --- Any system ---


@st.composite
def persistent_systems(draw: st.DrawFn) -> Spec:
    """One host or two, with and without caches; switches with buffers; links with and without flits."""
    hosts = [f"h{i}" for i in range(draw(st.integers(1, 2)))]
    switches = [f"sw{i + 1}" for i in range(draw(st.integers(1, 3)))]
    devices: Spec = {}
    for name in hosts:
        devices[name] = {"kind": "host", "queue": draw(st.integers(1, 12))}
        if draw(st.integers(0, 2)) == 0:
            devices[name]["cache"] = {"size": "1KiB", "ways": 2}
    for name in switches:
        devices[name] = {"kind": "switch", "queueing": draw(st.sampled_from(["output", "voq", "fifo"]))}
        devices[name] |= {"forwarding": draw(st.sampled_from(["cut-through", "store-and-forward"]))}
        if draw(st.integers(0, 2)) > 0 or name == "sw1":
            buffer: Spec = {
                "entries": draw(st.integers(1, 10)),
                "policy": draw(st.sampled_from(["drain", "forward"])),
            }
            if draw(st.booleans()):
                buffer["queue"] = draw(st.integers(1, 4))
            devices[name]["persist_buffer"] = buffer
    media = draw(
        st.sampled_from(
            [
                {"kind": "nvm", "write_buffer": 0, "banks": 2},
                {"kind": "fixed", "latency": "40ns", "write_latency": "900ns"},
                {"kind": "fixed", "banks": 1},
            ]
        )
    )
    devices["mem"] = {"kind": "memory", "media": media}
    wire = draw(
        st.sampled_from(
            [{}, {"bandwidth": "4GB/s"}, {"phy": "pcie5-x4"}, {"bandwidth": "8GB/s", "credits": 2}]
        )
    )
    ends = [*((name, "sw1") for name in hosts), *zip([*switches], [*switches[1:], "mem"], strict=True)]
    works: Spec = {}
    for name in hosts:
        work: Spec = {
            "pattern": draw(st.sampled_from(["random", "hot-cold", "sequential"])),
            "requests": 300,
            "footprint": draw(st.sampled_from(["512B", "2KiB", "64KiB"])),
            "size": draw(st.sampled_from(["8B", "64B", "128B"])),
            "reads": draw(st.sampled_from([0.0, 0.5])),
            "persists": draw(st.sampled_from([0.0, 0.5, 1.0])),
        }
        if draw(st.booleans()) and work["persists"] > 0:
            work["epoch"] = draw(st.integers(1, 4))
        if draw(st.integers(0, 3)) == 0:
            work["atomics"] = 0.2
        # Nobody keeps the lines of several caches coherent.
        work["base"] = hex(hosts.index(name) << 20) if "cache" in devices[name] else "0x0"
        works[name] = work
    if sum("cache" in devices[name] for name in hosts) == 1 and len(hosts) == 2:
        works[next(n for n in hosts if "cache" in devices[n])]["base"] = "0x400000"
    return {
        "devices": devices,
        "links": [{"between": list(pair), **wire} for pair in ends],
        "address_map": [{"to": ["mem"], "persistence": "media"}],
        "workload": works,
        "run": {"warmup": draw(st.sampled_from([0, 40])), "seed": draw(st.integers(1, 9))},
        "outputs": {"requests": True, "versions": True},
    }


@settings(max_examples=examples(80), deadline=None)
@given(persistent_systems())
def test_what_holds_of_any_persistent_system(spec: Spec) -> None:
    outcome = run(spec)
    summary, rows = outcome.summary, outcome.requests
    assert summary["completed"]
    assert summary["errors"]["requests"] == 0
    assert summary["versions"] == {"stale_reads": 0, "lost_updates": 0, "unreachable_lines": 0}
    kinds = sum(summary.get(kind, 0) for kind in ("reads", "writes", "atomics", "flushes"))
    assert summary["requests"] == kinds == len(rows["id"])
    latency = rows["completed_ps"] - rows["created_ps"]
    segments = [*SEGMENTS, *PERSIST_SEGMENTS]
    assert np.array_equal(sum(rows[f"{name}_ps"] for name in segments), latency)
    assert all((rows[f"{name}_ps"] >= 0).all() for name in segments)
    drained_into_next = 0
    for name, device in spec["devices"].items():
        if "persist_buffer" not in device:
            continue
        measures = buffer_of(outcome, name)
        entries = device["persist_buffer"].get("entries", 16)
        before, after = measures["resident_before"], measures["resident"]
        assert before + measures["persists"] == measures["coalesced"] + measures["drained"] + after
        assert 0 <= after <= entries
        assert measures["entries_mean"] <= entries + 1e-9
        assert measures["entries_mean"] == pytest.approx(measures["dirty_mean"] + measures["drain_mean"])
        assert abs(measures["drains"] - measures["drained"]) <= entries
        limit = device["persist_buffer"].get("queue")
        assert limit is None or measures["queue_max"] <= limit
        drained_into_next = measures["drained"]
    # The last of the buffers writes memory.
    last = max(i for i, name in enumerate(spec["devices"]) if "persist_buffer" in spec["devices"][name])
    name = list(spec["devices"])[last]
    assert (
        summary["per_memory"]["mem"].get("drains", 0)
        == drained_into_next
        == buffer_of(outcome, name)["drained"]
    )


# Other traffic takes as long beside an idle buffer, and a run without one does not know of it.
def test_beside_a_buffer_other_traffic_takes_as_long() -> None:
    spec = chain({"requests": 500, "persists": 0.0, "reads": 0.5, "footprint": "1MiB", "base": hex(16 << 30)})
    spec["devices"]["dram"] = {"kind": "memory"}
    spec["links"].append({"between": ["sw1", "dram"], "port_delay": "25ns"})
    spec["address_map"].append({"to": ["dram"]})
    beside = run(spec)
    del spec["devices"]["sw1"]["persist_buffer"]
    without = run(spec)
    assert np.array_equal(beside.requests["completed_ps"], without.requests["completed_ps"])
    assert "persist_queue" not in without.summary["breakdown_ns"]
    assert not any(name.startswith("persist_") for name in without.requests)


def test_a_spec_is_checked_before_it_runs() -> None:
    spec = chain({"requests": 10})
    _core.check(spec)
    spec["address_map"][0]["persistence"] = "volatile"
    with pytest.raises(Exception, match="persist_buffer"):
        _core.check(spec)
