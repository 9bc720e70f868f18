"""Regions with copies in several memories: what a write costs, who serves when one fails, and what comes back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    of_region,
    repair,
    run,
    system,
)

from cxloom.base.errors import InputError

Spec = dict[str, Any]


@pytest.mark.parametrize("by", ["none", "sw"])
@pytest.mark.parametrize("slower", [0.0, 30.0])
def test_a_write_takes_as_long_as_the_slowest_copy(by: str, slower: float) -> None:
    spec = system(replicas={"switch": by}, slower=slower, reads="0%")
    result = run(spec)
    assert set(latencies(result)) == {ROUND + WRITE + slower}
    found = of_region(result)
    assert (found["writes"], found["copies"], found["reads"]) == (100, 200, 0)
    reads = run(system(replicas={"switch": by}, slower=slower, reads="100%"))
    assert set(latencies(reads)) == {ROUND + READ}
    assert of_region(reads)["copies"] == 0


def test_hosts_send_the_copies_one_behind_the_other_and_a_switch_side_by_side() -> None:
    # 16 B/ns: 80 B of a write take 5 ns on each link, of which the switch hides all but one.
    links = {"bandwidth": "16GB/s", "header": "16B"}
    single = system(links=links, reads="0%")
    single["address_map"][0].pop("replicas")
    (alone,) = set(latencies(run(single)))
    (by_host,) = set(latencies(run(system(links=links, reads="0%"))))
    (by_switch,) = set(latencies(run(system(links=links, replicas={"switch": "sw"}, reads="0%"))))
    wire = 80 / 16
    assert by_switch == alone
    assert by_host == pytest.approx(alone + wire, abs=0.002)


@pytest.mark.parametrize(("by", "share"), [("none", 0.5), ("sw", 1.0)])
def test_writes_at_saturation(by: str, share: float) -> None:
    """The host's link carries each copy, or one message for all of them."""
    links = {"bandwidth": "16GB/s"}
    many = {"host": {"queue": 256}, "reads": "0%", "requests": 4000, "links": links}
    single = system(**many)
    single["address_map"][0].pop("replicas")
    one = run(single).bandwidth
    two = run(system(replicas={"switch": by, "entries": 64 if by == "none" else 256}, **many)).bandwidth
    assert two / one == pytest.approx(share, rel=0.02)


@pytest.mark.parametrize("by", ["none", "sw"])
def test_reads_that_are_spread_use_all_copies(by: str) -> None:
    """Each memory gives 4 GB/s: both together 8."""
    found = {}
    for read in ("primary", "spread"):
        spec = system(replicas={"switch": by, "read": read}, host={"queue": 64}, requests=4000, reads="100%")
        for name in ("mem0", "mem1"):
            spec["devices"][name]["media"]["bandwidth"] = "4GB/s"
        result = run(spec)
        found[read] = result.bandwidth
        per_memory = result.summary["per_memory"]
        second = per_memory["mem1"]["requests"]
        assert second == pytest.approx(2000 if read == "spread" else 0, abs=60)
    assert found["primary"] == pytest.approx(4.0, rel=0.02)
    assert found["spread"] == pytest.approx(8.0, rel=0.02)


@pytest.mark.parametrize("entries", [1, 4, 16])
def test_the_table_of_a_switch_bounds_writes(entries: int) -> None:
    """An entry is held from the switch to the memories and back: N of them let N writes through in that time."""
    spec = system(
        replicas={"switch": "sw", "entries": entries}, host={"queue": 64}, reads="0%", requests=4000
    )
    result = run(spec)
    held = 2 * WAY + SWITCH + WRITE
    assert result.summary["requests"] / result.summary["simulated_time_ns"] == pytest.approx(
        entries / held, rel=0.02
    )
    table = result.summary["per_switch"]["sw"]["replication"]
    assert table["entries_mean"] == pytest.approx(entries, rel=0.02)
    assert table["stalls"] > 3900
    assert table["writes"] == pytest.approx(result.summary["requests"], rel=0.02)
    # Little's law of those that wait.
    waited = result.summary["breakdown_ns"]["switch_queue"]
    assert table["waiting_mean"] == pytest.approx(waited * entries / held, rel=0.03)


@pytest.mark.parametrize("entries", [1, 4, 16])
def test_nobody_starves_beside_writes_that_fill_the_table(entries: int) -> None:
    """Whoever waits for an entry waits for those before: 64 writes of the neighbour at most, so many at a time."""
    spec = system(replicas={"switch": "sw", "entries": entries}, reads="0%", requests=200)
    spec["devices"]["other"] = {"kind": "host", "process_time": "0ns", "queue": 64}
    spec["links"].append({"between": ["other", "sw"], **WIRE})
    spec["workload"]["other"] = {**spec["workload"]["host"], "requests": 1_000_000}
    found = run(spec).summary["per_requester"]
    held = 2 * WAY + SWITCH + WRITE
    turns = 64 // entries + 1
    assert found["host"]["latency_ns"]["max"] <= 2 * WAY + SWITCH + turns * held + 0.001
    assert found["host"]["latency_ns"]["mean"] > 2 * WAY + SWITCH + (turns - 2) * held


