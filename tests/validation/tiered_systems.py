"""Systems of a program whose pages a policy moves, beside everything else that a system may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validation.systems import Spec, changed

FAULTS: Spec = {"kind": "promote-on-fault", "period": "5us", "scan": "16KiB"}
HOT: Spec = {"kind": "hot-pages", "every": 7, "hot": 2, "period": "20us", "keep_free": "8KiB"}
SCAN: Spec = {
    "scan_size": "32KiB",
    "period_min": "5us",
    "period_max": "10us",
    "period_floor": "1us",
    "scan_explicit": True,
}
MODE_2: Spec = {
    "threshold": "50us",
    "threshold_step": "5us",
    "threshold_max": "50us",
    "adapt": "20us",
    "rate_limit": "4GB/s",
    "rate_window": "5us",
    "enough_free": "8KiB",
    "demotion_pause": "5us",
}
HEMEM: Spec = {"every": 7, "hot_reads": 2, "hot_writes": 2, "cool": 8, "period": "20us", "keep_free": "8KiB"}
POLICIES = {
    "promote-on-fault": FAULTS,
    "hot-pages": HOT,
    "autonuma": {"kind": "autonuma", **SCAN},
    "memory-tiering": {"kind": "memory-tiering", **SCAN, **MODE_2},
    "tpp": {"kind": "tpp", **SCAN, "demotion_pause": "5us"},
    "hemem": {"kind": "hemem", **HEMEM},
    "oracle": {"kind": "oracle", "foresees": 2000, "period": "1us", "least": 4},
}
COSTS = {"fault": "1000ns", "protect": "50ns", "scan": "20ns", "sample": "250ns", "interrupt": "500ns"}
CACHE: Spec = {"size": "4KiB", "ways": 4}
FOLLOWED: Spec = {"dcoh": {"filter": {"entries": 256, "ways": 4}}}
COHERENT = [{"to": [name], "coherence": "hdm-db"} for name in ("near", "far")]
SWITCH = {"switch": "sw", "vcs": 0, "vppb": 0}


def tiered(hosts: int = 1, host: Spec | None = None, memory: Spec | None = None, **work: Any) -> Spec:
    """Hosts before a near and a far memory. Their pages begin far."""
    names = [f"host{i}" for i in range(hosts)]
    programs = {
        "pattern": "zipf",
        "requests": 2000,
        "footprint": "64KiB",
        "size": "64B",
        "reads": 0.6,
        "addresses": {"kind": "preferred", "nodes": ["far"]},
        "tiering": FAULTS,
        "kernel": COSTS,
        **work,
    }
    return {
        "devices": {
            **{name: {"kind": "host", "queue": 16, **(host or {})} for name in names},
            "sw": {"kind": "switch"},
            "near": {"kind": "memory", "capacity": "128KiB", **(memory or {})},
            "far": {"kind": "memory", "capacity": "512KiB", **(memory or {})},
        },
        "links": [
            *({"between": [name, "sw"], "bandwidth": "32GB/s"} for name in names),
            {"between": ["sw", "near"], "bandwidth": "32GB/s"},
            {"between": ["sw", "far"], "bandwidth": "16GB/s", "delay": "60ns"},
        ],
        "address_map": [{"to": ["near"]}, {"to": ["far"]}],
        "workload": dict.fromkeys(names, programs),
        "run": {"warmup": 0, "seed": 1},
        "outputs": {"requests": True},
    }


def with_events(spec: Spec, *events: tuple[str, Spec]) -> Spec:
    """The same, in which something happens."""
    return {**spec, "events": [{"at": at, **event} for at, event in events]}


def coherent(hosts: int, memory: Spec | None = None, **host: Any) -> Spec:
    """The memories keep the caches of hosts coherent."""
    return {**tiered(hosts, host, memory or FOLLOWED), "address_map": COHERENT}


def home_elsewhere() -> Spec:
    """An agent that has no memory keeps both memories coherent."""
    spec = tiered(2, {"cache": CACHE})
    spec["devices"]["home"] = {"kind": "dcoh", "filter": {"entries": 128, "ways": 4}}
    spec["links"].append({"between": ["sw", "home"], "bandwidth": "32GB/s"})
    return {**spec, "address_map": [{**region, "home": "home"} for region in COHERENT]}


def by_bias() -> Spec:
    """The far memory is an accelerator's, and kept coherent by bias."""
    spec = tiered(host={"cache": CACHE, "home_agent": {"filter": {"entries": 256}}})
    memory = {"capacity": "512KiB", "bias": {"filter": {"entries": 256}}}
    spec["devices"]["far"] = {"kind": "accelerator", "memory": memory}
    return {**spec, "address_map": [{"to": ["near"]}, {"to": ["far"], "coherence": "hdm-d"}]}


