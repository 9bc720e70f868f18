"""Stores that go past the caches are the same, to the byte, in several threads.

One that a combining buffer takes is over when its requester has processed it, with no way to memory and back.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.systems import Spec, changed
from validation.test_divided import assert_same, both, told_or_played
from validation.tiered_systems import COSTS, POLICIES

import cxloom as cx

TYPES = ["wb", "wt", "wc", "uc"]


def host(draw: st.DrawFn, process_times: list[str]) -> tuple[Spec, Spec]:
    """A host, and its work: phases, or one pattern, some of whose stores may go past its caches."""
    made: Spec = {"kind": "host", "queue": draw(st.sampled_from([1, 4, 32]))}
    made |= {"process_time": draw(st.sampled_from(process_times))}
    made |= {"combining_buffers": draw(st.sampled_from([1, 3, 10]))}
    if draw(st.booleans()):
        made["cache"] = {"size": "4KiB", "access_time": draw(st.sampled_from(["1ns", "5ns"]))}
    works = [
        {
            "pattern": draw(st.sampled_from(["random", "zipf", "sequential"])),
            "footprint": draw(st.sampled_from(["256B", "64KiB"])),
            "size": draw(st.sampled_from(["8B", "64B", "256B"])),
            "reads": draw(st.sampled_from([0.0, 0.1, 0.5])),
            "stores": draw(st.sampled_from(["cached", "non-temporal", "non-temporal"])),
            "fence_every": draw(st.sampled_from([None, 7])),
            "requests": 1500,
        }
        for _ in range(draw(st.integers(1, 2)))
    ]
    if len(works) == 1:
        return made, works[0]
    for work in works:
        work["requests"] = 400
    return made, {"phases": works, "requests": 1600}


@st.composite
def past_systems(draw: st.DrawFn) -> Spec:
    """Two or three switches in a row, with hosts and memory of all types."""
    names = [f"s{i}" for i in range(draw(st.integers(2, 3)))]
    devices: Spec = {name: {"kind": "switch"} for name in names}
    wire: Spec = draw(st.sampled_from([{}, {"bandwidth": "16GB/s"}, {"bandwidth": "8GB/s", "credits": 4}]))
    delays = st.builds("{}ns".format, st.sampled_from([2, 20, 200]))
    links: list[Spec] = []
    works: Spec = {}
    warmup = draw(st.sampled_from([0, 50]))
    # Who is warm goes on until others are, and would do so at one instant for ever if nothing took time.
    times = ["300ps", "10ns"] if warmup else ["0ns", "300ps", "10ns"]
    for i, name in enumerate([names[0], names[-1], *draw(st.lists(st.sampled_from(names), max_size=1))]):
        devices[f"h{i}"], works[f"h{i}"] = host(draw, times)
        links.append({"between": [f"h{i}", name], "delay": draw(delays), **wire})
    regions: list[Spec] = []
    for i, name in enumerate((names[0], names[-1])):
        devices[f"m{i}"] = {"kind": "memory", "capacity": "64KiB"}
        links.append({"between": [f"m{i}", name], "delay": draw(delays), **wire})
        regions.append({"to": [f"m{i}"], "type": draw(st.sampled_from(TYPES))})
    for work in works.values():
        for each in work.get("phases", [work]):
            each["base"] = draw(st.sampled_from([0, 65536]))
    links += [{"between": list(pair), "delay": draw(delays), **wire} for pair in pairwise(names)]
    run: Spec = {"warmup": warmup, "seed": draw(st.integers(1, 99))}
    if draw(st.booleans()):
        run["until"] = {"ci": 0.05}
    return {
        "devices": devices,
        "links": links,
        "address_map": regions,
        "workload": works,
        "run": run,
    }


@settings(max_examples=examples(30))
@given(past_systems(), st.integers(1, 3))
def test_random_systems(spec: Spec, threads: int) -> None:
    """A slice of `make threads-check`."""
    assert told_or_played(spec, 1, divided=False) == told_or_played(spec, threads, divided=True)


def far_memory(*, work: Spec | None = None, region: Spec | None = None) -> Spec:
    """Two hosts whose stores stay in their buffers, half a microsecond from a switch and one from their memory."""
    writes: Spec = {"pattern": "random", "footprint": "512B", "reads": 0.01, "size": "8B", "requests": 12_000}
    ends = [("h0", "s0"), ("h1", "s1"), ("s0", "m0"), ("s1", "m1"), ("s0", "s1")]
    return {
        "devices": {
            **{name: {"kind": "host", "queue": 8, "process_time": "1ns"} for name in ("h0", "h1")},
            **{name: {"kind": "switch"} for name in ("s0", "s1")},
            **{name: {"kind": "memory", "capacity": "1MiB"} for name in ("m0", "m1")},
        },
        "links": [{"between": list(pair), "delay": "500ns"} for pair in ends],
        "address_map": [{"to": [name], **(region or {})} for name in ("m0", "m1")],
        "workload": {"h0": writes | (work or {}), "h1": writes | {"base": "1MiB"} | (work or {})},
    }


@pytest.mark.parametrize(
    "given", [far_memory(work={"stores": "non-temporal"}), far_memory(region={"type": "wc"})]
)
def test_parts_run_side_by_side_until_the_end_may_be_near(given: Spec) -> None:
    """A window of 500 ns may have 8 x 500 stores, so that the last 4,000 of 12,000 are played in one thread."""
    whole, divided = both(given)
    assert_same(whole, divided)
    assert 0 < divided["side_by_side"] < divided["windows"]


def test_a_host_whose_time_is_nothing_leaves_no_window_side_by_side() -> None:
    spec = far_memory(work={"stores": "non-temporal"})
    whole, divided = both(changed(spec, ("devices.h0.process_time", "0ns")))
    assert_same(whole, divided)
    assert divided["side_by_side"] == 0


def foreseen(**more: Any) -> Spec:
    """The same hosts, whose pages an oracle moves: it has read their accesses ahead."""
    placed = {"addresses": {"kind": "preferred", "nodes": ["m1"]}, "page": "4KiB"}
    work = {**placed, "tiering": POLICIES["oracle"], "kernel": COSTS, "footprint": "32KiB", **more}
    spec = far_memory(work=work)
    spec["workload"]["h1"].pop("base")
    return spec


@pytest.mark.parametrize("stores", ["cached", "non-temporal"])
def test_what_an_oracle_reads_ahead_bounds_windows_by_its_stores(stores: str) -> None:
    """A window has 8 accesses of a host at most, so that all but the last are side by side; or 8 x 500 stores."""
    spec = foreseen(stores=stores, requests=9000)
    whole, divided = both(spec)
    assert_same(whole, divided)
    merged = divided["windows"] - divided["side_by_side"]
    assert divided["side_by_side"] > 100
    if stores == "cached":
        assert merged < 0.02 * divided["windows"]
    else:
        assert merged > 0.2 * divided["windows"]
        assert told_or_played(spec, 1, divided=False) == told_or_played(spec, 3, divided=True)


@pytest.mark.parametrize("kind", ["N", "W"])
def test_a_trace_whose_stores_stay_in_buffers_ends_as_in_one_thread(kind: str, tmp_path: Path) -> None:
    """Its last accesses are stores to one line, thousands of which a window may have."""
    trace = tmp_path / "stores.trace"
    lines = ["# cxloom-trace 2: address kind size", *(f"0x{i * 64:x} R 64" for i in range(200))]
    trace.write_text("\n".join(lines + [f"0x{i % 7 * 8:x} {kind} 8" for i in range(12_000)]) + "\n")
    spec = far_memory(region={"type": "wc"} if kind == "W" else None)
    spec["workload"] = {"h0": {"trace": str(trace)}, "h1": spec["workload"]["h1"] | {"requests": 30_000}}
    system = cx.System.from_yaml(json.dumps(spec))
    one, two = (json.loads(cx.run(system, threads=threads).to_json()) for threads in (1, 2))
    threads = two.pop("cost")["threads"]
    one.pop("cost")
    assert one == two
    assert threads["parts"] == 2
