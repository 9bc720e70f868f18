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


def two_spines(**links: Any) -> Spec:
    """A host writes to two memories, which two spines lead to; the link to the host is no limit."""
    media = {"kind": "fixed", "latency": "10ns"}
    return {
        "devices": {
            "host": {"kind": "host", "queue": 4096},
            **{name: {"kind": "switch"} for name in ("leaf0", "leaf1", "spine0", "spine1")},
            **{
                f"mem{i}": {"kind": "memory", "capacity": "4GiB", "queue": 4096, "media": media}
                for i in (0, 1)
            },
        },
        "links": [
            {"between": ["host", "leaf0"]},
            *(
                {"between": [f"leaf{i}", f"spine{j}"], "phy": "pcie7-x2", **links}
                for i in (0, 1)
                for j in (0, 1)
            ),
            *({"between": ["leaf1", f"mem{i}"]} for i in (0, 1)),
        ],
        "address_map": [{"to": ["mem0", "mem1"], "interleave": "4KiB"}],
        "workload": {"host": {"pattern": "random", "reads": 0.0, "requests": 20_000, "footprint": "1GiB"}},
        "run": {"warmup": 10_000},
    }


def test_deterministic_ties_are_links_and_of_a_bundle_one() -> None:
    """Ranks 0 and 1 mod 4 links are both of the first spine, mod 2 neighbours one of each (docs/model/routing.md).

    A link of pcie7-x2 carries 24 GB/s of writes (docs/model/flit_link.md).
    """
    plain = run(two_spines(count=2))
    idle = [
        name
        for name, link in plain.summary["per_link"].items()
        if sum(way["messages"] for way in link.values()) == 0
    ]
    assert len(idle) == 4
    assert all("spine1" in name for name in idle)
    assert plain.bandwidth == pytest.approx(48.0, rel=0.01)
    assert run(two_spines(count=2, bundle=True)).bandwidth == pytest.approx(96.0, rel=0.01)
    drawn = run(changed(two_spines(count=2), ("run.routing", "random")))
    assert drawn.bandwidth == pytest.approx(95.0, rel=0.01)


def at_port(kind: str, count: int, reads: float) -> Spec:
    """Parallel links between a root port, or a switch, and a memory."""
    spec = bundle(count, ("sw", "mem"), phy="pcie5-x8", port_delay="25ns")
    spec["devices"]["sw"] = {"kind": kind, **({"depth": 256} if kind == "root-port" else {})}
    spec["devices"]["host"]["queue"] = 2048
    spec["devices"]["mem"]["queue"] = 4096
    return changed(spec, ("workload.host.reads", reads), ("run.warmup", 6000))


@pytest.mark.parametrize(
    ("reads", "carried"), [(1.0, {2: 52.7, 4: 105.4}), (0.5, {2: 60.5, 4: 73.2}), (0.0, {2: 45.8, 4: 80.0})]
)
def test_the_one_queue_of_a_root_port_holds_parallel_links_back(
    reads: float, carried: dict[int, float]
) -> None:
    """The figures of docs/model/root_port.md, measured there; a bound by the rules is what one link has, and n."""
    one = run(at_port("root-port", 1, reads)).bandwidth
    for count, expected in carried.items():
        queued = run(at_port("root-port", count, reads)).bandwidth
        apart = run(at_port("switch", count, reads)).bandwidth
        assert queued == pytest.approx(expected, rel=0.02)
        if reads == 1.0:
            assert queued == pytest.approx(apart, rel=0.001)
            assert queued == pytest.approx(count * one, rel=0.01)
        else:
            assert one < queued < 0.99 * apart
            assert queued < 0.99 * count * one


@pytest.mark.parametrize(("reads", "both"), [(0.0, 47.4), (0.5, 78.9), (1.0, 52.7)])
def test_a_root_port_for_each_link_has_a_queue_for_each(reads: float, both: float) -> None:
    """Two of them carry twice what one does, where lines are drawn."""
    one = at_port("root-port", 1, reads)
    two = changed(one, ("devices.other", one["devices"]["sw"]), ("devices.mem.heads", 2))
    two["links"] += [
        {**link, "between": [{"sw": "other"}.get(name, name) for name in link["between"]]}
        for link in one["links"]
    ]
    drawn = run(changed(two, ("run.routing", "random"))).bandwidth
    alone = run(one).bandwidth
    assert drawn == pytest.approx(2 * alone, rel=0.01)
    assert drawn == pytest.approx(both, rel=0.01)
    assert run(two).bandwidth == pytest.approx(alone, rel=0.01)  # by rank: all lines of a memory by one
