"""For every declared parameter a turn of it and what that must do: no knob is without effect.

A row says: in this system, with this value and then that one, this measure rises, falls or differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from validation.core_rows import core_rows
from validation.dram_rows import dram, dram_rows
from validation.event_rows import possible
from validation.flash_rows import flash_rows
from validation.flit_rows import flit_rows
from validation.media_rows import (
    cached_rows,
    compressed_rows,
    curve_rows,
    inline_ecc_rows,
    media_rows,
    nvm_rows,
)
from validation.qos_rows import qos_rows
from validation.systems import (
    FREE,
    WORK,
    Run,
    Spec,
    changed,
    direct,
    feed,
    finished,
    generated,
    host_bus_memories,
    rows,
    run,
)
from validation.turns import (
    DIFFERS,
    FALLS,
    RISES,
    Measure,
    Turn,
    addresses,
    bandwidth,
    distinct,
    highest,
    hit_rate,
    hops,
    latency,
    lowest,
    memories,
    requesters,
    served_by,
    worst,
)

from cxloom import _core
from cxloom.base.errors import SimulationError

# --- systems ---------------------------------------------------------------------------------------------------------


def bus(**more: Any) -> Spec:
    """A host, a bus of 16 GB/s and two memories."""
    return rows(host_bus_memories({"bandwidth": "16GB/s", **more}, 2, work=WORK))


def two_memories(**region: Any) -> Spec:
    """A host, a switch and two memories of different sizes."""
    spec = {
        "devices": {
            "host": {"kind": "host"},
            "sw": {"kind": "switch"},
            "mem0": {"kind": "memory", "capacity": "1MiB"},
            "mem1": {"kind": "memory", "capacity": "1MiB"},
        },
        "links": [{"between": [name, "sw"]} for name in ("host", "mem0", "mem1")],
        "address_map": [{"to": ["mem0", "mem1"], **region}],
        "workload": {"host": {"pattern": "random", "requests": 1000, "footprint": "64KiB"}},
    }
    return rows(spec)


def switch(**params: Any) -> Spec:
    """Four hosts and four memories around one switch with ports of 16 GB/s."""
    kind = {"kind": "switch", "port_bandwidth": "16GB/s", **params}
    return generated(
        "spine-leaf", WORK, leaves=1, spines=1, devices_per_leaf=8, placement="paired", switch=kind
    )


def requester_rows(kind: str) -> Iterator[Turn]:
    """What hosts and accelerators have in common."""
    name = f"devices.{kind}"
    at = "devices.host"
    base = direct(host={"kind": kind})
    trace = changed(base, ("workload.host", {"trace": "gaps"}))
    cached = changed(base, (f"{at}.cache", {"size": "4KiB"}), ("workload.host.footprint", "64KiB"))
    zipf = {"pattern": "zipf", "exponent": 1.2, "requests": 5000, "footprint": "256KiB"}
    skewed = changed(cached, ("workload.host", zipf))
    loop = changed(cached, ("workload.host.pattern", "sequential"), ("workload.host.footprint", "8KiB"))
    yield Turn(f"{name}.process_time", base, f"{at}.process_time", ("10ns", "50ns"), RISES, latency)
    yield Turn(f"{name}.queue", base, f"{at}.queue", (4, 16), RISES, bandwidth)
    yield Turn(f"{name}.issue_interval", base, f"{at}.issue_interval", ("0ns", "20ns"), FALLS, bandwidth)
    yield Turn(
        f"{name}.instruction_time", trace, f"{at}.instruction_time", ("0ns", "1ns"), FALLS, bandwidth,
        feeds=lambda: {"host": feed(range(0, 64_000, 64), instruction_gap=50)},
    )  # fmt: skip
    yield from core_rows(name, at, base)
    yield Turn(f"{name}.cache", cached, f"{at}.cache", (..., {"size": "64KiB"}), FALLS, latency)
    yield Turn(f"{name}.cache.size", cached, f"{at}.cache.size", ("4KiB", "32KiB"), RISES, hit_rate)
    yield Turn(f"{name}.cache.ways", skewed, f"{at}.cache.ways", (1, 16), RISES, hit_rate)
    yield Turn(
        f"{name}.cache.access_time", cached, f"{at}.cache.access_time", ("1ns", "30ns"), RISES, latency
    )
    policy = f"{at}.cache.policy"
    yield Turn(f"{name}.cache.policy", loop, policy, ("lru", "mru"), RISES, hit_rate)
    # In turn around more than it holds, the tree errs from LRU, whose every access misses.
    yield Turn(f"{name}.cache.policy", loop, policy, ("lru", "tree-plru"), RISES, hit_rate)
    yield Turn(f"{name}.cache.policy", skewed, policy, ("lru", "srrip"), RISES, hit_rate)
    atomics = changed(cached, ("workload.host.atomics", 0.5), ("workload.host.footprint", "2KiB"))
    yield Turn(f"{name}.atomics", atomics, f"{at}.atomics", ("cache", "home"), RISES, latency)
    yield Turn(f"{name}.atomics", atomics, f"{at}.atomics", ("home", "cache-or-home"), FALLS, latency)
    # A workload has no cache to bring along.
    outside = f"{at}.external_cache"
    yield Turn(
        f"{name}.external_cache", base, outside, (False, True), FALLS, lambda taken: taken, play=possible
    )
    yield Turn(
        f"{name}.cache.atomic_time", atomics, f"{at}.cache.atomic_time", ("5ns", "200ns"), RISES, latency
    )


def memory_rows(name: str, at: str, base: Spec, device: str) -> Iterator[Turn]:
    """What memories, and accelerators with memory, have in common; in `base`, `device` is one of two targets."""
    by_capacity = changed(base, ("address_map.0.policy", "capacity"))
    yield Turn(f"{name}.capacity", by_capacity, f"{at}.capacity", ("1MiB", "3MiB"), RISES, served_by(device))
    yield Turn(f"{name}.controller_time", base, f"{at}.controller_time", ("40ns", "80ns"), RISES, latency)
    yield Turn(f"{name}.queue", base, f"{at}.queue", (..., 1), FALLS, bandwidth)
    yield Turn(f"{name}.read_buffer", base, f"{at}.read_buffer", (..., 1), FALLS, bandwidth)
    writes = changed(base, ("workload.host.reads", 0.0), (f"{at}.write_buffer", 16))
    yield Turn(f"{name}.write_buffer", writes, f"{at}.write_buffer", (16, 1), FALLS, bandwidth)
    yield Turn(f"{name}.posted_writes", writes, f"{at}.posted_writes", (False, True), FALLS, latency)
    atomics = changed(base, ("workload.host.atomics", 0.5))
    yield Turn(f"{name}.atomic_time", atomics, f"{at}.atomic_time", ("5ns", "200ns"), RISES, latency)
    media = {"kind": "fixed", "latency": "45ns"}, {"kind": "fixed", "latency": "90ns"}
    yield Turn(f"{name}.media", base, f"{at}.media", media, RISES, latency)
    buffers = changed(base, ("links.1.credits", 2), ("links.2.credits", 2))
    release = "drain", "completion"
    yield Turn(f"{name}.credit_release", buffers, f"{at}.credit_release", release, FALLS, bandwidth)


def requester_memory_rows(kind: str) -> Iterator[Turn]:
    """The memory of a host or an accelerator."""
    base = changed(
        two_memories(),
        ("devices.mem0", {"kind": kind, "memory": {"capacity": "1MiB"}}),
    )
    name = f"devices.{kind}.memory"
    yield from memory_rows(name, "devices.mem0.memory", base, "mem0")
    own = changed(
        base,
        ("devices.mem0", {"kind": kind}),
        ("address_map.0.to", ["mem1"]),
        ("workload", {"mem0": {"pattern": "random", "requests": 1000, "footprint": "64KiB"}}),
    )
    yield Turn(
        name, own, "devices.mem0.memory", (..., {"capacity": "1MiB"}), FALLS, latency,
        also=(("address_map.0.to", ["mem0"]),),
    )  # fmt: skip


def wire_rows(name: str, base: Spec, at: str) -> Iterator[Turn]:
    """What links and buses have in common. In `base` the wire is limited."""
    half = changed(base, (f"{at}.duplex", "half"))
    yield Turn(f"{name}.bandwidth", base, f"{at}.bandwidth", ("16GB/s", "4GB/s"), FALLS, bandwidth)
    yield Turn(f"{name}.duplex", base, f"{at}.duplex", ("full", "half"), FALLS, bandwidth)
    yield Turn(f"{name}.turnaround", half, f"{at}.turnaround", ("0ns", "10ns"), FALLS, bandwidth)
    yield Turn(f"{name}.header", base, f"{at}.header", ("0B", "64B"), FALLS, bandwidth)
    yield Turn(f"{name}.data_header", base, f"{at}.data_header", ("0B", "64B"), FALLS, bandwidth)
    yield Turn(f"{name}.port_delay", base, f"{at}.port_delay", ("0ns", "25ns"), RISES, latency)


def link_rows() -> Iterator[Turn]:
    """What only links have."""
    at = "links.0"
    base = direct(link={"bandwidth": "16GB/s"})
    yield from wire_rows("link", base, at)
    wire = changed(two_memories(), ("links.0.bandwidth", "4GB/s"), ("run", {"routing": "random"}))
    yield Turn("link.count", wire, f"{at}.count", (..., 2), RISES, bandwidth)
    yield Turn("link.delay", base, f"{at}.delay", ("0ns", "25ns"), RISES, latency)
    long = changed(base, (f"{at}.delay", "25ns"))
    yield Turn("link.credits", long, f"{at}.credits", (..., 1), FALLS, bandwidth)
    few = changed(long, (f"{at}.credits", 4))
    yield Turn("link.credit_time", few, f"{at}.credit_time", ("0ns", "50ns"), FALLS, bandwidth)
    yield Turn("link.reverse", base, f"{at}.reverse", ({}, {"delay": "50ns"}), RISES, latency)
    yield Turn("link.reverse.delay", base, f"{at}.reverse.delay", ("0ns", "25ns"), RISES, latency)
    yield Turn("link.reverse.bandwidth", base, f"{at}.reverse.bandwidth", (..., "2GB/s"), FALLS, bandwidth)


def bus_rows() -> Iterator[Turn]:
    """What only buses have."""
    base = changed(bus(), ("links", [{"between": ["bus", name]} for name in ("host", "mem0", "mem1")]))
    yield from wire_rows("devices.bus", base, "devices.bus")
    yield Turn("devices.bus.bus_time", base, "devices.bus.bus_time", ("1ns", "30ns"), RISES, latency)


def turned_switch(
    parameter: str,
    values: tuple[Any, Any],
    effect: Callable[[Any, Any], Any],
    measure: Measure,
    **params: Any,
) -> Turn:
    """A turn of a parameter of `switch`'s only switch."""
    base = switch(**params)
    name = next(n for n, d in base["devices"].items() if d["kind"] == "switch")
    return Turn(f"devices.switch.{parameter}", base, f"devices.{name}.{parameter}", values, effect, measure)


