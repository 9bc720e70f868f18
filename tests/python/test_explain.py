"""What limits a system is said right where it is known, as the system was made so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from figure_faults import faults, heading

import cxloom as cx
from cxloom.explaining.explanation import Explanation
from cxloom.explaining.picture import picture

Spec = dict[str, Any]


PORTS = {"port_bandwidth": "200GB/s"}


def chained(
    host: Spec | None = None,
    link: Spec | None = None,
    memory: Spec | None = None,
    work: Spec | None = None,
    switch: Spec | None = None,
) -> cx.System:
    """A host, a switch and a memory, each with far more of everything than the others need."""
    spec = {
        "name": "constructed",
        "devices": {
            "host": {"kind": "host", "process_time": "10ns", "queue": 256, **(host or {})},
            "sw": {
                "kind": "switch",
                "switching_time": "0ns",
                "port_delay": "0ns",
                **(switch or {"port_bandwidth": "200GB/s"}),
            },
            "mem": {
                "kind": "memory",
                "capacity": "16GiB",
                "controller_time": "20ns",
                "media": {"kind": "fixed", "latency": "50ns", "bandwidth": "200GB/s"},
                **(memory or {}),
            },
        },
        "links": [
            {"between": ["host", "sw"], "bandwidth": "200GB/s", "delay": "10ns"},
            {"between": ["sw", "mem"], "delay": "10ns", **(link or {"bandwidth": "200GB/s"})},
        ],
        "address_map": [{"to": "mem"}],
        "workload": {"host": {"pattern": "random", "requests": 12000, "footprint": "1GiB", **(work or {})}},
        "run": {"warmup": 1500},
    }
    return cx.System.from_yaml(json.dumps(spec))


FIXED = {"kind": "fixed", "latency": "50ns"}
DRAM = {"kind": "dram", "preset": "DDR5-4800"}


def coherent(entries: int) -> cx.System:
    """A host whose cache holds all 8192 lines of its work, if the snoop filter of their memory lets it."""
    system = chained(
        host={"cache": {"size": "1MiB", "ways": 16}, "queue": 16},
        memory={"dcoh": {"filter": {"entries": entries, "ways": 16}}},
        work={"footprint": "512KiB"},
    )
    system.set("address_map", [{"to": "mem", "coherence": "hdm-db"}])
    return system.set("run.warmup", 20_000)


def misses_at_a_home(transactions: int) -> cx.System:
    """A host each of whose reads asks the home, which has room for so many at a time and follows all lines."""
    system = chained(
        host={"cache": {"size": "4KiB", "ways": 4}, "queue": 16},
        memory={"dcoh": {"filter": {"entries": 16384}, "transactions": transactions}},
        work={"footprint": "512KiB"},
    )
    return system.set("address_map", [{"to": "mem", "coherence": "hdm-db"}])


def beside_io(**engine: Any) -> cx.System:
    """Reads of a host and of an I/O engine, back by one wire."""
    spec = chained(link={"bandwidth": "20GB/s"}, work={"requests": 4000}).resolve().plain()
    spec["devices"]["nic"] = {"kind": "io-engine", "target": "mem", "traffic": "dma-read", **engine}
    spec["links"].append({"between": ["nic", "sw"], "bandwidth": "200GB/s"})
    return cx.System.from_yaml(json.dumps(spec))


KNOWN: dict[str, tuple[cx.System, str]] = {
    "a snoop filter": (coherent(4096), "the snoop filter of mem"),
    "a snoop filter that holds all": (coherent(16384), "the queue of host"),
    "transactions of a home": (
        misses_at_a_home(transactions=2),
        "the transactions of the coherency agent of mem",
    ),
    "more transactions of a home than there are requests": (
        misses_at_a_home(transactions=64),
        "the queue of host",
    ),
    "an I/O engine that takes what it can": (
        beside_io(outstanding=1024),
        "the traffic of the I/O engine nic",
    ),
    "a wire, beside a slow I/O engine": (beside_io(rate="2GB/s"), "the wire mem->sw"),
    "requests in flight": (chained(host={"queue": 8}), "the queue of host"),
    "time between issues": (chained(host={"issue_interval": "5ns"}), "the time between two issues of host"),
    "dependent accesses": (
        chained(work={"pattern": "pointer-chase", "requests": 500}),
        "the latency, as each access of host",
    ),
    "offered load": (chained(work={"rate": "20M/s", "requests": 2000}), "the offered load of host"),
    "requests in flight, of more that are offered": (
        chained(host={"queue": 8}, work={"rate": "500M/s", "requests": 4000}),
        "the queue of host",
    ),
    "requests in flight, of a rate without limit": (
        chained(host={"queue": 8}, work={"rate": "unlimited", "requests": 4000}),
        "the queue of host",
    ),
    "miss registers of a core": (
        chained(host={"core": {"mshrs": 8}}, work={"requests": 4000}),
        "the miss registers (MSHRs) of the core of host",
    ),
    "miss registers": (
        chained(host={"cache": {"size": "4KiB", "mshrs": 4}}, work={"reads": 1.0}),
        "the miss registers (MSHRs) of host",
    ),
    "combining buffers": (
        chained(host={"combining_buffers": 4}, work={"reads": 0.0, "stores": "non-temporal"}),
        "the combining buffers of host",
    ),
    "a wire back, of reads": (chained(link={"bandwidth": "20GB/s"}), "the wire mem->sw"),
    "a wire there, of writes": (
        chained(link={"bandwidth": "20GB/s"}, work={"reads": 0.0}),
        "the wire sw->mem",
    ),
    "a port of the switch": (chained(switch={"port_bandwidth": "16GB/s"}), "the wire"),
    "lanes of a link of flits": (
        chained(link={"phy": "pcie5-x4"}, switch={"port_bandwidth": "unlimited"}),
        "the wire mem->sw",
    ),
    "credits": (chained(link={"credits": 4}), "the credits of the link sw->mem"),
    "slots of the device": (chained(memory={"queue": 8}), "the slots of mem"),
    "slots behind credits that wait for them": (
        chained(memory={"queue": 8, "credit_release": "completion"}, link={"credits": 64}),
        "the slots of mem",
    ),
    "a read buffer": (chained(memory={"read_buffer": 8, "write_buffer": 64}), "the read buffer of mem"),
    "a write buffer": (
        chained(memory={"read_buffer": 64, "write_buffer": 8}, work={"reads": 0.0}),
        "the write buffer of mem",
    ),
    "the data path of media": (
        chained(memory={"media": {**FIXED, "bandwidth": "15GB/s"}}),
        "the data path of mem",
    ),
    "banks": (chained(memory={"media": {**FIXED, "banks": 8}}), "the banks of mem"),
    "a DRAM data bus": (
        chained(memory={"media": DRAM}, work={"pattern": "sequential"}),
        "the DRAM data bus of mem",
    ),
    "DRAM rows": (
        chained(memory={"media": DRAM}, work={"reads": 0.5}),
        "the DRAM banks (rows) of mem",
    ),
}


# That more of it, or less, would help shows in further runs alone.
BY_WHAT_IF = ("DRAM rows", "an I/O engine that takes what it can")


@pytest.mark.parametrize("name", KNOWN)
def test_what_limits_is_named(name: str) -> None:
    system, limit = KNOWN[name]
    found = cx.explain(system)
    assert found.limit is not None
    assert found.limit.name.startswith(limit), found.sentence
    assert limit in found.sentence
    assert found.chain[-1] is found.limit
    tried = [each for each in found.what_ifs if each.resource.name == found.limit.name]
    assert not tried or tried[0] is found.what_ifs[0]


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in BY_WHAT_IF])
def test_a_run_alone_names_it_too(name: str) -> None:
    system, limit = KNOWN[name]
    said = cx.run(system).bottleneck
    assert said is not None
    assert said.startswith(limit)


def test_the_congestion_of_the_paper_is_the_devices_slots() -> None:
    """Requesters wait for the bridge's slots, these for the device's. With twice of those the media limit."""
    system = cx.load("dmsim/asic").set("workload.host.pattern", "random")
    found = cx.explain(system)
    assert [each.name for each in found.chain] == [
        "the queue of host",
        "the credits of the link host->cxl",
        "the slots of cxl",
    ]
    (best, *others) = found.what_ifs
    assert best.gain == pytest.approx(35.2 / 32.34 - 1, abs=0.01)
    assert best.then is not None
    assert best.then.name == "the data path of cxl"
    assert all(abs(each.gain) < 0.01 for each in others)
    assert found.sentence.endswith(
        "with 96 places it rises by 9 %, and then the limit is the data path of cxl."
    )


def test_an_idle_link_beside_a_full_one_is_the_relief() -> None:
    # All answers to the host take one of two links by `flow-hash`; spread over both they are twice as many.
    def two() -> cx.System:
        return chained(link={"bandwidth": "20GB/s", "count": 2}, memory={"heads": 2})

    found = cx.explain(two().set("run.routing", "flow-hash"))
    assert found.limit is not None
    assert found.limit.name == "the wire mem->sw"
    assert found.limit.relief == {"run.routing": "deterministic"}
    assert found.limit.twice == "all 2 links"
    assert found.what_ifs[0].gain == pytest.approx(1.0, abs=0.05)
    # Spread they are both full: more is in lanes or bandwidth.
    spread = cx.explain(two())
    assert spread.limit is not None
    assert spread.limit.relief.keys() <= {"links[1].bandwidth", "devices.sw.port_bandwidth"}


def test_twice_the_limit_gives_what_the_closed_form_says() -> None:
    """8 in flight: twice as many, twice the throughput; bounds are those of each resource with all of it in use."""
    found = cx.explain(KNOWN["requests in flight"][0])
    assert found.what_ifs[0].gain == pytest.approx(1.0, abs=0.02)
    bounds = {each.name: found.bound(each) for each in found.resources}
    assert bounds["the queue of host"] == pytest.approx(found.throughput, rel=0.01)
    assert bounds["the data path of mem"] == pytest.approx(200, rel=0.01)


def hosts_of(*queues: int) -> cx.System:
    """Hosts with so many requests in flight each, a switch and a memory that has enough for all of them."""
    names = [f"h{number}" for number in range(len(queues))]
    devices: dict[str, Any] = {
        name: {"kind": "host", "queue": queue} for name, queue in zip(names, queues, strict=True)
    }
    devices |= {
        "sw": {"kind": "switch"},
        "mem": {"kind": "memory", "media": {"kind": "fixed", "latency": "90ns"}},
    }
    work = {"pattern": "random", "requests": 2000, "footprint": "1MiB"}
    spec = {
        "devices": devices,
        "links": [{"between": [name, "sw"]} for name in [*names, "mem"]],
        "address_map": [{"to": "mem"}],
        "workload": dict.fromkeys(names, work),
    }
    return cx.System.from_yaml(json.dumps(spec))


@pytest.mark.parametrize(
    ("queues", "with_"),
    [
        ((4, 4), "8 in flight each"),
        ((4, 16), "8 in flight of h0 and 32 in flight of h1"),
        ((4, 4, 4, 8), "twice as much of each"),
    ],
)
def test_twice_of_unlike_queues_is_that_of_each(queues: tuple[int, ...], with_: str) -> None:
    found = cx.explain(hosts_of(*queues))
    assert f"with {with_} it rises by" in found.sentence


def test_a_bound_is_of_the_whole_system_where_a_resource_carries_a_part() -> None:
    """A quarter of the lines go to the second of two memories, by parallel links: four times what passes there."""
    system = chained().resolve().plain()
    system["devices"]["far"] = {**system["devices"]["mem"], "heads": 2}
    system["links"].append({"between": ["sw", "far"], "count": 2, "bandwidth": "4GB/s"})
    system["address_map"] = [{"to": ["mem", "far"], "policy": "weighted", "weights": [3, 1]}]
    found = cx.explain(cx.System.from_yaml(json.dumps(system)))
    bounds = {each.name: found.bound(each) for each in found.resources}
    assert len(bounds) == len(found.resources)  # nothing has the name of another
    # A line has a header of 16 bytes: 3.2 GB/s each way of each link, spread by a hash.
    ways = [bounds["the wire far->sw"], bounds["the wire far->sw#2"]]
    assert ways == pytest.approx([4 * 2 * 3.2] * 2, rel=0.05)
    assert all(bound is None or bound >= found.throughput for bound in bounds.values())


def test_transactions_in_use_are_those_of_littles_law() -> None:
    """One request at a time: the home looks it up (12 ns), the controller takes 20 and the media 50."""
    system = misses_at_a_home(transactions=4).set("devices.host.queue", 1)
    summary = cx.run(system.set("run.warmup", 0)).summary
    home = summary["per_home"]["mem"]
    asked = home["filter_hits"] + home["filter_misses"]
    expected = asked * (12 + 20 + 50) / summary["simulated_time_ns"]
    assert home["transactions_mean"] == pytest.approx(expected, rel=1e-3)
    without = misses_at_a_home(transactions=4).set("devices.mem.dcoh.transactions", None)
    assert "transactions_mean" not in cx.run(without).summary["per_home"]["mem"]


def test_what_a_run_notes_is_noted_beside_its_explanation() -> None:
    """A window shorter than a latency says little of what limits, and a wire without a bandwidth limits nothing."""
    system = chained(link={}, work={"requests": 100}).set("run.warmup", 0)
    notes = cx.explain(system).notes
    assert notes == cx.run(system).summary["notes"]
    assert any("shorter than three mean latencies" in note for note in notes)


def test_it_ends_in_a_table_json_and_a_picture(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    files = [tmp_path / "new" / f"why.{form}" for form in ("json", "svg")]
    done = cxloom("explain", "dmsim/fpga", "--set", "workload.host.pattern=random", *(
        part for file in files for part in ("--out", file)
    ))  # fmt: skip
    assert done.code == 0, done.err
    assert "limited by the slots of cxl (36.0 of 36)" in " ".join(done.out.split())
    found = json.loads(files[0].read_text())
    assert found["limit"] == "the slots of cxl"
    assert found["chain"][-1] == "the slots of cxl"
    assert files[1].read_text().count("slots of cxl") >= 1 or files[1].stat().st_size > 5000
    explained: Explanation = cx.explain("dmsim/local")
    figure = picture(explained)
    assert faults(figure) == []
    assert heading(figure) == f"{explained.system}: {explained.sentence}"
    assert figure.axes[0].get_xlabel() == "in use (%)"
    assert "each access of host waits for the one before it" in " ".join(str(explained).split())


def test_resources_of_one_kind_are_tried_together() -> None:
    """Four memories that share addresses, with 4 slots each: one with twice as many gains little, all gain all."""
    system = cx.load("esf/validation").set("workload.host.requests", 4000).set("run.warmup", 1000)
    system.set("workload.host.reads", 1.0)
    for memory in range(4):
        system.set(f"devices.mem{memory}.queue", 4)
    found = cx.explain(system)
    assert found.limit is not None
    assert found.limit.name.startswith("the slots of mem")
    assert found.limit.name.endswith("and 1 more")
    assert found.what_ifs[0].gain > 0.5
    assert found.chain[-1] is found.limit


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["--out", "why.jpg"], "unsupported picture format"), (["--set", "devices.host.quue=1"], "quue")],
)
def test_what_cannot_be_explained_is_refused(
    cxloom: Callable[..., Any], arguments: list[str], problem: str
) -> None:
    done = cxloom("explain", "dmsim/asic", *arguments)
    assert done.code == 2
    assert problem in done.err


def test_a_persist_buffer_that_is_full_is_named() -> None:
    """Four entries, each in use until memory has answered, for writes that wait for them."""
    system = chained(
        switch={"persist_buffer": {"entries": 4}, "port_bandwidth": "200GB/s"}, work={"reads": 0.0}
    ).set("address_map", [{"to": "mem", "persistence": "media"}])
    found = cx.explain(system)
    assert found.limit is not None
    assert found.limit.name == "the persist buffer of sw"
    assert found.limit.wait == "persist_queue"
    assert found.limit.relief == {"devices.sw.persist_buffer.entries": 8}
    assert found.what_ifs[0].gain > 0.5


def test_explain_says_what_makes_the_slowest_slow(cxloom: Callable[..., Any]) -> None:
    said = " ".join(cxloom("explain", "expander/asic-ddr5", "--tail", "99").out.split())
    tail = cx.run(cx.load("expander/asic-ddr5"), requests=True).tail(0.99)
    assert tail.sentence in said
    done = cxloom("explain", "expander/asic-ddr5", "--tail", "99", "--json")
    assert done.code == 2
    assert "--tail is no part of --json" in done.err


def test_a_throttle_is_spoken_of_where_it_keeps_back_and_only_there() -> None:
    """Two hosts at one memory, which is too slow for the one that pays attention to its loads."""
    throttled = cx.System.load(Path(__file__).parents[2] / "examples" / "qos.yaml").set(
        "workload.*.requests", 3000
    )
    (note,) = [each for each in cx.explain(throttled, jobs=1).notes if "throttle" in each]
    assert "% of the mean latency is the throttle of batch, which slows down by the loads" in note
    assert note.endswith("--set devices.batch.throttle=null shows what is asked for without")
    free = throttled.set("devices.batch.throttle", None)
    assert not any("throttle" in each for each in cx.explain(free, jobs=1).notes)


# Who lost a request waits 50 us for its timeout, in a run of 90 us: what was lost by chance is no gain of anything.
@pytest.mark.parametrize("ways", [1, 2])
def test_gains_are_not_told_where_requests_are_lost(ways: int) -> None:
    if ways == 1:
        whole = chained(host={"queue": 16}, memory={"media": {**FIXED, "bandwidth": "10GB/s"}})
        whole.event("60us", fail={"link": ["sw", "mem"], "reroute_time": "2us"}).event(
            "64us", repair={"link": ["sw", "mem"]}
        )
    else:
        whole = cx.System.load(Path(__file__).parents[2] / "examples" / "failures.yaml")
    found = cx.explain(whole, jobs=1)
    lost = sum(event["lost"] for event in cx.run(whole).summary["events"].values())
    assert lost > 0
    assert not found.what_ifs
    assert any(note.startswith(f"{lost} requests on the way were lost") for note in found.notes)


def test_gains_beside_events_are_of_whole_runs() -> None:
    """A memory of a slow data path, and a link whose failure is known at once, so that nothing is lost."""
    whole = chained(memory={"media": {**FIXED, "bandwidth": "10GB/s"}}, work={"requests": 6000})
    whole.event("20us", fail={"link": ["sw", "mem"]}).event("21us", repair={"link": ["sw", "mem"]})
    found = cx.explain(whole, jobs=1)
    assert found.limit is not None
    assert found.limit.name == "the data path of mem"
    assert any("gains are of whole runs" in note for note in found.notes)


# In uncacheable memory no access begins before the one ahead is answered; other types are limited by the queue.
@pytest.mark.parametrize(
    ("kind", "name"), [("uc", "the latency, as each access of host waits"), ("wt", "the queue of host")]
)
def test_accesses_to_uncacheable_memory_limit_each_other(kind: str, name: str) -> None:
    whole = chained(host={"queue": 4}, work={"requests": 3000}).set("address_map[0].type", kind)
    found = cx.explain(whole, jobs=1)
    assert found.limit is not None
    assert found.limit.name.startswith(name)
    idle = (
        10 + 2 * 20 + 20 + 50 + (16 + 80) / 200 * 2
    )  # process, delays, controller, media, two wires each way
    assert found.throughput == pytest.approx((1 if kind == "uc" else 4) * 64 / idle, rel=0.01)


def test_one_of_a_kind_is_named_where_the_others_gain_nothing() -> None:
    """Two hosts with a memory each: the wire of one is full, that of the other is half in use."""
    whole = cx.System()
    whole.host("fast", queue=64).host("slow", queue=14, process_time="100ns")
    whole.memory("near[0-1]", capacity="1GiB", media={"kind": "fixed", "latency": "50ns"})
    whole.connect("fast", "near0", bandwidth="10GB/s").connect("slow", "near1", bandwidth="10GB/s")
    whole.memory("pool", capacity="1GiB").bus("bus").connect("fast", "bus").connect("slow", "bus")
    whole.connect("bus", "pool").map(to="near0").map(to="near1").map(to="pool")
    whole.workload("fast", pattern="random", requests=4000, footprint="1GiB")
    whole.workload("slow", pattern="random", requests=4000, footprint="1GiB", base="1GiB")
    found = cx.explain(whole, jobs=1)
    assert found.limit is not None
    assert found.limit.name == "the wire near0->fast"
