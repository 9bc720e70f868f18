"""What a wire or a bus that both directions share can give is said with the time in which it turns."""

from __future__ import annotations

import pytest
from test_explain import chained

import cxloom as cx
from cxloom.bottleneck.shared_limits import all_resources


def test_of_a_half_duplex_link_both_ways_take_the_one_wire() -> None:
    found = cx.explain(chained(link={"bandwidth": "20GB/s", "duplex": "half"}, work={"reads": 0.5}))
    assert found.limit is not None
    assert found.limit.name == "the wire sw-mem"
    bound = found.bound(found.limit)
    assert bound == pytest.approx(found.throughput, rel=0.03)


@pytest.mark.parametrize("medium", ["link", "bus"])
@pytest.mark.parametrize(("queue", "together"), [(1, 1), (4, 4), (256, 1)])
def test_a_shared_medium_is_bound_by_its_turns_too(medium: str, queue: int, together: int) -> None:
    """Each request turns it twice, alone and where both directions always want it; a few go there and back together.

    A bound without the turns would be out of reach.
    """
    shared = {
        "bandwidth": "20GB/s",
        "duplex": "half",
        "turnaround": "3ns",
        "header": "16B",
        "data_header": "16B",
    }
    system = chained(host={"queue": queue}, work={"reads": 0.5, "requests": 4000})
    if medium == "bus":
        system.set("devices.sw", {"kind": "bus", "bus_time": "0ns", **shared})
    else:
        system.set("links[1]", {"between": ["sw", "mem"], "delay": "10ns", **shared})
    summary = cx.run(system).summary
    [found] = [
        each
        for each in all_resources(system.resolve().plain(), summary)
        if each.name == {"link": "the wire sw-mem", "bus": "the bus sw"}[medium]
    ]
    most = 64 / (2 * 3 / together + (16 + 80) / 20)
    throughput = summary["bandwidth_gb_per_s"]
    assert found.bound(throughput) == pytest.approx(most, rel=0.02)
    assert throughput < 1.001 * most
    assert found.level.endswith("% in turnarounds")
    assert found.full == (queue == 256)
