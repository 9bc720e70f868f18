"""Links of flits against their closed forms: docs/model/flit.md (slots) and docs/model/flit_link.md (credits, retries).

One host, one memory of fixed latency without limits, and more requests in flight than the link can hold.
"""

from __future__ import annotations

import math

import pytest
from validation.systems import LINE, Run, Spec, host_and_memory, run

FLIT_BYTES = {"68B": 68, "256B": 256, "256B-lo": 256, "256B-pbr": 256}
PEAK = {"68B": 31 / 54, "256B": 205 / 356, "256B-lo": 25 / 44, "256B-pbr": 9 / 16}
PEAK_GB_PER_S = {"68B": 87.7, "256B": 178.0, "256B-lo": 176.0, "256B-pbr": 174.5}
FASTEST = {"68B": "pcie5-x16", "256B": "pcie6-x16", "256B-lo": "pcie6-x16", "256B-pbr": "pcie6-x16"}


def bytes_per_ns(phy: str) -> float:
    """The rate of each direction of `pcie5-x16` and the like. Up to 32 GT/s two bits of 130 are encoding."""
    generation, lanes = int(phy[4]), int(phy.partition("-x")[2])
    return 2**generation * lanes / 8 * (128 / 130 if generation <= 5 else 1.0)


def towards_memory(flit: str, reads: float) -> float:
    """Accesses whose messages per flit to the memory takes."""
    return (4 if flit == "68B" else 15) / (5 - 4 * reads)


def from_memory(flit: str, reads: float) -> float:
    """Accesses whose answers a flit from the memory takes, where that decides: the corners of the best legal mixes,
    which tests/core/protocol/flit/bounds_test.cpp searches.
    """
    if flit == "68B":
        return min(16 / (17 * reads + 1), 14 / (13 * reads + 2))
    if flit == "256B":
        return min(54 / (15 * reads + 1), 44 / (12 * reads + 1))
    slots = 43 / (12 * reads + 1) if flit == "256B-lo" else 30 / (8 * reads + 1)
    return min(slots, 13 / (4 * reads)) if reads else slots


def bound(flit: str, phy: str, reads: float) -> float:
    """Payload of both directions, GB/s."""
    accesses = min(towards_memory(flit, reads), from_memory(flit, reads))
    return LINE * accesses * bytes_per_ns(phy) / FLIT_BYTES[flit]


def system(reads: float, requests: int = 40_000, **link: object) -> Spec:
    """A host that keeps the link full.

    At first its reads overtake its writes, and about a thousand wait together on the way back. Where that way has a
    fifth to spare, as with as many writes, the queue is gone after some eight thousand requests more: the warm-up
    covers it.
    """
    return host_and_memory(
        link=dict(link),
        memory={"controller_time": "10ns", "media": {"kind": "fixed", "latency": "10ns"}},
        host={"process_time": "0ns", "queue": 2048},
        work={"reads": reads, "requests": requests, "footprint": "1GiB"},
        warmup=16_000,
    )


def read_share(outcome: Run) -> float:
    """As it was in the measured window."""
    return float(outcome.summary["reads"] / outcome.summary["requests"])


LINKS = [
    *((flit, phy) for flit, phy in FASTEST.items()),
    ("68B", "pcie5-x8"),
    ("68B", "pcie4-x16"),
    ("68B", "pcie3-x16"),
    ("68B", "pcie3-x1"),
    ("256B", "pcie6-x8"),
    ("256B", "pcie5-x16"),
    ("256B-lo", "pcie7-x4"),
    ("256B-pbr", "pcie4-x2"),
]


@pytest.mark.parametrize(("flit", "phy"), LINKS)
@pytest.mark.parametrize("reads", [0.0, 1.0])
def test_reads_and_writes_alone(flit: str, phy: str, reads: float) -> None:
    outcome = run(system(reads, phy=phy, flit=flit))
    assert outcome.bandwidth == pytest.approx(bound(flit, phy, reads), rel=0.005)


