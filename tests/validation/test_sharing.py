"""Hosts that share memory by protocols of their own: what a section takes by hand, that no protocol misses a store in
any system, and that each does where a flush is left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.systems import Run, Spec, run

from cxloom import _core
from cxloom.base.errors import InputError

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


def refusal(spec: Spec) -> str:
    """Why it is refused."""
    with pytest.raises(InputError) as error:
        _core.Simulation(spec, {})
    return str(error.value)


def test_what_cannot_be_shared_is_refused() -> None:
    lock: Spec = {"protocol": "lock", "requests": 2}
    assert "a protocol of several hosts" in refusal(pool(1, lock | {"protocol": "epochs"}))
    assert "volatile memory" in refusal(pool(2, lock, {"persistence": "controller"}))
    assert "a host without a cache" in refusal(pool(2, lock, {"coherence": "hdm-db"}, cached=False))
    unlike = pool(2, lock)
    unlike["workload"]["host1"] |= {"size": "64B"}
    assert "agree on its protocol, size and requests" in refusal(unlike)
    assert "has no instructions for a core" in refusal(pool(2, lock, cached=False, core={}))
    assert "stores" in refusal(pool(2, lock | {"stores": "non-temporal", "flush": "clwb"}))
