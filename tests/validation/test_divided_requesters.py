"""Programs on cores, pages that a policy moves, copies and CXL.io are the same, to the byte, in several threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.systems import Spec
from validation.test_divided import assert_same, both, told_or_played
from validation.tiered_systems import COSTS, POLICIES


def program(draw: st.DrawFn) -> tuple[Spec, Spec]:
    """A host, perhaps with cores, and its work, whose pages a policy may move."""
    host: Spec = {"kind": "host", "queue": draw(st.integers(2, 32))}
    work: Spec = {"pattern": draw(st.sampled_from(["random", "zipf", "sequential"])), "footprint": "64KiB"}
    work |= {"requests": 1000, "reads": draw(st.sampled_from([0.5, 1.0]))}
    if draw(st.booleans()):
        host["core"] = {"mshrs": draw(st.integers(1, 16)), "window": draw(st.sampled_from([16, 512]))}
        work["threads"] = draw(st.integers(1, 3))
    policy = draw(st.sampled_from([None, *POLICIES]))
    if policy == "oracle" and "threads" in work:
        work["threads"] = 1
    if policy:
        work |= {"addresses": {"kind": "preferred", "nodes": ["m1"]}, "tiering": POLICIES[policy]}
        work |= {"kernel": COSTS, "page": "4KiB"}
    return host, work


def engine(draw: st.DrawFn, targets: list[str]) -> Spec:
    """What makes CXL.io."""
    more: Spec = {"traffic": draw(st.sampled_from(["dma-write", "dma-read", "config-read"])), "rate": "2GB/s"}
    return {"kind": "io-engine", "target": draw(st.sampled_from(targets)), **more}


@st.composite
def requester_systems(draw: st.DrawFn) -> Spec:
    """Two to four switches in a row, each with a device or two, memories at both ends."""
    names = [f"s{i}" for i in range(draw(st.integers(2, 4)))]
    devices: Spec = {
        name: {"kind": "switch", "queueing": draw(st.sampled_from(["output", "voq"]))} for name in names
    }
    wire: Spec = draw(st.sampled_from([{"bandwidth": "16GB/s"}, {"bandwidth": "8GB/s", "credits": 4}]))
    delays = st.builds("{}ns".format, st.integers(2, 90))
    links: list[Spec] = []

    def hang(name: str, device: Spec, on: str) -> None:
        devices[name] = device
        links.append({"between": [name, on], "delay": draw(delays), **wire})

    hang("m0", {"kind": "memory", "capacity": "128KiB"}, names[0])
    hang("m1", {"kind": "memory", "capacity": "1MiB"}, names[-1])
    works: Spec = {}
    for i in range(draw(st.integers(1, 3))):
        host, works[f"h{i}"] = program(draw)
        hang(f"h{i}", host, draw(st.sampled_from(names)))
    for i in range(draw(st.integers(0, 2))):
        hang(f"nic{i}", engine(draw, ["m0", "m1", *works]), draw(st.sampled_from(names)))
    if draw(st.integers(0, 2)) == 0:
        hang("gpu", {"kind": "gpu", "host": "h0"}, draw(st.sampled_from(names)))
        way = draw(st.sampled_from(["in", "out"]))
        works["gpu"] = {
            "pattern": "transfer",
            "footprint": "64KiB",
            "size": "4KiB",
            "requests": 40,
            "direction": way,
        }
    links += [{"between": list(pair), "delay": draw(delays), **wire} for pair in pairwise(names)]
    run: Spec = {"warmup": draw(st.sampled_from([0, 20])), "seed": draw(st.integers(1, 99))}
    return {
        "devices": devices,
        "links": links,
        "address_map": [{"to": ["m0"]}, {"to": ["m1"]}],
        "workload": works,
        "run": run,
    }


def far_apart(**more: Any) -> Spec:
    """A host and a memory on each of two switches."""
    devices: Spec = {"s0": {"kind": "switch"}, "s1": {"kind": "switch"}}
    devices |= {name: {"kind": "host", "queue": 8} | more.get("host", {}) for name in ("h0", "h1")}
    devices |= {"m0": {"kind": "memory", "capacity": "128KiB"}, "m1": {"kind": "memory", "capacity": "1MiB"}}
    devices |= more.get("devices", {})
    ends = [("s0", "s1"), *((name, f"s{name[-1]}") for name in devices if devices[name]["kind"] != "switch")]
    work = {"pattern": "zipf", "footprint": "64KiB", "requests": 3000, "reads": 0.7} | more.get("work", {})
    return {
        "devices": devices,
        "links": [{"between": list(pair), "delay": "20ns", "bandwidth": "16GB/s"} for pair in ends],
        "address_map": [{"to": ["m0"]}, {"to": ["m1"]}],
        "workload": {"h0": work, "h1": work},
        "run": {"warmup": 20},
    }


TIERED = {"addresses": {"kind": "preferred", "nodes": ["m1"]}, "kernel": COSTS}
KINDS = {
    "cores": far_apart(host={"core": {"mshrs": 4}}, work={"threads": 2}),
    "pages that move": far_apart(work=TIERED | {"tiering": POLICIES["hot-pages"]}),
    "pages of cores": far_apart(host={"core": {}}, work=TIERED | {"tiering": POLICIES["promote-on-fault"]}),
    "posted writes": far_apart(devices={"nic0": {"kind": "io-engine", "target": "m1", "rate": "4GB/s"}}),
    "reads by CXL.io": far_apart(
        devices={"nic1": {"kind": "io-engine", "target": "m0", "traffic": "dma-read", "rate": "unlimited"}}
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_parts_run_side_by_side(kind: str) -> None:
    whole, divided = both(KINDS[kind])
    assert divided["partitions"] == len(KINDS[kind]["devices"])
    assert divided["side_by_side"] > 0.3 * divided["windows"]
    assert_same(whole, divided)
    summary = whole["summary"]
    if "pages" in kind:
        assert any(each["tiering"]["promoted_bytes"] > 0 for each in summary["per_requester"].values())
    for name in ("nic0", "nic1"):
        assert name not in KINDS[kind]["devices"] or summary["per_io"][name]["packets"] > 100


@settings(max_examples=examples(30))
@given(requester_systems(), st.integers(1, 3))
def test_random_systems(spec: Spec, threads: int) -> None:
    assert told_or_played(spec, 1, divided=False) == told_or_played(spec, threads, divided=True)