@pytest.mark.parametrize(("flit", "phy"), [("68B", "pcie5-x16"), ("68B", "pcie3-x4"), ("256B", "pcie5-x16")])
@pytest.mark.parametrize("reads", [0.0, 0.67, 1.0])
def test_without_sync_headers_two_bits_of_130_are_left(flit: str, phy: str, reads: float) -> None:
    outcome = run(system(reads, phy=phy, flit=flit, sync_header_bypass=True))
    expected = bound(flit, phy, read_share(outcome)) * 130 / 128
    assert outcome.bandwidth == pytest.approx(expected, rel=0.005)


def test_the_derived_bounds_of_x16() -> None:
    # The closed forms give the figures that are known for them.
    assert bound("68B", "pcie5-x16", 1.0) == pytest.approx(52.72, abs=0.005)
    assert bound("68B", "pcie5-x16", 0.0) == pytest.approx(47.45, abs=0.005)
    assert bound("256B", "pcie6-x16", 1.0) == pytest.approx(108.0)
    assert bound("256B", "pcie6-x16", 0.0) == pytest.approx(96.0)


@pytest.mark.parametrize("flit", FLIT_BYTES)
@pytest.mark.parametrize("reads", [0.2, 0.4, 0.5, 0.6, 0.67, 0.75, 0.9])
def test_mixes(flit: str, reads: float) -> None:
    # Below the peak, writes decide, and the way to the memory is full; above it, the way from the memory.
    outcome = run(system(reads, phy=FASTEST[flit], flit=flit))
    assert outcome.bandwidth == pytest.approx(bound(flit, FASTEST[flit], read_share(outcome)), rel=0.005)


@pytest.mark.parametrize(("reads", "known"), [(0.60, 84.7), (0.67, 76.6), (0.75, 69.0)])
def test_the_best_mixes_of_68b_x16(reads: float, known: float) -> None:
    assert bound("68B", "pcie5-x16", reads) == pytest.approx(known, abs=0.05)


def latencies(reads: float, flit: str, queue: int) -> tuple[float, float]:
    """Mean latency of reads and of writes, ns."""
    spec = host_and_memory(
        link={"phy": "pcie5-x8", "flit": flit},
        memory={"controller_time": "10ns", "media": {"kind": "fixed", "latency": "50ns"}},
        host={"process_time": "20ns", "queue": queue},
        work={"reads": reads, "requests": 6000, "footprint": "1GiB"},
        warmup=2000,
    )
    spec["outputs"] = {"requests": True}
    rows = run(spec).requests
    took = (rows["completed_ps"] - rows["created_ps"]) / 1000
    is_read = rows["kind"] == 0
    return float(took[is_read].mean()), float(took[~is_read].mean()) if not is_read.all() else 0.0


@pytest.mark.parametrize("flit", FLIT_BYTES)
def test_reads_among_writes_take_what_they_take_alone(flit: str) -> None:
    # 192 requests in flight, most of them writes, fill the way to the memory. A read waits there for the flit under way
    # and for one write, 5 slots (1.25 flits of 68 B): 2.25 flits at most, and on the way back for a flit under way. Its
    # share does not matter as long as reads take less of the wire than their turns allow.
    flit_ns = FLIT_BYTES[flit] / bytes_per_ns("pcie5-x8")
    alone, _ = latencies(1.0, flit, 1)
    found = [latencies(share, flit, 192)[0] for share in (0.02, 0.04, 0.08, 0.12, 0.2, 0.3, 0.4)]
    assert alone <= min(found)
    assert max(found) <= alone + 3.25 * flit_ns
    assert max(found) - min(found) <= flit_ns


@pytest.mark.parametrize("flit", FLIT_BYTES)
def test_writes_among_reads_wait_for_company_but_not_for_long(flit: str) -> None:
    # The way back is full of data. A completion waits there for others to share its slot, in the mean for two flits of
    # 256 B or five of 68 B at most (docs/model/flit.md, class_turns_test.cpp), and for half a flit under way there and
    # back.
    # So the latency of writes does not depend on their share by more than that.
    flit_ns = FLIT_BYTES[flit] / bytes_per_ns("pcie5-x8")
    company = 5 if flit == "68B" else 2
    _, alone = latencies(0.001, flit, 1)
    for share in (0.7, 0.84, 0.94, 0.98):
        assert alone <= latencies(share, flit, 192)[1] <= alone + (company + 1) * flit_ns