@pytest.mark.parametrize("by", ["none", "sw"])
def test_a_memory_that_fails_is_not_missed(by: str) -> None:
    """It fails at 10.1 us; that is known 1 us later. Whoever waits goes on with the other copy."""
    work = {"rate": "1M/s", "reads": "100%", "host": {"queue": 64}, "replicas": {"switch": by}}
    result = run(system(("10100ns", fail("mem0")), **work))
    found = latencies(result)
    assert result.summary["errors"]["requests"] == 0
    # The read made at 10 us is on the wire to it, and is lost: 5 us after it was made whoever sent it tries the other
    # copy. That of 11 us comes to the switch at 11.07 us, and goes back, or on, at 11.1 us.
    from_switch = WAY + READ + WAY + SWITCH + WAY
    again = from_switch if by == "sw" else ROUND + READ
    back = 0.0 if by == "sw" else WAY
    assert found[:10] == [ROUND + READ] * 10
    assert found[10] == 5000 + again
    assert found[11] == 100 + back + again
    assert set(found[12:]) == {ROUND + READ}
    region = of_region(result)
    assert region["failed"] == 0
    assert region["met_failure"] == 2
    assert region["state"] == {"mem0": "out", "mem1": "whole"}


@pytest.mark.parametrize("by", ["none", "sw"])
@pytest.mark.parametrize("cleared", [True, False])
def test_a_memory_that_comes_back_gets_all_that_it_lacks(by: str, cleared: bool) -> None:
    """1024 lines, 64 at a time: each is read and written, and the next one begins."""
    work = {"rate": "1M/s", "reads": "100%", "host": {"queue": 64}, "replicas": {"switch": by}}
    result = run(system(("10100ns", fail("mem0")), ("20100ns", repair("mem0", cleared=cleared)), **work))
    region = of_region(result)
    distance = ROUND if by == "none" else 2 * WAY + SWITCH
    took = 1024 / 64 * (2 * distance + READ + WRITE)
    assert region["resynced_bytes"] == 1024 * LINE
    assert (region["resyncs"], region["given_up"], region["left"]) == (1, 0, 1)
    assert region["degraded_ns"] == pytest.approx(20_100 - 11_100 + took)
    assert region["state"] == {"mem0": "whole", "mem1": "whole"}
    assert result.summary["errors"]["requests"] == 0
    memories = result.summary["per_memory"]
    assert (memories["mem1"]["copied_lines"], memories["mem0"]["drains"]) == (1024, 1024)
    assert memories["mem1"]["reads"] == memories["mem1"]["requests"] + 1024
    assert (memories["mem0"]["reads"], memories["mem0"]["writes"]) == (memories["mem0"]["requests"], 1024)


def test_a_rate_bounds_the_copying() -> None:
    work = {"rate": "1M/s", "reads": "100%", "host": {"queue": 64}, "requests": 300}
    events = (("10100ns", fail("mem0")), ("20100ns", repair("mem0")))
    region = of_region(run(system(*events, replicas={"resync_rate": "1GB/s"}, **work)))
    took = 1023 * 64 + 2 * ROUND + READ + WRITE
    assert region["degraded_ns"] == pytest.approx(20_100 - 11_100 + took)


@pytest.mark.parametrize("by", ["none", "sw"])
def test_a_link_that_was_down_costs_the_lines_written_meanwhile(by: str) -> None:
    """The memory has kept the rest: a write each microsecond, of which ten find it out of the set."""
    events = (
        ("10500ns", {"fail": {"link": ["sw", "mem1"], "reroute_time": "0ns"}}),
        ("20500ns", {"repair": {"link": ["sw", "mem1"]}}),
    )
    work = {"rate": "1M/s", "reads": "0%", "host": {"queue": 64}, "replicas": {"switch": by}}
    region = of_region(run(system(*events, **work)))
    assert region["resynced_bytes"] == 10 * LINE
    assert region["state"] == {"mem0": "whole", "mem1": "whole"}
    assert region["failed"] == 0


def test_errors_are_counted_where_the_last_copy_is_lost() -> None:
    events = (("10100ns", fail("mem0", "0ns")), ("20100ns", fail("mem1", "0ns")))
    work = {"rate": "1M/s", "reads": "100%", "host": {"queue": 64}}
    result = run(system(*events, **work))
    region = of_region(result)
    assert result.summary["errors"]["requests"] == region["failed"] == 80
    assert region["left"] == 1


