"""A probe beside saturating neighbours: nobody waits longer than what its arbiter says, whatever the others do.

A host with one request in flight at a time shares the wire to a memory with three hosts that fill it.
docs/model/switch.md and docs/model/flit.md say how long that may keep it waiting.
"""

from __future__ import annotations

import math

import pytest
from validation.systems import Run, Spec, run

NEIGHBOURS = 3
QUEUE = 64
FLIT = {
    "68B": (68, "pcie5-x4"),
    "256B": (256, "pcie6-x4"),
    "256B-lo": (256, "pcie6-x4"),
    "256B-pbr": (256, "pcie6-x4"),
}
HEADER, WIRE = 16, 16.0
"""Links of messages: bytes of a header, GB/s."""


def system(hub: Spec, link: Spec, reads: float, probe_reads: float, requests: int) -> Spec:
    """The probe, its neighbours, the hub and the memory."""
    others = [f"host{i}" for i in range(NEIGHBOURS)]
    kind = {"pattern": "random", "footprint": "1GiB"}
    return {
        "devices": {
            "probe": {"kind": "host", "queue": 1},
            **{name: {"kind": "host", "queue": QUEUE} for name in others},
            "hub": hub,
            "mem": {"kind": "memory", "capacity": "16GiB", "media": {"kind": "fixed", "latency": "50ns"}},
        },
        "links": [{"between": [name, "hub"], **link} for name in ("probe", *others, "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {
            "probe": {**kind, "reads": probe_reads, "requests": 60},
            **{name: {**kind, "reads": reads, "requests": requests} for name in others},
        },
        "outputs": {"requests": True},
    }


def waits(outcome: Run) -> float:
    """The longest latency of the probe, ns, while its neighbours are at work."""
    rows = outcome.requests
    probe = outcome.nodes.index("probe")
    end = min(
        rows["created_ps"][rows["requester"] == who].max()
        for who in set(rows["requester"].tolist())
        if who != probe
    )
    mine = (rows["requester"] == probe) & (rows["created_ps"] < end)
    assert mine.sum() >= 8
    took = rows["completed_ps"] - rows["created_ps"]
    return float(took[mine].max()) / 1000


def alone(hub: Spec, link: Spec, probe_reads: float) -> float:
    """What the probe's requests take with nobody about, ns."""
    spec = system(hub, link, 0.0, probe_reads, 1)
    spec["workload"] = {"probe": spec["workload"]["probe"]}
    rows = run(spec).requests
    return float((rows["completed_ps"] - rows["created_ps"]).max()) / 1000


def line_ns(link: Spec) -> float:
    """A line with its header on the wire."""
    if "phy" not in link:
        return (HEADER + 64) / WIRE
    lanes, rate = 4, 2 ** int(link["phy"][4]) / 8
    encoding = 128 / 130 if link["flit"] == "68B" else 1.0
    bytes_of = FLIT[link["flit"]][0]
    return 5 / 4 * 68 / (lanes * rate * encoding) if bytes_of == 68 else 256 / (lanes * rate) / 3


SHARES = {"kind": "weighted", "weights": {"probe": 1}, "default": 8}
HUBS: dict[str, tuple[Spec, int]] = {
    # One message of each neighbour at each of its turns, in each of two classes.
    "voq": ({"kind": "switch", "queueing": "voq"}, 2 * NEIGHBOURS),
    "fifo": ({"kind": "switch", "queueing": "fifo"}, 2 * NEIGHBOURS),
    # Eight times as many bytes, each, and one message on the wire.
    "weighted": ({"kind": "switch", "queueing": "voq", "arbitration": SHARES}, 2 * 9 * NEIGHBOURS),
    # All that was made before it, or came before it.
    "age": ({"kind": "switch", "queueing": "voq", "arbitration": "age"}, NEIGHBOURS * QUEUE),
    "output": ({"kind": "switch", "queueing": "output"}, NEIGHBOURS * QUEUE),
    "bus": ({"kind": "bus", "bandwidth": "16GB/s"}, 2 * NEIGHBOURS * QUEUE),
}
WIRES: dict[str, Spec] = {
    "messages": {"bandwidth": f"{WIRE:g}GB/s"},
    **{flit: {"phy": phy, "flit": flit} for flit, (_, phy) in FLIT.items()},
}


def beyond_the_arbiter(link: Spec) -> float:
    """What waits beside the probe on the wire that it is given, ns: the message under way.

    On links of flits: twelve lines that are staged, sixteen flits for company, and the data and the flit under way
    (docs/model/flit.md).
    """
    line = line_ns(link)
    if "phy" not in link:
        return 4 * line
    flit = line * 4 / 5 if link["flit"] == "68B" else line * 3
    return 12 * line + (16 + 4) * flit


@pytest.mark.parametrize("credits", [None, 8])
@pytest.mark.parametrize("wire", ["messages", "68B", "256B", "256B-pbr"])
@pytest.mark.parametrize("hub", HUBS)
def test_a_probe_waits_for_as_many_messages_as_its_arbiter_lets_by(
    hub: str, wire: str, credits: int | None
) -> None:
    device, messages = HUBS[hub]
    link = {**WIRES[wire], **({} if credits is None else {"credits": credits})}
    for reads, probe_reads in ((0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.5, 0.5)):
        unloaded = alone(device, link, probe_reads)
        found = waits(run(system(device, link, reads, probe_reads, 700)))
        # A message takes its time on the wire, or its part of the loop of the credits, which is no longer than the way
        # there and back.
        each = max(line_ns(link), unloaded / (credits or math.inf))
        # Answers leave the memory as it has them: behind those to all who asked before, where the way back is full.
        asked_before = NEIGHBOURS * QUEUE if reads > 0.0 or credits else 0
        most = unloaded + (messages + asked_before) * each + beyond_the_arbiter(link)
        assert found <= most, f"reads {reads} beside a probe of {probe_reads}"