@pytest.mark.parametrize("flit", FLIT_BYTES)
def test_where_the_peak_lies(flit: str) -> None:
    assert bound(flit, FASTEST[flit], PEAK[flit]) == pytest.approx(PEAK_GB_PER_S[flit], abs=0.05)
    found = {
        distance: run(system(PEAK[flit] + distance, phy=FASTEST[flit], flit=flit))
        for distance in (-0.06, 0.0, 0.06)
    }
    assert max(found, key=lambda distance: found[distance].bandwidth) == 0.0
    # The read share of a run is drawn: near the peak it is now one direction that is full, now the other.
    best = bound(flit, FASTEST[flit], read_share(found[0.0]))
    assert best * 0.99 <= found[0.0].bandwidth <= best * 1.005


@pytest.mark.parametrize("flit", FLIT_BYTES)
@pytest.mark.parametrize("kind", ["M2S Req", "M2S RwD", "S2M DRS", "S2M NDR"])
def test_credits_limit_to_credits_per_loop(flit: str, kind: str) -> None:
    # A loop: a flit, there, drained at once, a flit of the other direction, back. It is long beside a flit, so that the
    # wait for the flit on the wire does not count.
    credits, flight = 64, 1000.0
    reads = 1.0 if kind in ("M2S Req", "S2M DRS") else 0.0
    spec = system(
        reads, requests=6000, phy=FASTEST[flit], flit=flit, delay=f"{flight}ns", credits={kind: credits}
    )
    spec["run"]["warmup"] = 4000
    outcome = run(spec)
    loop = 2 * flight + 2 * FLIT_BYTES[flit] / bytes_per_ns(FASTEST[flit])
    assert outcome.bandwidth == pytest.approx(credits * LINE / loop, rel=0.005)
    way = "host->mem" if kind.startswith("M2S") else "mem->host"
    blocked = {
        name: measures["credit_blocked_ns_by_class"] for name, measures in outcome.directions().items()
    }
    assert list(blocked[way]) == [kind]
    assert blocked[way][kind] / outcome.summary["simulated_time_ns"] > 0.9
    assert not any(by_class for name, by_class in blocked.items() if name != way)


@pytest.mark.parametrize("flit", FLIT_BYTES)
def test_retries_limit(flit: str) -> None:
    # Every hundredth flit of each direction is sent twice. The wire to the memory loses a flit, two flights and the
    # flits of link control for each of its own, and what asks for a retry for each of the other direction.
    every, flight = 100, 20.0
    outcome = run(system(0.0, phy=FASTEST[flit], flit=flit, delay=f"{flight}ns", errors={"every": every}))
    asking, answering = (6, 6) if flit == "68B" else (1, 0)
    time = FLIT_BYTES[flit] / bytes_per_ns(FASTEST[flit])
    there, back = (outcome.directions()[way]["flits"] for way in ("host->mem", "mem->host"))
    lost = (1 + asking + answering) * time + 2 * flight
    own = sum(count for kind, count in there["flits"].items() if kind != "control")
    share = own / (own * time + there["errors"] * lost + back["errors"] * asking * time)
    writes = LINE * towards_memory(flit, 0.0) * share
    assert there["errors"] == pytest.approx(own / every, abs=1)
    assert there["retry_share"] == pytest.approx(
        there["errors"] * lost / outcome.summary["simulated_time_ns"], rel=1e-3
    )
    assert outcome.bandwidth == pytest.approx(writes, rel=0.005)


@pytest.mark.parametrize(("flit", "slots"), [("68B", 20), ("256B", 30), ("256B-lo", 30), ("256B-pbr", 30)])
def test_integrity_checks_take_a_slot_of_an_aggregation(flit: str, slots: int) -> None:
    outcome = run(system(0.0, phy=FASTEST[flit], flit=flit, ide={"mode": "skid"}))
    assert outcome.bandwidth == pytest.approx(bound(flit, FASTEST[flit], 0.0) * (1 - 1 / slots), rel=0.005)


