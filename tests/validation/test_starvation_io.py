"""A probe beside CXL.io that fills its wires, and CXL.io beside hosts that do: docs/model/io_engine.md has the bounds.

The probe is a host or an I/O engine with one access on its way. Hosts and engines share the wire to a memory.
"""

from __future__ import annotations

import pytest
from validation.systems import Run, Spec, run

HOSTS, QUEUE, PACKETS = 3, 64, 32
SIZE, HEADER, WIRE = 4096, 16, 16.0
PACKET, LINE, BARE = (SIZE + HEADER) / WIRE, (64 + HEADER) / WIRE, HEADER / WIRE
"""On the wire, ns: a packet of data, a line, and a message without data."""
OWN = 256
IO_BYTES = 236 / 256
"""The share of a flit of 256 B."""

HUBS: dict[str, Spec] = {
    "voq": {"kind": "switch", "queueing": "voq"},
    "fifo": {"kind": "switch", "queueing": "fifo"},
    "output": {"kind": "switch", "queueing": "output"},
    "bus": {"kind": "bus", "bandwidth": f"{WIRE:g}GB/s"},
}
LINKS: dict[str, Spec] = {
    "messages": {"bandwidth": f"{WIRE:g}GB/s"},
    "credits": {"bandwidth": f"{WIRE:g}GB/s", "credits": 8},
    "flits": {"phy": "pcie6-x2", "flit": "256B"},
}
PROBES: dict[str, Spec] = {
    "read": {"reads": 1.0},
    "write": {"reads": 0.0},
    "dma-read": {"traffic": "dma-read", "size": f"{OWN}B", "outstanding": 1},
    "dma-write": {"traffic": "dma-write", "size": f"{OWN}B", "outstanding": 1},
    "config-read": {"traffic": "config-read", "outstanding": 1},
}
ENGINES = {"one writes": ["dma-write"], "two write": ["dma-write"] * 2, "one reads": ["dma-read"], "none": []}


def system(hub: str, link: str, probe: str, engines: list[str], reads: float, requests: int = 900) -> Spec:
    """The probe, hosts and engines at a hub with a memory."""
    work: Spec = {"pattern": "random", "footprint": "1GiB"}
    own = PROBES[probe]
    hosts = [f"host{i}" for i in range(HOSTS)]
    devices: Spec = {name: {"kind": "host", "queue": QUEUE} for name in hosts}
    workload: Spec = {name: {**work, "reads": reads, "requests": requests} for name in hosts}
    if "traffic" in own:
        devices["probe"] = {"kind": "io-engine", "target": "mem", **own}
    else:
        devices["probe"] = {"kind": "host", "queue": 1}
        workload["probe"] = {**work, **own, "requests": 8}
    for i, traffic in enumerate(engines):
        more = {"traffic": traffic, "size": f"{SIZE}B", "outstanding": PACKETS}
        devices[f"nic{i}"] = {"kind": "io-engine", "target": "mem", **more}
    ends = [*devices, "mem"]
    devices["mem"] = {"kind": "memory", "capacity": "16GiB", "media": {"kind": "fixed", "latency": "50ns"}}
    devices["hub"] = HUBS[hub]
    return {
        "devices": devices,
        "links": [{"between": [name, "hub"], **LINKS[link]} for name in ends],
        "address_map": [{"to": ["mem"]}],
        "workload": workload,
        "outputs": {"requests": True},
    }


def longest(outcome: Run) -> float:
    """The longest latency of the probe, ns."""
    if "probe" in outcome.summary["per_io"]:
        return float(outcome.summary["per_io"]["probe"]["latency_ns"]["max"])
    rows = outcome.requests
    mine = rows["requester"] == outcome.nodes.index("probe")
    return float((rows["completed_ps"] - rows["created_ps"])[mine].max()) / 1000


def alone(hub: str, link: str, probe: str) -> float:
    """What the probe takes with nobody about, but for one request of a host that the run needs."""
    spec = system(hub, link, probe, [], 1.0, requests=8)
    for name in [f"host{i}" for i in range(HOSTS)]:
        if name != "host0" or "probe" in spec["workload"]:
            del spec["workload"][name]
    spec["devices"]["host0"]["queue"] = 1
    return longest(run(spec))


def most(hub: str, link: str, probe: str, engines: list[str]) -> float:
    """How long the probe waits, there and back.

    Where messages take turns, each of those before it in its class, and itself, lets one of each other class by.
    Elsewhere all that was made before goes before.
    """
    is_io = probe not in ("read", "write")
    others = HOSTS * QUEUE + 1
    packet, line, bare = PACKET, LINE, BARE
    turns, turns_back = hub in ("voq", "fifo") or link != "messages", link != "messages"
    if link == "flits":  # those of packets and of all others go by turns
        packet, line, bare = 2 * (SIZE + HEADER) / (WIRE * IO_BYTES), 2 * 256 / 3 / WIRE, 2 * 256 / 3 / WIRE
    writes, reads = engines.count("dma-write") * PACKETS, engines.count("dma-read") * PACKETS
    at_inputs = hub in ("voq", "fifo")
    # Data go to an engine by the direction of the bus in which writes go to memory.
    downstream = writes + (reads if hub == "bus" else 0)
    if is_io:
        ahead = len(engines) if at_inputs else writes + reads
        there = (
            (ahead + 1) * (packet + line + bare) if turns else downstream * packet + others * (line + bare)
        )
        back = (reads + 1) * (packet + line + bare) if turns_back else reads * packet + others * line
        if probe == "dma-write":
            back = 0.0
        elif hub == "bus":
            back += there
    else:
        one = max(packet if engines else 0.0, bare)
        ahead = HOSTS if at_inputs else others
        there = (ahead + 1) * (one + line + bare) if turns else downstream * packet + others * (line + bare)
        back = others * ((one if reads else 0.0) + line) if turns_back else reads * packet + others * line
    # What is on the wire, or staged for flits, when the probe comes: on each link there and back.
    under_way = max(packet, 4 * line) if link != "flits" else 24 * 256 / WIRE
    return there + back + 2 * under_way


@pytest.mark.parametrize("hub", HUBS)
@pytest.mark.parametrize("link", LINKS)
def test_a_probe_waits_for_packets_and_packets_for_others_no_longer_than_said(hub: str, link: str) -> None:
    for probe in PROBES:
        unloaded = alone(hub, link, probe)
        for name, engines in ENGINES.items():
            if name == "none" and probe in ("read", "write"):
                continue  # test_nobody_starves.py
            for reads in (0.0, 1.0):
                found = longest(run(system(hub, link, probe, engines, reads)))
                bound = unloaded + most(hub, link, probe, engines)
                assert found <= bound, f"{probe}, {name} beside it, hosts read {reads:.0%}"
