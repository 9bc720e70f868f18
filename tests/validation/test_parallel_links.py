"""Parallel links between two devices: a request and its answer take one of them by their line, so all carry alike."""

from __future__ import annotations

from typing import Any

import pytest
from validation.systems import Run, Spec, changed, run

from cxloom import _core

LINKS = {"phy": "pcie5-x8"}
X8_READS = 26.36
"""GB/s of reads on a 68B link of eight lanes at 32 GT/s: 4 / 4.5 lines a flit (docs/model/flit.md)."""


def bundle(count: int, between: tuple[str, str], **link: Any) -> Spec:
    """A host and a memory, at a switch or linked to each other, and parallel links between two of the three."""
    devices: Spec = {
        "host": {"kind": "host", "queue": 512},
        "mem": {"kind": "memory", "capacity": "16GiB", "heads": count if "mem" in between else 1},
    }
    if between != ("host", "mem"):
        devices["sw"] = {"kind": "switch"}
    devices["mem"]["media"] = {"kind": "fixed", "latency": "50ns"}
    wide = {"bandwidth": "unlimited"}
    others = [pair for pair in (("host", "sw"), ("sw", "mem")) if "sw" in devices and pair != between]
    return {
        "devices": devices,
        "links": [
            {"between": list(between), "count": count, **(link or LINKS)},
            *({"between": list(pair), **wide} for pair in others),
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "reads": 1.0, "requests": 30_000, "footprint": "1GiB"}},
        "run": {"warmup": 4000},
    }


def loads(outcome: Run, way: str) -> list[float]:
    """Use of each of the parallel links in a direction."""
    return [link[way]["utilization"] for link in outcome.summary["per_link"].values() if way in link]


@pytest.mark.parametrize("between", [("host", "mem"), ("host", "sw"), ("sw", "mem")])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_reads_have_all_links(between: tuple[str, str], count: int) -> None:
    # Lines are drawn: of 512 in flight each link has a part that varies, so that one is empty now and then.
    outcome = run(bundle(count, between))
    assert outcome.bandwidth == pytest.approx(count * X8_READS, rel=0.02)
    back = loads(outcome, f"{between[1]}->{between[0]}")
    assert len(back) == count
    assert min(back) > 0.95 * max(back)
    assert not any("carried nothing" in note for note in outcome.summary["notes"])


@pytest.mark.parametrize("between", [("host", "mem"), ("host", "sw")])
def test_an_answer_returns_by_the_link_of_its_request(between: tuple[str, str]) -> None:
    # One line: whatever is sent about it takes one link, there and back.
    spec = changed(
        bundle(4, between), ("workload.host.footprint", "64B"), ("workload.host.requests", 300), ("run", {})
    )
    outcome = run(spec)
    there, back = loads(outcome, "->".join(between)), loads(outcome, f"{between[1]}->{between[0]}")
    assert [use > 0 for use in there] == [use > 0 for use in back]
    assert sum(use > 0 for use in there) == 1
    notes = [note for note in outcome.summary["notes"] if "carried nothing" in note]
    assert len(notes) == 2  # a direction each
    assert notes[0].count("#") >= 2


def test_links_that_are_down_leave_all_to_the_others() -> None:
    spec = bundle(3, ("host", "sw"), bandwidth="10GB/s")
    spec["devices"]["host"]["completion_timeout"] = "100us"
    spec["events"] = [{"at": "1us", "fail": {"link": ["host", "sw"], "number": 2}}]
    outcome = run(spec)
    back = loads(outcome, "sw->host")
    assert outcome.completed == outcome.expected
    assert back[1] < 0.05 < 0.9 * back[0]
    assert back[2] == pytest.approx(back[0], rel=0.05)


@pytest.mark.parametrize("routing", ["deterministic", "flow-hash", "random", "adaptive", "valiant", "ugal"])
def test_packets_of_io_keep_to_one_link(routing: str) -> None:
    spec = bundle(2, ("host", "sw"), bandwidth="10GB/s")
    spec["devices"]["nic"] = {"kind": "io-engine", "target": "host", "traffic": "dma-write", "rate": "2GB/s"}
    spec["links"].append({"between": ["nic", "sw"], "bandwidth": "16GB/s"})
    spec["workload"]["host"] |= {"reads": 0.0, "requests": 3000, "footprint": "64B"}
    spec["run"] = {"routing": routing}
    outcome = run(spec)
    assert outcome.completed == outcome.expected


def test_rings_with_parallel_links_are_still_checked() -> None:
    # Five switches in a ring with one credit each: a circle of buffers, on which nobody relied on a link of its own.
    names = range(5)
    link = {"bandwidth": "16GB/s", "credits": 1}
    spec: Spec = {
        "devices": {
            **{f"sw{i}": {"kind": "switch", "queueing": "voq"} for i in names},
            **{f"host{i}": {"kind": "host"} for i in names},
            **{f"mem{i}": {"kind": "memory", "capacity": "1MiB"} for i in names},
        },
        "links": [{"between": [f"sw{i}", f"sw{(i + 1) % 5}"], "count": 2, **link} for i in names]
        + [{"between": [f"{kind}{i}", f"sw{i}"], **link} for kind in ("host", "mem") for i in names],
        "address_map": [{"to": [f"mem{i}" for i in names], "policy": "weighted", "weights": [1] * 5}],
        "workload": {f"host{i}": {"pattern": "random", "requests": 10, "footprint": "1MiB"} for i in names},
    }
    assert _core.check(spec, {})["deadlock"]["possible"]
