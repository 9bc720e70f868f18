"""Memories that are taken out of use beside persist buffers and prefetchers: nothing is lost, nor said to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples

import cxloom as cx

Spec = dict[str, Any]
PULLED = {"drain_errors", "refused", "lost_acknowledged"}
"""What buffers count where a memory is pulled out too early."""


def system(work: Spec, **switch: Any) -> Spec:
    """A host with a near memory, and a far one behind two switches; its pages are in the far one."""
    memory: Spec = {"kind": "memory", "capacity": "256KiB", "controller_time": "0ns"}
    memory["media"] = {"kind": "fixed", "latency": "45ns", "bandwidth": "unlimited"}
    quick = {"port_delay": "0ns"}
    return {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns"},
            "sw": {"kind": "switch", "switching_time": "20ns", **switch},
            "last": {"kind": "switch", "switching_time": "20ns"},
            "near": memory,
            "far": memory,
        },
        "links": [
            {"between": ["host", "near"]},
            {"between": ["host", "sw"], "delay": "10ns", **quick},
            {"between": ["sw", "last"], "delay": "30ns", **quick},
            {"between": ["last", "far"], "delay": "40ns", **quick},
        ],
        "address_map": [{"to": "near"}, {"to": "far", "persistence": "controller"}],
        "workload": {"host": {"addresses": {"kind": "preferred", "nodes": ["far"]}, **work}},
        "events": [{"at": "10us", "offline": {"device": "far"}}],
        "outputs": {"versions": True},
    }


def played(spec: Spec) -> cx.Result:
    return cx.run(cx.System.from_yaml(json.dumps(spec)), requests=True)


def pulled_out(spec: Spec, result: cx.Result) -> Spec:
    """The same system, in which the memory is pulled out in the very picosecond in which nobody has any of it."""
    found = result.summary["removals"]["10us offline far"]
    at = 10_000_000 + round(found["took_ns"] * 1000)
    gone = {"at": f"{at}ps", "fail": {"device": "far", "reroute_time": "0ns"}}
    return {**spec, "events": [*spec["events"], gone]}


def assert_nothing_is_lost(result: cx.Result) -> None:
    summary = result.summary
    assert summary["errors"]["requests"] == 0
    assert summary.get("failed_write_backs", 0) == 0
    for name, event in summary.get("events", {}).items():
        assert (event["failed"], event["lost"]) == (0, 0), name
    for switch in summary["per_switch"].values():
        assert not any(switch.get("persist_buffer", {}).get(count) for count in PULLED)
    assert summary["versions"] == {"stale_reads": 0, "lost_updates": 0, "unreachable_lines": 0}


@pytest.mark.parametrize("buffers", [1, 2])
def test_what_buffers_have_is_drained_in_the_end(buffers: int, tmp_path: Path) -> None:
    # One line of the page is in a buffer that keeps it. A drain takes m (2 W) + 2 m S + C + M from the first buffer to
    # memory. With two it is in the second one after W + 2 S + t, which drains it at once: 2 W' + 2 S + C + M.
    trace = tmp_path / "one.trace"
    trace.write_text("0x0 W 0\n0x40 R 60000000\n")
    work = {"trace": str(trace), "replay": "timestamps", "tick": "1ps"}
    times = {"tag_time": "1ns", "data_time": "4ns"}
    took = {}
    for policy in ("drain", "forward"):
        spec = system(work, persist_buffer={"policy": policy, **times})
        if buffers == 2:
            spec["devices"]["last"]["persist_buffer"] = {"policy": policy, **times}
        result = played(spec)
        took[policy] = result.summary["removals"]["10us offline far"]["took_ns"]
        gone = played(pulled_out(spec, result))
        assert_nothing_is_lost(gone)
        assert gone.requests().equals(result.requests())
    drains = 2 * (30 + 40) + 4 * 20 + 45 if buffers == 1 else (30 + 2 * 20 + 5) + (2 * 40 + 2 * 20 + 45)
    assert took["forward"] - took["drain"] == pytest.approx(drains)
    # Pulled out while the drain is on its way.
    gone_too_early = pulled_out(spec, result)
    gone_too_early["events"][1]["at"] = f"{10_000 + round(took['forward']) - 200}ns"
    switches = played(gone_too_early).summary["per_switch"].values()
    assert sum(each.get("persist_buffer", {"drain_errors": 0})["drain_errors"] for each in switches) > 0


@settings(max_examples=examples(60), deadline=None)
@given(
    policies=st.tuples(*[st.sampled_from([None, "drain", "forward"])] * 2),
    entries=st.sampled_from([2, 8]),
    cache=st.sampled_from([None, "2KiB", "64KiB"]),
    prefetch=st.sampled_from(["none", "next-line", "streamer"]),
    work=st.sampled_from(["random", "zipf", "log-append"]),
    persists=st.sampled_from([0.0, 0.4]),
    rate=st.sampled_from(["unlimited", "2GB/s"]),
    seed=st.integers(0, 1000),
)
def test_nobody_feels_it_beside_buffers(
    policies: tuple[str | None, str | None],
    entries: int,
    cache: str | None,
    prefetch: str,
    work: str,
    persists: float,
    rate: str,
    seed: int,
) -> None:
    """Whatever caches, prefetchers and buffers have of the memory, and also where a prefetcher asks beyond a page."""
    given: Spec = {"pattern": work, "requests": 2000, "footprint": "32KiB", "rate": "40M/s"}
    if work != "log-append":
        given |= {"reads": "50%", "persists": persists}
    spec = system(given)
    spec["address_map"][0]["persistence"] = "media"
    for name, policy in zip(("sw", "last"), policies, strict=True):
        if policy:
            spec["devices"][name]["persist_buffer"] = {"policy": policy, "entries": entries}
    if cache:
        ahead = "none" if prefetch == "none" else {"kind": prefetch, "page": "16KiB", "degree": 4}
        spec["devices"]["host"]["cache"] = {"size": cache, "ways": 4, "prefetch": ahead}
    spec["events"][0]["offline"]["rate"] = rate
    spec["run"] = {"seed": seed}
    result = played(spec)
    assert result.summary["removals"]["10us offline far"]["took_ns"] is not None
    assert_nothing_is_lost(result)
    gone = played(pulled_out(spec, result))
    assert_nothing_is_lost(gone)
    assert gone.requests().equals(result.requests())


def test_a_copy_that_waits_for_a_prefetch_has_not_failed() -> None:
    # The first host's prefetcher asks for lines of the frame that its next page is on its way to.
    memory: Spec = {"kind": "memory", "capacity": "512KiB"}
    memory["media"] = {"kind": "fixed", "latency": "150ns", "bandwidth": "4GB/s"}
    ahead = {"kind": "streamer", "page": "16KiB", "degree": 8, "registers": 32}
    cache = {"size": "64KiB", "ways": 4, "prefetch": ahead}
    wire = {"bandwidth": "32GB/s", "port_delay": "5ns"}
    pages = {"footprint": "48KiB", "pattern": "zipf", "reads": "90%", "requests": 2000}
    others = {"footprint": "16KiB", "pattern": "sequential", "reads": "30%", "requests": 1000}
    both = {"kind": "bind", "nodes": ["far", "near"]}
    spec = {
        "devices": {
            "sw": {"kind": "switch"},
            "last": {"kind": "switch"},
            "far": memory,
            "near": memory,
            "host0": {"kind": "host", "process_time": "0ns", "cache": cache},
            "host1": {"kind": "host", "process_time": "5ns"},
        },
        "links": [
            {"between": ["sw", "last"], "bandwidth": "32GB/s", "delay": "10ns"},
            {"between": ["last", "far"], "bandwidth": "8GB/s"},
            {"between": ["sw", "near"], "bandwidth": "32GB/s"},
            {"between": ["host0", "sw"], **wire},
            {"between": ["host1", "sw"], **wire},
        ],
        "address_map": [{"to": ["far"]}, {"to": ["near"]}],
        "workload": {"host0": {**pages, "addresses": "first-touch"}, "host1": {**others, "addresses": both}},
        "events": [{"at": "6us", "offline": {"device": "far"}}],
        "run": {"seed": 447},
    }
    summary = played(spec).summary
    assert summary["removals"]["6us offline far"]["pages_left"] == 0
    assert (summary["failed_write_backs"], summary["errors"]["requests"]) == (0, 0)


def test_a_memory_filled_again_is_not_taken_for_empty(tmp_path: Path) -> None:
    # Its page leaves, it is pulled out and repaired, and the page comes back. Pulled out again while that page is on
    # its way, it takes its lines along.
    trace = tmp_path / "again.trace"
    trace.write_text("0x0 W 0\n0x0 W 50000000\n0x0 R 70000000\n")
    spec = system({"trace": str(trace), "replay": "timestamps", "tick": "1ps"})
    spec["events"] += [
        {"at": "20us", "fail": {"device": "far", "reroute_time": "0ns"}},
        {"at": "30us", "repair": {"device": "far"}},
        {"at": "31us", "move_pages": {"requester": "host", "from": "near", "to": "far", "share": "100%"}},
        {"at": "60us", "offline": {"device": "far"}},
        {"at": "60010ns", "fail": {"device": "far", "reroute_time": "0ns"}},
    ]
    summary = played(spec).summary
    assert summary["removals"]["10us offline far"]["took_ns"] is not None
    assert summary["removals"]["60us offline far"]["took_ns"] is None
    assert summary["versions"]["unreachable_lines"] == 4096 / 64
