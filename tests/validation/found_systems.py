"""Random systems on which a property once failed: tried again each time."""

from __future__ import annotations

from validation.systems import Spec

# Answers and own requests of an accelerator pass a wire without limit, not in the order in which they are handed over.
OUT_OF_ORDER_ON_A_FREE_WIRE: Spec = {
    "devices": {
        "hub0": {"kind": "switch"},
        "hub1": {"kind": "switch"},
        "hub2": {"kind": "bus"},
        "hub3": {"kind": "switch", "port_bandwidth": "2GB/s"},
        "host0": {"kind": "host"},
        "acc1": {
            "kind": "accelerator",
            "queue": 11,
            "process_time": "0ns",
            "cache": {},
            "issue_interval": "8.1ns",
            "memory": {"capacity": "16MiB"},
        },
        "host2": {"kind": "host"},
        "mem0": {"kind": "memory", "capacity": "16MiB"},
        "mem1": {"kind": "memory", "capacity": "16MiB"},
        "mem2": {"kind": "memory", "capacity": "16MiB"},
    },
    "links": [
        {"between": ["hub0", "hub1"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["hub0", "hub2"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["hub0", "hub3"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["hub1", "hub2"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["hub1", "hub3"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["host0", "hub0"], "duplex": "half", "turnaround": "0.1ns"},
        {"between": ["acc1", "hub0"]},
        {"between": ["host2", "hub0"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["mem0", "hub0"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["mem1", "hub0"], "duplex": "half", "turnaround": "0ns"},
        {"between": ["mem2", "hub0"], "duplex": "half", "turnaround": "0ns"},
    ],
    "address_map": [{"to": ["acc1", "mem0", "mem1", "mem2"], "interleave": "256B"}],
    "workload": {
        "host0": {
            "pattern": "sequential",
            "requests": 1,
            "reads": 0.0,
            "footprint": "8KiB",
            "size": "64B",
            "rate": "5M/s",
            "arrivals": "fixed",
        },
        "acc1": {"pattern": "sequential", "requests": 3, "reads": 0.0, "footprint": "64KiB", "size": "64B"},
        "host2": {
            "pattern": "pointer-chase",
            "requests": 22,
            "reads": 1.0,
            "footprint": "1MiB",
            "size": "256B",
            "rate": "60M/s",
            "arrivals": "poisson",
        },
    },
    "run": {"warmup": 12, "seed": 2, "routing": "random", "route_by": "latency"},
    "outputs": {"requests": True, "series": "100ns"},
}

FOUND = [OUT_OF_ORDER_ON_A_FREE_WIRE]
