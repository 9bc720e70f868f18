"""A probe beside saturating neighbours at a persist buffer: docs/model/persist.md says how long each may wait.

The probe has one access on its way, or is the reads of a host that persists as much as it can. What is in the input
queue goes in order, so that nobody waits for more than was there before: the waits are the same in runs four times as
long.
"""

from __future__ import annotations

from typing import Any

import pytest
from validation.systems import Spec, run

TAG, DATA = 0.388, 0.785
T = TAG + DATA
W, S, C, P, READ, WRITE = 50.0, 20.0, 40.0, 10.0, 100.0, 200.0
PERSIST = P + 2 * (W + S) + T
DRAIN = 2 * (W + S) + C + WRITE
BESIDE = P + 4 * W + 2 * S + C
"""A read or a write of memory that passes the buffer, without the media."""
ENTRIES, QUEUE = 8, 64
PACKET, LINE_AND_ANSWER, WIRE, PACKETS = 4096 + 16, 64 + 16 + 16, 16.0, 16
PROBES = 12
"""Accesses of the probe, which is done before its neighbours are."""

WORKS: dict[str, Spec] = {
    "persist": {"persists": 1.0},
    "read": {"reads": 1.0},
    "mixed": {"persists": 0.5},
    "parts": {"persists": 0.5, "size": "16B"},
    "volatile write": {"reads": 0.0, "base": 1 << 30},
    "volatile read": {"reads": 1.0, "base": 1 << 30},
}
MEDIA: Spec = {"kind": "fixed", "latency": f"{READ}ns", "write_latency": f"{WRITE}ns"}


def system(
    probe: str, neighbour: str, count: int = 2, requests: int = 1500, *, shared: bool = False, **buffer: Any
) -> Spec:
    """A probe and its neighbours at a switch with a buffer, one memory that is persistent, and one that is not."""
    others = [f"host{i}" for i in range(count)]
    memory = {"kind": "memory", "capacity": "1GiB", "media": MEDIA}
    footprint = "2KiB" if shared else "1MiB"
    work: Spec = {"probe": {**WORKS[probe], "requests": PROBES}}
    work |= {name: {**WORKS[neighbour], "requests": requests} for name in others}
    for place, each in enumerate(work.values()):
        own = 0 if shared else place << 20
        each |= {"pattern": "random", "footprint": footprint, "base": int(each.get("base", 0)) + own}
    return {
        "devices": {
            "probe": {"kind": "host", "queue": 1},
            **{name: {"kind": "host", "queue": QUEUE} for name in others},
            "sw": {"kind": "switch", "persist_buffer": {"entries": ENTRIES, **buffer}},
            "pm": memory,
            "vm": memory,
        },
        "links": [{"between": [name, "sw"], "port_delay": "25ns"} for name in ("probe", *others, "pm", "vm")],
        "address_map": [{"to": ["pm"], "persistence": "media"}, {"to": ["vm"]}],
        "workload": work,
        "outputs": {"requests": True},
    }


def longest(spec: Spec, who: str = "probe", kind: int | None = None) -> float:
    """Its longest latency, ns, of all accesses or of a kind."""
    outcome = run(spec)
    rows = outcome.requests
    mine = rows["requester"] == outcome.nodes.index(who)
    if kind is not None:
        mine &= rows["kind"] == kind
    assert mine.sum() >= (PROBES if who == "probe" else 1)
    return float((rows["completed_ps"] - rows["created_ps"])[mine].max()) / 1000


