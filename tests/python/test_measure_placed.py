"""STREAM with its pages placed over several memories: the closed forms of interleaving, spill, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from test_measure import TWO_HOSTS
from validation.examples import some

import cxloom as cx
from cxloom.base.errors import InputError

CORED = """\
devices:
  host: {kind: host, process_time: 0ns, queue: 512, core: {cores: 8, mshrs: 64}}
  near: {kind: memory, capacity: 1GiB, controller_time: 0ns, media: {kind: fixed, latency: 40ns, bandwidth: 20GB/s}}
  far: {kind: memory, capacity: 1GiB, controller_time: 0ns, media: {kind: fixed, latency: 140ns, bandwidth: 5GB/s}}
links: [{between: [host, near]}, {between: [host, far]}]
address_map: [{to: near}, {to: far}]
workload: {host: {pattern: random, requests: 10, footprint: 1MiB}}
"""


def bus(pages: dict[str, Any], **options: Any) -> list[float]:
    """GB/s on the bus of the four kernels."""
    measured = cx.measure.stream(cx.System.from_yaml(CORED), pages=pages, jobs=1, **options)
    assert bool(measured.figure().axes)
    assert "pages" in str(measured)
    return [row["bus_gb_per_s"] for row in measured.rows]


@pytest.mark.parametrize(
    ("pages", "expected"),
    some(
        [
            ({"kind": "bind", "nodes": ["near"]}, 20),
            ({"kind": "bind", "nodes": ["far"]}, 5),
            ({"kind": "interleave", "nodes": ["near", "far"]}, 10),  # 5 / (1/2)
            ({"kind": "interleave", "nodes": ["near", "far"], "weights": [4, 1]}, 25),  # both at their best
            ({"kind": "interleave", "nodes": ["near", "far"], "weights": [4, 1], "by": "address"}, 25),
            ({"kind": "interleave", "nodes": ["near", "far"], "weights": [1, 3]}, 20 / 3),  # 5 / (3/4)
            ({"kind": "preferred", "nodes": ["far"]}, 5),
            ("first-touch", 20),
        ]
    ),
)
def test_bandwidth_is_that_of_the_shares(pages: Any, expected: float) -> None:
    assert bus(pages) == [pytest.approx(expected, rel=0.06)] * 4


def test_what_one_memory_has_no_room_for_spills_over() -> None:
    """A page fits: all but it is far. 60 of the 160 MB that copy uses fit: 3/4 of a, and c is far."""
    (almost_none, *_) = bus({"kind": "preferred", "nodes": ["near"], "limit": "4KiB"})
    (some, *_) = bus({"kind": "preferred", "nodes": ["near"], "limit": "60MB"})
    assert almost_none == pytest.approx(5, rel=0.06)
    # A third of what three threads of four access is near, and nothing of the others': 5 / (3/4) in all.
    assert some == pytest.approx(5 / (3 / 4), rel=0.06)


def test_all_requesters_that_have_the_memories_load_them() -> None:
    measured = cx.measure.stream(
        cx.System.from_yaml(TWO_HOSTS).set("devices.h[*].queue", 256),
        pages={"kind": "interleave", "nodes": ["near", "far"], "weights": [2, 1]},
    )
    assert all(row["bus_gb_per_s"] == pytest.approx(15, rel=0.06) for row in measured.rows)
    assert {row["memory"] for row in measured.rows} == {"interleave near, far 2:1"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--interleave", "near,fra"], ["--interleave: ", "'fra'", "near or far", "did you mean 'far'?"]),
        (
            ["--pages", "{kind: interleave, nodes: [near, fra]}"],
            ["--pages.nodes[1]", "'fra'", "did you mean 'far'?"],
        ),
        (["--interleave", "near,"], ["--interleave: an empty name of a memory", "'near,'", "MEM,MEM"]),
        (["--membind", ""], ["--membind: an empty name of a memory", "''"]),
        (["--preferred", ","], ["--preferred: an empty name of a memory", "','"]),
        (["--pages", ""], ["--pages: no placement", "''", "{kind: ..., ...}"]),
        (["--pages", "null"], ["--pages: no placement", "'null'"]),
        (
            ["--pages", "{kind: interleave, nodes: [near, far], weights: [0, 0]}"],
            ["--pages.weights", "sum to nothing"],
        ),
        (
            ["--pages", "{kind: interleave, nodes: [near, far], weights: [1]}"],
            ["--pages.weights", "as many weights"],
        ),
        (["--pages", "[near]"], ["--pages", "not a placement"]),
        (["--pages", "{kind: bnid, nodes: [near]}"], ["bnid", "did you mean 'bind'?"]),
        (["--membind", "near", "--interleave", "near,far"], ["said twice"]),
        (["--membind", "near", "--memory", "near"], ["--memory", "one of them"]),
    ],
)
def test_a_wrong_placement_is_refused(
    cxloom: Callable[..., Any], tmp_path: Any, options: list[str], words: list[str]
) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(TWO_HOSTS)
    done = cxloom("measure", path, "stream", *options)
    assert done.code == 2
    for word in words:
        assert word in done.err


def test_other_tools_take_no_placement(cxloom: Callable[..., Any]) -> None:
    done = cxloom("measure", "dmsim/local", "latency", "--membind", "local")
    assert done.code == 2
    assert "latency takes no --membind" in done.err


def test_the_command_says_what_python_says(cxloom: Callable[..., Any], tmp_path: Any) -> None:
    path = tmp_path / "cored.yaml"
    path.write_text(CORED)
    done = cxloom("measure", path, "stream", "--interleave", "near,far", "--json", "--jobs", "1")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["rows"]
    assert [row["bus_gb_per_s"] for row in rows] == bus({"kind": "interleave", "nodes": ["near", "far"]})


def test_python_refuses_memories_beside_a_placement() -> None:
    with pytest.raises(InputError, match="memories are named, and pages are placed"):
        bus({"kind": "bind", "nodes": ["near"]}, memories=["near"])
