"""Systems in which the laws of statistics say what drawn ones seldom let them say."""

from __future__ import annotations

from typing import Any

from validation.rich_systems import CURVE
from validation.systems import Run, Spec, feed, host_and_memory, host_bus_memories, logged


def lossy(**host: object) -> Spec:
    """Requests that fail, and with a cache dirty lines that are lost, at a dead link."""
    spec = host_bus_memories(memories=2, host={"queue": 16, **host})
    spec["workload"]["host"] |= {"requests": 4000, "reads": 0.5, "footprint": "64KiB", "size": "64B"}
    spec["links"][-1] |= {"phy": "pcie5-x16", "outage": {"at": "2us", "length": "3us", "fail": True}}
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def lossy_of(**work: object) -> Spec:
    """The same of other kinds of requests, to memory that may keep what is flushed."""
    spec = lossy()
    spec["address_map"][0]["persistence"] = "media"
    spec["workload"]["host"] |= work
    return spec


def half_given() -> Spec:
    """Memory of which its host was given half: the memory answers the others itself, without data."""
    spec = alone({"kind": "fixed"}, 0.5)
    extent = {"base": "0B", "size": "32KiB", "host": "host"}
    spec["devices"]["mem"] |= {"capacity": "64KiB", "dynamic_capacity": {"extents": [extent]}}
    return spec


def alone(medium: Spec, reads: float, **memory: object) -> Spec:
    """A host and a memory with this medium, and nothing that hides what it does."""
    work = {"requests": 300, "reads": reads, "footprint": "64KiB", "size": "64B"}
    spec = host_and_memory({"bandwidth": "16GB/s"}, {**memory, "media": medium}, work=work, warmup=0, seed=1)
    return {**spec, "outputs": {"requests": True}}


def one_die(reads: float) -> Spec:
    """A die of flash that is written through, and has to collect blocks; its memory has 20 pages."""
    geometry = {"channels": 1, "dies": 1, "planes": 1, "pages": 4, "blocks": 8, "over_provisioning": 0.6}
    spec = alone({"kind": "flash", "preset": "z-nand", "write_buffer": 0, **geometry}, reads, queue=4)
    spec["devices"]["mem"]["capacity"] = "64KiB"
    return spec


def all_answered(every: int) -> Spec:
    """A bus measured from the first request to the last, and flits of which every so many-th goes wrong."""
    spec = host_bus_memories(memories=2)
    spec["workload"]["host"] |= {"requests": 1000, "reads": 0.5, "size": "64B"}
    spec["links"][-1] |= {"phy": "pcie5-x16", "errors": {"every": every}}
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def rows_in_turn(footprint: str) -> Spec:
    """A DRAM whose rows drive each other out, or stay open."""
    spec = alone({"kind": "dram", "preset": "DDR4-3200"}, 0.5)
    spec["workload"]["host"]["footprint"] = footprint
    return {**spec, "outputs": {"requests": True, "commands": True}}


def hammered(alert_at: int) -> Spec:
    """Rows that drive each other out of their banks, counted and managed."""
    hammer = {"prac": True, "alert_at": alert_at, "raaimt": 2}
    spec = alone({"kind": "dram", "preset": "DDR5-4800", "row_hammer": hammer}, 0.5)
    spec["workload"]["host"] |= {"pattern": "random", "footprint": "1GiB"}
    return {**spec, "outputs": {"requests": True, "commands": True}}


def cached() -> Spec:
    """A cache that holds half of what is read."""
    spec = alone({"kind": "fixed"}, 1.0)
    spec["devices"]["host"]["cache"] = {"size": "32KiB"}
    spec["workload"]["host"]["requests"] = 2000  # enough for the mean to be known
    return spec


