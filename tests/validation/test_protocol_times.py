"""When messages were sent, by the log of the protocol: not before what caused them, and early enough to come."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from validation.examples import examples
from validation.rich_systems import rich_systems
from validation.systems import Run, Spec, logged
from validation.unloaded import Unloaded

from cxloom import _core

REQUESTS = ("MemRd", "MemRdData", "MemWr", "MemInv", "MemAtomic")
ANSWERS = ("MemData", "Cmp", "Cmp-S", "Cmp-E", "Cmp-M")


def least_flights(spec: Spec) -> dict[str, dict[str, int]]:
    """Between any two devices, the ports and wires of the quickest way, ps: Floyd and Warshall."""
    unloaded = Unloaded(spec)
    names = list(spec["devices"])
    far = {a: {b: 0 if a == b else 10**15 for b in names} for a in names}
    for link in spec["links"]:
        for a, b in (link["between"], link["between"][::-1]):
            far[a][b] = min(far[a][b], unloaded.flight(a, b))
    for via in names:
        if spec["devices"][via]["kind"] not in ("bus", "switch", "root-port"):
            continue
        for a in names:
            for b in names:
                far[a][b] = min(far[a][b], far[a][via] + far[via][b])
    return far


def check_times(outcome: Run) -> None:
    """Each message is sent, is on its way as long as that takes at least, and is taken up."""
    rows, _ = outcome.protocol
    far = least_flights(outcome.spec)
    names = outcome.nodes
    # During an outage that fails requests, the answer counts as sent when the request was (docs/model/protocol_log.md).
    told = any(link.get("outage", {}).get("fail") for link in outcome.spec["links"])
    for i in range(len(rows["time_ps"])):
        if told and rows["failed"][i]:
            continue
        sent, at = int(rows["sent_ps"][i]), int(rows["time_ps"][i])
        who = f"row {i}: {names[rows['source'][i]]} to {names[rows['destination'][i]]}"
        assert sent >= 0, f"{who} was never sent"
        least = far[names[rows["source"][i]]][names[rows["destination"][i]]]
        assert at - sent >= least, f"{who} took {at - sent} ps of {least}"


def check_causes(outcome: Run) -> None:
    """The k-th answer of a device about a line was not sent before the k-th request for it came there."""
    rows, _ = outcome.protocol
    opcodes = _core.Simulation.opcode_names()
    asked: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    answered: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for i in range(len(rows["time_ps"])):
        line = int(rows["address"][i]) // 64
        opcode = opcodes[int(rows["opcode"][i])]
        if opcode in REQUESTS:
            asked[int(rows["destination"][i]), int(rows["source"][i]), line].append(int(rows["time_ps"][i]))
        elif opcode in ANSWERS and not rows["failed"][i]:
            answered[int(rows["source"][i]), int(rows["destination"][i]), line].append(
                int(rows["sent_ps"][i])
            )
    for key, sent in answered.items():
        if key not in asked:
            continue  # a persist buffer's, which has no rows of what it takes
        for request, answer in zip(sorted(asked[key]), sorted(sent), strict=False):
            assert answer >= request


def persistent(policy: str, switches: int, **host: Any) -> Spec:
    """Two hosts that write and read persistent memory behind switches of which each has a buffer."""
    names = [f"sw{i}" for i in range(switches)]
    buffer = {"entries": 4, "policy": policy}
    return {
        "devices": {
            "host0": {"kind": "host", "queue": 8, **host},
            "host1": {"kind": "host", "queue": 8},
            **{name: {"kind": "switch", "persist_buffer": buffer} for name in names},
            "mem": {"kind": "memory", "capacity": "1GiB", "media": {"kind": "fixed", "latency": "300ns"}},
        },
        "links": [
            {"between": ["host0", names[0]], "bandwidth": "16GB/s"},
            {"between": ["host1", names[0]], "bandwidth": "16GB/s"},
            *({"between": list(pair), "bandwidth": "16GB/s"} for pair in pairwise([*names, "mem"])),
        ],
        "address_map": [{"to": ["mem"], "persistence": "media"}],
        "outputs": {"requests": True},
        "workload": {
            name: {
                "pattern": "random",
                "reads": 0.5,
                "requests": 400,
                "footprint": "4KiB",
                "persists": persists,
            }
            for name, persists in (("host0", 0.8), ("host1", 0.3))
        },
    }


@pytest.mark.parametrize("policy", ["drain", "forward"])
@pytest.mark.parametrize("switches", [1, 3])
def test_what_a_persist_buffer_sends_is_sent_when_it_leaves(policy: str, switches: int) -> None:
    both = persistent(policy, switches)
    check_times(logged(both))
    alone = {**both, "workload": {"host0": both["workload"]["host0"]}}  # whose window is the whole run
    outcome = logged(alone)
    check_times(outcome)
    # Its answers come from it, not from the memory behind it, and not before the access that they answer could be
    # there.
    rows, _ = outcome.protocol
    names = outcome.nodes
    mine = [i for i in range(len(rows["time_ps"])) if names[rows["source"][i]].startswith("sw")]
    assert any(names[rows["destination"][i]] == "mem" for i in mine)
    sent = sorted(int(rows["sent_ps"][i]) for i in mine if names[rows["destination"][i]] == "host0")
    assert len(sent) > 100
    flight = least_flights(outcome.spec)["host0"]["sw0"]
    for answer, issued in zip(sent, sorted(outcome.requests["created_ps"].tolist()), strict=False):
        assert answer >= issued + flight


@given(rich_systems())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_messages_of_any_system(spec: Spec) -> None:
    outcome = logged(spec)
    check_times(outcome)
    check_causes(outcome)
