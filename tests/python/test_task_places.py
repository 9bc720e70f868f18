"""Objects of tasks are where their host has memory when the run begins: beside virtual switches and extents."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError

Spec = dict[str, Any]


def pool(memory: Spec, vcs: list[Spec] | None = None) -> Spec:
    """Two hosts behind a switch, memory of its own for the first of them, and a pool of 2 MiB for both."""
    switch: Spec = {"kind": "switch", **({"vcs": vcs} if vcs else {})}
    parts = len(memory.get("logical_devices", []))
    of_pool: list[Spec] = [{"to": "pool", "ld": number} for number in range(parts)] or [{"to": "pool"}]
    own = {"kind": "memory", "capacity": "1MiB"}
    return {
        "devices": {
            "host[0-1]": {"kind": "host", "queue": 64},
            "sw": switch,
            "own": own,
            "pool": {"kind": "memory", **memory},
        },
        "links": [
            {"between": ["host0", "own"]},
            {"between": ["host[*]", "sw"], "bandwidth": "32GB/s"},
            {"between": ["sw", "pool"], "bandwidth": "32GB/s"},
        ],
        "address_map": [{"to": "own"}, *of_pool],
    }


LOGICAL = pool(
    {"logical_devices": [{"capacity": "1MiB"}, {"capacity": "1MiB"}]},
    [
        {"upstream": "host0", "vppbs": 1, "bind": [{"to": "pool", "ld": 0}]},
        {"upstream": "host1", "vppbs": 1, "bind": [{"to": "pool", "ld": 1}]},
    ],
)
EXTENTS = pool(
    {
        "capacity": "2MiB",
        "dynamic_capacity": {
            "extents": [
                {"base": "0B", "size": "512KiB", "host": "host1"},
                {"base": "512KiB", "size": "512KiB", "host": "host0"},
                {"base": "1MiB", "size": "256KiB", "host": "host0", "tag": "both"},
                {"base": "1MiB", "size": "256KiB", "host": "host1", "tag": "both"},
            ]
        },
    }
)


def reading(spec: Spec, *objects: tuple[str, str, Spec]) -> cx.Result:
    """Each of the objects, which its host reads: host, size, addresses."""
    return cx.run(tasks_on(spec, *objects))


def tasks_on(spec: Spec, *objects: tuple[str, str, Spec]) -> cx.System:
    placed = [
        {"name": f"o{i}", "size": size, "host": host, "addresses": addresses}
        for i, (host, size, addresses) in enumerate(objects)
    ]
    graph = [
        {"name": f"k{i}", "kind": "kernel", "on": host, "reads": [f"o{i}"]}
        for i, (host, _, _) in enumerate(objects)
    ]
    return cx.System.from_yaml(
        json.dumps({**spec, "tasks": {"objects": placed, "graph": graph, "exact": True}})
    )


def reads(result: cx.Result) -> dict[str, float]:
    return {name: memory["requests"] for name, memory in result.summary["per_memory"].items()}


INTERLEAVED = {"kind": "interleave", "nodes": ["own", "pool"]}


@pytest.mark.parametrize("spec", [LOGICAL, EXTENTS], ids=["logical devices", "extents"])
def test_pages_go_round_the_memory_that_their_host_has(spec: Spec) -> None:
    """Half of the lines in the pool: of its other half, another host's, comes no error."""
    found = reading(spec, ("host0", "512KiB", INTERLEAVED))
    assert found.summary["errors"]["requests"] == 0
    assert reads(found) == {"own": 4096, "pool": 4096}


def test_what_has_no_room_goes_on_to_the_own_part_of_the_pool() -> None:
    found = reading(LOGICAL, ("host0", "1536KiB", {"kind": "preferred", "nodes": ["own"]}))
    assert found.summary["errors"]["requests"] == 0
    assert reads(found) == {"own": 16384, "pool": 8192}


@pytest.mark.parametrize(
    ("spec", "addresses", "said"),
    [
        (LOGICAL, {"kind": "bind", "nodes": ["pool ld 1"]}, "'host0' has no way to, .* pool ld 1"),
        (LOGICAL, {"kind": "bind", "nodes": ["pool"]}, "at most 1MiB .* pool ld 1"),
        (EXTENTS, {"kind": "bind", "nodes": ["pool"]}, "at most 512KiB"),
    ],
)
def test_more_than_a_host_has_is_refused(spec: Spec, addresses: Spec, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        reading(spec, ("host0", "1028KiB", addresses))
    assert caught.value.path == "tasks.objects[0].size"


def test_each_host_has_its_own_extents() -> None:
    """And none of what both share, which the protocol of a program divides."""
    bound = {"kind": "bind", "nodes": ["pool"]}
    found = reading(EXTENTS, ("host0", "512KiB", bound), ("host1", "512KiB", bound))
    assert found.summary["errors"]["requests"] == 0
    with pytest.raises(InputError, match="at most 512KiB"):
        reading(EXTENTS, ("host0", "512KiB", bound), ("host1", "516KiB", bound))


def test_a_host_without_an_extent_has_none_of_the_pool() -> None:
    spec = {**EXTENTS, "devices": dict(EXTENTS["devices"])}
    spec["devices"]["pool"] = {"kind": "memory", "capacity": "2MiB", "dynamic_capacity": {}}
    with pytest.raises(InputError, match="no extent of its own of, pool"):
        reading(spec, ("host0", "4KiB", {"kind": "bind", "nodes": ["pool"]}))


def test_memory_that_an_object_names_and_its_host_has_not_is_told_once() -> None:
    """Both objects are in the own memory as a whole; the pool's other half, which is named with the pool, is none."""
    spec = {**EXTENTS, "devices": dict(EXTENTS["devices"])}
    spec["devices"]["pool"] = {"kind": "memory", "capacity": "2MiB", "dynamic_capacity": {}}
    found = reading(spec, ("host0", "64KiB", INTERLEAVED), ("host0", "32KiB", INTERLEAVED)).summary
    said = "'host0' has no way to, or no extent of its own of, pool when the run begins"
    assert [note for note in found["notes"] if "no way to" in note] == [
        f"{said}, and tasks.objects puts no pages there then"
    ]
    assert not [
        note for note in reading(LOGICAL, ("host0", "64KiB", INTERLEAVED)).summary["notes"] if said in note
    ]
