"""Random systems with replicated regions: interleaved or not, answered early or not, with all that may fail.

CXLOOM_REPLICA_EXAMPLES=2000 plays so many.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from replicated import each_is_answered_once, memory, run

Spec = dict[str, Any]
EXAMPLES = int(os.environ.get("CXLOOM_REPLICA_EXAMPLES", "15"))


def failures(draw: st.DrawFn, parts: list[Spec]) -> list[Spec]:
    """Some of these fail, and are repaired."""
    events = []
    at = 0
    down: list[Spec] = []
    for _ in range(draw(st.integers(0, 8))):
        at += draw(st.one_of(st.integers(1, 6000), st.integers(1, 500)))
        part = draw(st.sampled_from(parts))
        if part in down:
            down.remove(part)
            events.append({"at": f"{at}ns", "repair": part})
        else:
            down.append(part)
            known = f"{draw(st.sampled_from([0, 1, 300, 2000]))}ns"
            events.append({"at": f"{at}ns", "fail": {**part, "reroute_time": known}})
    return events


@st.composite
def systems(draw: st.DrawFn) -> Spec:
    """One host or two, each with lines of its own, before a switch with all memories."""
    targets = draw(st.integers(1, 2))
    copies = draw(st.integers(2, 3))
    by = draw(st.sampled_from(["none", "sw"]))
    names = [f"mem{i}" for i in range(targets * copies)]
    wire: Spec = {"port_delay": "25ns"}
    if draw(st.booleans()):
        wire |= {"bandwidth": "16GB/s", "credits": draw(st.integers(2, 8))}
    if draw(st.booleans()):
        wire |= {"duplex": "half", "bandwidth": "16GB/s"}
    replicas: Spec = {
        "on": draw(st.permutations(names[targets:])),
        "switch": by,
        "read": draw(st.sampled_from(["primary", "spread"])),
    }
    if draw(st.booleans()):
        replicas["acknowledge"] = draw(st.integers(1, copies))
    if by == "sw" or "acknowledge" in replicas:
        replicas["entries"] = draw(st.integers(1, 16))
    if draw(st.booleans()):
        replicas["resync_rate"] = "4GB/s"
    region: Spec = {"to": names[:targets], "size": f"{8 * targets}KiB", "replicas": replicas}
    if targets > 1:
        region |= {"policy": "weighted", "interleave": draw(st.sampled_from(["64B", "1KiB"]))}
        region["weights"] = draw(st.sampled_from([[1, 1], [1, 3]]))
    slower = st.sampled_from([0.0, 10.0, 400.0])
    devices: Spec = {name: memory(draw(slower), capacity="16KiB") for name in names}
    devices["sw"] = {"kind": "switch", "queueing": draw(st.sampled_from(["output", "voq", "fifo"]))}
    workload = {}
    for i in range(draw(st.integers(1, 2))):
        devices[f"host{i}"] = {"kind": "host", "queue": draw(st.integers(1, 8))}
        if draw(st.booleans()):
            devices[f"host{i}"]["cache"] = {"size": "1KiB", "ways": 2}
        workload[f"host{i}"] = {
            "pattern": "random",
            "requests": draw(st.integers(50, 400)),
            "base": f"{4 * i}KiB",
            "footprint": draw(st.sampled_from(["256B", "4KiB"])),
            "reads": "50%",
        }
    parts: list[Spec] = [{"device": name} for name in [*names, "sw"]]
    parts += [{"link": [name, "sw"]} for name in [*names, "host0"]]
    events = failures(draw, parts)
    if any("fail" in each for each in events):
        for name in workload:
            devices[name]["completion_timeout"] = f"{draw(st.sampled_from([1, 3]))}us"
    return {
        "devices": devices,
        "links": [{"between": [name, "sw"], **wire} for name in devices if name != "sw"],
        "address_map": [region],
        "workload": workload,
        "events": events,
        "outputs": {"versions": True},
        "run": {"warmup": 0, "seed": draw(st.integers(0, 1000))},
    }


@settings(max_examples=EXAMPLES, deadline=None)
@given(spec=systems())
def test_every_request_is_answered_once_and_copies_are_equal(spec: Spec) -> None:
    result = run(spec)
    each_is_answered_once(result, spec)
    (described,) = spec["address_map"]
    copies = 1 + len(described["replicas"]["on"]) // len(described["to"])
    early = described["replicas"].get("acknowledge", copies) < copies
    regions = result.summary["replication"].values()
    assert len(regions) == len(described["to"])
    for region in regions:
        assert region["differing_lines"] == 0
        assert "whole" in region["state"].values()
        assert ("lost_writes" in region) == early
        if not early or not spec["events"]:
            assert region["stale_reads"] == 0
            assert region.get("lost_writes", 0) == 0
        if region["stale_reads"]:
            event("stale")
        if region.get("lost_writes"):
            event("lost")
    if not spec["events"]:
        assert result.summary["errors"]["requests"] == 0
    if not any(part.get("device") == "sw" or "host0" in part.get("link", ()) for part in failing_parts(spec)):
        # A request ends with an error where no copy could serve it, and for no other reason.
        failed = sum(region["failed"] for region in regions)
        assert failed > 0 or result.summary["errors"]["requests"] == 0


def failing_parts(spec: Spec) -> list[Spec]:
    """What fails, and what is repaired."""
    return [each.get("fail") or each["repair"] for each in spec["events"]]
