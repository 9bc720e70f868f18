"""The servers of the IPDPS 2025 paper as presets: every tool measures each of them, and finds what its parts allow."""

from __future__ import annotations

from typing import Any

import pytest
from validation.examples import pairs, some

import cxloom as cx
from cxloom.measure import loaded_latency, peak

PINS = {"char/a": 38.4, "char/b": 64.0, "char/c": 99.2}
"""GB/s of the card's channels."""
LINK = 63.015384615 * 15 / 16
"""GB/s of lines that the link carries one way at most: of 16 slots 15 are data, as each four have a header."""
FLIT = 68 / 63.015384615
LOOP = 2 * 50 + 50
"""ns of a credit without flits: the flight there and back, and its `credit_time`."""
CREDITS = {0.0: 96 * 64 / (LOOP + 3 * FLIT), 1.0: 106 * 64 / (LOOP + 2 * FLIT)}
"""GB/s of writes and of reads of B and C by the credits of the card's link: a write takes two flits, a read one."""
READS = {"char/a": LINK, "char/b": CREDITS[1.0], "char/c": CREDITS[1.0]}
"""GB/s of reads that the link carries at most."""
CORES = 12
NEAR = {"char/a": ("cpu1", "dram1-0"), "char/b": ("cpu1", "dram1"), "char/c": ("cpu0", "dram0")}
"""The socket of the card, and its DRAM."""


@pytest.fixture(autouse=True)
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded_latency, "_LOADS", 6_000)
    monkeypatch.setattr(loaded_latency, "SHARES", (0.1, 0.8))
    monkeypatch.setattr(peak, "_ROUNDS", 1200)
    monkeypatch.setattr(peak, "_DEPTHS", (1,))


def small(preset: str) -> cx.System:
    """The server with some of its cores on each socket, which are enough to fill the card."""
    system = cx.load(preset)
    for name in ("cpu0", "cpu1"):
        system.set(f"devices.{name}.queue", 48 * CORES).set(f"devices.{name}.core.cores", CORES)
    return system


def of(rows: list[dict[str, Any]], key: str, **fixed: str) -> Any:
    (value,) = [row[key] for row in rows if all(row[name] == wanted for name, wanted in fixed.items())]
    return value


def check_latency(preset: str) -> None:
    near, dram = NEAR[preset]
    rows = cx.measure.latency(preset, jobs=1, requester=near, reads=200).rows
    found = {row["memory"].partition("+")[0]: row for row in rows}
    # Ports of PCIe are passed four times; and the card has a root port, and a controller of its own.
    assert found["card"]["breakdown_ns"]["port_delay"] == pytest.approx(100)
    assert found[dram]["latency_ns"] + 100 < found["card"]["latency_ns"] < found[dram]["latency_ns"] + 160


def check_matrix(preset: str) -> None:
    rows = cx.measure.matrix(preset, jobs=1, reads=300).rows
    near, _ = NEAR[preset]
    first, second = sorted((row["card"] for row in rows), reverse=True)
    assert of(rows, "card", requester=near) == second
    # The other socket pays the way between the sockets, both ways, to the card as to DRAM.
    local, remote = (value for key, value in rows[0].items() if key.startswith("dram"))
    assert first - second == pytest.approx(remote - local, rel=0.08)


def check_sizes(preset: str) -> None:
    rows = cx.measure.sizes(preset, jobs=1, largest="64KiB").rows
    assert all(
        row["latency_ns"] == {"char/a": 13.0}.get(preset, 46.0) for row in rows
    )  # all in the third level


def check_loaded(preset: str) -> None:
    rows = cx.measure.loaded(small(preset), jobs=1, memories=["card"]).rows
    idle, busy, full = (row["latency_ns"] for row in rows)
    assert idle < busy < full
    assert 0.6 * min(PINS[preset], LINK) < rows[-1]["bandwidth_gb_per_s"] < min(PINS[preset], LINK)


def check_bandwidth(preset: str) -> None:
    rows = cx.measure.bandwidth(small(preset), jobs=1, memories=["card"]).rows
    reads = of(rows, "bandwidth_gb_per_s", mix="all reads")
    most = min(PINS[preset], READS[preset])
    assert 0.8 * most < reads < most
    assert of(rows, "in_flight", mix="all reads") == 2 * 48 * CORES


