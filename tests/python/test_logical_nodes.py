"""Logical devices of one memory as nodes: named, counted and moved to each by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx

Spec = dict[str, Any]


def system(addresses: Spec, *events: Spec, hosts: tuple[str | None, str | None] = (None, None)) -> cx.System:
    """A host and a memory of two logical devices, each of 64 pages, which may belong to hosts."""
    lds: list[Spec] = [{"capacity": "256KiB"} | ({"host": host} if host else {}) for host in hosts]
    spec = {
        "devices": {
            "h": {"kind": "host"},
            "o": {"kind": "host"},
            "bus": {"kind": "bus"},
            "mld": {"kind": "memory", "logical_devices": lds},
            "m": {"kind": "memory", "capacity": "256KiB"},
        },
        "links": [{"between": [name, "bus"]} for name in ("h", "o", "mld", "m")],
        "address_map": [{"to": "mld", "ld": 0}, {"to": "mld", "ld": 1}, {"to": "m"}],
        "workload": {
            "h": {
                "pattern": "sequential",
                "size": "4KiB",
                "requests": 48,
                "footprint": "192KiB",
                "rate": "1M/s",
                "addresses": addresses,
            }
        },
        "events": list(events),
    }
    return cx.System.from_yaml(json.dumps(spec))


def pages(found: cx.System) -> Any:
    return cx.run(found).summary["per_requester"]["h"]["pages"]


def moved(source: str, target: str) -> Spec:
    return {"at": "1us", "move_pages": {"requester": "h", "from": source, "to": target, "copy": False}}


def test_each_has_its_own_count() -> None:
    """48 pages in turns over three nodes; two of them are parts of one memory, and had one count."""
    found = pages(system({"kind": "interleave"}))
    assert found == {"mld ld 0": 16, "mld ld 1": 16, "m": 16}


def test_each_can_be_named() -> None:
    assert pages(system({"kind": "bind", "nodes": ["mld ld 1"]})) == {"mld ld 0": 0, "mld ld 1": 48, "m": 0}
    weighted = {"kind": "interleave", "nodes": ["mld ld 1", "m", "mld ld 0"], "weights": [3, 2, 1]}
    assert pages(system(weighted)) == {"mld ld 0": 8, "mld ld 1": 24, "m": 16}
    # The memory itself is all of them.
    assert pages(system({"kind": "interleave", "nodes": ["mld"]})) == {"mld ld 0": 24, "mld ld 1": 24, "m": 0}


def test_pages_move_from_one_to_another() -> None:
    bound = {"kind": "bind", "nodes": ["mld ld 1"]}
    assert pages(system(bound, moved("mld ld 1", "mld ld 0"))) == {"mld ld 0": 48, "mld ld 1": 0, "m": 0}


def test_one_that_is_the_hosts_only_one_is_meant_by_the_memory() -> None:
    mine = system({"kind": "bind", "nodes": ["mld"]}, moved("mld", "m"), hosts=("o", "h"))
    assert pages(mine) == {"mld ld 1": 0, "m": 48}


@pytest.mark.parametrize("name", ["mld", "mld ld 2", "mld0"])
def test_a_wrong_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(cx.InputError, match="the program has no pages there") as raised:
        cx.run(system({"kind": "preferred"}, moved("m", name)))
    assert raised.value.path == "events[0].move_pages.to"
    assert raised.value.allowed == "mld ld 0, mld ld 1 or m"
    if name == "mld":
        return
    with pytest.raises(cx.InputError, match="no node of this device has such a memory") as raised:
        cx.run(system({"kind": "bind", "nodes": [name]}))
    assert raised.value.path == "workload.h.addresses.nodes[0]"
    assert "mld ld 0" in raised.value.allowed


def test_measuring_tells_them_apart() -> None:
    rows = cx.measure.latency(system({"kind": "preferred"}), reads=20).rows
    assert [row["memory"] for row in rows] == ["mld ld 0", "mld ld 1", "m"]
    rows = cx.measure.latency(system({"kind": "preferred"}), memories=["mld ld 1"], reads=20).rows
    assert [row["memory"] for row in rows] == ["mld ld 1"]
