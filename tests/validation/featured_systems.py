"""Random systems of all kinds, with what any of them may have besides.

Placed pages and their moves, DRAM of any shape, CXL-SSDs with a past, parallel links, traces, extents, failures and
engines.
A few are refused by a rule that the draw does not know: then the error is what a command has to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from validation.coherent_systems import coherent_systems
from validation.mixed_systems import mixed_systems
from validation.random_systems import keys, time
from validation.rich_systems import CURVE, rich_systems
from validation.systems import Spec
from validation.test_failures import failing_systems, failures
from validation.test_given_routes import tabled_systems
from validation.test_logical_devices import shared
from validation.test_persist import persistent_systems
from validation.test_virtual_switches import cut_switches

TRACE = "TRACE"
"""The file that a drawn workload may replay; whoever plays the systems puts it beside them."""
TRACE_TEXT = "# cxloom-trace 2: address kind size timestamp\n" + "".join(
    f"{64 * (i * 37 % 128):#x} {'RRW'[i % 3]} 64 {20_000 * (i // 2)}\n" for i in range(60)
)
"""60 accesses of 8 KiB in 600 ns, two at a time."""

Feature = Callable[[st.DrawFn, Spec], None]


def memories(spec: Spec) -> list[Spec]:
    """The parameters of all memories of host-managed devices, wherever they are."""
    owners = (device.get("memory", device) for device in spec["devices"].values())
    return [owner for owner in owners if owner.get("kind", "memory") == "memory"]


def patterns(spec: Spec) -> dict[str, Spec]:
    """The works that are one pattern."""
    return {name: work for name, work in spec["workload"].items() if "footprint" in work}


def nodes(spec: Spec) -> list[str]:
    """What names the memory of each region, some regions under a name that is wrong for their part."""
    return [
        region["to"][0] + (f" ld {region['ld']}" if "ld" in region else "") for region in spec["address_map"]
    ]


@st.composite
def placements(draw: st.DrawFn, named: list[str]) -> Any:
    """Where pages go: by any kind, in Linux's words too, which get a suggestion."""
    some = draw(st.lists(st.sampled_from(named), min_size=1, unique=True))
    weights = st.lists(st.integers(0, 3), min_size=len(some), max_size=len(some))
    return draw(
        st.one_of(
            st.just("first-touch"),
            st.just({"kind": "bind", "nodes": some}),
            st.builds(
                lambda more: {"kind": "preferred", **more},
                keys(nodes=st.just(some), limit=st.just("8KiB")),
            ),
            st.builds(
                lambda more: {"kind": "interleave", "nodes": some, **more},
                keys(weights=weights, by=st.sampled_from(["touch", "address"])),
            ),
            st.just(
                {
                    "kind": "ranges",
                    "ranges": [{"base": "0x0", "size": "16KiB", "place": {"kind": "bind", "nodes": some}}],
                }
            ),
            st.sampled_from(["membind", "localalloc", {"kind": "weighted-interleave", "nodes": some}]),
        )
    )


def place_pages(draw: st.DrawFn, spec: Spec) -> None:
    """Some workloads have addresses of their own, and pages of some of these move."""
    page = draw(st.sampled_from([{}, {"page": "256B"}, {"page": "64KiB"}]))
    frames = draw(keys(frames=st.sampled_from(["scattered", "contiguous"])))
    placed = [name for name in patterns(spec) if draw(st.integers(0, 3)) > 0]
    for name in placed:
        work = spec["workload"][name]
        work |= {"addresses": draw(placements(nodes(spec))), **page, **frames}
        work |= draw(keys(touched=st.sampled_from(["before", "during"])))
    named = sorted(set(nodes(spec)))
    if placed and len(named) > 1 and draw(st.booleans()):
        first, second = draw(st.permutations(named))[:2]
        more = draw(
            keys(
                share=st.sampled_from([0.0, 0.5, 1.0]),
                rate=st.sampled_from(["100MB/s", "10GB/s", "unlimited"]),
                copy=st.booleans(),
            )
        )
        move = {"requester": draw(st.sampled_from(placed)), "from": first, "to": second, **more}
        spec.setdefault("events", []).append({"at": "100us", "move_pages": move})
        spec["events"][-1]["at"] = draw(time(1, 3000)) if len(spec["events"]) == 1 else "9us"


