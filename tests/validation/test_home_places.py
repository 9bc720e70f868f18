"""Places of a home agent (`transactions`): how long each kind of request of CXL.cache keeps one."""

from __future__ import annotations

from typing import Any

import pytest
from validation.systems import Run, Spec, run

LINE = 64
LOOKUP = 12.0
MEDIA = 50.0
FLIGHT = 20.0  # 2 ports of 10 ns


def played(
    link: Spec,
    places: int | None,
    reads: float,
    *,
    cache: Spec | None = None,
    warmup: int = 2000,
    **work: Any,
) -> Run:
    """A device that uses the memory of a host, with more in flight than its home agent has places."""
    agent = {
        "lookup_time": f"{LOOKUP:g}ns",
        "filter": {"entries": 1 << 20, "ways": 16},
        **({} if places is None else {"transactions": places}),
    }
    media = {"kind": "fixed", "latency": f"{MEDIA:g}ns"}
    memory = {"capacity": "1GiB", "controller_time": "0ns", "media": media}
    device: Spec = {"kind": "accelerator", "queue": 512}
    if cache:
        device["cache"] = cache
    return run(
        {
            "devices": {"host": {"kind": "host", "home_agent": agent, "memory": memory}, "dev": device},
            "links": [{"between": ["host", "dev"], "port_delay": "10ns", **link}],
            "address_map": [{"to": ["host"], "coherence": "hdm-h"}],
            "workload": {"dev": {"pattern": "random", "reads": reads, "footprint": "32MiB", **work}},
            "run": {"warmup": warmup},
        }
    )


@pytest.mark.parametrize("places", [1, 4, 16])
def test_a_read_keeps_its_place_until_it_is_answered(places: int) -> None:
    outcome = played({}, places, reads=1.0, requests=6000)
    assert outcome.rate == pytest.approx(places / (LOOKUP + MEDIA), rel=0.01)


@pytest.mark.parametrize("places", [1, 4, 16])
def test_a_write_past_the_caches_keeps_its_place_until_memory_has_its_data(places: int) -> None:
    # GO_WritePull answers ItoMWr and goes to the device, D2H-Data come back, and memory writes them.
    outcome = played({}, places, reads=0.0, requests=6000)
    assert outcome.rate == pytest.approx(places / (LOOKUP + 2 * FLIGHT + MEDIA), rel=0.01)


@pytest.mark.parametrize("places", [64, None])
@pytest.mark.parametrize("writer", ["host", "dev"])
def test_writes_past_the_caches_are_answered_no_faster_than_memory_takes_them(
    writer: str, places: int | None
) -> None:
    """The home agent's buffers, 4096 entries without places, are full: as many writes go in as memory takes out."""
    agent = {} if places is None else {"transactions": places}
    memory = {"capacity": "1GiB", "media": {"kind": "fixed", "latency": "50ns", "bandwidth": "4GB/s"}}
    spec = {
        "devices": {
            "host": {"kind": "host", "queue": 64, "home_agent": {"filter": {"entries": 1 << 20}, **agent}},
            "dev": {"kind": "accelerator", "queue": 64},
            "mem": {"kind": "memory", **memory},
            "sw": {"kind": "switch"},
        },
        "links": [{"between": ["sw", name], "bandwidth": "32GB/s"} for name in ("host", "dev", "mem")],
        "address_map": [{"to": ["mem"], "coherence": "hdm-h", "home": "host"}],
        "workload": {
            writer: {"pattern": "sequential", "reads": 0.0, "footprint": "512MiB", "requests": 6000}
        },
        "run": {"warmup": 6000},
    }
    assert run(spec).bandwidth == pytest.approx(4.0, rel=0.01)


def test_what_is_done_has_passed_the_link() -> None:
    # A write is done with GO_WritePull. No more than 128 data wait for the link, which is full, with 128 places.
    outcome = played({"phy": "pcie6-x16", "flit": "256B"}, 128, reads=0.0, requests=20_000)
    way = outcome.directions()["dev->host"]
    data = way["flits"]["messages_by_class"]["D2H Data"]
    assert way["utilization"] == pytest.approx(1.0, abs=0.01)
    assert data == pytest.approx(outcome.summary["requests"], abs=2 * 128)


def test_without_places_calls_for_data_are_bounded_by_their_identities() -> None:
    """Requests pass data that wait: classes take turns. UQIDs have 12 bits: 4096 calls at most are open.

    Once so many data wait, no more is done than the link carries.
    """
    outcome = played({"phy": "pcie5-x4", "flit": "256B"}, None, reads=0.0, requests=20_000, warmup=40_000)
    way = outcome.directions()["dev->host"]
    assert way["utilization"] == pytest.approx(1.0, abs=0.01)
    data = way["flits"]["messages_by_class"]["D2H Data"]
    assert data == pytest.approx(outcome.summary["requests"], rel=0.005)
    assert 4000 < way["queue_max"] <= 4096 + 512
    assert outcome.segment("home_queue") > 0