def behind(ahead: int, policy: str, *, shared: bool, drain: float = DRAIN) -> float:
    """How long a message waits in the input queue behind so many persists, at most.

    All entries turn over in the time of a drain, and that of the one before it where lines are shared. With `forward`
    those of a batch do, and all persists of that time take the controller.
    """
    turn, entries = drain * (2 if shared else 1) + T, ENTRIES
    if policy == "forward":
        entries, turn = int(0.8 * ENTRIES) + 1 - int(0.6 * ENTRIES), turn + T
    return (ahead // entries + 1) * turn


@pytest.mark.parametrize("policy", ["drain", "forward"])
@pytest.mark.parametrize("queue", ["unlimited", 4])
@pytest.mark.parametrize("shared", [False, True])
def test_a_probe_waits_for_the_persists_before_it(policy: str, queue: int | str, shared: bool) -> None:
    waits = behind(2 * QUEUE, policy, shared=shared)
    own = behind(0, policy, shared=True)  # its own persist, which is on its way to memory
    looked_up = (
        TAG + S + 2 * DRAIN if shared else 0.0
    )  # a detour, or a read that is held until its line has drained
    for neighbour in WORKS:
        crowd = waits if neighbour in ("persist", "mixed", "parts") else own
        unloaded = {
            "persist": PERSIST + crowd,
            "read": BESIDE + READ + (crowd + looked_up if shared else 0.0),
            "mixed": BESIDE + READ + crowd + looked_up,
            "parts": BESIDE + READ + crowd + looked_up,
            "volatile write": BESIDE + WRITE,
            "volatile read": BESIDE + READ,
        }
        for probe, most in unloaded.items():
            spec = system(probe, neighbour, shared=shared, policy=policy, queue=queue)
            assert longest(spec) <= most, f"{probe} beside {neighbour}"


@pytest.mark.parametrize("policy", ["drain", "forward"])
def test_the_bound_is_reached_and_does_not_grow(policy: str) -> None:
    """Persists of other lines: the probe waits for all of its neighbours', in longer runs not longer."""
    found = [longest(system("persist", "persist", 2, requests, policy=policy)) for requests in (1500, 6000)]
    assert found[0] == found[1]
    waits = behind(2 * QUEUE, policy, shared=False)
    assert 0.7 * waits <= found[0] <= PERSIST + waits


@pytest.mark.parametrize("policy", ["drain", "forward"])
@pytest.mark.parametrize("footprint", ["2KiB", "1MiB"])
def test_reads_of_a_host_wait_for_its_own_persists(policy: str, footprint: str) -> None:
    """Those of other lines pass the buffer; those of a line that is there, or waits, wait for what is before them."""
    spec = system("volatile read", "persist", 1, policy=policy)
    spec["workload"]["host0"] |= {"persists": 0.9, "footprint": footprint}
    few = footprint == "2KiB"
    most = BESIDE + READ + behind(QUEUE, policy, shared=few) + TAG + S + 2 * DRAIN
    assert longest(spec, "host0", kind=0) <= most


@pytest.mark.parametrize("traffic", ["dma-write", "dma-read"])
@pytest.mark.parametrize("queueing", ["voq", "output"])
def test_packets_make_drains_longer_and_no_more(traffic: str, queueing: str) -> None:
    """Drains go to memory with the packets of an engine that fills its wire, and their answers with its completions.

    A port in turns lets one packet by before each line; others, and the memory's port, all that were made before.
    """
    spec = system("persist", "persist", 2)
    spec["devices"]["sw"]["queueing"] = queueing
    spec["devices"]["nic"] = {
        "kind": "io-engine",
        "target": "pm",
        "traffic": traffic,
        "size": "4096B",
        "outstanding": PACKETS,
    }
    spec["links"].append({"between": ["nic", "sw"], "port_delay": "25ns"})
    for link in spec["links"]:
        link["bandwidth"] = f"{WIRE:g}GB/s"
    in_turns = traffic == "dma-write" and queueing == "voq"
    packets = ENTRIES if in_turns else PACKETS
    drain = DRAIN + packets * PACKET / WIRE + ENTRIES * LINE_AND_ANSWER / WIRE
    most = PERSIST + behind(2 * QUEUE, "drain", shared=False, drain=drain)
    assert 0.7 * most <= longest(spec) <= most


def test_drains_wait_for_each_other_at_a_second_buffer() -> None:
    """A drain of the first buffer is a persist at the second one, behind those of the first's other entries."""
    spec = system("persist", "persist", 2)
    spec["devices"]["next"] = {"kind": "switch", "persist_buffer": {"entries": ENTRIES // 2}}
    for link in spec["links"]:
        if "pm" in link["between"]:
            link["between"] = ["next", "pm"]
    spec["links"].append({"between": ["sw", "next"], "port_delay": "25ns"})
    turns = (ENTRIES - 1) // (ENTRIES // 2) + 1
    drain = 2 * W + 4 * S + T + turns * (DRAIN + T)
    most = PERSIST + behind(2 * QUEUE, "drain", shared=False, drain=drain)
    assert 0.6 * most <= longest(spec) <= most


@pytest.mark.parametrize("probe", ["persist", "volatile write", "volatile read"])
def test_persists_that_find_the_queue_full_keep_their_buffers(probe: str) -> None:
    """Writes that share the buffers of a link wait with them, other memory's too; reads have buffers of their own."""
    spec = system(probe, "persist", 2, queue=4)
    spec["devices"]["front"] = {"kind": "switch", "queueing": "voq"}
    for link in spec["links"]:
        if not {"pm", "vm"} & set(link["between"]):
            link["between"][1] = "front"
    spec["links"].append({"between": ["front", "sw"], "port_delay": "25ns", "credits": {"M2S RwD": 8}})
    # A credit comes for each persist that leaves the receive buffer, to the three hosts in turn. A persist then waits
    # for those that were there before it, in the buffers and in the queue.
    ahead = {"persist": 3 + 8 + 4, "volatile write": 3}
    waits = behind(ahead[probe], "drain", shared=False) if probe in ahead else 0.0
    unloaded = {"persist": PERSIST, "volatile write": BESIDE + WRITE, "volatile read": BESIDE + READ}
    found = longest(spec) - unloaded[probe] - 2 * (W + S)
    assert 0.6 * waits <= found <= waits


def test_who_gets_nothing_in_the_window_is_named() -> None:
    """The neighbours' work ends before the probe's first persist is through."""
    spec = system("persist", "persist", 2, requests=100)
    spec["devices"]["probe"]["process_time"] = "20us"
    summary = run(spec).summary
    assert summary["per_requester"]["probe"]["requests"] == 0
    assert any("'probe' got no data in the measured window" in note for note in summary["notes"])