def beside_io() -> Spec:
    """CXL.io on a link of flits."""
    spec = host_bus_memories(memories=1)
    spec["devices"]["nic"] = {"kind": "io-engine", "target": "mem0", "traffic": "dma-write", "rate": "1GB/s"}
    spec["links"].append({"between": ["nic", "bus"], "phy": "pcie5-x16"})
    spec["workload"]["host"] |= {"reads": 0.5, "size": "64B"}
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def moved_pages(rate: str) -> Spec:
    """A program whose pages go to another memory, all of them."""
    spec = host_bus_memories(memories=2)
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    work = {"requests": 3000, "footprint": "32KiB", "size": "64B", "pattern": "random"}
    spec["workload"]["host"] |= {**work, "addresses": {"kind": "bind", "nodes": ["mem0", "mem1"]}}
    spec["events"] = [
        {"at": "4us", "move_pages": {"requester": "host", "from": "mem0", "to": "mem1", "rate": rate}}
    ]
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def removed(cache: str | None = None, room: str = "1MiB", **offline: object) -> Spec:
    """A program whose pages leave a memory that is taken out of use, or find too little room elsewhere."""
    spec = host_bus_memories(memories=2)
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    spec["devices"]["mem1"]["capacity"] = room
    if cache:
        spec["devices"]["host"]["cache"] = {"size": cache}
    work = {"requests": 3000, "footprint": "32KiB", "size": "64B", "pattern": "random", "reads": 0.5}
    late = {"touched": "during"} if room != "1MiB" else {}
    placed = {"addresses": {"kind": "preferred", "nodes": ["mem0"]}, **late}
    spec["workload"]["host"] |= {**work, **placed}
    spec["events"] = [{"at": "4us", "offline": {"device": "mem0", **offline}}]
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def viral(cleared: bool) -> Spec:
    """A memory that contains an error, and is reset."""
    spec = alone({"kind": "fixed"}, 0.5)
    events = [
        ("300ns", {"viral": {"device": "mem"}}),
        ("600ns", {"reset": {"device": "mem", "cleared": cleared}}),
    ]
    spec["events"] = [{"at": at, **event} for at, event in events]
    return spec


def crashed(restart: bool) -> Spec:
    """A host that crashes and boots again, and goes on or not."""
    spec = alone({"kind": "fixed"}, 0.5)
    events = [
        ("300ns", {"fail": {"device": "host"}}),
        ("20us", {"repair": {"device": "host", "restart": restart}}),
    ]
    spec["events"] = [{"at": at, **event} for at, event in events]
    return spec


def sparing(size: str, buffer: str) -> Spec:
    """A row of a memory with one bank goes to a spare one while it is used."""
    spec = alone({"kind": "fixed", "banks": 1}, 0.5)
    spec["devices"]["mem"]["spares"] = 2
    part = {"device": "mem", "base": "0x0", "size": size, "buffer": buffer}
    spec["events"] = [{"at": at, "spare": part} for at in ("1us", "2us")]
    return spec


def paged(reads: float, **params: object) -> Spec:
    """A cache of pages that holds half of what is used, and one page more than is asked for."""
    banks = {"kind": "fixed", "latency": "100ns", "banks": 1}
    medium = {"kind": "cached", "size": "32KiB", "page": "1KiB", "cache": banks, "backing": banks, **params}
    spec = alone(medium, reads)
    spec["workload"]["host"]["pattern"] = "random"
    return spec


def checked(reads: float) -> Spec:
    """Inline ECC whose cache holds half of the lines of ECC."""
    banks = {"kind": "fixed", "latency": "100ns", "banks": 1}
    spec = alone({"kind": "inline-ecc", "cache": "4KiB", "ways": 0, "backing": banks}, reads)
    spec["workload"]["host"] |= {"pattern": "random", "requests": 2000}
    return spec


def compressed(reads: float, **params: object) -> Spec:
    """Inline compression whose engines are what is used up."""
    banks = {"kind": "fixed", "latency": "100ns", "banks": 16}
    return alone({"kind": "compressed", "engines": 2, "backing": banks, **params}, reads)


def tiered(tiering: Spec, **host: Any) -> Spec:
    """A program whose pages go to the nearer memory as a policy says."""
    spec = host_bus_memories(memories=2, host=host)
    spec["links"][0]["delay"] = "1ns"
    spec["links"][-1]["delay"] = "50ns"
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    work = {"requests": 3000, "footprint": "32KiB", "size": "64B", "pattern": "random"}
    costs = {"fault": 1000, "protect": 50, "scan": 20, "sample": 250, "interrupt": 500}
    work |= {"addresses": {"kind": "bind", "nodes": ["mem1"]}, "tiering": tiering}
    spec["workload"]["host"] |= {**work, "kernel": {name: f"{cost}ns" for name, cost in costs.items()}}
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