def test_a_copy_is_not_made_of_what_is_lost() -> None:
    """Both fail, and both come back: nothing is left to copy, and reads get poison from the last one."""
    events = (
        ("10100ns", fail("mem0", "0ns")),
        ("20100ns", fail("mem1", "0ns")),
        ("30100ns", repair("mem0")),
        ("40100ns", repair("mem1")),
    )
    result = run(system(*events, rate="1M/s", reads="100%", host={"queue": 64}))
    region = of_region(result)
    assert region["state"] == {"mem0": "out", "mem1": "whole"}
    assert region["given_up"] >= 1
    assert result.summary["errors"]["requests"] == region["failed"] == 80


@pytest.mark.parametrize("order", [["own", "mem0"], ["mem0", "own"]])
def test_a_host_that_crashes_takes_its_copy_with_it(order: list[str]) -> None:
    """One copy is in memory of a host of its own: the other host goes on with the other copy."""
    spec = system(("10100ns", fail("other", "0ns")), rate="1M/s", reads="50%", host={"queue": 64})
    own = {
        "memory": {"controller_time": "0ns", "capacity": "64KiB", "media": spec["devices"]["mem0"]["media"]}
    }
    spec["devices"]["other"] = {"kind": "host", "process_time": "0ns", "completion_timeout": "5us", **own}
    del spec["devices"]["mem1"]
    spec["links"] = [{"between": [end, "sw"], **WIRE} for end in ("host", "mem0", "other")]
    names = {"own": "other", "mem0": "mem0"}
    first, second = (names[each] for each in order)
    spec["address_map"] = [{"to": first, "replicas": {"on": [second]}}]
    spec["workload"]["other"] = {**spec["workload"]["host"]}
    result = run(spec)
    region = of_region(result)
    assert region["state"] == {
        first: "whole" if first == "mem0" else "out",
        second: "whole" if second == "mem0" else "out",
    }
    host = result.summary["per_requester"]["host"]
    assert host.get("errors", {}).get("requests", 0) == 0


def test_viral_takes_a_copy_out_and_a_reset_brings_it_back() -> None:
    events = (("10100ns", {"viral": {"device": "mem0"}}), ("20100ns", {"reset": {"device": "mem0"}}))
    result = run(system(*events, rate="1M/s", reads="50%", host={"queue": 64}))
    region = of_region(result)
    assert result.summary["errors"]["requests"] == 0
    assert region["state"] == {"mem0": "whole", "mem1": "whole"}
    assert region["resynced_bytes"] == 1024 * LINE


def test_copied_bytes_cross_the_links() -> None:
    for by, ways in (("none", 2.0), ("sw", 1.0)):
        result = run(system(replicas={"switch": by}, reads="0%"))
        single = system(reads="0%")
        single["address_map"][0].pop("replicas")
        plain = run(single).summary["per_link"]
        found = result.summary["per_link"]
        there = found["host-sw"]["host->sw"]["bytes"] / plain["host-sw"]["host->sw"]["bytes"]
        assert there == pytest.approx(ways, rel=0.02)
        for mem in ("mem0", "mem1"):
            assert found[f"{mem}-sw"][f"sw->{mem}"]["bytes"] == plain["mem0-sw"]["sw->mem0"]["bytes"]
        memories = result.summary["per_memory"]
        assert memories["mem1"]["drains"] == memories["mem0"]["writes"] == memories["mem1"]["writes"]


def test_caches_write_back_to_all_copies() -> None:
    cache = {"size": "4KiB", "ways": 4}
    spec = system(host={"queue": 8, "cache": cache}, reads="50%", pattern="random", requests=2000)
    spec["run"]["warmup"] = 0
    result = run(spec)
    region = of_region(result)
    assert region["copies"] == 2 * region["writes"] > 0
    assert result.summary["write_backs"] <= region["writes"]
    assert result.summary["completed"] is True


def test_threads_change_nothing() -> None:
    spec = system(reads="50%", host={"queue": 8})
    one = run(spec).summary
    spec["run"]["threads"] = 2
    two = run(spec).summary
    assert {**one, "cost": 0, "notes": 0} == {**two, "cost": 0, "notes": 0}


