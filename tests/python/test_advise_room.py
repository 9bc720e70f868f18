"""`cxloom advise` where nodes have little room: the object with the most accesses for its bytes is what keeps it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx
from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject
from cxloom.advising.policies import oli

MIB = 1 << 20
FREE = {"header": "0B", "data_header": "0B"}
COLD, HOT = 16, 16
"""MiB of the two objects, the first of which is touched first."""


def nodes(near: int, far: int = 64) -> list[NodeProfile]:
    """A node of so many MiB near by, and one far away."""
    return [
        NodeProfile("near", near * MIB, 30, {"host": 100}),
        NodeProfile("far", far * MIB, 10, {"host": 250}),
    ]


def two(hot: float = HOT) -> list[PlacedObject]:
    """A cold object, and a hot one with nine tenths of the accesses."""
    return [
        PlacedObject("host", "cold", COLD * MIB, (1e5,)),
        PlacedObject("host", "hot", int(hot * MIB), (9e5,)),
    ]


def near_mib(near: int, hot: float = HOT) -> list[float]:
    """MiB of each of the two in the near node, by object-level interleaving."""
    objects = two(hot)
    found = oli(objects, nodes(near))
    weights = [found.weights(index) for index in range(2)]
    return [
        each.bytes / MIB * mine.get("near", 0) / sum(mine.values())
        for each, mine in zip(objects, weights, strict=True)
    ]


def test_object_level_interleaving_is_as_published_where_all_fits() -> None:
    # 16 MiB of cold and half of 16 MiB of hot.
    assert near_mib(24) == [16, 8]


# The half of the hot object stays near, and the cold one has what that leaves: `near` - 8 MiB.
@pytest.mark.parametrize("near", [20, 16, 12])
def test_what_has_no_room_is_of_the_cold_object(near: int) -> None:
    cold, hot = near_mib(near)
    assert hot == 8
    assert cold == pytest.approx(near - 8, rel=0.02)
    assert cold <= near - 8


@pytest.mark.parametrize(("near", "hot"), [(8, 16), (6, 16), (8, 32)])
def test_of_a_hot_object_the_part_that_fits_is_near(near: int, hot: float) -> None:
    # Half of it has no room, or just: the cold object leaves, and of the hot one as much stays as fits.
    found = near_mib(near, hot)
    assert found[0] == 0
    assert found[1] == pytest.approx(min(near, hot / 2), rel=0.02)
    assert found[1] <= near


def test_a_full_far_node_leaves_the_hot_object_near() -> None:
    # 8 MiB of the hot object would go to a far node of 4 MiB.
    found = oli(two(), nodes(64, far=4))
    weights = found.weights(1)
    assert weights["far"] / sum(weights.values()) == pytest.approx(4 / HOT, rel=0.02)
    assert found.weights(0) == {"near": 1}


def full_near(near: str) -> dict[str, Any]:
    """The two objects, and memories of 30 and 10 GB/s, the faster with little room."""
    media = {"kind": "fixed", "latency": "40ns"}
    return {
        "devices": {
            "host": {"kind": "host", "queue": 128},
            "near": {"kind": "memory", "capacity": near, "media": media},
            "far": {"kind": "memory", "capacity": "64MiB", "media": media},
        },
        "links": [
            {"between": ["host", "near"], "bandwidth": "30GB/s", "port_delay": "5ns", **FREE},
            {"between": ["host", "far"], "bandwidth": "10GB/s", "port_delay": "50ns", **FREE},
        ],
        "address_map": [{"to": ["near"]}, {"to": ["far"]}],
        "workload": {
            "host": {
                "pattern": "objects",
                "requests": 20000,
                "objects": [
                    {"name": "cold", "size": f"{COLD}MiB", "accesses": "10%"},
                    {"name": "hot", "size": f"{HOT}MiB", "accesses": "90%"},
                ],
            }
        },
        "run": {"warmup": 2000},
    }


def test_its_run_has_what_it_proposes() -> None:
    """The near node has room for the cold object alone, whose pages are touched first.

    The far one of 10 GB/s bounds: 45 % of the accesses (half of the hot object) and 5 % (half of the cold one, which
    left) are 10 / 0.5 = 20 GB/s. With the near node full of the cold object 90 % go far: 10 / 0.9 = 11.1 GB/s.
    """
    found = cx.advise(cx.System.from_yaml(json.dumps(full_near("16MiB"))), jobs=1)
    by = {each.policy: each for each in found.outcomes}
    assert by["first-touch"].throughput == pytest.approx(10 / 0.9, rel=0.03)
    assert by["oli"].throughput == pytest.approx(10 / 0.5, rel=0.03)
    # The near node is used to its last page but for what a round leaves.
    assert by["oli"].near == pytest.approx(0.5, abs=0.01)
    # 13 of 16 MiB of the hot object near and 3 of the cold one are 3:1 of the accesses, and 30 + 10 GB/s.
    assert by["optimum"].throughput == pytest.approx(40, rel=0.05)