FAULTS = {"kind": "promote-on-fault", "period": "5us", "scan": "8KiB"}
SAMPLES = {"kind": "hot-pages", "every": 7, "hot": 2, "period": "20us", "keep_free": "4KiB"}


CACHES: list[Spec] = [
    {"cache": {"size": "4KiB", "ways": 4}},
    {"cache": {"size": "64KiB", "ways": 8}},
    {"cache": {"size": "4KiB", "ways": 4, "prefetch": "next-line"}},
    {"cache": {"size": "4KiB", "ways": 4, "levels": [{"size": "16KiB", "ways": 8}]}, "core": {}},
]


def leveled() -> Spec:
    """A cache of two levels, each of which holds a part of what is read."""
    spec = cached()
    spec["devices"]["host"]["cache"] = {"size": "8KiB", "levels": [{"size": "32KiB"}]}
    return spec


def cut(bound: bool) -> Spec:
    """A virtual switch to whose host a memory is bound, and another perhaps; it is removed while it is used."""
    spec = host_bus_memories(memories=2)
    spec["devices"].pop("bus")
    vcs = {"upstream": "host", "vppbs": 2, "bind": [{"to": f"mem{i}"} for i in range(1 + bound)]}
    spec["devices"]["sw"] = {"kind": "switch", "vcs": [vcs]}
    spec["links"] = [{"between": [name, "sw"]} for name in ("host", "mem0", "mem1")]
    spec["workload"]["host"] |= {"requests": 1000, "reads": 0.5, "size": "64B", "footprint": "64KiB"}
    spec["run"] |= {"warmup": 0, "seed": 1}
    if bound:
        spec["events"] = [{"at": "1us", "unbind": {"switch": "sw", "vcs": 0, "vppb": 1, "surprise": True}}]
    return {**spec, "outputs": {"requests": True}}


def fails(engine: bool) -> Spec:
    """The way to one of two memories fails for a while, and has an I/O engine's packets, too."""
    spec = host_bus_memories(memories=2)
    spec["devices"]["bus"] = {"kind": "switch"}
    spec["workload"]["host"] |= {"requests": 1000, "reads": 0.5, "size": "64B"}
    if engine:
        nic = {"kind": "io-engine", "target": "mem1", "traffic": "dma-write", "rate": "2GB/s", "size": "256B"}
        spec["devices"]["nic"] = nic
        spec["links"].append({"between": ["nic", "bus"], "bandwidth": "16GB/s"})
    part = {"link": ["bus", "mem1"]}
    spec["events"] = [
        {"at": "500ns", "fail": {**part, "reroute_time": "100ns"}},
        {"at": "2us", "repair": part},
    ]
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def of_threads(host: Spec) -> Run:
    """Cores that play the accesses of three threads."""
    spec = alone({"kind": "fixed"}, 1.0)
    spec["devices"]["host"] |= {"core": {}, **host}
    spec["workload"]["host"] = {"trace": "threads"}
    accesses = [64 * (7 * i % 512) for i in range(900)]
    trace = feed(accesses, thread=[i % 3 for i in range(900)], instruction_gap=20)
    return logged(spec, {"host": trace})


def two_at_a_time() -> Spec:
    """A bus at which one at most waits for another."""
    spec = host_bus_memories(bus={"bandwidth": "2GB/s"}, memories=2, host={"queue": 2})
    spec["workload"]["host"] |= {"requests": 200, "reads": 1.0, "size": "64B"}
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def fenced(every: int) -> Spec:
    """A fence after each so many accesses."""
    spec = alone({"kind": "fixed", "latency": "100ns", "banks": 2}, 0.5)
    spec["workload"]["host"]["fence_every"] = every
    return spec


def atomics(where: str) -> Spec:
    """Atomic operations of one requester, in its cache or by the memory."""
    spec = cached()
    spec["devices"]["host"]["atomics"] = where
    spec["workload"]["host"] |= {"atomics": 0.3, "reads": 0.5}
    return spec


def ahead(prefetch: Spec, phases: list[Spec], **host: object) -> Spec:
    """One access at a time through a cache with a prefetcher."""
    spec = alone({"kind": "fixed"}, 1.0)
    cache = {"size": "16KiB", "ways": 0, "prefetch": prefetch}
    spec["devices"]["host"] = {"kind": "host", "queue": 1, "cache": cache, **host}
    spec["workload"]["host"] = {"requests": sum(phase["requests"] for phase in phases), "phases": phases}
    return spec


