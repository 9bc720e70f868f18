"""Regions that are interleaved and replicated: each target has copies of its own."""

from __future__ import annotations

from typing import Any

import pytest
from replicated import (
    LINE,
    READ,
    ROUND,
    SWITCH,
    WAY,
    WIRE,
    WRITE,
    fail,
    latencies,
    memory,
    repair,
    run,
    system,
)

import cxloom as cx
from cxloom.base.errors import InputError

Spec = dict[str, Any]


def interleaved(
    *events: tuple[str, Spec], replicas: Spec | None = None, region: Spec | None = None, **more: Any
) -> Spec:
    """Two memories that share a region, and two that have a copy each of what these have."""
    spec = system(*events, **more)
    for name in ("mem2", "mem3"):
        spec["devices"][name] = memory()
        spec["links"].append({"between": [name, "sw"], **WIRE, **more.get("links", {})})
    copies = {"on": ["mem2", "mem3"], **(replicas or {})}
    spec["address_map"] = [
        {"to": ["mem0", "mem1"], "interleave": "256B", "replicas": copies, **(region or {})}
    ]
    return spec


def regions(result: cx.Result) -> dict[str, Spec]:
    return dict(result.summary["replication"])


@pytest.mark.parametrize("by", ["none", "sw"])
def test_each_target_is_written_with_its_own_copy(by: str) -> None:
    """Four lines of the first, four of the second: the copy of the second is 30 ns slower."""
    spec = interleaved(replicas={"switch": by}, reads="0%")
    spec["devices"]["mem3"] = memory(30.0)
    result = run(spec)
    assert latencies(result) == [ROUND + WRITE + (30.0 if i // 4 % 2 else 0.0) for i in range(100)]
    found = regions(result)
    assert {name: (each["writes"], each["copies"]) for name, each in found.items()} == {
        "mem0+mem2": (52, 104),
        "mem1+mem3": (48, 96),
    }
    memories = result.summary["per_memory"]
    assert memories["mem2"]["drains"] == memories["mem0"]["writes"] == 52
    assert memories["mem3"]["drains"] == memories["mem1"]["writes"] == 48


@pytest.mark.parametrize("granularity", ["64B", "256B"])
def test_reads_that_are_spread_use_all_memories(granularity: str) -> None:
    """Each memory gives 4 GB/s: two targets 8, with their copies 16."""
    found = {}
    for read in ("primary", "spread"):
        region = {"interleave": granularity, "policy": "weighted"}
        spec = interleaved(
            replicas={"read": read}, region=region, host={"queue": 128}, requests=4000, reads="100%"
        )
        for name in ("mem0", "mem1", "mem2", "mem3"):
            spec["devices"][name]["media"]["bandwidth"] = "4GB/s"
        found[read] = run(spec).bandwidth
    assert found["primary"] == pytest.approx(8.0, rel=0.02)
    assert found["spread"] == pytest.approx(16.0, rel=0.02)


@pytest.mark.parametrize("by", ["none", "sw"])
def test_a_memory_that_fails_costs_its_part_alone(by: str) -> None:
    """The region has 128 KiB, of which each target has 1024 lines."""
    events = (("10100ns", fail("mem1", "0ns")), ("20100ns", repair("mem1")))
    work = {"rate": "1M/s", "reads": "100%", "host": {"queue": 64}, "replicas": {"switch": by}}
    result = run(interleaved(*events, **work))
    found = regions(result)
    assert (found["mem0+mem2"]["left"], found["mem0+mem2"]["resynced_bytes"]) == (0, 0)
    distance = ROUND if by == "none" else 2 * WAY + SWITCH
    assert found["mem1+mem3"]["resynced_bytes"] == 1024 * LINE
    took = 1024 / 64 * (2 * distance + READ + WRITE)
    assert found["mem1+mem3"]["degraded_ns"] == pytest.approx(10_000 + took)
    assert found["mem1+mem3"]["state"] == {"mem1": "whole", "mem3": "whole"}
    assert result.summary["errors"]["requests"] == 0


def test_all_parts_share_the_entries_of_the_switch() -> None:
    spec = interleaved(replicas={"switch": "sw", "entries": 4}, host={"queue": 64}, reads="0%", requests=4000)
    result = run(spec)
    held = 2 * WAY + SWITCH + WRITE
    rate = result.summary["requests"] / result.summary["simulated_time_ns"]
    assert rate == pytest.approx(4 / held, rel=0.02)


@pytest.mark.parametrize(("weights", "share"), [([1, 1], 4), ([1, 3], 12)])
def test_a_copy_lies_where_its_memory_has_room(weights: list[int], share: int) -> None:
    """The second target's copy begins behind 16 KiB of another region, and is dense: its second round is there.

    A spare part takes the place of the lines of that round, so that their writes wait.
    """
    spec = interleaved(
        region={"policy": "weighted", "weights": weights, "size": "32KiB"},
        reads="0%",
        pattern="sequential",
        requests=64,
        rate="1M/s",
        host={"queue": 64},
    )
    spec["address_map"][:0] = [{"to": "mem3", "size": "16KiB"}, {"to": "mem1", "size": "4KiB"}]
    spec["workload"]["host"] |= {"base": "20KiB", "footprint": "32KiB"}
    spec["devices"]["mem3"]["spares"] = 1
    part = {"device": "mem3", "base": f"{16384 + share * LINE}B", "size": f"{share * LINE}B", "buffer": "64B"}
    spec["devices"]["mem3"]["media"]["write_latency"] = "100us"
    spec["events"] = [{"at": "1ns", "spare": part}]
    result = run(spec)
    assert result.summary["per_memory"]["mem3"]["spare_waits"] == share
    lines = 4 + share
    of_round = [i for i in range(64) if lines <= i < 2 * lines and i - lines >= 4]
    late = [i for i, each in enumerate(latencies(result)) if each > 100_000 + 1000]
    assert late == of_round


@pytest.mark.parametrize("by", ["none", "sw"])
@pytest.mark.parametrize("copies", [["mem2", "mem3"], ["mem3", "mem2"]])
def test_copies_are_equal_after_failures(by: str, copies: list[str]) -> None:
    events = [
        ("1us", fail("mem0", "100ns")),
        ("6us", repair("mem0")),
        ("12us", fail("mem3", "100ns")),
        ("16us", repair("mem3")),
    ]
    spec = interleaved(
        *events,
        replicas={"switch": by, "on": copies, "read": "spread"},
        region={"size": "8KiB"},
        outputs={"versions": True},
        pattern="random",
        footprint="8KiB",
        reads="50%",
        rate="40M/s",
        requests=1000,
        host={"queue": 32, "completion_timeout": "2us"},
    )
    result = run(spec)
    assert result.summary["errors"]["requests"] == 0
    for region in regions(result).values():
        assert (region["stale_reads"], region["differing_lines"]) == (0, 0)
        assert set(region["state"].values()) == {"whole"}
    assert sum(region["resynced_bytes"] for region in regions(result).values()) == 2 * 4096


@pytest.mark.parametrize(
    ("replicas", "message", "key"),
    [
        ({"on": ["mem2"]}, "as many memories as the range itself", "address_map[0].replicas.on"),
        ({"on": ["mem2", "mem0"]}, "two copies", "address_map[0].replicas.on[1]"),
        ({"acknowledge": 3}, "at most the number of copies", "address_map[0].replicas.acknowledge"),
    ],
)
def test_mistakes_are_refused(replicas: Spec, message: str, key: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        run(interleaved(replicas=replicas))
    assert raised.value.path == key