def of_host() -> Spec:
    """The near memory is the host's, of which its home agent keeps lines coherent."""
    spec = tiered(
        host={"cache": CACHE, "home_agent": {"filter": {"entries": 256}}, "memory": {"capacity": "128KiB"}}
    )
    spec["devices"].pop("near")
    spec["links"] = [link for link in spec["links"] if "near" not in link["between"]]
    return {**spec, "address_map": [{"to": ["host0"], "coherence": "hdm-h"}, {"to": ["far"]}]}


def extents(name: str, *events: tuple[str, str, int]) -> Spec:
    """A memory that is given in extents of 64 KiB, the first two at the beginning."""
    given = [{"base": f"{64 * i}KiB", "size": "64KiB", "host": "host0"} for i in range(4)]
    spec = changed(tiered(), (f"devices.{name}.dynamic_capacity.extents", given[:2]))
    if name == "near":
        spec["devices"]["near"]["capacity"] = "256KiB"
    return with_events(spec, *((at, {action: {"device": name, **given[i]}}) for at, action, i in events))


def virtual(*events: tuple[str, Spec]) -> Spec:
    """Both memories are bound to the host's virtual switch."""
    vcs = [{"upstream": "host0", "vppbs": 2, "bind": [{"to": "near"}, {"to": "far"}]}]
    return with_events(changed(tiered(), ("devices.sw.vcs", vcs)), *events)


def logical() -> Spec:
    """The far memory is two logical devices, of which one is slow."""
    parts = [{"capacity": "256KiB", "bandwidth_limit": "1GB/s"}, {"capacity": "256KiB"}]
    spec = tiered(addresses={"kind": "preferred", "nodes": ["far ld 1"]})
    spec["devices"]["far"] = {"kind": "memory", "logical_devices": parts}
    return {**spec, "address_map": [{"to": ["near"]}, *({"to": ["far"], "ld": i} for i in range(2))]}


def interleaved(**host: Any) -> Spec:
    """Each node is two memories."""
    spec = tiered(host=host)
    for name in ("near", "far"):
        spec["devices"][f"{name}2"] = spec["devices"][name]
        [link] = [each for each in spec["links"] if each["between"][1] == name]
        spec["links"].append({**link, "between": ["sw", f"{name}2"]})
    sets = (("near", "256B"), ("far", "1KiB"))
    return {**spec, "address_map": [{"to": [name, f"{name}2"], "interleave": ways} for name, ways in sets]}


def persistent(near: str = "media", far: str = "media", **switch: Any) -> Spec:
    """A program that persists, in memory that keeps what it wrote."""
    spec = tiered(persists=0.3)
    spec["devices"]["sw"] |= switch
    spec["outputs"]["versions"] = True
    regions = [{"to": ["near"], "persistence": near}, {"to": ["far"], "persistence": far}]
    return {**spec, "address_map": regions}


def beside(neighbour: Spec, **host: Any) -> Spec:
    """Another host without pages keeps the far memory's link full."""
    spec = tiered(2, host)
    spec["workload"]["host1"] = {"pattern": "random", "requests": 6000, "size": "64B", **neighbour}
    spec["devices"]["host1"] = {"kind": "host", "queue": 64}
    return spec


def on_flits() -> Spec:
    """Links of flits that go wrong now and then."""
    spec = tiered()
    wire = {"phy": "pcie5-x8", "errors": {"every": 37}}
    links = [{key: value for key, value in link.items() if key != "bandwidth"} for link in spec["links"]]
    return {**spec, "links": [{**link, **wire} for link in links]}


DOWN = {"fail": {"link": ["sw", "near"], "reroute_time": "1us"}}
UP = {"repair": {"link": ["sw", "near"]}}
MOVE = {"move_pages": {"requester": "host0", "from": "far", "to": "near", "rate": "1GB/s"}}
GO_FAR = {"offline": {"device": "far"}}
GO_NEAR = {"offline": {"device": "near", "rate": "1GB/s"}}
GONE = {"fail": {"device": "far", "reroute_time": "0ns"}}
BUFFER = {"persist_buffer": {"policy": "drain", "entries": 8}}
TWO_PLACES = {"dcoh": {"filter": {"entries": 64, "ways": 4}, "transactions": 2}}
PHYSICAL = {"footprint": "512KiB", "reads": 0.5}

