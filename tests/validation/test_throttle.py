"""Hosts that go by the load that memories report, several at once, as docs/model/qos.md derives it."""

from __future__ import annotations

import math

import pytest
from validation.systems import Run, Spec, changed, run
from validation.test_logical_devices import ACCESS, bandwidth_of, check, split

SERVED = 64 / ACCESS  # GB/s
QOS = {"optimal": 2, "moderate": 16, "severe": 10_000}
DELTA, WINDOW = 1 / 32, 2000.0  # of the full rate, ns


def throttle(rate: float) -> Spec:
    """A throttle with a full rate in GB/s."""
    return {"rate": f"{rate * 1000:.0f}MB/s", "window": f"{WINDOW}ns", "normal_delta": DELTA}


def shared(hosts: int, asked: float, throttled: bool, **memory: object) -> Spec:
    """Hosts that together ask for so much more than a memory serves, with 256 requests in flight each."""
    spec = split([{}] * hosts, [{"queue": 256, "requests": 6000}] * hosts, 1, False, qos=QOS, **memory)
    del spec["devices"]["mem"]["logical_devices"]
    spec["address_map"] = [{"to": ["mem"]}]
    spec["run"] = {"warmup_time": "300us"}
    for i in range(hosts if throttled else 0):
        spec["devices"][f"h{i}"]["throttle"] = throttle(asked * SERVED / hosts)
    return spec


def inside(outcome: Run) -> float:
    """The longest time in the memory, ns."""
    rows = outcome.requests
    return float((rows["media_queue_ps"] + rows["media_ps"]).max()) / 1000


def most_inside(asked: float, served: float = SERVED, moderate: int = 16) -> float:
    """Requests in the memory at most, once settled: the step is that of all hosts together."""
    step = DELTA * asked * SERVED
    worth = step * WINDOW / 64
    news = 64 / served + 200  # until the next answer, and there and back
    steps = 2 + math.sqrt(2 * (QOS["optimal"] + 1) / worth) + news / WINDOW
    return moderate + worth * steps * (steps + 1) / 2


@pytest.mark.parametrize("hosts", [1, 2, 4])
@pytest.mark.parametrize("asked", [1.5, 3.0])
def test_hosts_together_keep_the_queue_in_the_band(hosts: int, asked: float) -> None:
    with_throttle = run(shared(hosts, asked, throttled=True))
    without = run(shared(hosts, asked, throttled=False))
    check(with_throttle)
    assert inside(with_throttle) <= ACCESS * (most_inside(asked) + 1)
    assert inside(without) >= ACCESS * (256 * hosts - 2 * hosts)
    assert with_throttle.bandwidth >= 0.9 * SERVED


@pytest.mark.parametrize("weights", [(1, 1), (3, 1), (1, 3)])
def test_of_logical_devices_each_has_a_load_of_its_own(weights: tuple[int, int]) -> None:
    """The first host goes by the load, the second does not, and the first keeps its share."""
    lds = [{"allocated_bandwidth": weight} for weight in weights]
    spec = split(
        lds, [{"queue": 256, "requests": 6000}, {"queue": 256, "requests": 40000}], 1, False, qos=QOS
    )
    spec["run"] = {"warmup_time": "300us"}
    share = SERVED * weights[0] / sum(weights)
    apart = changed(spec, ("devices.h0.throttle", throttle(2 * SERVED)))
    outcome = run(apart)
    check(outcome)
    assert bandwidth_of(outcome, 0) >= 0.9 * share
    own = outcome.requests["requester"] == outcome.nodes.index("h0")
    rows = outcome.requests
    longest = float((rows["media_queue_ps"] + rows["media_ps"])[own].max()) / 1000
    assert longest <= 64 / share * (most_inside(2, share) + 2)
    assert outcome.summary["per_requester"]["h0"]["throttle"]["mem"]["devload_mean"] < 2.0
    # In one memory without them it hears of the other's requests, and goes back as far as it may.
    del apart["devices"]["mem"]["logical_devices"]
    apart["address_map"] = [{"to": ["mem"]}]
    together = run(apart)
    assert bandwidth_of(together, 0) == pytest.approx(2 * SERVED / 16, rel=0.05)
