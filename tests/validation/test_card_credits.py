"""Saturated bandwidth of a card by the credits of its link: credits x 64 B / the loop of a credit.

The loop: the flits of a message, the flight there, the flit that brings the credit back, the flight back, and the time
from its arrival to the message that takes it (docs/model/flit_link.md).
"""

from __future__ import annotations

from typing import Any

import pytest
from validation.systems import LINE, Spec, changed, host_and_memory, run
from validation.test_flits import FLIT_BYTES, bound, bytes_per_ns

import cxloom as cx

PHY = "pcie5-x16"
FLIT = FLIT_BYTES["68B"] / bytes_per_ns(PHY)
FLIGHT = 62.0
PRESET = "expander/x16-ddr5"


def loop(write: bool, credit_time: float) -> float:
    """The round of a credit, ns: a write takes two flits of 68 B, a read one."""
    return (3 if write else 2) * FLIT + 2 * FLIGHT + credit_time


def requests(credits: int) -> dict[str, int]:
    """Credits of the classes that go to the memory."""
    return {"M2S Req": credits, "M2S RwD": credits}


def system(reads: float, credits: Any, credit_time: float) -> Spec:
    """A host with more in flight than the link's credits, and a card that takes each request at once."""
    return host_and_memory(
        link={
            "phy": PHY,
            "flit": "68B",
            "delay": f"{FLIGHT}ns",
            "credits": credits,
            "credit_time": f"{credit_time}ns",
        },
        memory={"controller_time": "10ns", "media": {"kind": "fixed", "latency": "10ns"}},
        host={"process_time": "0ns", "queue": 1024},
        work={"reads": reads, "requests": 12_000, "footprint": "1GiB"},
        warmup=3000,
    )


@pytest.mark.parametrize("credit_time", [0.0, 50.0, 125.0])
@pytest.mark.parametrize("reads", [0.0, 1.0])
def test_one_credit_comes_round_once_in_a_loop(reads: float, credit_time: float) -> None:
    outcome = run(changed(system(reads, requests(1), credit_time), ("workload.host.requests", 2000)))
    assert outcome.bandwidth == pytest.approx(LINE / loop(reads == 0, credit_time), rel=1e-4)


@pytest.mark.parametrize("credit_time", [0.0, 30.0, 100.0])
@pytest.mark.parametrize("credits", [1, 4, 16])
def test_credits_of_a_link_without_flits(credits: int, credit_time: float) -> None:
    """A stream of reads: credits x 64 B / (header on the wire + flight there + flight back + `credit_time`).

    The flight is two ports of 10 ns and 62 ns of cable, the request 16 B at 64 GB/s; the memory takes a request at
    once. The credit takes no bandwidth (docs/model/link.md), so nothing else is in the loop.
    """
    spec = system(1.0, {"M2S Req": credits}, credit_time)
    way = {
        "bandwidth": "64GB/s",
        "header": "16B",
        "port_delay": "10ns",
        "delay": f"{FLIGHT}ns",
        "credits": {"M2S Req": credits},
        "credit_time": f"{credit_time}ns",
    }
    spec["links"][0] = {"between": spec["links"][0]["between"], **way}
    loop_of_one = 16 / 64 + 2 * (2 * 10 + FLIGHT) + credit_time
    assert credits * LINE / loop_of_one < 0.5 * 64 * LINE / (LINE + 16)  # the credits bind, and not the wire
    assert run(spec).bandwidth == pytest.approx(credits * LINE / loop_of_one, rel=2e-3)


@pytest.mark.parametrize("credit_time", [0.0, 50.0])
def test_credits_of_a_link_of_256b_flits(credit_time: float) -> None:
    # 64 GT/s x 16 lanes are 128 GB/s: a flit of 256 B takes 2 ns, and there is one each way in the loop.
    spec = system(1.0, {"M2S Req": 16}, credit_time)
    spec["links"][0] |= {"phy": "pcie6-x16", "flit": "256B"}
    expected = 16 * LINE / (2 * 2.0 + 2 * FLIGHT + credit_time)
    assert run(spec).bandwidth == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("credit_time", [0.0, 50.0])
@pytest.mark.parametrize("credits", [8, 48, 96])
@pytest.mark.parametrize("reads", [0.0, 1.0])
def test_credits_bound_until_packing_does(reads: float, credits: int, credit_time: float) -> None:
    # A credit that is due waits for the next flit that has room for it: up to a flit or two of the loop.
    outcome = run(system(reads, requests(credits), credit_time))
    expected = min(credits * LINE / loop(reads == 0, credit_time), bound("68B", PHY, reads))
    assert outcome.bandwidth == pytest.approx(expected, rel=0.02)


def test_each_class_has_its_own_credits() -> None:
    # Half reads: the class that has fewer holds the other back, as the host has as many of both.
    few = run(system(0.5, {"M2S Req": 16, "M2S RwD": 64}, 50.0)).summary
    half = few["bandwidth_gb_per_s"] / 2
    assert half == pytest.approx(16 * LINE / loop(False, 50.0), rel=0.03)
    blocked = next(iter(few["per_link"].values()))["host->mem"]["credit_blocked_ns_by_class"]
    assert blocked["M2S Req"] > 0.9 * few["simulated_time_ns"]


@pytest.mark.parametrize(("reads", "credits"), [(1.0, 128), (0.0, 112)])
def test_the_card_is_bound_by_its_credits(reads: float, credits: int) -> None:
    card = cx.load(PRESET).set("workload.host.reads", reads).set("workload.host.requests", 30_000)
    result = cx.run(card.set("run.warmup", 6000))
    expected = credits * LINE / loop(reads == 0, 50.0)
    assert result["bandwidth_gb_per_s"] == pytest.approx(expected, rel=0.02)
    assert result["per_memory"]["cxl"]["read_places_mean"] < 128
    assert result["per_memory"]["cxl"]["write_places_mean"] < 128


def test_the_card_stays_below_packing_at_every_share_of_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cxloom.measure.loaded_latency.SHARES", (0.5,))
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    rows = cx.measure.loaded(PRESET, reads=shares, jobs=1).rows
    full = {row["reads"]: row["bandwidth_gb_per_s"] for row in rows if row["delay_ns"] == 0}
    below = {share: 1 - full[share] / bound("68B", PHY, share) for share in shares}
    assert list(full) == shares
    for share in shares:
        assert 0.08 < below[share] < 0.21, (share, below)
    # Without credits and with the same places nothing but packing is in the way of reads and of writes.
    free = cx.load(PRESET).set("links[0].credit_time", "0ns").set("links[0].credits", "unlimited")
    for row in cx.measure.loaded(free, reads=[0.0, 1.0], jobs=1).rows:
        if row["delay_ns"] == 0:
            assert row["bandwidth_gb_per_s"] > 0.96 * bound("68B", PHY, row["reads"])