def never_used() -> Spec:
    """The first line of each pair is wanted; the second comes ahead for nothing, and is asked for long after."""
    stride = {"pattern": "strided", "stride": "128B", "footprint": "64KiB", "requests": 500, "reads": 1.0}
    return ahead({"kind": "next-line", "page": "128B"}, [stride, {**stride, "base": "64B"}])


def line_after_line(registers: int, pause: str, size: str = "64B", queue: int = 1) -> Spec:
    """Four lines ahead, as far as there are registers for them."""
    prefetch = {"kind": "next-line", "degree": 4, "registers": registers}
    phase = {"pattern": "sequential", "footprint": "16KiB", "requests": 240, "reads": 1.0, "size": size}
    return ahead(prefetch, [phase], issue_interval=pause, queue=queue)


def mixed() -> Spec:
    """Windows of requests whose share of reads is drawn."""
    spec = host_bus_memories(memories=2, bus={"bandwidth": "16GB/s"}, host={"queue": 16})
    spec["workload"]["host"] |= {"requests": 2000, "reads": 0.6, "size": "64B"}
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True, "mix_windows": 100}}


def split(first: Spec | None = None, **host: object) -> Spec:
    """One logical device of a memory that reports its load, and serves an access after the other."""
    device = {"capacity": "1MiB", **(first or {})}
    qos = {"optimal": 2, "moderate": 8, "severe": 32}
    medium = {"kind": "fixed", "latency": "100ns"}
    spec = alone(medium, 0.5, queue=1, logical_devices=[device], qos=qos)
    spec["devices"]["host"] |= {"queue": 64, **host}
    spec["address_map"][0]["ld"] = 0
    spec["devices"]["mem"].pop("capacity", None)
    return spec


def own_memory() -> Spec:
    """A throttle that has nothing to pace: all accesses are to the device's own memory."""
    spec = alone({"kind": "fixed"}, 0.5)
    spec["devices"]["host"] = {"kind": "accelerator", "memory": spec["devices"].pop("mem")}
    spec["devices"]["host"]["memory"].pop("kind")
    spec["devices"]["host"]["throttle"] = {"rate": "2GB/s"}
    spec["devices"]["mem"] = {"kind": "memory", "capacity": "1MiB"}
    spec["address_map"][0]["to"] = ["host"]
    return spec


def placed(touched: str) -> Spec:
    """Pages that go round two memories."""
    spec = host_bus_memories(memories=2)
    spec["address_map"] = [{"to": ["mem0"]}, {"to": ["mem1"]}]
    spec["workload"]["host"] |= {"requests": 500, "size": "64B", "footprint": "1MiB"}
    spec["workload"]["host"]["addresses"] = {"kind": "interleave", "weights": [2, 1]}
    spec["workload"]["host"]["touched"] = touched
    spec["run"] |= {"warmup": 0, "seed": 1}
    return {**spec, "outputs": {"requests": True}}


def persistent(policy: str, queue: int, **work: object) -> Spec:
    """Whole lines persisted, and read, through a switch with a buffer."""
    spec = host_and_memory(
        {"port_delay": "25ns"}, {"media": {"kind": "fixed", "latency": "200ns"}}, work={}, warmup=0
    )
    spec["devices"]["host"]["queue"] = queue
    spec["devices"]["sw"] = {"kind": "switch", "persist_buffer": {"policy": policy, "entries": 8}}
    spec["links"] = [{"between": ["host", "sw"]}, {"between": ["sw", "mem"]}]
    spec["address_map"][0]["persistence"] = "media"
    spec["workload"]["host"] |= {
        "requests": 1500,
        "reads": 1.0,
        "persists": 0.5,
        "footprint": "2KiB",
        "size": "64B",
    }
    spec["workload"]["host"] |= work
    spec["run"] |= {"seed": 1}
    return {**spec, "outputs": {"requests": True, "versions": True}}


def ordered(**port: object) -> Spec:
    """Reads and writes in one queue before a slow wire."""
    spec = alone({"kind": "fixed"}, 0.5)
    spec["devices"]["host"]["queue"] = 32
    spec["devices"]["port"] = {"kind": "root-port", **port}
    spec["links"] = [{"between": ["host", "port"]}, {"between": ["port", "mem"], "bandwidth": "4GB/s"}]
    return spec


