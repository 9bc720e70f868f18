"""A probe with one access on its way beside a neighbour that wants more than there is: no media let it starve.

In DRAM what bounds the wait is in the C++ tests (dram_starvation_test.cpp). Other media serve what waits in order, or
two kinds of work by turns: the probe waits for no more than all that was there before it, as its neighbour does.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from validation.examples import some
from validation.systems import Spec, run

FLASH: Spec = {"kind": "flash"}
NVM: Spec = {"kind": "nvm"}
DDR4: Spec = {"kind": "dram", "preset": "DDR4-3200"}
# Two lines of a curve: what only reads, and what only writes, reach at most.
CURVE: Spec = {
    "kind": "curve",
    "points": [
        {"reads": reads, "bandwidth": bandwidth, "latency": latency}
        for reads, most in ((0.0, "8GB/s"), (1.0, "12GB/s"))
        for bandwidth, latency in (("1GB/s", "90ns"), (most, "400ns"))
    ],
}

# Media, and the longest that one operation of them takes, in ns: whoever comes while one is under way waits for it.
MEDIA: dict[str, tuple[Spec, float]] = {
    "fixed": ({"kind": "fixed", "bandwidth": "10GB/s"}, 45),
    "fixed with banks": ({"kind": "fixed", "banks": 8}, 45),
    "curve": (CURVE, 400),
    "nvm": (NVM, 1000),
    "nvm without a buffer": ({**NVM, "write_buffer": 0}, 1000),
    "flash": (FLASH, 4e6),
    "flash without a buffer": ({**FLASH, "write_buffer": 0}, 4e6),
    "cached flash": ({"kind": "cached", "size": "1MiB", "backing": FLASH}, 4e6),
    "cached nvm": ({"kind": "cached", "size": "1MiB", "backing": NVM}, 64_000),
    "cached dram": ({"kind": "cached", "size": "1MiB", "backing": DDR4}, 8000),
    "dram": (DDR4, 8000),
    "dram, not posted": ({**DDR4, "posted_writes": False}, 8000),
    "a channel of ddr5": ({"kind": "dram", "preset": "DDR5-4800"}, 8000),
    "lpddr5": ({"kind": "dram", "preset": "LPDDR5-6400"}, 8000),
    "hbm3": ({"kind": "dram", "preset": "HBM3-6400"}, 8000),
}


def waits(media: Spec, probe: float, neighbour: float, depth: int, **memory: Any) -> tuple[Spec, Spec]:
    """What the probe and the neighbour measured. Each of the two does only reads (1), only writes (0), or both."""
    requests = 1000 + 20 * depth  # enough for all of the probe's
    work = {"pattern": "random", "footprint": "256MiB"}
    link = {"bandwidth": "64GB/s", "port_delay": "25ns"}
    spec: Spec = {
        "devices": {
            "neighbour": {"kind": "host", "queue": depth},
            "probe": {"kind": "host", "queue": 1},
            "switch": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1GiB", "media": media, **memory},
        },
        "links": [{"between": [name, "switch"], **link} for name in ("neighbour", "probe", "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {
            "neighbour": {**work, "reads": neighbour, "requests": requests},
            "probe": {**work, "reads": probe, "requests": 12},
        },
        "run": {},
    }
    each = run(spec).summary["per_requester"]
    return each["probe"], each["neighbour"]


@pytest.mark.parametrize(("name", "depth"), some(product(MEDIA, [256, 16])))
def test_a_probe_waits_no_longer_than_its_neighbour_does(name: str, depth: int) -> None:
    media, operation = MEDIA[name]
    for probe in (0.0, 1.0):
        for neighbour in (0.0, 0.5, 1.0):
            one, other = waits(media, probe, neighbour, depth)
            assert one["requests"] == 12, (probe, neighbour)
            longest = max(other["latency_ns"]["max"] or 0, one["latency_ns"]["min"])
            assert one["latency_ns"]["max"] <= longest + operation, (probe, neighbour)


@pytest.mark.parametrize("places", [{"queue": 4}, {"read_buffer": 4, "write_buffer": 4}])
def test_places_of_the_controller_are_given_in_order(places: Spec) -> None:
    """Whoever waits for a place waits in the order of arrival: for all that its neighbour has there, at most."""
    for probe in (0.0, 1.0):
        for neighbour in (0.0, 1.0):
            one, other = waits(DDR4, probe, neighbour, 64, **places)
            assert one["requests"] == 12, (probe, neighbour)
            assert one["latency_ns"]["max"] <= other["latency_ns"]["max"] + 8000, (probe, neighbour)


@pytest.mark.parametrize("reads", [0.4, 0.45, 0.55])
def test_a_probe_that_arrives_turns_nothing_before_it(reads: float) -> None:
    """A run of writes ends sooner once somebody waits who has reads alone, and not before he came.

    A sub-channel is looked at when something may be done, and all that went before follows then. A sampler that looks
    at it every 50 ns must not change what happens.
    """
    spec: Spec = {
        "devices": {
            "probe": {"kind": "host", "process_time": "0ns", "queue": 1},
            "load": {"kind": "host", "process_time": "0ns", "queue": 96, "issue_interval": "2.5ns"},
            "bus": {"kind": "bus", "bus_time": "0ns"},
            "mem": {
                "kind": "memory",
                "capacity": "8GiB",
                "controller_time": "10ns",
                "media": {"kind": "dram", "preset": "DDR5-4800"},
            },
        },
        "links": [{"between": [name, "bus"]} for name in ("probe", "load", "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {
            "probe": {"pattern": "pointer-chase", "footprint": "4GiB", "base": 4 << 30, "requests": 3000},
            "load": {"pattern": "random", "footprint": "4GiB", "reads": reads, "requests": 12000},
        },
        "run": {},
        "outputs": {"requests": True},
    }
    seen = run(spec)
    watched = run({**spec, "outputs": {"requests": True, "series": "50ns"}})
    for column in ("requester", "id", "completed_ps"):
        assert np.array_equal(seen.requests[column], watched.requests[column])
