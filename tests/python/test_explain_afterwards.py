"""Where the limit moves to, of systems in which several resources are full after it."""

from __future__ import annotations

import pytest

import cxloom as cx


def two_pairs(queue: int, media: float, wire: float = 64) -> cx.System:
    """Two hosts that read a memory each, through one switch. An access of ha takes 300 ns without waiting.

    Args:
        queue: of ha.
        media: GB/s of the memory of ha; that of hb gives 0.2.
        wire: GB/s of lines on the link of ha.
    """
    system = cx.System()
    system.add("switch", "sw", switching_time="0ns")
    for name, places, rate in (("a", queue, media), ("b", 8, 0.2)):
        system.add("host", f"h{name}", queue=places, process_time="0ns")
        kept = {"kind": "fixed", "latency": "100ns", "bandwidth": f"{rate}GB/s"}
        system.add("memory", f"m{name}", capacity="1GiB", controller_time="0ns", queue=256, media=kept)
        system.connect(f"h{name}", "sw", bandwidth=f"{wire * 80 / 64}GB/s", port_delay="25ns")
        system.connect("sw", f"m{name}", port_delay="25ns")
        system.map(f"m{name}")
    for name, base, requests in (("a", "0GiB", 6000), ("b", "1GiB", 500)):
        system.workload(f"h{name}", pattern="random", requests=requests, footprint="1GiB", base=base)
    system.set("run.warmup", 100)
    return system


# 64 in flight are 64 x 64 B / 300 ns = 13.7 GB/s, which media of 20 give, so that the queue of ha limits next. The
# media of mb, the last full resource on the way, hold up a fiftieth of the requests.
def test_the_next_limit_is_what_gains_and_not_what_is_last() -> None:
    found = cx.explain(two_pairs(64, media=10), jobs=1)
    assert found.limit is not None
    assert found.limit.name == "the data path of ma"
    assert "and then the limit is the queue of ha." in found.sentence


# 128 in flight would be 27 GB/s: with 20 of the media and 20 on the wire both are full, and neither gains alone.
def test_what_gains_nothing_alone_is_said_to_be_full() -> None:
    found = cx.explain(two_pairs(64, media=20, wire=20), jobs=1)
    assert found.limit is not None
    assert found.limit.name == "the queue of ha"
    assert "and then the data path of ma is full, of which twice gains nothing alone." in found.sentence


def alone(bandwidth: str, limit: str) -> cx.System:
    """A host with 64 in flight and a memory of 16 slots, each of which is held for 120 ns: 16 x 64 B / 120 ns."""
    system = cx.System()
    system.add("host", "h", queue=64)
    media = {"kind": "fixed", "latency": "80ns", "bandwidth": bandwidth}
    parts = [{"capacity": "1GiB", "bandwidth_limit": limit}]
    system.add("memory", "m", queue=16, controller_time="40ns", media=media, logical_devices=parts)
    system.connect("h", "m", bandwidth="40GB/s")
    system.map("m", ld=0)
    system.workload("h", pattern="random", requests=4000, footprint="1GiB")
    system.set("run.warmup", 200)
    return system


def test_the_limit_of_a_logical_device_is_one() -> None:
    found = cx.explain(alone("20GB/s", "4GB/s"), jobs=1)
    assert found.limit is not None
    assert found.limit.name == "the bandwidth limit of logical device 0 of m"
    assert found.what_ifs[0].gain == pytest.approx(1, abs=0.02)
    assert found.bound(found.limit) == pytest.approx(4, rel=0.01)


# Slots and media give 8.53 GB/s each: twice of one leaves the other. It is no answer to call either the limit.
def test_what_gains_nothing_is_not_said_to_limit() -> None:
    found = cx.explain(alone("8.533GB/s", "unlimited"), jobs=1)
    assert all(abs(each.gain) < 0.03 for each in found.what_ifs)
    assert found.sentence.startswith("Throughput, 8.5")
    assert (
        "rises by less than 3 % with twice of anything alone. Full, and last on the way, is the data"
        in found.sentence
    )