def translated() -> Spec:
    """Cores that would walk page tables, had a pattern any."""
    spec = alone({"kind": "fixed"}, 0.7)
    spec["devices"]["host"]["core"] = {"tlb": {"walkers": 2}}
    return spec


def large(pattern: str = "sequential", **work: object) -> Spec:
    """Accesses that are made as their lines, or descriptors of an engine."""
    spec = alone({"kind": "fixed", "latency": "100ns", "banks": 4}, 0.5, queue=64)
    if pattern in ("copy", "fill"):
        spec["workload"]["host"] = {"requests": 12, "footprint": "64KiB", "size": "5000B"}
    spec["workload"]["host"] |= {"pattern": pattern, "requests": 12, **work}
    return spec


EXAMPLES = [
    large(size="8192B"),
    large("copy"),
    large("copy", setup="300ns", lines_in_flight=7, destination="0x100000"),
    large("copy", descriptors=3),
    large("fill", order="random"),
    *(persistent(policy, queue) for policy in ("drain", "forward") for queue in (1, 32)),
    persistent("drain", 32, footprint="1MiB", persists=1.0),
    persistent("forward", 8, atomics=0.3),
    *(placed(touched) for touched in ("before", "during")),
    own_memory(),
    mixed(),
    split(),
    split({"bandwidth_limit": "100MB/s"}),
    split(throttle={"rate": "2GB/s", "window": "1us"}),
    split(throttle={"rate": "100MB/s"}),
    never_used(),
    translated(),
    *(ordered(**port) for port in ({}, {"depth": 4}, {"rate": "20M/s"})),
    *(line_after_line(registers, pause) for registers, pause in ((2, "30ns"), (2, "300ns"), (16, "30ns"))),
    line_after_line(1, "0.1ns", size="8B", queue=64),  # several accesses to a line that is late
    *(atomics(where) for where in ("cache", "home", "cache-or-home")),
    *(fenced(every) for every in (1, 5)),
    two_at_a_time(),
    lossy(),
    lossy_of(atomics=0.3),
    lossy_of(persists=0.5),
    half_given(),
    lossy(cache={"size": "4KiB", "access_time": "4ns"}),
    beside_io(),
    *(moved_pages(rate) for rate in ("100MB/s", "10GB/s")),
    *(viral(cleared) for cleared in (False, True)),
    *(crashed(restart) for restart in (False, True)),
    *(sparing("1KiB", "64B"), sparing("4KiB", "1KiB")),
    *(removed(), removed("8KiB"), removed("64KiB"), removed(rate="1GB/s"), removed(room="8KiB")),
    *(tiered(kind, **host) for kind in (FAULTS, SAMPLES) for host in ({}, {"core": {}}, *CACHES)),
    tiered(FAULTS, core={"fill_buffers": 4}, queue=32),
    leveled(),
    *(cut(bound) for bound in (False, True)),
    *(fails(engine) for engine in (False, True)),
    *(all_answered(every) for every in (7, 1_000_000)),
    *(checked(reads) for reads in (1.0, 0.5)),
    *(compressed(reads) for reads in (1.0, 0.5)),
    compressed(0.5, ratio=3, spread=0.8),
    *(rows_in_turn(footprint) for footprint in ("64KiB", "64MiB")),
    *(hammered(alert_at) for alert_at in (1, 100_000)),
    cached(),
    *(paged(reads) for reads in (0.5, 1.0)),
    paged(1.0, prefetch="next-line"),
    *(alone({"kind": "nvm"}, reads) for reads in (0.0, 0.5)),
    *(alone({"kind": "flash", "preset": "z-nand"}, reads) for reads in (0.0, 0.5, 1.0)),
    *(one_die(reads) for reads in (0.0, 1.0)),
    *(alone({"kind": "fixed", "latency": "100ns", "banks": banks}, 0.5) for banks in (1, 2)),
    alone({"kind": "curve", "points": CURVE}, 1.0),
    *(alone({"kind": "fixed"}, 0.5, write_buffer=places, posted_writes=True) for places in (4, 20)),
    alone({"kind": "fixed"}, 0.5, read_buffer=100, write_buffer=100),
]
"""Systems in which the laws say what drawn ones seldom let them say."""
