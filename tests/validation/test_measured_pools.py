"""Measuring systems in which hosts have memory of their own in a pool: what a host may use is measured, the rest named.

Whose memory it is, a virtual switch, the `host` of a logical device or an extent says. None of them takes time, so that
a host measures in its part what it would in a memory of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from validation.test_logical_devices import ACCESS, split

import cxloom as cx
from cxloom.base.granules import PAGE
from cxloom.measure.bench import Bench, offered
from cxloom.measure.probe import with_probe

EXAMPLES = Path(__file__).parents[2] / "examples"
QUEUE = 64


def shared(shape: str, *, owned: bool) -> cx.System:
    """Two hosts with a logical device each, in a memory that serves one access after the other."""
    lds = [
        {"allocated_bandwidth": weight} | ({"host": f"h{i}"} if owned else {})
        for i, weight in ((0, 3), (1, 5))
    ]
    return cx.System.from_yaml(json.dumps(split(lds, [{}, {}], 2, shape)))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves of two points, of few requests."""
    monkeypatch.setattr("cxloom.measure.loaded_latency.SHARES", (0.1,))
    monkeypatch.setattr("cxloom.measure.loaded_latency._LOADS", 2000)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("shape", "owned", "apart"),
    [("hub", False, False), ("hub", True, True), ("vcs", False, True), ("heads", True, True)],
)
def test_a_probe_has_the_logical_devices_of_its_host(shape: str, owned: bool, apart: bool) -> None:
    """All that is in flight waits for one access after the other: that of the loading hosts, and the probe's."""
    found = cx.measure.loaded(shared(shape, owned=owned), requester="h1", jobs=1)
    mine = ["mem ld 1"] if apart else ["mem ld 0", "mem ld 1"]
    assert list(dict.fromkeys(row["memory"] for row in found.rows)) == mine
    loading = 1 if apart else 2
    for row in found.rows[1::2]:  # without a delay
        assert row["bandwidth_gb_per_s"] == pytest.approx(64 / ACCESS)
        assert row["latency_ns"] == pytest.approx((loading * QUEUE + 1) * ACCESS)
    for part in ("h1 to mem ld 0", "h0 to mem ld 1"):
        assert (part in found.note) == apart


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("example", "host", "memory", "left_out"),
    [
        ("pooling", "host1", "mem1", "host1 to mem0; host0 to mem1"),
        ("mld", "host1", "mld ld 2", "host1 to mld ld 0; host1 to mld ld 1; host0 to mld ld 2"),
        ("qos", "batch", "mem ld 1", "of service: batch to mem ld 0; left out"),
    ],
)
def test_examples_of_pools_are_measured(example: str, host: str, memory: str, left_out: str) -> None:
    found = cx.measure.loaded(EXAMPLES / f"{example}.yaml", requester=host, jobs=1)
    assert [row["memory"] for row in found.rows] == [memory] * 2
    assert all(row["latency_ns"] > 0 for row in found.rows)
    assert left_out in found.note


def test_the_probe_has_a_half_of_its_hosts_extents() -> None:
    """Requesters share no extents: what the host reads is where the probe's are not."""
    bench = Bench(EXAMPLES / "pooling.yaml")
    extents = with_probe(bench, bench.uncached(), "host1")["devices"]["mem1"]["dynamic_capacity"]["extents"]
    half = 256 << 20
    assert extents == [
        {"base": "0GiB", "size": f"{half}B", "host": "host1"},
        {"base": f"{half}B", "size": f"{half}B", "host": "host1-probe"},
    ]
    unchanged = with_probe(bench, bench.uncached(), "host0")["devices"]["mem1"]
    assert unchanged == bench.spec["devices"]["mem1"]


def in_extents(extents: list[tuple[object, str]], **memory: Any) -> dict[str, Any]:
    """A host whose memory is in extents."""
    mine = [{"base": base, "size": size, "host": "h"} for base, size in extents]
    return {
        "devices": {
            "h": {"kind": "host", "queue": 8},
            "sw": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1MiB", **memory, "dynamic_capacity": {"extents": mine}},
        },
        "links": [{"between": ["h", "sw"]}, {"between": ["sw", "mem"]}],
        "address_map": [{"to": "mem"}],
    }


def in_two_memories() -> dict[str, Any]:
    """63 pages in each of two memories that share addresses: 126, of which a half lies in whole pages of neither."""
    spec = in_extents([("0KiB", "252KiB")])
    spec["devices"]["mem2"] = spec["devices"]["mem"]
    spec["links"].append({"between": ["sw", "mem2"]})
    spec["address_map"] = [{"to": ["mem", "mem2"], "interleave": "256B"}]
    return spec


def without_base() -> dict[str, Any]:
    spec = in_extents([("0KiB", "256KiB")])
    del spec["devices"]["mem"]["dynamic_capacity"]["extents"][0]["base"]
    return spec


ODD: dict[str, tuple[dict[str, Any], int, int]] = {
    "three of 63 pages": (
        in_extents([("0KiB", "252KiB"), ("256KiB", "252KiB"), ("512KiB", "252KiB")]),
        94,
        95,
    ),
    "two of a page": (in_extents([("0KiB", "4KiB"), ("8KiB", "4KiB")]), 1, 1),
    "not in order": (in_extents([("32KiB", "4KiB"), ("0KiB", "20KiB"), ("24KiB", "4KiB")]), 3, 4),
    "not at pages": (in_extents([("64B", "12KiB")]), 1, 1),
    "within a page": (in_extents([("64B", "1KiB"), (8192, "8KiB")]), 1, 1),
    "from an address on": (in_extents([("0x1000", "256KiB")]), 32, 32),
    "from the beginning": (without_base(), 32, 32),
    "in two memories": (in_two_memories(), 62, 64),
}
"""A system, and pages that the host and its probe have."""


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("case", ODD)
def test_extents_of_any_number_of_pages_are_loaded(case: str) -> None:
    spec, host, probe = ODD[case]
    bench = Bench(cx.System.from_yaml(json.dumps(spec)), jobs=1)
    (pages,) = offered(with_probe(bench, bench.uncached(), "h")).values()
    assert pages == {"h": host * PAGE, "h-probe": probe * PAGE}
    found = cx.measure.loaded(cx.System.from_yaml(json.dumps(spec)), jobs=1)
    assert [row["latency_ns"] > 0 for row in found.rows] == [True, True]
    assert found.notes == []


def test_idle_latency_says_whose_the_others_are() -> None:
    found = cx.measure.matrix(shared("hub", owned=True), reads=20, jobs=1)
    assert [(row["mem ld 0"] is None, row["mem ld 1"] is None) for row in found.rows] == [
        (False, True),
        (True, False),
    ]
    assert found.without["from h0 to mem ld 1"] == "it is a logical device of h1"
    assert found.without["from h1 to mem ld 0"] == "it is a logical device of h0"
    one = cx.measure.latency(shared("hub", owned=True), reads=20, jobs=1)
    assert [row["latency_ns"] is None for row in one.rows] == [False, True]