def switch_rows() -> Iterator[Turn]:
    """A switch."""
    yield turned_switch("port_bandwidth", ("16GB/s", "4GB/s"), FALLS, bandwidth)
    yield turned_switch("port_delay", ("25ns", "50ns"), RISES, latency)
    yield turned_switch("switching_time", ("20ns", "50ns"), RISES, latency)
    yield turned_switch("forwarding", ("cut-through", "store-and-forward"), RISES, latency)
    yield turned_switch("queueing", ("voq", "fifo"), FALLS, bandwidth)
    # Messages with most hops through a chain are old when they meet the others.
    kind = {"kind": "switch", "queueing": "voq", "port_bandwidth": "8GB/s"}
    chain = generated("chain", WORK, switches=6, placement="paired", switch=kind)
    names = [n for n, d in chain["devices"].items() if d["kind"] == "switch"]
    others = tuple((f"devices.{n}.arbitration", "age") for n in names[1:])
    path, values = f"devices.{names[0]}.arbitration", ("round-robin", "age")
    yield Turn("devices.switch.arbitration", chain, path, values, FALLS, worst, others)


def root_port_rows() -> Iterator[Turn]:
    """A root port, with a reader beside a writer."""
    at = "devices.port"
    hosts = {
        "writer": {"kind": "host", "queue": 64},
        "reader": {"kind": "host", "queue": 1},
    }
    base = rows(
        {
            "devices": {
                **hosts,
                "port": {"kind": "root-port"},
                "mem": {"kind": "memory", "capacity": "1GiB"},
            },
            "links": [
                {"between": ["writer", "port"]},
                {"between": ["reader", "port"]},
                {"between": ["port", "mem"], "bandwidth": "8GB/s"},
            ],
            "address_map": [{"to": ["mem"]}],
            "workload": {
                "writer": {"pattern": "random", "reads": 0.0, "requests": 4000, "footprint": "1MiB"},
                "reader": {"pattern": "pointer-chase", "requests": 50, "footprint": "1MiB"},
            },
        }
    )
    read_time = lambda o: o.summary["per_requester"]["reader"]["latency_ns"]["mean"]  # noqa: E731
    yield Turn("devices.root-port.depth", base, f"{at}.depth", (4, 32), RISES, read_time)
    yield Turn("devices.root-port.rate", base, f"{at}.rate", ("50M/s", "10M/s"), FALLS, bandwidth)
    yield Turn("devices.root-port.pass_time", base, f"{at}.pass_time", ("0ns", "50ns"), RISES, read_time)
    yield Turn("devices.root-port.port_delay", base, f"{at}.port_delay", ("0ns", "50ns"), RISES, read_time)


