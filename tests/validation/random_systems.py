"""Random small systems, for properties that every system must have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from validation.prefetchers import PREFETCHER
from validation.systems import Spec

from cxloom import _core

ROUTING = ["deterministic", "flow-hash", "random", "adaptive", "valiant", "ugal"]

CXL_WAYS = (1, 2, 3, 4, 6, 8, 12, 16)


def time(low: int, high: int) -> st.SearchStrategy[str]:
    """A time in nanoseconds, sometimes with a fraction."""
    return st.integers(low * 10, high * 10).map(lambda tenths: f"{tenths / 10:g}ns")


def keys(**entries: st.SearchStrategy[Any]) -> st.SearchStrategy[Spec]:
    """A map with any of these entries."""
    return st.fixed_dictionaries({}, optional=entries)


def effective(media: Spec) -> Spec:
    """The parameters of fixed media without what the others leave without effect, which is refused."""
    return {key: value for key, value in media.items() if key != "bank_interleave" or "banks" in media}


def choosing(cache: Spec) -> Spec:
    """The parameters of a cache, with a policy only where it has lines to choose from."""
    return {key: value for key, value in cache.items() if key != "policy" or cache.get("ways") != 1}


SPEEDS = st.sampled_from(["2GB/s", "7.3GB/s", "16GB/s", "63.015GB/s", "unlimited"])
BYTES = st.sampled_from(["0B", "7B", "16B", "64B"])
MEDIA = st.builds(
    lambda more: {"kind": "fixed", **effective(more)},
    keys(
        latency=time(0, 100),
        write_latency=time(0, 200),
        bandwidth=SPEEDS,
        banks=st.integers(1, 8),
        bank_interleave=st.sampled_from(["64B", "256B", "4KiB"]),
    ),
)
PLACES = st.one_of(
    keys(queue=st.integers(1, 20)),
    keys(read_buffer=st.integers(1, 20), write_buffer=st.integers(1, 20)),
    st.fixed_dictionaries(
        {"write_buffer": st.integers(1, 20), "posted_writes": st.just(True)},
        optional={"read_buffer": st.integers(1, 20)},
    ),
)
MEMORY = st.builds(
    lambda places, more: {**places, **more},
    PLACES,
    keys(controller_time=time(0, 60), atomic_time=time(0, 30), media=MEDIA),
)
CACHE = keys(
    size=st.sampled_from(["1KiB", "4KiB"]),
    ways=st.sampled_from([0, 1, 4]),
    access_time=time(0, 20),
    policy=st.sampled_from(["lru", "fifo", "lifo", "mru", "random"]),
    prefetch=PREFETCHER,
).map(choosing)


THROTTLE = st.builds(
    lambda more: {"rate": "2GB/s", **more},
    keys(
        window=st.sampled_from(["100ns", "1us"]),
        normal_delta=st.sampled_from([0.02, 0.3]),
        severe_delta=st.sampled_from([0.3, 1.0]),
        least=st.sampled_from([0.1, 1.0]),
    ),
)
QOS = st.sampled_from([{"moderate": 1, "severe": 1}, {"optimal": 2, "moderate": 4, "severe": 12}])


def with_its_cache(requester: Spec) -> Spec:
    """The parameters of a requester; where atomic operations are made only those with a cache may say."""
    return {key: value for key, value in requester.items() if key != "atomics" or "cache" in requester}


CORE = keys(
    clock=st.sampled_from(["1G/s", "3.3G/s"]),
    width=st.integers(4, 8),
    cycles_per_instruction=st.sampled_from([0.25, 2.0, 30.0]),
    window=st.integers(1, 100),
    mshrs=st.integers(1, 20),
    store_buffer=st.integers(1, 20),
)
REQUESTER = keys(
    process_time=time(0, 30),
    queue=st.integers(1, 70),
    issue_interval=time(0, 20),
    core=CORE,
    cache=CACHE,
    atomics=st.sampled_from(["cache", "home", "cache-or-home"]),
).map(with_its_cache)
SWITCH = keys(
    port_bandwidth=SPEEDS,
    port_delay=time(0, 30),
    switching_time=time(0, 30),
    forwarding=st.sampled_from(["cut-through", "store-and-forward"]),
    queueing=st.sampled_from(["output", "voq", "fifo"]),
)


@st.composite
def duplex(draw: st.DrawFn) -> Spec:
    """Full duplex, or half with a turnaround."""
    if draw(st.booleans()):
        return {}
    return {"duplex": "half", "turnaround": draw(time(0, 5))}


@st.composite
def links(draw: st.DrawFn, credits: bool) -> Spec:
    """The parameters of a link."""
    link = {
        **draw(duplex()),
        **draw(
            keys(bandwidth=SPEEDS, delay=time(0, 30), port_delay=time(0, 30), header=BYTES, data_header=BYTES)
        ),
    }
    if credits and draw(st.booleans()):
        link["credits"] = draw(st.integers(1, 5))
        link |= draw(keys(virtual_channels=st.integers(1, 4)))
    reverse = draw(keys(delay=time(0, 30)))
    if "duplex" not in link:
        reverse |= draw(keys(bandwidth=SPEEDS))
    return {**link, "reverse": reverse} if reverse else link


@st.composite
def hubs(draw: st.DrawFn) -> Spec:
    """A bus, a root port or a switch."""
    kind = draw(st.integers(0, 7))
    if kind == 2:
        port = keys(
            depth=st.integers(1, 9),
            rate=st.sampled_from(["20M/s", "300M/s"]),
            pass_time=time(0, 9),
            port_delay=time(0, 9),
        )
        return {"kind": "root-port", **draw(port)}
    if kind < 2:
        return {
            "kind": "bus",
            **draw(duplex()),
            **draw(
                keys(
                    bandwidth=SPEEDS,
                    bus_time=time(0, 5),
                    header=BYTES,
                    data_header=BYTES,
                    port_delay=time(0, 9),
                )
            ),
        }
    switch = {"kind": "switch", **draw(SWITCH)}
    if switch.get("queueing", "output") != "output":
        weighted = {"kind": "weighted", "weights": draw(st.sampled_from([{}, {"host0": 3}, {"acc0": 7}]))}
        switch["arbitration"] = draw(st.sampled_from(["round-robin", "age", weighted]))
    return switch


@st.composite
def works(draw: st.DrawFn) -> Spec:
    """What a requester does: at most a few hundred requests."""
    kind = draw(st.sampled_from(["sequential", "strided", "random", "hot-cold", "zipf", "pointer-chase"]))
    work = {
        "pattern": kind,
        "requests": draw(st.integers(1, 200)),
        "reads": draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
        "footprint": draw(st.sampled_from(["8KiB", "64KiB", "1MiB"])),
        "size": draw(st.sampled_from(["64B", "64B", "8B", "32B"])),
    }
    if draw(st.integers(0, 4)) == 0:
        work["atomics"] = draw(st.sampled_from([0.2, 1.0]))
    if draw(st.integers(0, 2)) == 0:
        work |= {
            "rate": draw(st.sampled_from(["5M/s", "60M/s"])),
            "arrivals": draw(st.sampled_from(["fixed", "poisson"])),
        }
    return work


@st.composite
def interleaved(draw: st.DrawFn, targets: list[str]) -> Spec:
    """A region over all of these."""
    region: Spec = {"to": targets, "interleave": draw(st.sampled_from(["256B", "1KiB"]))}
    if len(targets) not in CXL_WAYS or draw(st.booleans()):
        region |= {"policy": "weighted", "weights": [draw(st.integers(1, 3)) for _ in targets]}
    return region


def split_memories(draw: st.DrawFn, targets: dict[str, Spec]) -> list[Spec]:
    """Cuts the memories among these into logical devices, and gives the regions."""
    memories = [name for name, device in targets.items() if device["kind"] == "memory"]
    count = draw(st.integers(1, 3))
    capacities = [draw(st.sampled_from(["8KiB", "64KiB", "4MiB"])) for _ in range(count - 1)] + ["4MiB"]
    for name in memories:
        device = targets[name]
        for key in ("read_buffer", "write_buffer", "posted_writes"):
            device.pop(key, None)
        parts = keys(
            bandwidth_limit=st.sampled_from(["100MB/s", "1.3GB/s"]),
            queue=st.integers(1, 9),
            **({"allocated_bandwidth": st.integers(1, 256)} if "queue" in device else {}),
        )
        device["logical_devices"] = [{"capacity": capacity, **draw(parts)} for capacity in capacities]
    regions = [{**draw(interleaved(memories)), "ld": ld} for ld in range(count)]
    others = [name for name in targets if name not in memories]
    return [*regions, draw(interleaved(others))] if others else regions


def report_loads(draw: st.DrawFn, devices: dict[str, Spec]) -> None:
    """Lets some memories say how loaded they are, and some requesters go by it."""
    for device in devices.values():
        if device["kind"] == "memory" and draw(st.booleans()):
            device["qos"] = draw(QOS)
        if device["kind"] in ("host", "accelerator") and draw(st.booleans()):
            device["throttle"] = draw(THROTTLE)


@st.composite
def systems(draw: st.DrawFn) -> Spec:
    """A tree or a mesh of buses and switches with requesters and memories on it."""
    credits = draw(st.booleans())
    names = [f"hub{i}" for i in range(draw(st.integers(1, 5)))]
    devices = {name: draw(hubs()) for name in names}
    between = [[names[draw(st.integers(0, i - 1))], names[i]] for i in range(1, len(names))]
    for _ in range(draw(st.integers(0, 3)) if len(names) > 2 else 0):
        a, b = draw(st.permutations(names))[:2]
        if [a, b] not in between and [b, a] not in between:
            between.append([a, b])
    workload = {}
    targets = []
    for i in range(draw(st.integers(1, 3))):
        accelerator = draw(st.integers(0, 2)) == 0
        name = f"acc{i}" if accelerator else f"host{i}"
        devices[name] = {"kind": "accelerator" if accelerator else "host", **draw(REQUESTER)}
        if accelerator and draw(st.booleans()):
            devices[name]["memory"] = {"capacity": "16MiB", **draw(MEMORY)}
            targets.append(name)
        workload[name] = draw(works())
        if "core" in devices[name]:  # it makes accesses as soon as it can
            for key in ("rate", "arrivals"):
                workload[name].pop(key, None)
    for i in range(draw(st.integers(1, 3))):
        targets.append(f"mem{i}")
        devices[f"mem{i}"] = {"kind": "memory", "capacity": "16MiB", **draw(MEMORY)}
    for name, device in devices.items():
        if name not in names:
            # Memories have one port; others may have several.
            most = 1 if device["kind"] == "memory" else min(2, len(names))
            between += [[name, hub] for hub in draw(st.permutations(names))[: draw(st.integers(1, most))]]
    for hub in names:  # Weights name devices that are there.
        arbitration = devices[hub].get("arbitration")
        if isinstance(arbitration, dict):
            arbitration["weights"] = {
                who: weight for who, weight in arbitration["weights"].items() if who in devices
            }
    if draw(st.integers(0, 2)) == 0:
        report_loads(draw, devices)
    if draw(st.integers(0, 3)) == 0:
        regions = split_memories(draw, {name: devices[name] for name in targets})
    else:
        regions = [draw(interleaved(targets))]
    return {
        "devices": devices,
        "links": [{"between": ends, **draw(links(credits))} for ends in between],
        "address_map": regions,
        "workload": workload,
        "run": {
            "warmup": draw(st.integers(0, 30)),
            "seed": draw(st.integers(1, 99)),
            "routing": draw(st.sampled_from(ROUTING)),
            "route_by": draw(st.sampled_from(["hops", "latency", "up-down"])),
        },
        "outputs": {"requests": True, "series": "100ns"},
    }


def may_deadlock(spec: Spec) -> bool:
    """Whether buffers can wait for each other in a circle, as the channel dependency graph of the routes says."""
    return bool(_core.check(spec, {})["deadlock"]["possible"])
