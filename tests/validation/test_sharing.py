"""Hosts that share memory by protocols of their own: what a section takes by hand, that no protocol misses a store in
any system, and that each does where a flush is left out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.systems import Run, Spec, changed, run

from cxloom import _core
from cxloom.base.errors import InputError

WRITE = 1
P, C, W, M = 10.0, 12.0, 50.0, 140.0
R = 2 * W + M
"""A read or write of memory from its leaving to its answer; as much for either."""


def pool(hosts: int, work: Spec, region: Spec | None = None, cached: bool = True, **host: Any) -> Spec:
    """Hosts, each with a cache of its own, behind one switch without a time of its own, and a memory with 140 ns."""
    cache: Spec = {"cache": {"size": "256KiB", "ways": 8, "access_time": f"{C}ns"}} if cached else {}
    return {
        "devices": {f"host{i}": {"kind": "host", "queue": 64, **cache, **host} for i in range(hosts)}
        | {
            "sw": {"kind": "switch", "switching_time": "0ns"},
            "mem": {
                "kind": "memory",
                "controller_time": "40ns",
                "media": {"kind": "fixed", "latency": "100ns"},
                "dcoh": {},
            },
        },
        "links": [
            *({"between": [f"host{i}", "sw"], "port_delay": "0ns", "delay": f"{W}ns"} for i in range(hosts)),
            {"between": ["sw", "mem"], "port_delay": "0ns"},
        ],
        "address_map": [{"to": ["mem"], **(region or {})}],
        "workload": {f"host{i}": {"pattern": "share", **work} for i in range(hosts)},
        "outputs": {"sharing": (region or {}).get("coherence", "none") == "none", "requests": True},
    }


def missed(outcome: Run) -> int:
    """Stale reads and lost updates."""
    found = outcome.summary["sharing"]
    return int(found["stale_reads"] + found["lost_updates"])


def sections(outcome: Run) -> int:
    """Operations that were completed."""
    return int(sum(host["large_accesses"] for host in outcome.summary["per_requester"].values()))


@pytest.mark.parametrize("buffers", [1, 4, 12])
@pytest.mark.parametrize("size", [64, 8])
def test_buffers_are_busy_from_a_store_to_its_acknowledgement(buffers: int, size: int) -> None:
    """Whole lines leave at once, so that all buffers are always on their way; lines in part wait for another store."""
    spec = pool(1, {}, combining_buffers=buffers)
    work = {
        "pattern": "strided",
        "stride": "64B",
        "reads": 0.0,
        "stores": "non-temporal",
        "footprint": "1MiB",
    }
    spec["workload"]["host0"] = {**work, "size": f"{size}B", "requests": 4000}
    spec["outputs"]["sharing"] = False
    host = run(spec | {"run": {"warmup": 1000}}).summary["per_requester"]["host0"]
    written, other = (
        ("combined_full", "combined_partial") if size == 64 else ("combined_partial", "combined_full")
    )
    assert host[other] == 0
    length = host["requests"] * size / host["bandwidth_gb_per_s"]
    assert host[written] == pytest.approx(host["requests"], abs=buffers)
    assert host["combining_mean"] == pytest.approx(buffers, rel=0.01)
    # Little: each line holds its buffer for the way there and back, and passes the pipeline of requests before it.
    assert host[written] * (P + R) / length == pytest.approx(buffers, rel=0.02)


BESIDE: dict[str, tuple[Spec, str]] = {
    "atomics at the home": ({"devices.host1.atomics": "home"}, "base: the values of locks"),
    "stores past a cache": ({"devices.host1.cache.write_allocate": False}, "base: the values of locks"),
    "a link that fails": (
        {"events": [{"at": "1us", "fail": {"link": ["host1", "sw"]}}]},
        "events[0]: a host of workload.host0 waits for ever",
    ),
    "an outage that loses requests": (
        {"links.1": {"between": ["host1", "sw"], "phy": "pcie5-x8", "outage": {"at": "1us", "fail": True}}},
        "links[1]: a host of workload.host0 waits for ever",
    ),
    "stores to its flags": (
        {"workload.host1": {"pattern": "random", "requests": 9, "footprint": "4KiB"}},
        "workload.host1.base: addresses that hosts share",
    ),
    "another object over it": (
        {"workload.host1.base": 64},
        "workload.host0.base: addresses that hosts share",
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_a_protocol_would_wait_for_for_ever_is_refused(name: str) -> None:
    settings, says = BESIDE[name]
    region: Spec = {"coherence": "hdm-db"} if says.startswith("base") else {}
    spec = changed(pool(2, {"protocol": "lock", "requests": 3}, region), *settings.items())
    with pytest.raises(InputError, match=re.escape(says)):
        run(spec)


def test_memory_of_another_kind_within_the_object_is_refused() -> None:
    spec = pool(1, {"size": "12KiB", "requests": 3})
    whole: list[Spec] = [{"size": "4KiB"}, {"size": "4KiB", "persistence": "controller"}, {"size": "16KiB"}]
    spec["address_map"] = [{"to": ["mem"], **part} for part in whole]
    with pytest.raises(InputError, match="in volatile memory"):
        run(spec)


def test_lines_of_buffers_that_are_lost_are_no_lines_written() -> None:
    """Half of them are stored when the link fails."""
    spec = pool(1, {})
    work = {"pattern": "sequential", "reads": 0.0, "stores": "non-temporal", "footprint": "1MiB"}
    spec["workload"]["host0"] = {**work, "requests": 400}
    spec["outputs"]["sharing"] = False
    spec["events"] = [{"at": "5us", "fail": {"link": ["host0", "sw"]}}]
    summary = run(spec).summary
    written = summary["per_requester"]["host0"]["combined_full"]
    assert 0 < written < 300
    assert summary["write_backs"] == written == summary["per_memory"]["mem"]["write_backs"]
    # The window closes when the last store is in a buffer.
    assert 400 - 12 <= summary["failed_write_backs"] + written <= 400


def test_what_is_missed_is_said_by_line_and_by_pair() -> None:
    """Without a flush a reader of messages of two lines has the first value of either for ever."""
    outcome = run(pool(2, {"protocol": "publish", "size": "128B", "requests": 5, "flush": "none"}))
    found = outcome.summary["sharing"]
    assert found["lost_updates"] == 0
    assert found["stale_reads"] == 10
    assert found["lines"] == len(found["per_line"]) == 2
    assert [line["stale_reads"] for line in found["per_line"].values()] == [5, 5]
    assert {pair: counts["stale_reads"] for pair, counts in found["per_pair"].items()} == {
        "host1 from host0": 10
    }


# One host: ticket, turn, drop, read, write and flush, the turn of the next. A flush follows its store in the pipelines.
@pytest.mark.parametrize("lines", [1, 8])
@pytest.mark.parametrize("flush", ["clflushopt", "clflush", "clwb"])
def test_a_section_takes_what_its_accesses_take(lines: int, flush: str) -> None:
    outcome = run(
        pool(
            1, {"protocol": "lock", "size": f"{64 * lines}B", "flush": flush, "requests": 1}, atomics="cache"
        )
    )
    atomic = P + R + 100 + 5  # the memory reads, operates and writes
    poll = (P + C) + (P + C + R)
    read = (P + C) + (P + C + R)
    written = (lines if flush == "clflush" else 1) * (P + C + R)
    turn = P
    served = outcome.summary["per_requester"]["host0"]["large_access_ns"]
    assert served == pytest.approx(atomic + poll + read + written + turn, abs=0.001)


FLUSHES = ["clflushopt", "clflush", "clwb"]
LATENCIES = st.sampled_from(["0ns", "37ns", "250ns"])


@st.composite
def systems(draw: st.DrawFn) -> Spec:
    """Hosts that follow a protocol: caches, links and memory of any kind, and every right way to write and to read."""
    protocol = draw(st.sampled_from(["lock", "epochs", "publish"]))
    kind = draw(st.sampled_from(["wb", "wb", "wb", "wt", "uc", "wc"]))
    work: Spec = {
        "protocol": protocol,
        "size": draw(st.sampled_from(["64B", "256B", "1KiB"])),
        "requests": draw(st.integers(2, 6)),
        "stores": draw(st.sampled_from(["cached", "non-temporal"])),
    }
    if work["stores"] == "cached":
        work["flush"] = draw(st.sampled_from(FLUSHES if kind == "wb" else [*FLUSHES, "none"]))
    hosts = draw(st.integers(2, 4))
    spec = pool(hosts, work, {"type": kind}, cached=draw(st.booleans()))
    for i in range(hosts):
        host = spec["devices"][f"host{i}"]
        host["queue"] = draw(st.sampled_from([1, 3, 64]))
        host["combining_buffers"] = draw(st.sampled_from([1, 2, 12]))
        if "cache" in host:
            host["cache"] = {
                "size": draw(st.sampled_from(["256B", "2KiB", "64KiB"])),
                "ways": draw(st.sampled_from([1, 2])),
            }
    for link in spec["links"]:
        link["delay"] = draw(LATENCIES)
        link["bandwidth"] = draw(st.sampled_from(["4GB/s", "64GB/s", "unlimited"]))
    return spec


@settings(max_examples=examples(240), deadline=None)
@given(systems())
def test_a_protocol_misses_nothing(spec: Spec) -> None:
    outcome = run(spec)
    assert outcome.summary["completed"]
    assert sections(outcome) > 0
    assert missed(outcome) == 0


# The whole object is in the cache of the writer, or an old one in that of the reader.
@settings(max_examples=examples(120), deadline=None)
@given(
    st.sampled_from(["lock", "epochs", "publish"]),
    st.sampled_from([{"flush": "none"}, {"flush": "clwb", "drop": False}]),
    st.integers(2, 4),
    st.sampled_from(["64B", "512B"]),
    LATENCIES,
)
def test_without_a_flush_it_does(protocol: str, wrong: Spec, hosts: int, size: str, delay: str) -> None:
    spec = pool(hosts, {"protocol": protocol, "size": size, "requests": 6, **wrong})
    for link in spec["links"]:
        link["delay"] = delay
    assert missed(run(spec)) > 0


@pytest.mark.parametrize("protocol", ["lock", "epochs", "publish"])
def test_hardware_needs_no_flush(protocol: str) -> None:
    outcome = run(pool(3, {"protocol": protocol, "size": "256B", "requests": 5}, {"coherence": "hdm-db"}))
    assert outcome.summary["completed"]
    assert sections(outcome) > 0
    assert "flushes" not in outcome.summary


@pytest.mark.parametrize("hosts", [2, 3])
def test_a_host_of_epochs_sets_one_flag_in_each(hosts: int) -> None:
    """The others say that they have arrived, and the first one that all may go on: four lines and a flag."""
    outcome = run(pool(hosts, {"protocol": "epochs", "size": "256B", "requests": 5}))
    writers = outcome.requests["requester"][outcome.requests["kind"] == WRITE]
    assert [int((writers == host).sum()) for host in range(hosts)] == [5 * (4 + 1)] * hosts


def refusal(spec: Spec) -> str:
    """Why it is refused."""
    with pytest.raises(InputError) as error:
        _core.Simulation(spec, {})
    return str(error.value)


def test_what_cannot_be_shared_is_refused() -> None:
    lock: Spec = {"protocol": "lock", "requests": 2}
    assert "a protocol of several hosts" in refusal(pool(1, lock | {"protocol": "epochs"}))
    assert "volatile memory" in refusal(pool(2, lock, {"persistence": "controller"}))
    assert "the values of locks and flags" in refusal(pool(2, lock, {"coherence": "hdm-db"}, cached=False))
    unlike = pool(2, lock)
    unlike["workload"]["host1"] |= {"size": "64B"}
    assert "agree on its protocol, size and requests" in refusal(unlike)
    assert "has no instructions for a core" in refusal(pool(2, lock, cached=False, core={}))
    stores: Spec = {"pattern": "sequential", "reads": 0.0, "stores": "non-temporal", "requests": 9}
    cored = pool(1, {}, cached=False, core={}) | {"workload": {"host0": stores}, "outputs": {}}
    assert "a core has no buffers" in refusal(cored)
    assert "stores" in refusal(pool(2, lock | {"stores": "non-temporal", "flush": "clwb"}))
