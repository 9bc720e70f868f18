"""What CXL.io takes of a system that it shares with a workload, in closed form."""

from __future__ import annotations

import pytest
from validation.systems import LINE, Run, Spec, run

from cxloom import _core
from cxloom.base.errors import SimulationError

HEADER = 16  # bytes of a message, with data and without
FLIGHT = 25.0  # ns: the switch's port
SWITCHING, IO_TIME = 20.0, 100.0


def system(wire: float, reads: float = 0.0, queueing: str = "voq", **engine: object) -> Spec:
    """A host and its memory on a switch with ports of `wire` GB/s, and an engine beside them."""
    return {
        "devices": {
            "host": {"kind": "host", "queue": 512},
            "mem": {"kind": "memory"},
            "sw": {"kind": "switch", "queueing": queueing, "port_bandwidth": f"{wire:g}GB/s"},
            "nic": {"kind": "io-engine", **engine},
        },
        "links": [{"between": [name, "sw"]} for name in ("host", "mem", "nic")],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "reads": reads, "requests": 30_000, "footprint": "1GiB"}},
        "run": {"warmup": 2000},
    }


def engine_bandwidth(outcome: Run) -> float:
    """The bandwidth of the engine's packets."""
    return float(outcome.summary["per_io"]["nic"]["bandwidth_gb_per_s"])


@pytest.mark.parametrize("size", [64, 256, 4096])
@pytest.mark.parametrize("rate", [1.0, 4.0, 100.0])
def test_writes_have_their_rate_or_what_the_wire_carries(rate: float, size: int) -> None:
    # To the host, whose writes go the other way: nobody is on their wires but isolated completions of 16 B per line.
    wire = 16.0
    outcome = run(system(wire, target="host", rate=f"{rate:g}GB/s", size=f"{size}B"))
    lines = outcome.bandwidth / LINE
    assert engine_bandwidth(outcome) == pytest.approx(
        min(rate, (wire - lines * HEADER) * size / (size + HEADER), wire * size / (size + HEADER)), rel=0.02
    )


@pytest.mark.parametrize("queueing", ["voq", "fifo", "output"])
@pytest.mark.parametrize("reads", [0.0, 1.0])
@pytest.mark.parametrize("rate", [0.5, 2.0, 4.0])
def test_a_host_has_what_the_engine_leaves_of_a_shared_wire(rate: float, reads: float, queueing: str) -> None:
    # Writes share the wire to the memory, reads that to the host.
    wire, size = 10.0, 256
    target = "mem" if reads == 0.0 else "host"
    outcome = run(system(wire, reads, queueing, target=target, rate=f"{rate:g}GB/s", size=f"{size}B"))
    left = wire - rate * (size + HEADER) / size
    assert outcome.bandwidth == pytest.approx(left * LINE / (LINE + HEADER), rel=0.02)
    assert engine_bandwidth(outcome) == pytest.approx(rate, rel=0.02)


@pytest.mark.parametrize("size", [64, 1024])
def test_classes_take_turns_message_by_message(size: int) -> None:
    # Without limit on either side: a line, a packet, a line, ...
    wire = 10.0
    outcome = run(system(wire, target="mem", size=f"{size}B"))
    turn = (LINE + HEADER + size + HEADER) / wire
    assert outcome.bandwidth == pytest.approx(LINE / turn, rel=0.02)
    assert engine_bandwidth(outcome) == pytest.approx(size / turn, rel=0.02)


@pytest.mark.parametrize("tags", [1, 4, 32])
def test_reads_are_bound_by_their_tags(tags: int) -> None:
    # The wires have room for both: only now and then a packet meets a line.
    wire, size = 1000.0, 256
    outcome = run(system(wire, target="mem", traffic="dma-read", outstanding=tags))
    there, back = HEADER / wire, (size + HEADER) / wire
    latency = 4 * FLIGHT + 2 * SWITCHING + IO_TIME + there + back
    assert outcome.summary["per_io"]["nic"]["latency_ns"]["min"] == pytest.approx(latency, abs=0.01)
    assert engine_bandwidth(outcome) == pytest.approx(tags * size / latency, rel=0.02)


def test_the_parts_of_a_packets_latency_sum_to_it() -> None:
    outcome = run(system(10.0, reads=0.5, target="host", traffic="dma-read"))
    nic = outcome.summary["per_io"]["nic"]
    assert nic["packets"] > 1000
    assert sum(nic["breakdown_ns"].values()) == pytest.approx(nic["latency_ns"]["mean"], rel=1e-9)
    assert nic["in_flight_mean"] == pytest.approx(32, rel=0.01)


