"""Systems with a region that has copies in several memories, for the tests of replication."""

from __future__ import annotations

import json
from typing import Any

import cxloom as cx

Spec = dict[str, Any]
WAY = 50.0  # ns of a link
READ, WRITE = 45.0, 80.0  # ns of a line in the media
SWITCH = 20.0  # ns
WIRE = {"port_delay": "25ns"}
LINE = 64


def memory(more: float = 0.0, **changed: Any) -> Spec:
    media = {
        "kind": "fixed",
        "latency": f"{READ + more}ns",
        "write_latency": f"{WRITE + more}ns",
        "bandwidth": "unlimited",
    }
    return {"kind": "memory", "controller_time": "0ns", "capacity": "64KiB", "media": media, **changed}


def system(
    *events: tuple[str, Spec],
    replicas: Spec | None = None,
    slower: float = 0.0,
    links: Spec | None = None,
    switch: Spec | None = None,
    host: Spec | None = None,
    outputs: Spec | None = None,
    region: Spec | None = None,
    **work: Any,
) -> Spec:
    """A host that makes accesses to a region with copies in two memories behind a switch."""
    wire = {**WIRE, **(links or {})}
    replicated = {"on": ["mem1"], **(replicas or {})}
    return {
        "devices": {
            "host": {
                "kind": "host",
                "process_time": "0ns",
                "queue": 1,
                **({"completion_timeout": "5us"} if any("fail" in event for _, event in events) else {}),
                **(host or {}),
            },
            "sw": {"kind": "switch", "switching_time": f"{SWITCH}ns", **(switch or {})},
            "mem0": memory(),
            "mem1": memory(slower),
        },
        "links": [{"between": [end, "sw"], **wire} for end in ("host", "mem0", "mem1")],
        "address_map": [{"to": "mem0", "replicas": replicated, **(region or {})}],
        "workload": {"host": {"pattern": "sequential", "requests": 100, "footprint": "64KiB", **work}},
        "events": [{"at": at, **event} for at, event in events],
        "outputs": outputs or {},
        "run": {"warmup": 0},
    }


def run(spec: Spec) -> cx.Result:
    return cx.run(cx.System.from_yaml(json.dumps(spec)), requests=True)


def latencies(result: cx.Result) -> list[float]:
    frame = result.requests().sort("id")
    return [round(ps / 1000, 3) for ps in frame["completed_ps"] - frame["created_ps"]]


def of_region(result: cx.Result) -> Spec:
    (found,) = result.summary["replication"].values()
    return dict(found)


def fail(device: str, known: str = "1us") -> Spec:
    return {"fail": {"device": device, "reroute_time": known}}


def repair(device: str, **more: Any) -> Spec:
    return {"repair": {"device": device, **more}}


# There and back by the switch, without the memory.
ROUND = 2 * (2 * WAY + SWITCH)


def each_is_answered_once(result: cx.Result, spec: Spec) -> None:
    """All requests have come to an end, once, and their segments sum to their latencies."""
    frame = result.requests()
    assert result.summary["completed"] is True
    assert result.summary["cost"]["requests"] == sum(each["requests"] for each in spec["workload"].values())
    for name in spec["workload"]:
        ids = frame.filter(frame["requester"] == name)["id"]
        assert ids.n_unique() == len(ids)
    parts = [
        name for name in frame.columns if name.endswith("_ps") and name not in ("created_ps", "completed_ps")
    ]
    assert (frame.select(parts).sum_horizontal() == frame["completed_ps"] - frame["created_ps"]).all()