def thread_rows() -> Iterator[Turn]:
    """Threads of a pattern."""
    cores = direct(host={"core": {"mshrs": 2}})
    yield Turn("workload.threads", cores, "workload.host.threads", (1, 4), RISES, bandwidth)
    few = changed(
        cores, ("workload.host", {"pattern": "sequential", "requests": 40, "footprint": "1MiB", "threads": 4})
    )
    yield Turn(
        "workload.shared_footprint", few, "workload.host.shared_footprint", (False, True), FALLS, highest
    )


def victim_rows() -> Iterator[Turn]:
    """Victim policies of a cache."""
    skewed = direct(
        host={"cache": {"size": "4KiB", "policy": {"kind": "srrip"}}},
        work={"pattern": "zipf", "exponent": 1.2, "requests": 5000, "footprint": "256KiB"},
    )
    twice = direct(
        host={"queue": 1, "cache": {"size": "4KiB", "ways": 0, "policy": {"kind": "2q"}}},
        work={"pattern": "zipf", "exponent": 1.1, "requests": 4000, "footprint": "64KiB", "reads": 1.0},
    )
    at = "devices.host.cache.policy"
    yield Turn("victims.2q.in", twice, f"{at}.in", (1.0, 0.25), RISES, hit_rate)
    yield Turn("victims.2q.out", twice, f"{at}.out", (0.0, 0.5), RISES, hit_rate)
    yield Turn("victims.srrip.bits", skewed, "devices.host.cache.policy.bits", (1, 3), RISES, hit_rate)


