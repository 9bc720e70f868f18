"""Results do not depend on how the work is divided: a queue of events for each part, or one for the whole system.

Systems are cut at every link that takes time. Parts are played each for a window as long as the least latency between
them: what they send each other lies in the windows to come. Requests, with all their segments, and the whole summary
are the same, to the byte.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import DRAWN, examples, some
from validation.rich_systems import rich_systems
from validation.systems import Spec, changed, generated, run
from validation.varied import VARIED

import cxloom as cx
from cxloom.base.errors import InputError, SimulationError

EXAMPLES = Path(__file__).parents[2] / "examples"


PLAYER = Path(__file__).parents[2] / "build/tests/divided/cxloom_divided"
BUILD = "`make python-tests` builds it, and so does `cmake --build build --target cxloom_divided`"
REFUSALS = {2: InputError, 3: SimulationError}
"""By the player's exit code."""


def play(spec: Spec, divided: bool, threads: int = 1) -> dict[str, Any]:
    """The requests and summary of a system, its window, and how many parts it has."""
    assert PLAYER.exists(), f"there is no {PLAYER.name}: {BUILD}"
    command = [PLAYER, "divided", str(threads)] if divided else [PLAYER, "whole"]
    done = subprocess.run(command, input=json.dumps(spec), capture_output=True, text=True, check=False)
    if done.returncode in REFUSALS:
        raise REFUSALS[done.returncode](done.stderr)
    said = done.stderr.strip() or "it says nothing"
    assert done.returncode == 0, (
        f"{PLAYER.name} ended with {done.returncode}: {said}; if it is older than the library, {BUILD}"
    )
    outcome: dict[str, Any] = json.loads(done.stdout)
    outcome["requests"] = {name: np.array(column) for name, column in outcome["requests"].items()}
    return outcome


def played(system: cx.System, divided: bool) -> dict[str, Any]:
    """The same of a system, with random accesses in place of traces."""
    spec = system.resolve().plain()
    for work in spec["workload"].values():
        if "trace" in work:
            work |= {"pattern": "random", "footprint": "1MiB"}
            del work["trace"]
    return play(spec, divided)


def assert_same(whole: dict[str, Any], divided: dict[str, Any]) -> None:
    """Divided or not, the outcome is the same."""
    assert len(whole["requests"]["id"]) > 0
    for name, column in whole["requests"].items():
        np.testing.assert_array_equal(divided["requests"][name], column, err_msg=name)
    assert divided["summary"] == whole["summary"]
    for key in ("commands", "versions"):
        assert divided.get(key) == whole.get(key)
    assert divided["window_ps"] == whole["window_ps"]


DIVIDED = {
    "coherence.yaml": 7,
    "demo.yaml": 33,
    "coherent-pool.yaml": 7,
    "coherent-pool-failure.yaml": 7,
    "cxl-ssd.yaml": 2,
    "dram.yaml": 2,
    "fabric.yaml": 22,
    "failures.yaml": 8,
    "memory-failure.yaml": 6,
    "mld.yaml": 4,
    "near-memory.yaml": 2,
    "persist.yaml": 4,
    "pooling.yaml": 5,
    "qos.yaml": 4,
    "removal.yaml": 5,
    "system.yaml": 2,
}
"""The examples, and how many parts each has: devices at a link without flight are in one."""

WHOLE = {
    "replication.yaml": "hosts agree on which copies of a replicated region are whole",
    "share.yaml": "outputs.sharing follows stores through all devices",
}
"""Those that are not divided, and why."""


def test_a_player_that_is_older_than_the_library_says_what_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = tmp_path / "stale"
    stale.write_text("#!/bin/sh\nkill -SEGV $$\n")
    stale.chmod(0o755)
    for player in (stale, tmp_path / "absent"):
        monkeypatch.setattr(f"{__name__}.PLAYER", player)
        with pytest.raises(
            AssertionError, match=r"stale ended with -11: it says nothing; .*--target|no absent.*--target"
        ):
            play({}, divided=True)


def test_every_example_is_here() -> None:
    assert {file.name for file in EXAMPLES.glob("*.yaml")} == DIVIDED.keys() | WHOLE.keys()
    assert not DIVIDED.keys() & WHOLE.keys()


