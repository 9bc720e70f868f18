"""What is under way to a memory that is taken out of use: accesses to pages that left at once, and stores that wait."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx

Spec = dict[str, Any]
FAR = 245.0
"""ns of a line of the far memory, unloaded: 45 of the media, and 100 of the link each way."""
CACHE: Spec = {"size": "4KiB", "ways": 4, "access_time": "0ns"}
MEMORY: Spec = {
    "kind": "memory",
    "controller_time": "0ns",
    "capacity": "1MiB",
    "media": {"kind": "fixed", "latency": "45ns", "bandwidth": "unlimited"},
}
HEADER = "# cxloom-trace 2: address kind timestamp size"
ADDRESSES = {"addresses": {"kind": "preferred", "nodes": ["far"]}}


def leave(requester: str, at: str) -> Spec:
    """All its pages are elsewhere at once."""
    return {"at": at, "move_pages": {"requester": requester, "from": "far", "to": "near", "copy": False}}


def offline(at: str) -> Spec:
    return {"at": at, "offline": {"device": "far"}}


def pulled(ps: int) -> Spec:
    return {"at": f"{ps}ps", "fail": {"device": "far", "reroute_time": "0ns"}}


def alone(host: Spec, trace: Path) -> Spec:
    """A host with a near and a far memory, and its pages in the far one."""
    work = {"trace": str(trace), "replay": "timestamps", **ADDRESSES}
    return {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns", "queue": 16, **host},
            "near": MEMORY,
            "far": MEMORY,
        },
        "links": [{"between": ["host", "near"]}, {"between": ["host", "far"], "delay": "100ns"}],
        "address_map": [{"to": "near"}, {"to": "far"}],
        "workload": {"host": work},
    }


def played(spec: Spec, *events: Spec, **more: Any) -> cx.Result:
    return cx.run(cx.System.from_yaml(json.dumps({**spec, "events": list(events), **more})), requests=True)


AFTER = 10_245.0  # ns: the answer to what was made at 10 us


@pytest.mark.parametrize(
    ("host", "accesses", "ends"),
    [
        # An access to the old place is answered from there.
        ({}, "0x0 R", AFTER),
        ({}, "0x0 W", AFTER),
        ({"cache": CACHE}, "0x0 R", AFTER),
        # The first of three to its lines has the one register, and the others follow.
        ({"cache": {**CACHE, "mshrs": 1}}, "0x0 R|0x40 R|0x80 R", 10_000 + 3 * FAR),
        # A store has a line that is modified, which is written once it is there.
        ({"cache": CACHE}, "0x0 W", 10_000 + 2 * FAR),
        # A store in a combining buffer stays there until somebody wants it.
        ({}, "0x0 N 8", 10_100 + FAR),
        # It leaves for the other line, which has its buffer then; both are of the page.
        ({"combining_buffers": 1}, "0x0 N 8|0x40 N 8", 10_000 + 2 * FAR),
        # The line that the store goes past was modified, and is written back before.
        ({"cache": CACHE}, "0x40 N 8", 10_100 + FAR),
    ],
)
def test_what_was_made_before_its_page_left_is_waited_for(
    host: Spec, accesses: str, ends: float, tmp_path: Path
) -> None:
    trace = tmp_path / "one.trace"
    made = [each.split() for each in accesses.split("|")]
    lines = [f"{at} {kind} 10000000 {size[0] if size else 64}" for at, kind, *size in made]
    trace.write_text("\n".join([HEADER, *lines, "0x1000 R 60000000 64", ""]))
    spec = alone(host, trace)
    for at in (10_100, 10_090):
        buffered = ends - 10_100 == FAR
        events = (leave("host", "10050ns"), offline(f"{at}ns"))
        over = ends - 10_100 + at if buffered else ends
        result = played(spec, *events, pulled(round(over * 1000)))
        (removal,) = result.summary["removals"].values()
        assert removal["took_ns"] == pytest.approx(over - at)
        assert result.summary["errors"]["requests"] == result.summary["failed_write_backs"] == 0
        (event,) = result.summary["events"].values()
        assert (event["failed"], event["lost"]) == (0, 0)
        # The answer was 100 ns on its way: a picosecond before the memory has given it something is lost.
        early = played(spec, *events, pulled(round(over * 1000) - 100_001))
        (event,) = early.summary["events"].values()
        assert event["failed"] + event["lost"] == 1


def shared(threads: int, *events: Spec, **run: Any) -> cx.Result:
    """Two hosts and an accelerator, each of which has something else under way, to one far memory."""
    work: Spec = {"pattern": "random", "requests": 300, "footprint": "32KiB", **ADDRESSES}
    host: Spec = {"kind": "host", "queue": 16}
    return played(
        {
            "devices": {
                "plain": host,
                "waiting": {**host, "cache": {**CACHE, "mshrs": 1}},
                "card": {"kind": "accelerator", "queue": 8},
                "sw[0-1]": {"kind": "switch"},
                "near": MEMORY,
                "far": MEMORY,
            },
            "links": [
                {"between": ["plain", "sw0"], "delay": "20ns"},
                {"between": ["card", "sw0"], "delay": "20ns"},
                {"between": ["waiting", "sw1"], "delay": "20ns"},
                {"between": ["sw0", "sw1"], "bandwidth": "16GB/s", "delay": "30ns"},
                {"between": ["near", "sw0"]},
                {"between": ["far", "sw1"]},
            ],
            "address_map": [{"to": "near"}, {"to": "far"}],
            "workload": {
                "plain": {**work, "stores": "non-temporal", "size": "8B", "reads": "30%", "rate": "100M/s"},
                "waiting": {**work, "reads": "50%"},
                "card": {**work, "reads": "50%", "rate": "50M/s"},
            },
            "run": {"warmup": 0, "threads": threads, **run},
        },
        *events,
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_feels_it_whatever_is_under_way(seed: int) -> None:
    moves = [leave(each, "1us") for each in ("plain", "waiting", "card")]
    events = [*moves, offline("1010ns")]
    first = shared(1, *events, seed=seed)
    (removal,) = first.summary["removals"].values()
    assert removal["took_ns"] > 100
    assert removal["moved_bytes"] == 0
    results = []
    for threads in (1, 2):
        result = shared(threads, *events, pulled(1_010_000 + round(removal["took_ns"] * 1000)), seed=seed)
        assert result.summary["errors"]["requests"] == result.summary["failed_write_backs"] == 0
        (event,) = result.summary["events"].values()
        assert (event["failed"], event["lost"], event["rerouted"]) == (0, 0, 0)
        assert result.requests().equals(first.requests())
        results.append({key: each for key, each in result.summary.items() if key not in ("cost", "spec")})
    assert results[0] == results[1]


def test_stores_that_wait_are_copied_with_their_page(tmp_path: Path) -> None:
    # The copy of a line has its buffer written first, so that it reads what was stored: R and W of both memories.
    trace = tmp_path / "one.trace"
    trace.write_text(f"{HEADER}\n0x0 N 10000000 8\n0x1000 R 60000000 64\n")
    result = played(alone({}, trace), offline("10100ns"), pulled(30_000_000))
    (removal,) = result.summary["removals"].values()
    assert removal["took_ns"] == pytest.approx(FAR + FAR + 45 + FAR + 45)  # and another page behind it
    assert result.summary["errors"]["requests"] == result.summary["failed_write_backs"] == 0
    assert result.summary["per_requester"]["host"]["combined_partial"] == 1