SYSTEMS: dict[str, Callable[[], Spec]] = {
    "alone": tiered,
    "a cache": lambda: tiered(host={"cache": CACHE}),
    "a cache that holds all": lambda: tiered(host={"cache": {"size": "64KiB", "ways": 8}}),
    "a prefetcher": lambda: tiered(host={"cache": {**CACHE, "prefetch": "next-line"}}),
    "levels": lambda: tiered(host={"cache": {**CACHE, "levels": [{"size": "16KiB", "ways": 8}]}}),
    "cores": lambda: tiered(host={"core": {}}),
    "cores and a cache": lambda: tiered(host={"core": {}, "cache": CACHE}),
    "two programs": lambda: tiered(2),
    "two programs and a near memory for a few pages": lambda: changed(
        tiered(2), ("devices.near.capacity", "24KiB")
    ),
    "an open loop": lambda: tiered(rate="20M/s", arrivals="poisson"),
    "atomics": lambda: tiered(atomics=0.2),
    "fences": lambda: tiered(fence_every=5),
    "large pages": lambda: tiered(page="32KiB", footprint="256KiB"),
    "touched during the run": lambda: tiered(touched="during"),
    "a coherent region": lambda: coherent(1, cache=CACHE),
    "coherent regions of two hosts": lambda: coherent(2, cache=CACHE),
    "coherent regions without caches": lambda: coherent(2),
    "a small snoop filter and few transactions": lambda: coherent(2, TWO_PLACES, cache=CACHE),
    "a coherent region and a plain one": lambda: {
        **changed(tiered(host={"cache": CACHE}), ("devices.near.dcoh", FOLLOWED["dcoh"])),
        "address_map": [COHERENT[0], {"to": ["far"]}],
    },
    "a neighbour that caches the same memory": lambda: changed(
        coherent(2, cache=CACHE),
        ("workload.host1", {"pattern": "random", "requests": 2000, **PHYSICAL, "size": "64B"}),
    ),
    "a home elsewhere": home_elsewhere,
    "a bias": by_bias,
    "a host's memory": of_host,
    "extents": lambda: extents("near"),
    "extents that come and go": lambda: extents(
        "near", ("10us", "add_extent", 2), ("20us", "release_extent", 0), ("60us", "add_extent", 0)
    ),
    "extents of the far memory": lambda: extents(
        "far", ("10us", "add_extent", 2), ("30us", "release_extent", 2)
    ),
    "a virtual switch": virtual,
    "a virtual switch that loses a memory": lambda: virtual(
        ("20us", {"unbind": SWITCH}), ("60us", {"bind": {**SWITCH, "to": "near"}})
    ),
    "a memory that is removed by surprise": lambda: virtual(
        ("20us", {"unbind": {**SWITCH, "surprise": True}}), ("60us", {"bind": {**SWITCH, "to": "near"}})
    ),
    "logical devices": logical,
    "interleaving sets": interleaved,
    "interleaving sets and a cache": lambda: interleaved(cache=CACHE),
    "persistence": persistent,
    "two persistence domains": lambda: persistent("controller"),
    "a persist buffer": lambda: persistent(**BUFFER),
    "a neighbour that fills the link": lambda: beside(PHYSICAL),
    "a neighbour that fills the link, and a throttle": lambda: beside(PHYSICAL, throttle={"rate": "2GB/s"}),
    "flits": on_flits,
    "a link that fails": lambda: with_events(tiered(), ("10us", DOWN), ("40us", UP)),
    "moves by events, too": lambda: with_events(tiered(), ("10us", MOVE)),
    "a memory that is taken out of use": lambda: with_events(tiered(), ("10us", GO_FAR)),
    "the near memory is taken out of use": lambda: with_events(tiered(), ("60us", GO_NEAR)),
    "a memory that is taken out of use, two programs and caches": lambda: with_events(
        tiered(2, {"cache": CACHE}), ("10us", GO_FAR)
    ),
    "a memory that is taken out of use beside cores": lambda: with_events(
        tiered(host={"core": {}, "cache": CACHE}), ("10us", GO_FAR), ("12us", GO_NEAR)
    ),
    "a memory that is pulled out too early": lambda: with_events(
        tiered(), ("10us", GO_FAR), ("12us", GONE), ("60us", {"repair": {"device": "far", "cleared": True}})
    ),
}