@pytest.mark.parametrize("example", DIVIDED)
def test_examples(example: str) -> None:
    system = cx.load(EXAMPLES / example)
    graph = system.resolve([]).plain().get("tasks", {}).get("graph", [])
    if not graph:
        system = system.set("run.warmup", 100).set("workload.*.requests", 1500)
    for at, task in enumerate(graph):
        if task["name"] in ("add up", "by the host"):  # a part of what is read
            system = system.set(f"tasks.graph[{at}].reads[0].bytes", "64KiB")
    divided = played(system, divided=True)
    assert divided["partitions"] == DIVIDED[example]
    # Nothing bounds requests to memory of the host's own.
    assert divided["side_by_side"] > 10 or example in ("removal.yaml", "near-memory.yaml")
    assert_same(played(system, divided=False), divided)


@pytest.mark.parametrize("example", WHOLE)
def test_examples_that_are_not_divided_say_why(example: str) -> None:
    system = cx.load(EXAMPLES / example)
    spec = system.resolve([]).plain()
    if spec.get("workload"):
        system = system.set("workload.*.requests", 100)
    divided = played(system, divided=True)
    assert (divided["partitions"], divided["reason"]) == (1, WHOLE[example])


def apart(spec: Spec) -> Spec:
    """The same system with links that take time, so that it can be divided at each of them."""
    links = [{"delay": f"{2 + i % 3}ns"} | link for i, link in enumerate(spec["links"])]
    return changed(spec, ("links", links))


