"""Full and half duplex, of links and of buses: bandwidth, utility and efficiency in closed form (ESF, V-D).

A message with data costs 1, one without costs h. Of each request, h r + (1 - r) goes to the memories and r + (1 - r) h
comes back; r is the share of reads as measured.
"""

from __future__ import annotations

import pytest
from validation.examples import pairs
from validation.systems import LINE, Run, Spec, changed, host_and_memory, host_bus_memories, run

B = 16.0  # GB/s: a line every 4 ns
QUEUE = 600  # above 10 x bandwidth x round trip: 0.2 us x 16 GB/s / 64 B x 10 = 500
WORK = {"requests": 100_000, "footprint": "1GiB"}
READS = [0.0, 0.25, 0.5, 0.75, 1.0]
HEADERS = [0, 16, 32, 64]  # bytes: h = 0, 1/4, 1/2, 1


def on_link(wire: Spec, reads: float) -> Spec:
    """A host and a memory with such a link between them."""
    return host_and_memory(wire, host={"queue": QUEUE}, work={**WORK, "reads": reads}, warmup=3 * QUEUE)


def on_bus(wire: Spec, reads: float) -> Spec:
    """A host and four memories with such a bus between them, on links without limit."""
    return host_bus_memories(wire, host={"queue": QUEUE}, work={**WORK, "reads": reads}, warmup=3 * QUEUE)


SYSTEMS = pytest.mark.parametrize("system", [on_link, on_bus], ids=["link", "bus"])


def shares(outcome: Run, h: float) -> tuple[float, float]:
    """What a request costs in each direction, in messages with data."""
    r = outcome.summary["reads"] / outcome.summary["requests"]
    return r * h + (1 - r), r + (1 - r) * h


def utility_and_efficiency(outcome: Run, directions: int) -> tuple[float, float]:
    """Busy time / time, averaged over the directions, and payload time / busy time."""
    if switch := outcome.summary["per_switch"]:
        return switch["bus"]["utilization"], switch["bus"]["efficiency"]
    ways = list(outcome.directions().values())
    busy = sum(way["utilization"] for way in ways)
    return busy / directions, sum(way["utilization"] * (way["efficiency"] or 0) for way in ways) / busy


def turning(outcome: Run) -> float | None:
    """Time in which the shared medium turns / time; None of full duplex."""
    if switch := outcome.summary["per_switch"]:
        found: float | None = switch["bus"].get("turnaround")
        return found
    there, back = (way.get("turnaround") for way in outcome.directions().values())
    assert there == back
    return there


@SYSTEMS
@pytest.mark.parametrize(("reads", "header"), pairs(READS, HEADERS))
def test_full_duplex(system: object, reads: float, header: int) -> None:
    assert callable(system)
    outcome = run(system({"bandwidth": f"{B:g}GB/s", "header": f"{header}B", "data_header": "0B"}, reads))
    down, up = shares(outcome, header / LINE)
    assert outcome.bandwidth == pytest.approx(B / max(down, up), rel=0.01)
    utility, efficiency = utility_and_efficiency(outcome, 2)
    assert utility == pytest.approx((down + up) / 2 / max(down, up), abs=0.01)
    assert efficiency == pytest.approx(1 / (1 + header / LINE), rel=0.005)


@SYSTEMS
@pytest.mark.parametrize(("reads", "header"), pairs(READS, HEADERS))
def test_half_duplex(system: object, reads: float, header: int) -> None:
    # The directions take turns, so that answers do not wait behind all requests, and the wire never rests.
    assert callable(system)
    wire = {"bandwidth": f"{B:g}GB/s", "header": f"{header}B", "data_header": "0B", "duplex": "half"}
    outcome = run(system(wire, reads))
    assert outcome.bandwidth == pytest.approx(B / (1 + header / LINE), rel=0.01)
    utility, efficiency = utility_and_efficiency(outcome, 1)
    assert utility == pytest.approx(1.0, abs=0.01)
    assert efficiency == pytest.approx(1 / (1 + header / LINE), rel=0.005)


