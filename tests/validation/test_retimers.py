"""Retimers: each adds its delay to the flight of a link, there and back (docs/model/flit_link.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from validation.systems import LINE, Spec, changed, host_and_memory, run
from validation.test_flits import FLIT_BYTES, bytes_per_ns

import cxloom as cx

DELAY = 9.5
"""The delay of a retimer, ns."""


def system(retimers: int, queue: int = 1, **link: Any) -> Spec:
    """A host that reads, and a memory that takes no time."""
    retimed = {"retimers": retimers, "retimer_delay": f"{DELAY}ns"} if retimers else {}
    return host_and_memory(
        link={"phy": "pcie7-x2", "port_delay": "10ns", "delay": "3ns", **retimed, **link},
        memory={"controller_time": "0ns", "media": {"kind": "fixed", "latency": "0ns"}},
        host={"process_time": "0ns", "queue": queue},
        work={"reads": 1.0, "requests": 200 if queue == 1 else 20_000, "footprint": "1GiB"},
        warmup=0 if queue == 1 else 4000,
    )


@pytest.mark.parametrize("retimers", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("reads", [0.0, 1.0])
def test_one_request_passes_each_retimer_twice(retimers: int, reads: float) -> None:
    # A flit each way (64 GB/s x 2 lanes / 8 = 32 GB/s: 8 ns), and the flight: ports, cable, retimers.
    outcome = run(changed(system(retimers), ("workload.host.reads", reads)))
    expected = 2 * (8.0 + 2 * 10 + 3 + retimers * DELAY)
    times = outcome.summary["latency_ns"]
    assert times["min"] == times["max"] == pytest.approx(expected, abs=0.001)
    assert outcome.segment("propagation") == pytest.approx(2 * (3 + retimers * DELAY), abs=0.001)


@pytest.mark.parametrize("flits", [{"phy": "pcie7-x2"}, {"phy": "pcie5-x4", "flit": "68B"}])
@pytest.mark.parametrize("reads", [0.0, 1.0])
def test_each_way_is_longer_by_what_its_retimers_take(flits: Spec, reads: float) -> None:
    """To the picosecond, of requests and of answers apart: n retimers, n delays, and the ways there and back alike."""
    crossings = []
    for retimers in (0, 1, 2):
        spec = changed(system(retimers, **flits), ("workload.host.reads", reads))
        rows = cx.run(cx.System.from_yaml(json.dumps(spec)), log="protocol").protocol()
        ways: dict[str, set[int]] = {}
        for sender, sent, came in zip(rows["source"], rows["sent_ps"], rows["time_ps"], strict=True):
            ways.setdefault(str(sender), set()).add(int(came) - int(sent))
        assert len(ways) == 2
        assert all(len(each) == 1 for each in ways.values())
        crossings.append({way: each.pop() for way, each in ways.items()})
    for retimers in (1, 2):
        for way, least in crossings[0].items():
            assert crossings[retimers][way] - least == round(retimers * DELAY * 1000)


def test_retimers_stand_on_the_way_back_too_where_it_is_longer() -> None:
    plain, retimed = (run(system(count, reverse={"delay": "40ns"})).latency for count in (0, 2))
    assert retimed - plain == pytest.approx(2 * 2 * DELAY, abs=0.001)


@pytest.mark.parametrize("retimers", [0, 2, 4])
def test_credits_last_for_a_longer_loop(retimers: int) -> None:
    # Reads with c credits: c x 64 B in the loop from the start of a request's flit to the return of its credit.
    credits = 4
    outcome = run(system(retimers, queue=64, credits={"M2S Req": credits}))
    loop = 2 * (8.0 + 2 * 10 + 3 + retimers * DELAY)
    assert outcome.bandwidth == pytest.approx(credits * LINE / loop, rel=0.01)


@pytest.mark.parametrize("retimers", [0, 2])
def test_a_replay_loses_the_retimers_too(retimers: int) -> None:
    # Each flit that is sent again costs itself, the flit that asks for it, and two flights (docs/model/flit_link.md).
    outcome = run(changed(system(retimers, queue=512, errors={"every": 20}), ("workload.host.reads", 0.0)))
    there = outcome.directions()["host->mem"]["flits"]
    flit = FLIT_BYTES["256B"] / bytes_per_ns("pcie7-x2")
    loss = 2 * flit + 2 * (2 * 10 + 3 + retimers * DELAY)
    assert there["errors"] > 100
    assert there["retry_share"] == pytest.approx(
        there["errors"] * loss / outcome.summary["simulated_time_ns"], rel=2e-3
    )
