"""The shares that advice gives do not depend on how long a program runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from cxloom.advising.least_time import least_times
from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject

NODES = [
    NodeProfile("near", 1 << 30, 20.0, {"chasing": 100.0, "streaming": 100.0}),
    NodeProfile("far", 4 << 30, 10.0, {"chasing": 200.0, "streaming": 200.0}),
]


@pytest.mark.parametrize("times", [1e3, 1e6, 1e9])
def test_a_longer_program_lies_where_a_short_one_does(times: float) -> None:
    """Accesses that depend on each other take seconds where there are ten million of them, and take minutes."""

    def shares(longer: float) -> Sequence[Mapping[str, float]]:
        objects = [
            PlacedObject("chasing", "list", 256 << 20, (100.0 * longer,), dependent=True, threads=1),
            PlacedObject("streaming", "array", 512 << 20, (900.0 * longer,), dependent=False, threads=4),
        ]
        return least_times(objects, NODES, {"chasing": 1, "streaming": 64}, {})

    short = shares(1.0)
    for one, other in zip(short, shares(times), strict=True):
        assert other == pytest.approx(dict(one), abs=1e-4)
    assert short[0]["near"] == pytest.approx(1, abs=1e-4)
