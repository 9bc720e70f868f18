"""How full wires are said to be: of half duplex by both directions and turns, in flits by slots."""

from __future__ import annotations

from typing import Any

import pytest

import cxloom as cx
from cxloom.base.wires import in_use, slots_in_use
from cxloom.bottleneck.shared_limits import all_resources
from cxloom.report.utilisation import directions, load_of


def host_and_memory(link: dict[str, Any], queue: int = 64, reads: float = 0.5) -> cx.System:
    system = cx.System()
    system.add("host", "h", queue=queue)
    system.add("memory", "m", capacity="1GiB", queue=4096, media={"kind": "fixed", "latency": "60ns"})
    system.connect("h", "m", port_delay="10ns", **link)
    system.map("m")
    system.workload("h", pattern="random", reads=reads, requests=8000, footprint="1GiB")
    system.set("run.warmup", 2000)
    return system


# A message with data takes 80 B / 8 GB/s = 10 ns, one without 2 ns, and where both directions always want the wire it
# turns for each message: of 12 ns + 2 x 2 ns of an access each direction has 6 ns and turning 4. All of it is taken.
@pytest.mark.parametrize("turnaround", [0, 2])
def test_a_full_wire_of_half_duplex_is_full_in_both_directions(turnaround: int) -> None:
    shared = {"bandwidth": "8GB/s", "duplex": "half", "turnaround": f"{turnaround}ns"}
    result = cx.run(host_and_memory(shared))
    whole = 12 + 2 * turnaround
    ways = result.summary["per_link"]["h-m"]
    for way in ways.values():
        assert way["utilization"] == pytest.approx(6 / whole, rel=0.03)
        assert way["turnaround"] == pytest.approx(2 * turnaround / whole, rel=0.03, abs=1e-9)
    assert str(result).count("100.0 %") >= 2
    assert [each.in_use for each in directions(result.summary)] == pytest.approx([1, 1], abs=2e-3)
    assert list(load_of(result.summary).links.values()) == pytest.approx([1, 1], abs=2e-3)


def test_a_bus_of_half_duplex_is_full_in_both_directions() -> None:
    system = cx.System()
    system.add("host", "h")
    system.add("bus", "b", bandwidth="8GB/s", duplex="half", turnaround="2ns")
    system.add("memory", "m", capacity="1GiB")
    system.connect("h", "b")
    system.connect("b", "m")
    system.map("m")
    system.workload("h", pattern="random", reads=0.5, requests=4000, footprint="1GiB")
    system.set("run.warmup", 1000)
    result = cx.run(system)
    busy = [each.in_use for each in directions(result.summary) if each.link == "b"]
    assert busy == pytest.approx([1, 1], abs=2e-3)
    assert str(result).count("100.0 %") >= 2


# A few requests at a time fill flits by half: what a wire of them can give follows from its slots, within the eighth by
# which headers share slots when many wait; by its time it seems to give half as much.
def test_flits_that_are_half_empty_are_no_limit() -> None:
    flits = {"phy": "pcie5-x4", "flit": "256B-pbr"}
    full = cx.run(host_and_memory(flits, queue=2048)).summary
    light = host_and_memory(flits, queue=8)
    summary = cx.run(light).summary
    wires = [each for each in all_resources(light.resolve().plain(), summary) if each.kind == "the wire"]
    bounds = [each.bound(summary["bandwidth_gb_per_s"]) or 0.0 for each in wires]
    assert min(bounds) == pytest.approx(full["bandwidth_gb_per_s"], rel=0.12)
    busy = max(way["utilization"] for way in summary["per_link"]["h-m"].values())
    assert summary["bandwidth_gb_per_s"] / busy < 0.7 * full["bandwidth_gb_per_s"]


# The way back of writes in 256B flits has headers without data, two of fifteen slots, in flits that go all the time.
def test_the_table_says_how_full_flits_are() -> None:
    writes = cx.run(host_and_memory({"phy": "pcie5-x4", "flit": "256B"}, queue=2048, reads=0.0))
    back = writes.summary["per_link"]["h-m"]["m->h"]
    assert back["utilization"] > 0.97
    there, answers = sorted(directions(writes.summary), key=lambda way: -(way.in_use or 0))
    assert (there.name, answers.name) == ("h->m", "m->h")
    assert answers.in_use == pytest.approx(2 / 15, rel=0.03)
    assert "slots in use" in str(writes)


# Eight of a class is what a flit of 256 B may carry, in eight of its fifteen slots: 600 of them that wait fill a wire,
# and a wire on which none wait could carry them in fewer flits. A retry takes the wire, and so do flits of CXL.io.
def test_a_wire_is_full_where_largest_counts_keep_slots_empty() -> None:
    flits = {"flits": {"protocol": 100.0}, "slots": {"header": 800.0, "empty": 700.0}, "retry_share": 0.0}
    way: Any = {"utilization": 1.0, "queue_p50": 600.0, "flits": flits}
    assert slots_in_use(way) == pytest.approx(8 / 15)
    assert in_use(way, {"a->b": way}) == 1
    way["queue_p50"] = 0.0
    assert in_use(way, {"a->b": way}) == pytest.approx(8 / 15)
    way["flits"] = flits | {"flits": {"protocol": 100.0, "io": 100.0}, "retry_share": 0.1}
    assert slots_in_use(way) == pytest.approx(0.1 + 0.9 * (1 + 8 / 15) / 2)