@st.composite
def failing(draw: st.DrawFn) -> Spec:
    """Hosts that write lines of their own, in a region of two or three copies whose memories and links fail."""
    copies = draw(st.integers(2, 3))
    hosts = draw(st.integers(1, 2))
    by = draw(st.sampled_from(["none", "sw"]))
    more = {"queueing": draw(st.sampled_from(["output", "voq", "fifo"]))}
    wire: Spec = {"port_delay": "25ns"}
    if draw(st.booleans()):
        wire |= {"bandwidth": "16GB/s", "credits": draw(st.integers(2, 8))}
    if draw(st.booleans()):
        wire |= {"duplex": "half", "bandwidth": "16GB/s"}
    names = [f"mem{i}" for i in range(copies)]
    replicas: Spec = {"on": names[1:], "switch": by, "read": draw(st.sampled_from(["primary", "spread"]))}
    if by == "sw":
        replicas["entries"] = draw(st.integers(1, 16))
    if draw(st.booleans()):
        replicas["resync_rate"] = "4GB/s"
    events = []
    at = 0
    down: list[str] = []
    for _ in range(draw(st.integers(1, 6))):
        at += draw(st.integers(1, 6000))
        name = draw(st.sampled_from(names))
        kind = draw(st.sampled_from(["device", "link"]))
        part: Spec = {"device": name} if kind == "device" else {"link": [name, "sw"]}
        key = f"{kind} {name}"
        if key in down:
            down.remove(key)
            cleared = {"cleared": False} if kind == "device" else {}
            events.append({"at": f"{at}ns", "repair": {**part, **cleared}})
        else:
            down.append(key)
            known = f"{draw(st.sampled_from([0, 1, 300, 2000]))}ns"
            events.append({"at": f"{at}ns", "fail": {**part, "reroute_time": known}})
    devices: Spec = {name: memory(10.0 * i, capacity="8KiB") for i, name in enumerate(names)}
    devices["sw"] = {"kind": "switch", **more}
    workload = {}
    for i in range(hosts):
        devices[f"host{i}"] = {"kind": "host", "queue": draw(st.integers(1, 8)), "completion_timeout": "3us"}
        if draw(st.booleans()):
            devices[f"host{i}"]["cache"] = {"size": "1KiB", "ways": 2}
        workload[f"host{i}"] = {
            "pattern": "random",
            "requests": draw(st.integers(50, 400)),
            "base": f"{4 * i}KiB",
            "footprint": "4KiB",
            "reads": "50%",
        }
    return {
        "devices": devices,
        "links": [{"between": [name, "sw"], **wire} for name in devices if name != "sw"],
        "address_map": [{"to": "mem0", "replicas": replicas}],
        "workload": workload,
        "events": events,
        "outputs": {"versions": True},
        "run": {"warmup": 0, "seed": draw(st.integers(0, 1000))},
    }


@settings(max_examples=60, deadline=None)
@given(spec=failing())
def test_every_request_is_answered_once_and_nothing_acknowledged_is_forgotten(spec: Spec) -> None:
    result = run(spec)
    frame = result.requests()
    assert result.summary["completed"] is True
    expected = sum(each["requests"] for each in spec["workload"].values())
    assert result.summary["cost"]["requests"] == expected
    for name in spec["workload"]:
        ids = frame.filter(frame["requester"] == name)["id"]
        assert ids.n_unique() == len(ids)
    parts = [
        name for name in frame.columns if name.endswith("_ps") and name not in ("created_ps", "completed_ps")
    ]
    assert (frame.select(parts).sum_horizontal() == frame["completed_ps"] - frame["created_ps"]).all()
    region = of_region(result)
    assert region["stale_reads"] == 0
    assert "whole" in region["state"].values()
    if region["failed"] == 0:
        assert result.summary["errors"]["requests"] == 0


@pytest.mark.parametrize(
    ("change", "message", "key"),
    [
        ({"replicas": {"on": ["mem0"]}}, "two copies", "address_map[0].replicas.on[0]"),
        ({"replicas": {"on": ["host"]}}, "can have no copy", "address_map[0].replicas.on[0]"),
        ({"replicas": {"switch": "mem1"}}, "replicates nothing for others", "address_map[0].replicas.switch"),
        ({"replicas": {"entries": 3}}, "entries are of a switch", "address_map[0].replicas.entries"),
        ({"region": {"persistence": "controller"}}, "volatile", "address_map[0].replicas"),
        ({"region": {"coherence": "hdm-db"}}, "volatile", "address_map[0].replicas"),
        ({"outputs": {"sharing": True}}, "followed from host to host", "address_map[0].replicas"),
        (
            {"replicas": {"switch": "sw"}, "switch": {"persist_buffer": {}}},
            "a persist buffer",
            "address_map[0].replicas.switch",
        ),
    ],
)
def test_mistakes_are_refused(change: Spec, message: str, key: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        run(system(**change))
    assert raised.value.path == key


def test_atomic_operations_of_the_memory_are_refused() -> None:
    with pytest.raises(InputError, match="by a memory that may be replicated"):
        run(system(atomics=0.5))