def test_a_degraded_link_is_as_fast_as_its_lanes() -> None:
    for phy in ("pcie5-x4", "pcie4-x16"):
        outcome = run(system(1.0, phy="pcie5-x16", flit="68B", degraded={"at": "1ns", "phy": phy}))
        assert outcome.bandwidth == pytest.approx(bound("68B", phy, 1.0), rel=0.005)


def test_bit_errors_cost_what_their_probability_says() -> None:
    # 68B: any wrong bit of 544.
    rate, flight = 1e-5, 20.0
    outcome = run(system(0.0, 100_000, phy="pcie5-x16", delay=f"{flight}ns", errors={"bit_error_rate": rate}))
    wrong = -math.expm1(544 * math.log1p(-rate))
    there = outcome.directions()["host->mem"]["flits"]
    own = sum(count for kind, count in there["flits"].items() if kind != "control")
    expected = own * wrong / (1 - wrong)
    assert there["errors"] == pytest.approx(expected, abs=5 * expected**0.5)


@pytest.mark.parametrize("flit", FLIT_BYTES)
def test_credits_that_never_run_out_change_nothing(flit: str) -> None:
    # Without credits, turns on the wire are worked off in batches; with them, one by one.
    alone = system(0.6, 5000, phy=FASTEST[flit], flit=flit, delay="3ns")
    alone["outputs"] = {"requests": True}
    limited = system(0.6, 5000, phy=FASTEST[flit], flit=flit, delay="3ns", credits=60_000)
    limited["outputs"] = {"requests": True}
    first, second = run(alone), run(limited)
    for key in first.requests:
        assert (first.requests[key] == second.requests[key]).all(), key
    ignored = ("spec_hash", "per_link")
    assert {k: v for k, v in first.summary.items() if k not in ignored} == {
        k: v for k, v in second.summary.items() if k not in ignored
    }
    assert first.directions() == second.directions()


@pytest.mark.parametrize("flit", FLIT_BYTES)
@pytest.mark.parametrize("warmup", [0, 1, 2, 3, 5, 8])
def test_no_window_has_more_payload_than_bytes(flit: str, warmup: int) -> None:
    # A packet of 4096 B passes one lane for about a microsecond, and the window is that of one access: of most packets
    # it sees a part.
    spec: Spec = {
        "devices": {
            "host": {"kind": "host", "queue": 1},
            "sw": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1GiB"},
            "nic": {
                "kind": "io-engine",
                "target": "mem",
                "traffic": "dma-write",
                "rate": "1GB/s",
                "size": "4096B",
            },
        },
        "links": [
            {"between": ["host", "sw"]},
            {"between": ["nic", "sw"], "phy": "pcie5-x2", "flit": flit},
            {"between": ["sw", "mem"], "phy": "pcie5-x1", "flit": flit},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {
            "host": {
                "pattern": "random",
                "reads": 0.5,
                "requests": warmup + 1,
                "footprint": "1MiB",
                "rate": "0.7M/s",
            }
        },
        "run": {"warmup": warmup},
    }
    for measures in run(spec).directions().values():
        assert 0.0 <= (measures["efficiency"] or 0.0) < 1.0


@pytest.mark.parametrize("flit", FLIT_BYTES)
@pytest.mark.parametrize("size", [64, 100, 256, 4096])
def test_payload_of_accesses_of_any_size_sums_up(flit: str, size: int) -> None:
    # All of it is in the flits, whatever part of a message is in which: the window is the whole run.
    spec = host_and_memory(
        link={"phy": "pcie5-x4", "flit": flit}, work={"reads": 0.5, "requests": 300, "size": f"{size}B"}
    )
    outcome = run(spec)
    reads = outcome.summary["reads"]
    time = outcome.summary["simulated_time_ns"]
    moved = {way: measures["payload_gb_per_s"] * time for way, measures in outcome.directions().items()}
    assert moved["mem->host"] == pytest.approx(reads * size, abs=size)
    assert moved["host->mem"] == pytest.approx((300 - reads) * size, abs=size)
