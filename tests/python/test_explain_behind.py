"""What limits media that stand behind others is said as of any: by the accesses that are made to them."""

from __future__ import annotations

from typing import Any

import pytest
from test_explain import FIXED, chained

import cxloom as cx

SLOW = {**FIXED, "bandwidth": "15GB/s"}
PAGES = {"kind": "cached", "size": "1MiB", "misses": 64}
ECC = {"kind": "inline-ecc"}

KNOWN: dict[str, tuple[dict[str, Any], str]] = {
    "a cache of pages": ({**PAGES, "backing": SLOW}, "the data path of the backing of mem"),
    "inline ECC": ({**ECC, "backing": SLOW}, "the data path of the backing of mem"),
    "compression": (
        {"kind": "compressed", "engines": 64, "backing": SLOW},
        "the data path of the backing of mem",
    ),
    "a cache behind inline ECC": (
        {**ECC, "backing": {**PAGES, "backing": SLOW}},
        "the data path of the backing of the backing of mem",
    ),
    "banks": ({**ECC, "backing": {**FIXED, "banks": 8}}, "the banks of the backing of mem"),
    "the cache itself": ({**PAGES, "cache": SLOW, "backing": FIXED}, "the data path of the cache of mem"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_limits_behind_is_named_and_twice_of_it_gains(name: str) -> None:
    media, limit = KNOWN[name]
    found = cx.explain(chained(memory={"media": media}, work={"requests": 4000}), jobs=1)
    assert found.limit is not None
    assert found.limit.name == limit, found.sentence
    assert all(path.startswith("devices.mem.media.") for path in found.limit.relief)
    bound = found.bound(found.limit)
    assert bound == pytest.approx(found.throughput, rel=0.05)
    assert found.what_ifs[0].resource is found.limit
    assert found.what_ifs[0].gain > 0.3


def test_accesses_to_what_is_behind_are_counted() -> None:
    """Nearly every line at random misses its page, which is read from behind as a whole."""
    pages = chained(memory={"media": {**PAGES, "page": "4KiB", "backing": FIXED}}, work={"requests": 2000})
    summary = cx.run(pages).summary
    memory = summary["per_memory"]["mem"]
    behind = memory["backing_accesses"]
    assert behind["writes"] == 0
    moved = behind["bandwidth_gb_per_s"] * summary["simulated_time_ns"]
    assert moved == pytest.approx(4096 * behind["reads"], rel=1e-9)
    assert behind["reads"] == pytest.approx(memory["page_misses"], rel=0.02)
    assert behind["breakdown_ns"] == {"media_queue": 0.0, "media": 50.0}