def both(spec: Spec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The outcome in one queue of events, and in one for each part, which two threads share."""
    whole, divided = play(spec, divided=False), play(spec, divided=True, threads=2)
    return whole, divided


# The wire of a half-duplex link is one thing for both its ends.
PARTITIONS = {
    "direct": 2,
    "sizes": 2,
    "bus": 6,
    "half-duplex bus": 6,
    "half-duplex link": 1,
    "cached": 6,
    "prefetching": 6,
    "store-and-forward ring": 18,
    "fifo mesh": 18,
    "voq tree with credits": 23,
    "peers": 6,
    "non-volatile": 2,
    "flash": 2,
    "DRAM": 2,
    "posted writes": 2,
    "measured curve": 2,
}


@pytest.mark.parametrize("name", some(VARIED, DRAWN))
def test_varied_systems(name: str) -> None:
    whole, divided = both(apart(VARIED[name]))
    assert divided["partitions"] == PARTITIONS[name]
    assert_same(whole, divided)


def flit_links(**link: Any) -> Spec:
    """Two hosts and two memories that share a switch, on links of flits."""
    spec = {
        "devices": {
            "h0": {"kind": "host"},
            "h1": {"kind": "host", "cache": {"size": "16KiB"}},
            "sw": {"kind": "switch", "queueing": "voq"},
            "m0": {"kind": "memory", "capacity": "1GiB"},
            "m1": {"kind": "memory", "capacity": "1GiB"},
        },
        "links": [
            {"between": [device, "sw"], "phy": "pcie5-x4", **link} for device in ("h0", "h1", "m0", "m1")
        ],
        "address_map": [{"to": ["m0", "m1"]}],
        "workload": {
            host: {"pattern": "random", "footprint": "1MiB", "requests": 2000, "reads": 0.6}
            for host in ("h0", "h1")
        },
        "run": {"warmup": 100},
    }
    return apart(spec)


FLIT_LINKS: dict[str, Spec] = {
    "68 B": {"flit": "68B"},
    "256 B": {"flit": "256B"},
    "credits": {"credits": 4},
    "credits of 256 B flits": {
        "credits": {"M2S Req": 3, "M2S RwD": 2, "S2M DRS": 5, "S2M NDR": 2},
        "flit": "256B",
    },
    "every 37th flit again": {"errors": {"every": 37}},
    "bit errors": {"flit": "68B", "errors": {"bit_error_rate": 3e-5}},
    "bit errors and credits": {"flit": "256B", "errors": {"bit_error_rate": 1e-3}, "credits": 6},
    "an outage": {"outage": {"at": "2us", "length": "1us"}, "credits": 4},
    "an outage that fails requests": {"outage": {"at": "2us", "length": "1us", "fail": True}},
    "fewer lanes": {"degraded": {"at": "3us", "phy": "pcie4-x2"}, "errors": {"every": 101}, "credits": 8},
    "integrity checks": {"ide": {"mode": "containment"}, "errors": {"every": 53}},
}


@pytest.mark.parametrize("name", some(FLIT_LINKS, DRAWN))
def test_links_of_flits(name: str) -> None:
    whole, divided = both(flit_links(**FLIT_LINKS[name]))
    assert divided["partitions"] == 5
    assert_same(whole, divided)


@pytest.mark.parametrize("kind", ["next-line", "stride", "best-offset"])
def test_lines_that_come_ahead(kind: str) -> None:
    """The last of them come when nobody waits for an answer."""
    spec = flit_links()
    cache = {"size": "4KiB", "prefetch": {"kind": kind, "registers": 4}}
    spec["devices"]["h1"] = {"kind": "host", "queue": 2, "issue_interval": "400ns", "cache": cache}
    spec["workload"]["h1"] |= {"pattern": "strided", "stride": "128B"}
    whole, divided = both(spec)
    assert divided["partitions"] == 5
    assert whole["summary"]["per_requester"]["h1"]["prefetches"] > 0
    assert_same(whole, divided)


def test_most_systems_have_several_partitions() -> None:
    assert sum(partitions > 1 for partitions in PARTITIONS.values()) > 0.9 * len(PARTITIONS)


def test_the_window_opens_when_all_are_warm() -> None:
    """A warm-up is not measured, and the window is the same however the work is divided."""
    outcomes = {warmup: both(changed(flit_links(), ("run.warmup", warmup))) for warmup in (0, 500)}
    assert outcomes[0][0]["window_ps"][0] == 0
    for whole, divided in outcomes.values():
        assert divided["window_ps"] == whole["window_ps"]
    begin, end = outcomes[500][1]["window_ps"]
    completed = outcomes[500][1]["requests"]["completed_ps"]
    assert 0 < begin <= completed.min() < completed.max() <= end
    begun = both(changed(flit_links(), ("run.warmup", ...), ("run.warmup_time", "5us")))
    assert begun[0]["window_ps"] == begun[1]["window_ps"]
    assert begun[1]["window_ps"][0] == 5e6
    assert_same(*begun)


def ring_with_one_credit() -> Spec:
    """A circle of buffers that closes."""
    link = {"bandwidth": "16GB/s", "credits": 1, "delay": "2ns"}
    return generated(
        "ring",
        {"requests": 2000, "footprint": "16MiB", "reads": 0.5},
        switches=6,
        placement="paired",
        switch={"kind": "switch", "queueing": "voq"},
        link=link,
        edge_link=link,
    )


def told(spec: Spec, divided: bool) -> str:
    with pytest.raises(SimulationError) as caught:
        play(spec, divided)
    return str(caught.value)


def told_alike(spec: Spec) -> str:
    """What the diagnosis says, in one queue of events, in one for each partition, and of a run outside of tests."""
    whole = told(spec, divided=False)
    assert told(spec, divided=True) == whole
    with pytest.raises(SimulationError) as caught:
        run(spec)
    assert str(caught.value) == whole
    return whole


@pytest.mark.parametrize("memory", [{}, {"media": {"kind": "dram", "preset": "DDR4-3200"}}])
def test_a_deadlock_across_partitions_is_diagnosed(memory: Spec) -> None:
    """What one partition waits for is held in another."""
    spec = ring_with_one_credit()
    spec["devices"] |= {
        name: device | memory for name, device in spec["devices"].items() if device["kind"] == "memory"
    }
    for divided in (False, True):
        text = told(spec, divided)
        assert text.startswith("deadlock: nothing is left to happen")
        circle = next(line for line in text.splitlines() if "circle:" in line)
        members = circle.split("circle: ")[1].split(" -> ")
        assert members[0] == members[-1]
        assert set(members) == {f"sw{i}" for i in range(6)}


def test_a_deadlock_is_diagnosed_while_io_goes_on_beside_it() -> None:
    spec = ring_with_one_credit()
    spec["devices"]["nic"] = {"kind": "io-engine", "target": "host0", "traffic": "dma-write"}
    spec["links"].append({"between": ["nic", "host0"], "bandwidth": "16GB/s", "delay": "2ns"})
    spec = changed(spec, ("run.livelock_deliveries", 10_000))
    text = told_alike(spec)
    assert text.startswith(
        "deadlock: no request has completed while links delivered 10000 messages, those of CXL.io aside"
    )
    assert "circle: " in text


def test_a_livelock_is_told_alike_however_the_work_is_divided() -> None:
    """Events differ with the division; what links deliver in an epoch does not, nor what each does at its end."""
    link = {"delay": "7us", "bandwidth": "8GB/s", "credits": 2}
    spec = generated(
        "tree",
        {"requests": 50, "footprint": "16MiB", "reads": 0.5},
        leaves=6,
        placement="paired",
        requester={"kind": "host", "queue": 2},
        switch={"kind": "switch", "queueing": "voq"},
        link=link,
        edge_link=link,
    )
    limits = (1, 5, 10, 20)
    texts = [told_alike(changed(spec, ("run.livelock_deliveries", limit))) for limit in limits]
    for limit, text in zip(limits, texts, strict=True):
        noun = "message" if limit == 1 else "messages"
        assert text.startswith(
            f"livelock: no request has completed while links delivered {limit} {noun} (at "
        )
    assert len(set(texts)) == len(limits)
    assert_same(*both(changed(spec, ("run.livelock_deliveries", 1000))))


def test_a_deadlock_in_the_warm_up_is_told_alike() -> None:
    """Who is warm goes on, and counts for nothing."""
    spec = ring_with_one_credit()
    for work in spec["workload"].values():
        work["base"] = "0x40000000"
    near: Spec = {
        "fast": {"kind": "host"},
        "near": {"kind": "memory", "capacity": "1GiB"},
        "hub": {"kind": "switch"},
    }
    spec["devices"] |= near
    for ends in (["fast", "hub"], ["near", "hub"], ["hub", "sw0"]):
        spec["links"].append({"between": ends, "bandwidth": "16GB/s", "delay": "2ns"})
    spec["address_map"].insert(0, {"to": ["near"]})
    spec["workload"]["fast"] = {"pattern": "random", "requests": 100, "footprint": "1MiB"}
    spec["run"] = {"warmup": 500, "livelock_deliveries": 10_000}
    text = told_alike(spec)
    assert text.startswith("livelock: no warm-up request has completed while links delivered 10000 messages")
    assert "circle: " in text


def told_or_played(spec: Spec, threads: int, divided: bool) -> tuple[str, dict[str, list[Any]]]:
    """The summary and requests as they are, or why the run could not finish."""
    try:
        outcome = play(spec, divided, threads)
    except SimulationError as error:
        return str(error), {}
    columns = {name: column.tolist() for name, column in outcome["requests"].items()}
    recorded = {key: outcome[key] for key in ("summary", "commands", "versions") if key in outcome}
    return json.dumps(recorded), columns


@settings(max_examples=examples(30))
@given(rich_systems(), st.integers(1, 4))
def test_random_systems(spec: Spec, threads: int) -> None:
    """A slice of `make threads-check`, which plays thousands, under ThreadSanitizer too."""
    work = {name: own | {"requests": 8 * own["requests"]} for name, own in spec["workload"].items()}
    spec = apart(spec | {"workload": work})
    assert told_or_played(spec, 1, divided=False) == told_or_played(spec, threads, divided=True)


def test_the_run_ends_where_the_mean_is_known() -> None:
    """The order in which requests of all parts complete decides how well it is."""
    spec = changed(flit_links(), ("run.until", {"ci": 0.02}), ("run.warmup", 200))
    for work in spec["workload"].values():
        work["requests"] = 100_000
    whole, divided = both(spec)
    assert divided["side_by_side"] > 100
    assert whole["summary"]["requests"] < 100_000
    assert_same(whole, divided)