@st.composite
def drams(draw: st.DrawFn) -> Spec:
    """DRAM of any preset and shape."""
    preset = draw(
        st.sampled_from(["DDR3-1600", "DDR4-3200", "DDR5-5600", "LPDDR5-6400", "HBM2-2000", "HBM3-6400"])
    )
    more = keys(
        channels=st.integers(1, 13),
        channel_hash=st.sampled_from(["none", "fold"]),
        bank_hash=st.sampled_from(["none", "xor", "fold"]),
        scheduler=st.sampled_from(["fr-fcfs", "fcfs", "bliss"]),
        row_policy=st.sampled_from(["open", "closed", "adaptive", "timeout"]),
        refresh=st.sampled_from(["usual", "all-bank", "off"]),
        read_queue=st.integers(1, 64),
        write_queue=st.integers(2, 64),
        turn=st.integers(1, 200),
        longest_turn=st.integers(200, 4096),
        posted_writes=st.booleans(),
    )
    lpddr5 = {"burst_length": draw(st.sampled_from([16, 32]))} if preset.startswith("LPDDR5") else {}
    return {"kind": "dram", "preset": preset, **lpddr5, **draw(more)}


@st.composite
def ssds(draw: st.DrawFn) -> Spec:
    """A cache of pages before flash that has been written, or before other media."""
    flash = draw(
        keys(
            overwritten=st.sampled_from([0.5, 3, 1000]),
            filled=st.sampled_from([0.0, 0.5, 1.0]),
            over_provisioning=st.sampled_from([0.07, 0.28]),
            channels=st.integers(1, 4),
            collection=st.sampled_from(["greedy", "cost-benefit", "fifo"]),
            wear_levelling=st.sampled_from(["none", "dynamic", "static"]),
        )
    )
    if flash.get("filled") == 0.0:
        flash.pop("overwritten", None)
    backing = draw(
        st.sampled_from([{"kind": "flash", "preset": "z-nand", **flash}, {"kind": "curve", "points": CURVE}])
    )
    more = keys(
        page=st.sampled_from(["512B", "4KiB"]),
        ways=st.sampled_from([1, 4, 16]),
        misses=st.integers(1, 8),
        prefetch=st.sampled_from(["none", "next-line", "leap"]),
    )
    size = draw(st.sampled_from(["64KiB", "1MiB"]))
    return {"kind": "cached", "size": size, "backing": backing, **draw(more)}


def other_media(draw: st.DrawFn, spec: Spec) -> None:
    """Some memories are DRAM or a CXL-SSD."""
    for memory in memories(spec):
        if "logical_devices" in memory or draw(st.booleans()):
            continue
        memory["media"] = draw(st.one_of(drams(), ssds()))
        if memory["media"]["kind"] == "dram":
            memory.pop("capacity", None)  # that of the devices
            if len(spec["address_map"]) > 1 or "policy" in spec["address_map"][0]:
                memory["capacity"] = "256MiB"
        else:
            memory["capacity"] = "16MiB"


def _alone(spec: Spec, link: Spec) -> bool:
    """Nothing else joins its two devices."""
    return sum(set(each["between"]) == set(link["between"]) for each in spec["links"]) == 1


def parallel_links(draw: st.DrawFn, spec: Spec) -> None:
    """Some links are several, memories with as many heads."""
    failing = {tuple(sorted(e["fail"].get("link", []))) for e in spec.get("events", []) if "fail" in e}
    for link in spec["links"]:
        engine = any(spec["devices"][end]["kind"] == "io-engine" for end in link["between"])
        fails = "outage" in link or tuple(sorted(link["between"])) in failing
        if engine or fails or draw(st.integers(0, 2)) > 0:
            continue
        link["count"] = draw(st.integers(2, 3))
        if link.get("flit", "68B") != "68B" and _alone(spec, link):
            link["bundle"] = draw(st.booleans())
        for end in link["between"]:
            if spec["devices"][end]["kind"] == "memory":
                spec["devices"][end]["heads"] = link["count"]


