"""A handful of systems that between them use everything: for properties that must hold everywhere."""

from __future__ import annotations

from validation.systems import Spec, changed, generated, host_and_memory, host_bus_memories

_WORK = {"reads": 0.6, "requests": 3000}
_CACHE = {"size": "16KiB", "access_time": "4ns"}

_CURVE = [
    {"reads": 0.0, "bandwidth": "1GB/s", "latency": "120.3ns"},
    {"reads": 0.0, "bandwidth": "5GB/s", "latency": "300ns"},
    {"reads": 1.0, "bandwidth": "2GB/s", "latency": "90ns"},
    {"reads": 1.0, "bandwidth": "10.1GB/s", "latency": "250ns"},
]


def _peers() -> Spec:
    """Accelerators and a host that use each other's memory, through switches with credits."""
    switch = {"kind": "switch", "queueing": "voq", "arbitration": "age"}
    memory = {
        "capacity": "1GiB",
        "queue": 8,
        "media": {"kind": "fixed", "latency": "30ns", "write_latency": "70ns"},
    }
    return {
        "devices": {
            "host": {"kind": "host", "cache": _CACHE},
            "sw0": switch,
            "sw1": switch,
            "acc0": {"kind": "accelerator", "memory": memory},
            "acc1": {"kind": "accelerator", "memory": memory, "cache": _CACHE, "queue": 200},
            "mem": {
                "kind": "memory",
                "capacity": "1GiB",
                "media": {"kind": "fixed", "latency": "45ns", "banks": 4},
            },
        },
        "links": [
            {"between": ends, "bandwidth": "16GB/s", "credits": 4, "delay": "3ns"}
            for ends in (["host", "sw0"], ["sw0", "sw1"], ["sw0", "acc0"], ["sw1", "acc1"], ["sw1", "mem"])
        ],
        "address_map": [
            {"to": ["acc0", "acc1", "mem"], "size": "768KiB"},
            {"to": ["mem", "acc0"], "interleave": "1KiB"},
        ],
        "workload": {
            "host": {"pattern": "zipf", "footprint": "1MiB", **_WORK},
            "acc0": {
                "pattern": "hot-cold",
                "footprint": "1MiB",
                "rate": "40M/s",
                "arrivals": "poisson",
                **_WORK,
            },
            "acc1": {
                "requests": 3000,
                "phases": [
                    {
                        "pattern": "strided",
                        "stride": "4KiB",
                        "footprint": "1MiB",
                        "requests": 100,
                        "reads": 0.5,
                    },
                    {"pattern": "pointer-chase", "footprint": "256KiB", "requests": 50},
                ],
            },
        },
        "run": {"warmup": 300},
    }


VARIED: dict[str, Spec] = {
    "direct": host_and_memory({"bandwidth": "12.3GB/s"}, work=_WORK, warmup=200),
    "sizes": host_and_memory({"bandwidth": "12.3GB/s"}, work={**_WORK, "size": "200B"}, warmup=200),
    "bus": host_bus_memories({"bandwidth": "20GB/s"}, work=_WORK, warmup=200),
    "half-duplex bus": host_bus_memories(
        {"bandwidth": "20GB/s", "duplex": "half", "turnaround": "3ns"}, work=_WORK
    ),
    "half-duplex link": host_and_memory(
        {"bandwidth": "20GB/s", "duplex": "half", "turnaround": "3ns", "credits": 6}, work=_WORK
    ),
    "cached": host_bus_memories(
        {"bandwidth": "20GB/s"}, host={"cache": _CACHE}, work={**_WORK, "footprint": "64KiB"}, warmup=500
    ),
    "prefetching": host_bus_memories(
        {"bandwidth": "20GB/s"},
        host={"cache": {**_CACHE, "prefetch": "next-line"}, "queue": 8},
        work={**_WORK, "pattern": "zipf", "footprint": "64KiB"},
        warmup=500,
    ),
    "store-and-forward ring": generated(
        "ring",
        {**_WORK, "footprint": "16MiB"},
        {"warmup": 100, "routing": "random"},
        switches=6,
        placement="paired",
        switch={"kind": "switch", "forwarding": "store-and-forward", "port_bandwidth": "16GB/s"},
    ),
    "fifo mesh": generated(
        "mesh",
        {**_WORK, "footprint": "16MiB"},
        {"warmup": 100, "routing": "flow-hash"},
        size=[3, 2],
        placement="paired",
        switch={"kind": "switch", "queueing": "fifo", "port_bandwidth": "16GB/s"},
    ),
    "voq tree with credits": generated(
        "tree",
        {**_WORK, "footprint": "16MiB"},
        {"warmup": 100},
        leaves=8,
        switch={"kind": "switch", "queueing": "voq"},
        link={"bandwidth": "16GB/s", "credits": 3},
        edge_link={"bandwidth": "16GB/s", "credits": 2},
    ),
    "peers": _peers(),
    "non-volatile": host_and_memory(
        {"bandwidth": "12.3GB/s"},
        {"queue": 40, "media": {"kind": "nvm", "preset": "optane-dcpmm", "write_buffer": 8, "hold": 4}},
        work={**_WORK, "size": "200B", "footprint": "1MiB"},
        warmup=200,
    ),
    "flash": host_and_memory(
        {"bandwidth": "12.3GB/s"},
        {
            "queue": 40,
            "capacity": "1MiB",
            "media": {"kind": "flash", "preset": "z-nand", "channels": 2, "pages": 4, "hold": 4},
        },
        work={**_WORK, "size": "200B", "footprint": "1MiB"},
        warmup=200,
    ),
    "DRAM": host_and_memory(
        {"bandwidth": "12.3GB/s"},
        {
            "queue": 40,
            "media": {"kind": "dram", "preset": "DDR5-4800", "write_queue": 8, "power_down": "200ns"},
        },
        work={**_WORK, "size": "200B", "footprint": "1GiB"},
        warmup=200,
    ),
    "posted writes": host_and_memory(
        {"bandwidth": "12.3GB/s", "credits": 8},
        {
            "read_buffer": 12,
            "write_buffer": 6,
            "posted_writes": True,
            "media": {
                "kind": "dram",
                "preset": "DDR4-3200",
                "device_width": "x4",
                "stack": 4,
                "ecc_width": 8,
            },
        },
        work={**_WORK, "size": "200B", "footprint": "1MiB"},
        warmup=200,
    ),
    "measured curve": host_and_memory(
        {"bandwidth": "12.3GB/s"},
        {"media": {"kind": "curve", "points": _CURVE}},
        work={**_WORK, "rate": "60M/s", "arrivals": "poisson"},
        warmup=200,
    ),
}
VARIED = {
    name: changed(spec, ("outputs.requests", True), ("outputs.series", "500ns"))
    for name, spec in VARIED.items()
}
