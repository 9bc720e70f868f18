"""Extents that hosts share by tag: the same to a workload as plain memory, nothing to a kernel's pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError

Spec = dict[str, Any]


def system(extents: list[Spec] | None, work: Spec, **more: Any) -> cx.System:
    memory: Spec = {"kind": "memory", "capacity": "2MiB"}
    if extents is not None:
        memory["dynamic_capacity"] = {"extents": extents}
    spec = {
        "devices": {
            "host[0-1]": {"kind": "host", "cache": {"size": "64KiB", "ways": 8}},
            "sw": {"kind": "switch"},
            "mem": memory,
        },
        "links": [{"between": ["host[*]", "sw"]}, {"between": ["sw", "mem"]}],
        "address_map": [{"to": "mem"}],
        "workload": work,
        **more,
    }
    return cx.System.from_yaml(json.dumps(spec))


def extent(host: str, base: str = "0KiB", size: str = "1MiB", tag: str | None = "log") -> Spec:
    return {"base": base, "size": size, "host": host} | ({"tag": tag} if tag else {})


IDLE = 10 + 12 + 4 * 25 + 2 * 20 + 40 + 45  # process, look-up of the cache, ports, switch, controller, media
BOTH = [extent("host0"), extent("host1")]
LOCK = {"host[*]": {"pattern": "share", "protocol": "lock", "size": "1KiB", "requests": 20}}
TOUCH = {
    "pattern": "strided",
    "stride": "4KiB",
    "requests": 8,
    "footprint": "32KiB",
    "addresses": "first-touch",
}


def test_sharing_is_that_of_plain_memory() -> None:
    found, plain = (cx.run(system(each, LOCK, outputs={"sharing": True})).summary for each in (BOTH, None))
    assert found["errors"]["requests"] == 0
    for key in ("requests", "simulated_time_ns", "latency_ns", "sharing"):
        assert found[key] == plain[key], key
    assert found["per_memory"]["mem"]["extent_bytes"] == {"host0": 2**20, "host1": 2**20}


def test_a_host_without_the_extent_is_answered_with_errors() -> None:
    work = {"pattern": "sequential", "requests": 50, "footprint": "64KiB"}
    for host, errors in (("host0", 0), ("host1", 50)):
        assert cx.run(system(BOTH[:1], {host: work})).summary["errors"]["requests"] == errors


def test_pages_go_to_what_a_host_has_for_itself() -> None:
    own = extent("host0", "1MiB", "16KiB", None)
    with pytest.raises(InputError, match="at most 16KiB in whole pages"):
        cx.run(system([*BOTH, own], {"host0": TOUCH}))
    own["size"] = "32KiB"
    found = cx.run(system([*BOTH, own], {"host0": TOUCH})).summary
    assert found["errors"]["requests"] == 0
    assert found["per_requester"]["host0"]["pages"] == {"mem": 8}


@pytest.mark.parametrize("tag", ["log", None])
def test_events_share_and_unshare(tag: str | None) -> None:
    """At 5 us the second host gets the extent, at 10 us it is without it: its accesses come one a microsecond."""
    work = {"host1": {"pattern": "sequential", "requests": 15, "footprint": "64KiB", "rate": "1M/s"}}
    late = {"device": "mem", **extent("host1", tag=tag)}
    events = [{"at": "4500ns", "add_extent": late}, {"at": "9500ns", "release_extent": late}]
    if tag is None:
        with pytest.raises(InputError, match="the same extent, with one tag for both"):
            cx.run(system(BOTH[:1], work, events=events))
        return
    assert cx.run(system(BOTH[:1], work, events=events)).summary["errors"]["requests"] == 10


def test_a_probe_shares_what_its_host_shares() -> None:
    """Loaded latency asks from beside the host: the probe has half of what is the host's alone, and all it shares."""
    own = extent("host0", "1MiB", "64KiB", None)
    found = cx.measure.loaded(system([*BOTH, own], {}), requester="host0", jobs=1)
    assert {row["memory"] for row in found.rows} == {"mem"}
    assert min(row["latency_ns"] for row in found.rows) == pytest.approx(IDLE)
