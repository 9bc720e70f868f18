"""What waits in a cache is on no wire meanwhile: one of much bandwidth is as one without a limit."""

from __future__ import annotations

import pytest
from validation.systems import host_and_memory, run

CACHES = {
    "registers": {"size": "4KiB", "mshrs": 2},
    "write-backs": {"size": "4KiB"},
    "levels": {"size": "1KiB", "levels": [{"size": "4KiB"}]},
}


@pytest.mark.parametrize("coherent", [False, True])
@pytest.mark.parametrize("cache", CACHES)
def test_a_wire_of_much_bandwidth_is_as_one_without_a_limit(cache: str, coherent: bool) -> None:
    """Requests wait in a cache for registers and for their own lines, others pass its levels meanwhile: a wire that is
    free carries what is ready. 80 bytes take 0.08 ns of it, four times at most for each request under way."""
    found = []
    for bandwidth in ("unlimited", "1000GB/s"):
        spec = host_and_memory(
            {"bandwidth": bandwidth},
            {"capacity": "1GiB", **({"dcoh": {}} if coherent else {})},
            {"cache": CACHES[cache], "queue": 4},
            {"footprint": "256KiB", "requests": 3000, "reads": 0.5, "size": "64B"},
        )
        spec["address_map"][0] |= {"coherence": "hdm-db"} if coherent else {}
        found.append(run(spec))
    free, wide = found
    assert free.latency <= wide.latency <= free.latency + 4 * 4 * 0.08
    assert wide.summary["latency_ns"]["max"] <= free.summary["latency_ns"]["max"] + 4 * 4 * 0.08