@pytest.mark.parametrize("slice_events", [13, 1_000_000])
def test_a_run_ends_with_its_workload(slice_events: int) -> None:
    outcome = run(system(10.0, target="mem"), slice_events=slice_events)
    assert outcome.completed == outcome.expected == 32_000
    assert outcome.summary["completed"]
    # Packets queue at the switch for as long as they come faster than they leave; all of them go on to their end.
    assert outcome.summary["per_link"]["mem-sw"]["sw->mem"]["queue_max"] > 10


@pytest.mark.parametrize("clean_evictions", ["silent", "notified"])
def test_it_ends_with_the_last_message_of_a_cache(clean_evictions: str) -> None:
    # The last thing under way is the notice of a clean line that has left, for which no request waits.
    spec: Spec = {
        "devices": {
            "host": {
                "kind": "host",
                "queue": 4,
                "cache": {"size": "1KiB", "clean_evictions": clean_evictions},
            },
            "sw": {"kind": "switch", "port_bandwidth": "32GB/s"},
            "mem": {"kind": "memory", "capacity": "1GiB", "dcoh": {}},
            "nic": {
                "kind": "io-engine",
                "target": "host",
                "traffic": "dma-write",
                "rate": "5GB/s",
                "size": "256B",
            },
        },
        "links": [{"between": [name, "sw"]} for name in ("host", "mem", "nic")],
        "address_map": [{"to": ["mem"], "coherence": "hdm-db"}],
        "workload": {"host": {"pattern": "random", "requests": 300, "footprint": "1MiB"}},
        "run": {"warmup": 0},
    }
    simulation = _core.Simulation(spec, {})
    assert simulation.advance(100_000)
    assert simulation.summary()["completed"]


def behind_two_switches(traffic: str, virtual_channels: int) -> Spec:
    """An engine whose packets leave by links with several virtual channels and few credits."""
    pairs = [("host", "sw0"), ("nic", "sw0"), ("sw0", "sw1"), ("sw1", "mem")]
    link = {
        "bandwidth": "16GB/s",
        "port_delay": "25ns",
        "credits": 2,
        "virtual_channels": virtual_channels,
    }
    target = "host" if traffic == "config-read" else "mem"
    return {
        "devices": {
            "host": {"kind": "host", "queue": 8},
            "nic": {
                "kind": "io-engine",
                "target": target,
                "traffic": traffic,
                "rate": "1GB/s",
                "outstanding": 8,
            },
            "sw0": {"kind": "switch", "queueing": "fifo"},
            "sw1": {"kind": "switch", "queueing": "fifo"},
            "mem": {"kind": "memory"},
        },
        "links": [{"between": list(pair), **link} for pair in pairs],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "requests": 2000, "footprint": "1GiB"}},
    }


@pytest.mark.parametrize("traffic", ["dma-read", "dma-write", "config-read"])
def test_engines_take_nothing_of_virtual_channels(traffic: str) -> None:
    one, *several = (engine_bandwidth(run(behind_two_switches(traffic, each))) for each in (1, 2, 3, 4))
    assert one > 0
    for found in several:
        assert found == pytest.approx(one, rel=0.02)


def test_packets_that_wait_for_each_other_are_diagnosed() -> None:
    ring = range(6)
    link = {"bandwidth": "16GB/s", "port_delay": "5ns", "credits": 1}
    pairs = [("host", "sw0"), ("memory", "sw0"), *((f"sw{i}", f"sw{(i + 1) % 6}") for i in ring)]
    pairs += [(f"{kind}{i}", f"sw{i}") for i in ring for kind in ("m", "nic")]
    devices: Spec = {"host": {"kind": "host", "queue": 1}, "memory": {"kind": "memory"}}
    for i in ring:
        devices[f"sw{i}"] = {"kind": "switch", "queueing": "voq"}
        devices[f"m{i}"] = {"kind": "memory"}
        devices[f"nic{i}"] = {"kind": "io-engine", "target": f"m{(i + 2) % 6}"}
    spec: Spec = {
        "devices": devices,
        "links": [{"between": list(pair), **link} for pair in pairs],
        "address_map": [{"to": ["memory"]}],
        "workload": {"host": {"pattern": "random", "requests": 200, "footprint": "1MiB"}},
    }
    with pytest.raises(SimulationError, match=r"packets of CXL\.io are under way"):
        run(spec)