@pytest.mark.parametrize("turnaround", [1, 4, 16])
@SYSTEMS
def test_half_duplex_pays_two_turnarounds_a_request(system: object, turnaround: int) -> None:
    # The two directions take turns whenever both want the wire: each request turns it twice.
    assert callable(system)
    wire = {"bandwidth": f"{B:g}GB/s", "header": "16B", "data_header": "0B", "duplex": "half",
            "turnaround": f"{turnaround}ns"}  # fmt: skip
    outcome = run(system(wire, 0.5))
    time = LINE * 1.25 / B + 2 * turnaround
    assert outcome.bandwidth == pytest.approx(LINE / time, rel=0.01)
    utility, _ = utility_and_efficiency(outcome, 1)
    assert utility == pytest.approx(LINE * 1.25 / B / time, rel=0.01)
    turned = turning(outcome)
    assert turned == pytest.approx(2 * turnaround / time, rel=0.01)
    assert turned is not None
    assert utility + turned <= 1 + 1e-9


@pytest.mark.parametrize("turnaround", [0, 3])
@SYSTEMS
def test_one_request_at_a_time_turns_a_shared_wire_twice(system: object, turnaround: int) -> None:
    # Nothing takes time but the wire: a request's message, a turn, its answer, a turn.
    assert callable(system)
    wire = {"bandwidth": f"{B:g}GB/s", "header": "16B", "data_header": "0B", "duplex": "half",
            "turnaround": f"{turnaround}ns"}  # fmt: skip
    spec = changed(
        system(wire, 0.5),
        ("devices.host", {"kind": "host", "queue": 1, "process_time": "0ns"}),
        ("links.0.port_delay", "0ns"),
        ("workload.host.requests", 1000),
        ("run.warmup", 1),
    )
    for name, device in spec["devices"].items():
        if name.startswith("mem"):
            device.update(controller_time="0ns", media={"kind": "fixed", "latency": "0ns"})
        if name == "bus":
            device["bus_time"] = "0ns"
    outcome = run(spec)
    busy = LINE * 1.25 / B
    assert outcome.bandwidth == pytest.approx(LINE / (busy + 2 * turnaround), rel=1e-9)
    utility, _ = utility_and_efficiency(outcome, 1)
    assert utility == pytest.approx(busy / (busy + 2 * turnaround), rel=1e-3)
    assert turning(outcome) == pytest.approx(2 * turnaround / (busy + 2 * turnaround), rel=1e-3)


def test_data_header_counts_in_both_directions() -> None:
    outcome = run(on_link({"bandwidth": f"{B:g}GB/s", "header": "16B", "data_header": "16B"}, 0.5))
    reads = outcome.summary["reads"] / outcome.summary["requests"]
    busiest = max(reads * 16 + (1 - reads) * 80, reads * 80 + (1 - reads) * 16)
    assert outcome.bandwidth == pytest.approx(B * LINE / busiest, rel=0.01)


def test_each_direction_of_a_link_has_its_own_bandwidth() -> None:
    wire = {"bandwidth": "8GB/s", "header": "0B", "data_header": "0B", "reverse": {"bandwidth": "32GB/s"}}
    assert run(on_link(wire, 0.0)).bandwidth == pytest.approx(8.0, rel=0.01)  # written data go forward
    assert run(on_link(wire, 1.0)).bandwidth == pytest.approx(32.0, rel=0.01)  # read data come back


@pytest.mark.parametrize("kind", ["bus", "switch"])
def test_a_wire_without_limit_is_never_busy(kind: str) -> None:
    # Lines from four slow links pass it side by side, each as slowly as its tail comes in.
    spec = host_bus_memories({}, work={"requests": 2000, "reads": 0.5})
    spec["devices"]["bus"] = {"kind": kind}
    for link in spec["links"][1:]:
        link["bandwidth"] = "2GB/s"
    outcome = run(spec)
    ways = outcome.directions()
    assert ways["bus->host"]["utilization"] == ways["host->bus"]["utilization"] == 0.0
    assert ways["bus->host"]["messages"] > 1900
    assert ways["mem0->bus"]["utilization"] > 0.7
    assert outcome.segment("serialization") > 20.0
    if kind == "bus":
        assert outcome.summary["per_switch"]["bus"]["utilization"] == 0.0
