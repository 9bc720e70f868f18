"""Random small systems whose memory is kept coherent: by agents of the memories, one agent for several, or a host."""

from __future__ import annotations

from hypothesis import strategies as st
from validation.prefetchers import PREFETCHER
from validation.random_systems import keys, time
from validation.systems import Spec

POLICIES = ["lru", "fifo", "lifo", "mru", "random", "lfi", "srrip", "clock", "2q", "longest-block"]


@st.composite
def filters(draw: st.DrawFn, blocks: bool) -> Spec:
    """A filter that is full most of the time."""
    ways = draw(st.sampled_from([0, 0, 1, 2, 4]))
    entries = draw(st.integers(4, 40)) if ways == 0 else ways * draw(st.integers(2, 16))
    drawn: Spec = {"entries": entries, "ways": ways}
    if ways != 1:
        drawn["policy"] = draw(st.sampled_from(POLICIES if blocks else POLICIES[:-1]))
    if blocks and draw(st.integers(0, 2)) == 0:
        drawn |= {"block": draw(st.integers(2, 4)), "alignment": "free"}
    return drawn


@st.composite
def agents(draw: st.DrawFn, blocks: bool = True) -> Spec:
    """The parameters of a home of coherent lines."""
    times = keys(lookup_time=time(0, 20), lookup_interval=time(0, 5), transactions=st.integers(1, 8))
    return {**draw(times), "filter": draw(filters(blocks))}


@st.composite
def caches(draw: st.DrawFn) -> Spec:
    """A cache of a few lines, with levels behind it or none."""
    cache: Spec = {
        "size": f"{64 * draw(st.sampled_from([1, 4, 16, 64]))}B",
        "ways": 0,
        **draw(
            keys(
                access_time=time(0, 12),
                mshrs=st.integers(1, 4),
                fill_time=time(0, 5),
                clear_time=time(0, 20),
                atomic_time=time(0, 60),
                write_allocate=st.just(False),
                read_state=st.just("shared"),
                clean_evictions=st.just("notified"),
                prefetch=PREFETCHER,
            )
        ),
    }
    if draw(st.integers(0, 3)) == 0:
        cache["levels"] = [
            {
                "size": f"{64 * draw(st.sampled_from([4, 32, 128]))}B",
                "ways": 0,
                "access_time": draw(time(0, 20)),
                "inclusive": draw(st.booleans()),
            }
            for _ in range(draw(st.integers(1, 2)))
        ]
    return cache


@st.composite
def coherent_systems(draw: st.DrawFn) -> Spec:
    """Some requesters, most of them with caches, around a switch or a bus, and homes of all three kinds."""
    kind = draw(st.sampled_from(["own", "own", "apart", "host"]))
    devices: Spec = {"hub": {"kind": draw(st.sampled_from(["switch", "bus"]))}}
    workload: Spec = {}
    alone = draw(st.integers(0, 3)) == 0
    for i in range(1 if alone else draw(st.integers(1, 4))):
        requester: Spec = {
            "kind": "host" if kind == "host" and i == 0 else draw(st.sampled_from(["host", "accelerator"])),
            **draw(keys(process_time=time(0, 20), queue=st.integers(1, 16))),
        }
        if draw(st.integers(0, 5)) > 0:
            requester["cache"] = draw(caches())
            if draw(st.booleans()):
                requester["atomics"] = draw(st.sampled_from(["cache", "home", "cache-or-home"]))
        devices[f"h{i}"] = requester
        workload[f"h{i}"] = {
            "pattern": draw(st.sampled_from(["random", "sequential", "zipf"])),
            "requests": draw(st.integers(20, 300)),
            "reads": draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
            "footprint": draw(st.sampled_from(["256B", "1KiB", "8KiB"])),
            "size": draw(st.sampled_from(["64B", "64B", "8B"])),
            "atomics": draw(st.sampled_from([0.0, 0.0, 0.3, 1.0])),
        }
    memories = [f"mem{i}" for i in range(draw(st.integers(1, 3)))]
    for name in memories:
        media = {"kind": "fixed", **draw(keys(latency=time(0, 60), write_latency=time(0, 60)))}
        devices[name] = {"kind": "memory", "capacity": "1MiB", "media": media}
        if kind == "own":
            devices[name]["dcoh"] = draw(agents())
    region: Spec = {"to": memories, "interleave": "256B", "policy": "weighted", "coherence": "hdm-db"}
    if kind == "apart":
        devices["home"] = {"kind": "dcoh", **draw(agents())}
        region["home"] = "home"
    if kind == "host":
        devices["h0"]["home_agent"] = draw(agents(blocks=False))
        region |= {"coherence": "hdm-h", "home": "h0"}
    return {
        "devices": devices,
        "links": [{"between": [n, "hub"], "port_delay": draw(time(0, 30))} for n in devices if n != "hub"],
        "address_map": [region],
        "workload": workload,
        "run": {"warmup": 0 if alone else draw(st.integers(0, 30)), "seed": draw(st.integers(1, 99))},
        "outputs": {"requests": True},
    }