def hot_part(outcome: Run) -> float:
    """Share of the accesses that go to the first tenth of a MiB."""
    return float((addresses(outcome) < 2**20 // 10).mean())


def pattern_rows() -> Iterator[Turn]:
    """Every pattern."""
    at = "workload.host"
    for kind in _core.declarations()["patterns"]:
        # persist_rows.py, object_rows.py, engine_rows.py, dma_rows.py and sharing_rows.py have them.
        if kind in ("log-append", "objects", "copy", "fill", "transfer", "share"):
            continue
        name = f"patterns.{kind}"
        base = direct(work={"pattern": kind})
        yield Turn(f"{name}.reads", base, f"{at}.reads", (0.2, 0.8), RISES, lambda o: o.summary["reads"])
        made = lambda o: o.summary["atomics"]  # noqa: E731
        yield Turn(f"{name}.atomics", base, f"{at}.atomics", (0.2, 0.8), RISES, made)
        yield Turn(f"{name}.footprint", base, f"{at}.footprint", ("16KiB", "1MiB"), RISES, highest)
        yield Turn(f"{name}.base", base, f"{at}.base", ("0x0", "0x400000"), RISES, lowest)
        yield Turn(f"{name}.size", base, f"{at}.size", ("64B", "256B"), RISES, bandwidth)
        if kind not in ("pointer-chase", "cycle"):  # one at a time as it is
            yield Turn(f"{name}.fence_every", base, f"{at}.fence_every", (4, 16), RISES, bandwidth)
    strided = direct(work={"pattern": "strided"})
    step = lambda outcome: addresses(outcome)[1] - addresses(outcome)[0]  # noqa: E731
    yield Turn("patterns.strided.stride", strided, f"{at}.stride", ("4KiB", "8KiB"), RISES, step)
    hot = direct(work={"pattern": "hot-cold"})
    yield Turn("patterns.hot-cold.hot_footprint", hot, f"{at}.hot_footprint", (0.1, 0.5), FALLS, hot_part)
    yield Turn("patterns.hot-cold.hot_requests", hot, f"{at}.hot_requests", (0.9, 0.5), FALLS, hot_part)
    zipf = direct(work={"pattern": "zipf"})
    yield Turn("patterns.zipf.exponent", zipf, f"{at}.exponent", (0.5, 1.5), FALLS, distinct)


def shaped(spec: Spec, feeds: Mapping[str, Any]) -> Run:
    """Plays a spec that is a topology to be expanded."""
    params = dict(spec["topology"])
    return run(generated(params.pop("kind"), {**WORK, "requests": 500}, **params), feeds)


SHAPES: dict[str, Spec] = {
    "switch": {"memories": 2},
    "chain": {"switches": 4},
    "ring": {"switches": 6},
    "tree": {"leaves": 4},
    "spine-leaf": {"leaves": 4, "spines": 1, "devices_per_leaf": 2},
    "fully-connected": {"switches": 4},
    "mesh": {"size": [2, 2]},
    "torus": {"size": [2, 4]},
    "hypercube": {"dimensions": 2},
    "fat-tree": {"ports": 4, "levels": 2},
    "dragonfly": {"switches_per_group": 2, "global_links": 1, "devices_per_switch": 2, "groups": 2},
}


def topology_rows() -> Iterator[Turn]:
    """Every shape."""
    fast = {"delay": "0ns"}, {"delay": "50ns"}

    def turn(
        kind: str,
        key: str,
        values: tuple[Any, Any],
        effect: Callable[[Any, Any], Any],
        measure: Measure,
        **more: Any,
    ) -> Turn:
        base = {"topology": {"kind": kind, **SHAPES[kind], **more}}
        return Turn(f"topologies.{kind}.{key}", base, f"topology.{key}", values, effect, measure, play=shaped)

    for kind in _core.declarations()["topologies"]:
        # On a spine-leaf the devices stay as many, and half of each requester's memories come near.
        effect = (RISES, requesters)
        if kind in ("spine-leaf", "fat-tree", "dragonfly"):
            effect = (FALLS, hops)
        if kind != "switch":
            yield turn(kind, "placement", ("split", "paired"), *effect)
            yield turn(kind, "edge_link", fast, RISES, latency)
        host = {"kind": "host", "process_time": "10ns"}, {"kind": "host", "process_time": "50ns"}
        yield turn(kind, "requester", host, RISES, latency)
        memory = {"kind": "memory", "controller_time": "40ns"}, {"kind": "memory", "controller_time": "80ns"}
        yield turn(kind, "memory", memory, RISES, latency)
        sw = {"kind": "switch", "switching_time": "20ns"}, {"kind": "switch", "switching_time": "50ns"}
        yield turn(kind, "switch", sw, RISES, latency)
        yield turn(kind, "link", fast, RISES, latency)
    yield turn("switch", "requesters", (1, 4), RISES, requesters)
    yield turn("switch", "memories", (2, 4), RISES, memories)
    for kind in ("chain", "ring"):
        yield turn(kind, "switches", (4, 8), RISES, hops)
    yield turn("fully-connected", "switches", (4, 8), RISES, requesters)
    yield turn("tree", "leaves", (4, 8), RISES, hops, placement="paired")
    yield turn("tree", "fan_out", (2, 4), FALLS, hops, leaves=16)
    yield turn("tree", "root_degree", (2, 8), FALLS, hops, leaves=16)
    yield turn("spine-leaf", "leaves", (2, 4), RISES, requesters)
    limited = {"link": {"bandwidth": "4GB/s"}}
    yield turn("spine-leaf", "spines", (1, 2), RISES, bandwidth, **limited)
    yield turn("spine-leaf", "devices_per_leaf", (2, 4), RISES, requesters)
    yield turn("mesh", "size", ([2, 2], [4, 4]), RISES, hops)
    yield turn("torus", "size", ([2, 4], [4, 4]), RISES, requesters)
    yield turn("hypercube", "dimensions", (2, 4), RISES, hops)
    yield turn("fat-tree", "ports", (4, 8), RISES, requesters)
    yield turn("fat-tree", "levels", (2, 3), RISES, hops)
    yield turn("dragonfly", "switches_per_group", (2, 4), RISES, requesters)
    # Two groups: as many links between them as each has ports for.
    yield turn("dragonfly", "global_links", (1, 2), RISES, bandwidth, **limited)
    yield turn("dragonfly", "devices_per_switch", (2, 4), RISES, requesters)
    yield turn("dragonfly", "groups", (2, 3), RISES, requesters)


def region_rows() -> Iterator[Turn]:
    """The address map."""
    at = "address_map.0"
    base = two_memories()
    mem0, mem1 = served_by("mem0"), served_by("mem1")
    yield Turn("region.to", base, f"{at}.to", (["mem0"], ["mem0", "mem1"]), RISES, mem1)
    few = changed(base, ("workload.host", {"pattern": "sequential", "requests": 16}))
    few = changed(few, ("workload.host.footprint", "4KiB"))
    yield Turn("region.interleave", few, f"{at}.interleave", ("256B", "4KiB"), FALLS, mem1)
    uneven = changed(base, ("devices.mem1.capacity", "3MiB"))
    yield Turn("region.policy", uneven, f"{at}.policy", ("cxl", "capacity"), RISES, mem1)
    weighted = two_memories(policy="weighted")
    yield Turn("region.weights", weighted, f"{at}.weights", ([1, 1], [3, 1]), RISES, mem0)
    ranges = changed(base, ("address_map", [{"to": ["mem0"]}, {"to": ["mem1"]}]))
    yield Turn("region.size", ranges, f"{at}.size", ("48KiB", "16KiB"), RISES, mem1)
    # What lies one chunk up is the second memory's, unless the range begins there.
    up = changed(few, ("workload.host.base", "0x100"), ("workload.host.footprint", "64B"))
    yield Turn("region.base", up, f"{at}.base", ("0x0", "0x100"), RISES, mem0)


def gives_up(spec: Spec, feeds: Mapping[str, Any]) -> Run:
    """Plays event by event; a run that is given up as a livelock counts as no request."""
    try:
        return run(spec, feeds, slice_events=1)
    except SimulationError as error:
        if "livelock" not in str(error):
            raise
    outcome = run(changed(spec, ("run.livelock_deliveries", ...)), feeds)
    outcome.summary["requests"] = 0
    return outcome


def divided(spec: Spec, feeds: Mapping[str, Any]) -> Run:
    """Plays it; its parts count as requests."""
    simulation = _core.Simulation(spec, dict(feeds))
    outcome = finished(simulation, spec)
    outcome.summary["requests"] = (simulation.division() or {"parts": 1})["parts"]
    return outcome


def all_links_alike(spec: Spec, feeds: Mapping[str, Any]) -> Run:
    """Plays with all links as the first one; a deadlock counts as no request."""
    for link in spec["links"]:
        link |= {key: value for key, value in spec["links"][0].items() if key != "between"}
    try:
        return run(spec, feeds)
    except SimulationError as error:
        if "deadlock" not in str(error):
            raise
    for link in spec["links"]:
        del link["credits"]
        link.pop("virtual_channels")
    outcome = run(spec, feeds)
    outcome.summary["requests"] = 0
    return outcome


def run_rows() -> Iterator[Turn]:
    """How a system is run, and what is put out."""
    base = direct()
    cached = direct(host={"cache": {"size": "64KiB"}}, work={"footprint": "32KiB"})
    yield Turn("run.warmup", cached, "run.warmup", (0, 3000), RISES, hit_rate)
    yield Turn("run.warmup_time", cached, "run.warmup_time", ("1ns", "20us"), RISES, hit_rate)
    queued = direct(link={"bandwidth": "8GB/s"}, work={"reads": 0.0, "rate": "70M/s", "arrivals": "poisson"})
    precise = changed(queued, ("workload.host.requests", 20_000), ("run.until", {"ci": "50%"}))
    yield Turn(
        "run.until", precise, "run.until", (..., {"ci": "50%"}), FALLS, lambda o: o.summary["requests"]
    )
    yield Turn(
        "run.until.ci", precise, "run.until.ci", ("50%", "0.001%"), RISES, lambda o: o.summary["requests"]
    )
    yield Turn("run.seed", base, "run.seed", (1, 2), DIFFERS, lambda o: addresses(o).tolist())
    # Answers to two hosts of even rank meet on one of two spines, unless the way is drawn.
    wire = {"bandwidth": "8GB/s", **FREE}
    crossing = generated("spine-leaf", WORK, leaves=2, spines=2, devices_per_leaf=4, link=wire)
    crossing["workload"] = {host: {**crossing["workload"][host], "reads": 1.0} for host in ("host0", "host2")}
    yield Turn("run.routing", crossing, "run.routing", ("deterministic", "random"), RISES, bandwidth)
    # In a circle of five switches each with the memory two further on: without datelines the buffers close a circle.
    circle = generated(
        "ring",
        {"requests": 500, "footprint": "1GiB"},
        switches=5,
        placement="paired",
        switch={"kind": "switch", "queueing": "voq"},
        link={"credits": 1, "bandwidth": "8GB/s"},
        memory={"kind": "memory", "capacity": "1GiB"},
    )
    circle["address_map"] = [{"to": [f"mem{i}"]} for i in range(5)]
    for i in range(5):
        circle["workload"][f"host{i}"]["base"] = f"{(i + 2) % 5}GiB"
    yield Turn(
        "link.virtual_channels",
        circle,
        "links.0.virtual_channels",
        (1, 2),
        RISES,
        lambda o: o.summary["requests"],
        play=all_links_alike,
    )
    # Two switches with a link between them, and one by a third: detours relieve the link. Fewer with a high threshold.
    ends = [("a", "b"), ("a", "c"), ("c", "b"), ("host", "a"), ("mem", "b")]
    around = {
        "devices": {
            "host": {"kind": "host", "queue": 256},
            **{name: {"kind": "switch"} for name in ("a", "b", "c")},
            "mem": {"kind": "memory", "media": {"kind": "fixed", "latency": "1ns"}},
        },
        "links": [
            {
                "between": [a, b],
                "bandwidth": "8GB/s" if "host" not in (a, b) and "mem" not in (a, b) else "64GB/s",
            }
            for a, b in ends
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", **WORK}},
        "run": {"routing": {"kind": "ugal"}},
    }
    yield Turn("routing.ugal.threshold", around, "run.routing.threshold", (0, 1_000_000), FALLS, bandwidth)
    detour = {
        "devices": {
            "host": {"kind": "host"},
            **{name: {"kind": "switch"} for name in ("a", "b", "c")},
            "mem": {"kind": "memory"},
        },
        "links": [
            {"between": ["host", "a"]},
            {"between": ["a", "b"], "delay": "900ns"},
            {"between": ["a", "c"]},
            {"between": ["c", "b"]},
            {"between": ["b", "mem"]},
        ],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", **WORK}},
    }
    yield Turn("run.route_by", detour, "run.route_by", ("hops", "latency"), FALLS, latency)
    # The fast way is found; a table leads messages to the memory by the slow one.
    found = {**detour, "run": {"route_by": "latency"}}
    by_b = [{"at": "a", "to": ["mem"], "by": ["b"]}]
    yield Turn("run.routes", found, "run.routes", (..., by_b), RISES, latency)
    given = changed(found, ("run.routes", by_b))
    yield Turn("run.routes.at", given, "run.routes.0.at", ("c", "a"), RISES, latency)
    yield Turn("run.routes.to", given, "run.routes.0.to", (["b"], ["mem"]), RISES, latency)
    yield Turn("run.routes.by", given, "run.routes.0.by", (["c"], ["b"]), RISES, latency)
    completed = lambda outcome: outcome.summary["requests"]  # noqa: E731
    ring = generated("ring", {**WORK, "requests": 50}, switches=4, link={"delay": "10ns"})
    yield Turn("run.threads", ring, "run.threads", (1, 3), RISES, completed, play=divided)
    slow, path = changed(detour, ("links.1.delay", "15us")), "run.livelock_deliveries"
    yield Turn(path, slow, path, (10_000, 1), FALLS, completed, play=gives_up)
    yield Turn(
        "outputs.requests", base, "outputs.requests", (False, True), RISES, lambda o: len(o.requests["id"])
    )
    yield Turn(
        "outputs.series",
        base,
        "outputs.series",
        ("500ns", "100ns"),
        RISES,
        lambda o: len(o.series["time_ps"]),
    )
    yield Turn(
        "outputs.mix_windows",
        base,
        "outputs.mix_windows",
        (100, 10),
        RISES,
        lambda o: o.summary["mix_windows"]["windows"],
    )
    yield Turn(
        "outputs.commands",
        dram(),
        "outputs.commands",
        (False, True),
        RISES,
        lambda o: len(o.commands["clock"]),
    )


def workload_rows() -> Iterator[Turn]:
    """What a requester does."""
    at = "workload.host"
    base = direct()
    far = lambda: {"host": feed([2**30 + 4096 * i for i in range(100)], timestamp=np.arange(100) * 100_000)}  # noqa: E731
    trace = changed(base, (at, {"trace": "far"}))
    yield Turn("workload.pattern", base, f"{at}.pattern", ("random", "sequential"), RISES, distinct)
    yield Turn(
        "workload.trace", base, f"{at}.trace", (..., "far"), RISES, highest, ((at, {"trace": "far"}),), far
    )
    yield Turn(
        "workload.requests", base, f"{at}.requests", (100, 200), RISES, lambda o: o.summary["requests"]
    )
    yield Turn("workload.rate", base, f"{at}.rate", ("1M/s", "10M/s"), RISES, bandwidth)
    busy = direct(link={"bandwidth": "8GB/s"}, host={"queue": 4096}, work={"rate": "80M/s", "reads": 0.0})
    waiting = lambda outcome: outcome.segment("link_queue")  # noqa: E731
    yield Turn("workload.arrivals", busy, f"{at}.arrivals", ("fixed", "poisson"), RISES, waiting)
    yield Turn(
        "workload.replay", trace, f"{at}.replay", ("closed", "timestamps"), FALLS, bandwidth, feeds=far
    )
    placed = ("as-is", "first-touch")
    first = ((f"{at}.frames", "contiguous"),)
    yield Turn("workload.addresses", trace, f"{at}.addresses", placed, FALLS, highest, first, feeds=far)
    phases = [{"pattern": "random", "requests": 50}], [{"pattern": "random", "requests": 50, "reads": 0.5}]
    phased = changed(base, (at, {}))
    yield Turn("workload.phases", phased, f"{at}.phases", phases, RISES, lambda o: o.summary["writes"])


def all_rows() -> Iterator[Turn]:
    """The whole table."""
    yield from requester_rows("host")
    yield from requester_rows("accelerator")
    for kind in ("host", "accelerator"):
        yield from requester_memory_rows(kind)
    yield from bus_rows()
    yield from switch_rows()
    yield from root_port_rows()
    yield from victim_rows()
    yield from memory_rows("devices.memory", "devices.mem0", two_memories(), "mem0")
    yield from media_rows()
    yield from nvm_rows()
    yield from flash_rows()
    yield from cached_rows()
    yield from inline_ecc_rows()
    yield from compressed_rows()
    yield from curve_rows()
    yield from dram_rows()
    yield from pattern_rows()
    yield from topology_rows()
    yield from link_rows()
    yield from flit_rows()
    yield from region_rows()
    yield from qos_rows()
    yield from run_rows()
    yield from workload_rows()
    yield from thread_rows()