def check_stream(preset: str) -> None:
    _, dram = NEAR[preset]
    rows = cx.measure.stream(
        small(preset), jobs=1, pages={"kind": "interleave", "nodes": [dram, "card"]}
    ).rows
    # All is on the card by half: twice what it has, at most. Of three lines two are read, or three of four.
    for row in rows:
        most = 2 * min(PINS[preset], READS[preset] / (2 / 3 if row["kernel"] in ("copy", "scale") else 3 / 4))
        assert 0.8 * most < row["bus_gb_per_s"] < most


@pytest.mark.parametrize(("tool", "preset"), pairs(cx.measure.__all__, sorted(PINS)))
def test_every_tool_measures_every_server(tool: str, preset: str) -> None:
    globals()[f"check_{tool}"](preset)


def test_system_a_has_the_latencies_that_it_was_fitted_to() -> None:
    """Socket 1 has local DRAM, the other socket's, and the card. From socket 0 the card follows from these."""
    rows = {row["requester"]: row for row in cx.measure.matrix("char/a", jobs=1, reads=1000).rows}
    far, local, card = (value for key, value in rows["cpu1"].items() if key != "requester")
    assert (local, far, card) == (
        pytest.approx(139, rel=0.02),
        pytest.approx(243, rel=0.02),
        pytest.approx(292, rel=0.02),
    )
    assert rows["cpu0"]["card"] == pytest.approx(139 + 104 + 153, rel=0.02)


DEPTH = 256
"""Places in the queue of the root port."""
WARM_UP = {"warmup": 200}
"""Also of the requester whose reads wait longest: meanwhile the other makes tens of thousands."""
IDLE = {"char/b": 313, "char/c": 315}
"""ns of a read of the card from the other socket (docs/characterisation.md)."""


@pytest.mark.parametrize(
    ("preset", "reads", "packing"),
    some(
        [
            ("char/b", 1.0, 52.7),
            ("char/c", 0.0, 47.4),
            ("char/b", 0.0, 47.4),
            ("char/c", 1.0, 52.7),
        ]
    ),
)
def test_credits_keep_a_full_card_below_packing(preset: str, reads: float, packing: float) -> None:
    """By 10 to 20 %; and a read from the other socket waits for all that is in the queue of the root port."""
    near, _ = NEAR[preset]
    other = "cpu0" if near == "cpu1" else "cpu1"
    system = cx.load(preset).set(f"devices.{near}.cache", None).set(f"devices.{other}.cache", None)
    work = {"footprint": "256MiB", "addresses": {"kind": "bind", "nodes": ["card"]}}
    load = {**work, "pattern": "random", "reads": reads, "requests": 3000, "threads": 32}
    system.set("workload", {near: load, other: {**work, "pattern": "pointer-chase", "requests": 16}})
    found = cx.run(system.set("run", WARM_UP)).summary["per_requester"]
    bandwidth = found[near]["bandwidth_gb_per_s"]
    assert bandwidth == pytest.approx(CREDITS[reads], rel=0.03)
    assert 0.8 * packing < bandwidth < 0.9 * packing
    beside = found[other]["latency_ns"]["mean"]
    assert beside == pytest.approx(IDLE[preset] + DEPTH * 64 / bandwidth, rel=0.1)


def test_a_read_beside_saturating_writes_waits_at_the_root_port() -> None:
    """The DRAM of A's card bounds writes: what its places have no room for waits, and a read behind it."""
    system = cx.load("char/a").set("devices.cpu0.cache", None).set("devices.cpu1.cache", None)
    work = {"footprint": "256MiB", "addresses": {"kind": "bind", "nodes": ["card"]}}
    load = {**work, "pattern": "random", "reads": 0.0, "requests": 3000, "threads": 32}
    system.set("workload", {"cpu1": load, "cpu0": {**work, "pattern": "pointer-chase", "requests": 16}})
    found = cx.run(system.set("run", WARM_UP)).summary["per_requester"]
    written = found["cpu1"]["bandwidth_gb_per_s"]
    assert 0.9 * PINS["char/a"] < written < PINS["char/a"]
    assert found["cpu0"]["latency_ns"]["mean"] == pytest.approx(396 + DEPTH * 64 / written, rel=0.1)
