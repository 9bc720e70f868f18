"""Copy engines as users meet them: beside neighbours, between nodes, before the tools (docs/model/copy.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from validation.systems import Run, Spec, changed, run

import cxloom as cx
from cxloom.base.errors import InputError

LINE_NS = 4.0
"""A line on the data path of the shared memory: 16 GB/s."""


def two_memories(**work: Any) -> Spec:
    """A host with an engine before a memory of its own and one behind a slow link."""
    fixed = {"controller_time": "0ns", "capacity": "64MiB"}
    return {
        "devices": {
            "host": {"kind": "host", "queue": 128},
            "near": {"kind": "memory", **fixed, "media": {"kind": "fixed", "latency": "80ns"}},
            "far": {"kind": "memory", **fixed, "media": {"kind": "fixed", "latency": "80ns"}},
        },
        "links": [
            {"between": ["host", "near"], "bandwidth": "64GB/s"},
            {"between": ["host", "far"], "bandwidth": "16GB/s", "delay": "50ns"},
        ],
        "address_map": [{"to": ["near"]}, {"to": ["far"]}],
        "workload": {
            "host": {
                "pattern": "copy",
                "requests": 200,
                "size": "4KiB",
                "footprint": "4MiB",
                "destination": "0x4000000",
                "descriptors": 8,
                **work,
            }
        },
        "run": {"warmup": 2000},
        "outputs": {"requests": True},
    }


def shared(probe: Spec, neighbour: Spec) -> Spec:
    """A probe with one line in flight and a neighbour, before a memory that moves 16 GB/s."""
    media = {"kind": "fixed", "latency": "50ns", "bandwidth": "16GB/s"}
    return {
        "devices": {
            "neighbour": {"kind": "host", "queue": 256},
            "probe": {"kind": "host", "queue": 4},
            "switch": {"kind": "switch"},
            "mem": {"kind": "memory", "capacity": "1GiB", "media": media},
        },
        "links": [{"between": [name, "switch"]} for name in ("neighbour", "probe", "mem")],
        "address_map": [{"to": ["mem"]}],
        "workload": {"probe": probe, "neighbour": neighbour},
        "outputs": {"requests": True},
    }


def waited(outcome: Run) -> float:
    """The longest latency of the probe's, ns."""
    rows = outcome.requests
    own = rows["requester"] == outcome.nodes.index("probe")
    return float((rows["completed_ps"] - rows["created_ps"])[own].max()) / 1000


def test_an_engine_beside_a_saturating_neighbour_ends_and_so_does_a_reader_beside_an_engine() -> None:
    """Each line waits for what the other has in flight, which is bounded, and for its own way."""
    engine = {"pattern": "copy", "size": "640B", "footprint": "1MiB"}
    reader = {"pattern": "random", "requests": 60_000, "footprint": "64MiB", "reads": 0.5}
    alone = waited(run(changed(shared({**engine, "requests": 20}, reader), ("workload.neighbour", ...))))
    probe = {**engine, "requests": 4, "lines_in_flight": 1}
    saturated = run(shared(probe, reader))
    assert saturated.summary["per_requester"]["probe"]["large_accesses"] == 4
    assert alone < waited(saturated) <= alone + 256 * LINE_NS
    chase = {"pattern": "pointer-chase", "requests": 200, "footprint": "1MiB"}
    beside = run(shared(chase, {**engine, "requests": 4000, "lines_in_flight": 256, "descriptors": 32}))
    assert beside.summary["per_requester"]["probe"]["requests"] == 200
    assert waited(beside) <= alone + 256 * LINE_NS


def test_explain_says_what_limits_an_engine() -> None:
    """Its lines in flight, if these are less than the link carries, and otherwise the link."""
    few = cx.explain(cx.System.from_yaml(json.dumps(two_memories(lines_in_flight=8))))
    assert "lines in flight of the copy engine" in str(few)
    many = cx.explain(cx.System.from_yaml(json.dumps(two_memories(lines_in_flight=128))))
    assert "host-far" in str(many) or "host->far" in str(many)


def test_ranges_are_placed_by_their_names() -> None:
    """The source and the destination of a program whose pages are placed, each on a node of its own."""
    places = [
        {"object": name, "place": {"kind": "bind", "nodes": [node]}}
        for name, node in (("source", "far"), ("destination", "near"))
    ]
    addresses = {"kind": "ranges", "ranges": places}
    outcome = run(two_memories(addresses=addresses, destination="0x1000000") | {"run": {}})
    memories = outcome.summary["per_memory"]
    assert (memories["far"]["writes"], memories["near"]["reads"]) == (0, 0)
    assert memories["far"]["reads"] == memories["near"]["writes"] == 200 * 64


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("size", "0B", "at least 1B"),
        ("size", "8MiB", "smaller than one descriptor"),
        ("lines_in_flight", 0, "at least 1"),
        ("lines_in_flight", 129, "at most 128"),
        ("destination", "0x3fffc0", "overlaps the source"),
        ("destination", "0x7fffffc0", "out of the address map"),
        ("source", "0x20", "a multiple of 64"),
    ],
)
def test_bad_input_is_refused_where_it_stands(key: str, value: object, said: str) -> None:
    text = json.dumps(two_memories(**{key: value}), indent=1)
    with pytest.raises(InputError) as error:
        cx.System.from_yaml(text).check()
    assert said in str(error.value)
    assert (error.value.path or "").startswith("workload.host")
