"""Random systems with everything in them: all media, links of flits with credits and errors, outages, I/O engines."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from validation.random_systems import MEDIA, keys, systems, time
from validation.systems import Spec

CURVE = [
    {"reads": 0.0, "bandwidth": "1GB/s", "latency": "120.3ns"},
    {"reads": 0.0, "bandwidth": "5GB/s", "latency": "300ns"},
    {"reads": 1.0, "bandwidth": "2GB/s", "latency": "90ns"},
    {"reads": 1.0, "bandwidth": "10.1GB/s", "latency": "250ns"},
]
NVM = st.builds(
    lambda more: {"kind": "nvm", "hold": 0, **more},
    keys(
        preset=st.just("optane-dcpmm"),
        write_buffer=st.integers(1, 8),
        read_buffer=st.integers(1, 8),
        banks=st.integers(1, 8),
        read_bandwidth=st.just("7.3GB/s"),
    ),
)
FLASH = st.builds(
    lambda more: {"kind": "flash", "preset": "z-nand", **more},
    keys(
        channels=st.integers(1, 4),
        planes=st.integers(2, 4),
        plane_work=st.sampled_from(["one", "multi-plane", "independent"]),
        write_buffer=st.integers(0, 8),
        collection=st.sampled_from(["greedy", "cost-benefit", "fifo"]),
        sector=st.just("512B"),
    ),
)
DRAM = st.builds(
    lambda preset, more: {"kind": "dram", "preset": preset, **more},
    st.sampled_from(["DDR4-3200", "DDR5-4800"]),
    keys(
        row_policy=st.sampled_from(["open", "closed"]),
        power_down=st.just("200ns"),
        write_queue=st.integers(8, 32),
    ),
)
FEW_BANKS = st.builds(lambda banks: {"kind": "fixed", "latency": "100ns", "banks": banks}, st.integers(1, 3))
INLINE_ECC = st.builds(
    lambda backing, more: {"kind": "inline-ecc", "cache": "4KiB", "backing": backing, **more},
    FEW_BANKS,
    keys(data_lines=st.sampled_from([7, 15]), ways=st.sampled_from([0, 1, 4])),
)
COMPRESSED = st.builds(
    lambda backing, more: {"kind": "compressed", "backing": backing, **more},
    FEW_BANKS,
    keys(
        block=st.sampled_from(["512B", "4KiB"]),
        ratio=st.sampled_from([1, 1.5, 4]),
        spread=st.just(0.5),
        engines=st.integers(1, 4),
    ),
)
MEDIUM = st.one_of(
    MEDIA, FEW_BANKS, NVM, FLASH, DRAM, INLINE_ECC, COMPRESSED, st.just({"kind": "curve", "points": CURVE})
)
PHY = st.sampled_from(["pcie5-x16", "pcie5-x2", "pcie6-x4", "pcie3-x8"])


@st.composite
def flit_links(draw: st.DrawFn, credits: bool) -> Spec:
    """The parameters of a link of flits."""
    link: Spec = {"phy": draw(PHY), **draw(keys(delay=time(0, 30), port_delay=time(0, 30)))}
    if credits and draw(st.booleans()):
        link["credits"] = draw(st.integers(1, 8))
    if draw(st.integers(0, 3)) == 0:
        link["errors"] = {"every": draw(st.integers(3, 60))}
    if draw(st.integers(0, 3)) == 0:
        link["ide"] = {"mode": draw(st.sampled_from(["skid", "containment"]))}
    if draw(st.integers(0, 3)) == 0:
        link["outage"] = {
            "at": draw(time(100, 900)),
            "length": draw(time(50, 900)),
            "fail": draw(st.booleans()),
        }
    return link


def _alone(spec: Spec, cached: bool, busy: bool) -> None:
    """Leaves one requester its work, from an empty system to its last answer: what Little's law holds for exactly."""
    first = next(iter(spec["workload"]))
    work, device = {**spec["workload"][first], "requests": 200}, spec["devices"][first]
    spec["workload"] = {first: work}
    spec["run"]["warmup"] = 0
    if busy:  # as much at once as it can, so that everything has queues
        for key in ("rate", "arrivals"):
            work.pop(key, None)
        device.pop("issue_interval", None)
        device.pop("core", None)
        device["queue"] = 64
    if not cached:
        for key in ("cache", "atomics"):
            device.pop(key, None)


@st.composite
def rich_systems(draw: st.DrawFn) -> Spec:
    """A random system some of whose parts are of any kind there is."""
    spec = draw(systems())
    alone = draw(st.integers(0, 2)) > 0
    if alone:
        _alone(spec, cached=draw(st.integers(0, 4)) == 0, busy=draw(st.integers(0, 3)) > 0)
    for device in spec["devices"].values():
        memory = device.get("memory", device if device["kind"] == "memory" else None)
        if memory is None:
            continue
        if memory.get("controller_time") == "0ns":
            del memory["controller_time"]  # a row tells by it who has been served
        if draw(st.booleans()):
            memory["media"] = draw(MEDIUM)
            memory["capacity"] = "1GiB"
        if "logical_devices" not in memory and draw(st.integers(0, 2)) == 0:
            for key in ("queue", "read_buffer", "write_buffer", "posted_writes"):
                memory.pop(key, None)
    credits = any("credits" in link for link in spec["links"])
    flits = draw(st.booleans())
    spec["links"] = [
        {"between": link["between"], **draw(flit_links(credits))} if flits and draw(st.booleans()) else link
        for link in spec["links"]
    ]
    if any(link.get("outage", {}).get("fail") for link in spec["links"]):
        spec["run"]["routing"] = (
            "random"  # others may change the order, which is refused beside such an outage
        )
    if '"dram"' in json.dumps(spec["devices"]):
        spec["outputs"]["commands"] = True
    hubs = [
        name for name, device in spec["devices"].items() if device["kind"] in ("bus", "switch", "root-port")
    ]
    targets = [name for name, device in spec["devices"].items() if device["kind"] in ("host", "memory")]
    if not alone and draw(st.integers(0, 2)) == 0 and targets:
        spec["devices"]["nic"] = {
            "kind": "io-engine",
            "target": draw(st.sampled_from(targets)),
            "traffic": draw(st.sampled_from(["dma-write", "dma-read", "config-read"])),
            "rate": "1GB/s",
        }
        spec["links"].append({"between": ["nic", draw(st.sampled_from(hubs))], "bandwidth": "16GB/s"})
    return spec