def replayed(draw: st.DrawFn, spec: Spec) -> None:
    """A requester replays a trace, several times perhaps."""
    name = draw(st.sampled_from(sorted(spec["workload"])))
    work: Spec = {"trace": TRACE}
    if "core" not in spec["devices"][name]:
        work |= draw(keys(replay=st.just("timestamps")))
    if draw(st.booleans()):
        work["repeat"] = draw(st.sampled_from([2, 5, "forever"]))
    if work.get("repeat") == "forever" or draw(st.booleans()):
        work["requests"] = draw(st.integers(1, 100))
    spec["workload"][name] = work
    spec.setdefault("run", {})["warmup"] = draw(st.integers(0, 9))


def extents(draw: st.DrawFn, spec: Spec) -> None:
    """A memory whose parts come and go."""
    requesters = sorted(spec["workload"])
    plain = [name for name, device in spec["devices"].items() if device["kind"] == "memory"]
    if not plain or any({"coherence", "persistence"} & region.keys() for region in spec["address_map"]):
        return
    name = draw(st.sampled_from(plain))
    parts = [
        {"base": f"{8 * i}KiB", "size": "8KiB", "host": draw(st.sampled_from(requesters))} for i in range(4)
    ]
    parts += [{"base": "32KiB", "size": "8KiB", "host": host, "tag": "shared"} for host in requesters]
    there = parts[: draw(st.integers(0, len(parts)))]
    spec["devices"][name]["dynamic_capacity"] = {"extents": list(there)}
    at, events = 0, []
    for _ in range(draw(st.integers(0, 4))):
        at += draw(st.integers(1, 2000))
        part = draw(st.sampled_from(parts))
        action = "release_extent" if part in there else "add_extent"
        there = [p for p in there if p != part] if part in there else [*there, part]
        events.append({"at": f"{at}ns", action: {"device": name, **part}})
    if events and "events" not in spec:
        spec["events"] = events


def failing(draw: st.DrawFn, spec: Spec) -> None:
    """Links and switches fail, where a system has neither coherent regions nor persist buffers."""
    kept = any("coherence" in region for region in spec["address_map"]) or "persist_buffer" in str(spec)
    if not kept and "events" not in spec and not any("outage" in link for link in spec["links"]):
        spec["events"] = draw(failures(spec))


def engine(draw: st.DrawFn, spec: Spec) -> None:
    """CXL.io traffic besides."""
    kinds = {name: device["kind"] for name, device in spec["devices"].items()}
    hubs = [name for name, kind in kinds.items() if kind in ("bus", "switch", "root-port")]
    targets = [name for name, kind in kinds.items() if kind in ("host", "accelerator", "memory")]
    if not hubs or any("vcs" in spec["devices"][hub] for hub in hubs):
        return
    more = keys(
        rate=st.sampled_from(["1GB/s", "20GB/s"]),
        size=st.sampled_from(["64B", "512B"]),
        outstanding=st.integers(1, 16),
        start=time(0, 900),
        stop=time(1000, 5000),
    )
    traffic = draw(st.sampled_from(["dma-write", "dma-read", "config-read"]))
    io = draw(more)
    if traffic == "config-read":
        io.pop("size", None)
    spec["devices"]["dma"] = {
        "kind": "io-engine", "target": draw(st.sampled_from(targets)), "traffic": traffic, **io
    }  # fmt: skip
    spec["links"].append({"between": ["dma", draw(st.sampled_from(hubs))], "bandwidth": "16GB/s"})


def instant(draw: st.DrawFn, spec: Spec) -> None:
    """What takes a time by default takes none: some requests are answered at once, or all are."""
    for device in spec["devices"].values():
        if device["kind"] in ("host", "accelerator"):
            device["process_time"] = "0ns"
            if "cache" in device:
                device["cache"]["access_time"] = "0ns"
    for memory in memories(spec):
        if draw(st.booleans()):
            memory["controller_time"] = "0ns"
            memory["media"] = {"kind": "fixed", "latency": "0ns"}


FEATURES: tuple[Feature, ...] = (
    instant,
    other_media,
    place_pages,
    extents,
    failing,
    parallel_links,
    replayed,
    engine,
)


@st.composite
def featured(draw: st.DrawFn) -> Spec:
    """A system of any generator, and some features of any system."""
    spec: Spec = draw(
        st.one_of(
            rich_systems(),
            coherent_systems(),
            mixed_systems(),
            failing_systems(),
            tabled_systems(),
            shared(),
            persistent_systems(),
            cut_switches(),
        )
    )
    for feature in FEATURES:
        if draw(st.integers(0, 3)) == 0:
            feature(draw, spec)
    return spec
