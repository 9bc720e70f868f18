"""Writes that are answered before all copies have them: when, how far these lag, what is read, and what is lost."""

from __future__ import annotations

from typing import Any

import pytest
from replicated import READ, ROUND, SWITCH, WAY, WRITE, fail, latencies, memory, of_region, run, system

from cxloom.base.errors import InputError
from cxloom.results.replications import rows

Spec = dict[str, Any]


def three(*slower: float, replicas: Spec, **more: Any) -> Spec:
    """Three copies, of which each memory is so much slower, behind a switch."""
    spec = system(replicas={"on": ["mem1", "mem2"], **replicas}, **more)
    for number, time in enumerate(slower):
        spec["devices"][f"mem{number}"] = memory(time)
    link = next(each for each in spec["links"] if "mem1" in each["between"])
    spec["links"].append({**link, "between": ["mem2", "sw"]})
    return spec


@pytest.mark.parametrize("by", ["none", "sw"])
@pytest.mark.parametrize("slower", [(0.0, 30.0, 100.0), (100.0, 0.0, 30.0)])
@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_a_write_takes_as_long_as_the_last_copy_that_is_wanted(
    by: str, slower: tuple[float, float, float], wanted: int
) -> None:
    result = run(three(*slower, replicas={"switch": by, "acknowledge": wanted}, reads="0%"))
    assert set(latencies(result)) == {ROUND + WRITE + sorted(slower)[wanted - 1]}
    found = of_region(result)
    assert (found["writes"], found["copies"]) == (100, 300)
    if wanted < 3:
        assert found["lag_ns"] == pytest.approx(100.0 - sorted(slower)[wanted - 1])
        assert found["lost_writes"] == 0
    else:
        assert "lag_ns" not in found


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_hosts_send_the_copies_one_behind_the_other(wanted: int) -> None:
    """80 B take 5 ns: the copies begin 0, 5 and 10 ns later, in the order of `to` and `on`."""
    links = {"bandwidth": "16GB/s", "header": "16B"}
    single = system(links=links, reads="0%")
    single["address_map"][0].pop("replicas")
    (alone,) = set(latencies(run(single)))
    (found,) = set(
        latencies(run(three(100.0, 0.0, 30.0, replicas={"acknowledge": wanted}, links=links, reads="0%")))
    )
    assert found == pytest.approx(alone + sorted([100.0, 0.0 + 5, 30.0 + 10])[wanted - 1], abs=0.002)


@pytest.mark.parametrize("by", ["none", "sw"])
@pytest.mark.parametrize("entries", [1, 4, 16])
def test_a_slow_copy_bounds_the_writes_that_it_lacks(by: str, entries: int) -> None:
    """Each holds its entry until the slow copy has it, though the fast one has answered long before."""
    replicas = {"switch": by, "acknowledge": 1, "entries": entries}
    spec = system(replicas=replicas, slower=1000.0, host={"queue": 64}, reads="0%", requests=2000)
    result = run(spec)
    held = (2 * WAY + SWITCH if by == "sw" else ROUND) + WRITE + 1000
    rate = result.summary["requests"] / result.summary["simulated_time_ns"]
    assert rate == pytest.approx(entries / held, rel=0.02)
    assert of_region(result)["lag_ns"] == pytest.approx(1000.0)


@pytest.mark.parametrize("by", ["none", "sw"])
def test_a_copy_that_lags_is_not_read(by: str) -> None:
    """The first copy is slow, and lacks what the second has answered: a read that comes then goes to that one."""
    spec = system(
        replicas={"switch": by, "acknowledge": 1},
        outputs={"versions": True},
        reads="50%",
        footprint="64B",
        requests=400,
    )
    spec["devices"]["mem0"]["media"] |= {"write_latency": "1us"}
    result = run(spec)
    assert (of_region(result)["stale_reads"], of_region(result)["reversed_reads"]) == (0, 0)
    memories = result.summary["per_memory"]
    # The line is written again and again, and read there nearly always.
    assert memories["mem1"]["reads"] > 5 * memories["mem0"]["reads"]
    assert set(latencies(result)) == {ROUND + READ, ROUND + WRITE}


def slow_first(wanted: int | None) -> Spec:
    """Writes each 500 ns, of which the link of the first memory takes 800 ns each; the switch fails at 10.1 us."""
    replicas: Spec = {"switch": "sw"} | ({"acknowledge": wanted} if wanted else {})
    spec = system(
        ("10100ns", fail("sw", "0ns")), replicas=replicas, rate="2M/s", reads="0%", host={"queue": 64}
    )
    for link in spec["links"]:
        link |= {"bandwidth": "0.1GB/s" if "mem0" in link["between"] else "unlimited", "header": "16B"}
    return spec


def test_what_one_copy_alone_had_is_lost_with_the_table_of_the_switch() -> None:
    """The first copy becomes the one that others are made equal to, and lacks what the second has answered.

    Write i comes to the switch at 500 i + 70 ns. The second memory's answer is back 200 ns later, of i = 0 to 19 before
    the failure. The first one's leave one after the other, at 800 ns each: write i is answered at 70 + 800 (i + 1) +
    50 + 80 + 50 + 20 ns, of i = 0 to 11 before the failure.
    """
    result = run(slow_first(1))
    region = of_region(result)
    assert region["lost_writes"] == 20 - 12
    assert region["failed"] == 0
    assert [row[3] for row in rows(result.summary)] == ["0, 8 lost"]
    result = run(slow_first(None))
    assert "lost_writes" not in of_region(result)
    assert result.summary["errors"]["requests"] > 8


def test_a_majority_survives_one_memory() -> None:
    """Two of three have each write that was answered, so that one memory may fail."""
    for failing in ("mem0", "mem1", "mem2"):
        spec = three(
            0.0,
            300.0,
            100.0,
            replicas={"switch": "sw", "acknowledge": 2},
            outputs={"versions": True},
            reads="50%",
            footprint="1KiB",
            requests=600,
            host={"queue": 8, "completion_timeout": "5us"},
        )
        spec["events"] = [{"at": "2us", **fail(failing, "300ns")}]
        result = run(spec)
        region = of_region(result)
        assert (region["lost_writes"], region["stale_reads"], region["failed"]) == (0, 0, 0)
        assert region["state"][failing] == "out"
        assert result.summary["errors"]["requests"] == 0


@pytest.mark.parametrize(
    ("replicas", "message", "key"),
    [
        ({"acknowledge": 3}, "at most the number of copies", "address_map[0].replicas.acknowledge"),
        ({"acknowledge": 0}, "1", "address_map[0].replicas.acknowledge"),
        ({"entries": 8}, "before all copies have them", "address_map[0].replicas.entries"),
    ],
)
def test_mistakes_are_refused(replicas: Spec, message: str, key: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        run(system(replicas=replicas))
    assert raised.value.path == key
