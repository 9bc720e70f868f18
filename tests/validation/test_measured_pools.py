"""Measuring systems in which hosts have memory of their own in a pool: what a host may use is measured, the rest named.

Whose memory it is, a virtual switch, the `host` of a logical device or an extent says. None of them takes time, so that
a host measures in its part what it would in a memory of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from validation.test_logical_devices import ACCESS, split

import cxloom as cx

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
    """Of extents, which requesters do not share: what the host reads is where the probe's are not."""
    from cxloom.measure.bench import Bench
    from cxloom.measure.probe import with_probe

    bench = Bench(EXAMPLES / "pooling.yaml")
    extents = with_probe(bench, bench.uncached(), "host1")["devices"]["mem1"]["dynamic_capacity"]["extents"]
    half = 256 << 20
    assert extents == [
        {"base": "0GiB", "size": f"{half}B", "host": "host1"},
        {"base": f"{half}B", "size": f"{half}B", "host": "host1-probe"},
    ]
    unchanged = with_probe(bench, bench.uncached(), "host0")["devices"]["mem1"]
    assert unchanged == bench.spec["devices"]["mem1"]


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
