"""The parameters of I/O engines, and of those that answer them, in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Spec, changed
from validation.turns import FALLS, RISES, Measure, Turn, bandwidth


def beside_io(**engine: Any) -> Spec:
    """Writes of a host to a memory, by a switch that an I/O engine uses too."""
    devices: Spec = {
        "host": {"kind": "host"},
        "mem": {"kind": "memory"},
        "acc": {"kind": "accelerator"},
        "home": {"kind": "dcoh"},
        "sw": {"kind": "switch", "queueing": "voq", "port_bandwidth": "16GB/s"},
        "nic": {"kind": "io-engine", "target": "mem", **engine},
    }
    return {
        "devices": devices,
        "links": [{"between": [name, "sw"]} for name in devices if name != "sw"],
        "address_map": [{"to": ["mem"]}],
        "workload": {"host": {"pattern": "random", "reads": 0.0, "requests": 2000, "footprint": "1MiB"}},
    }


def packets(measure: str) -> Measure:
    """A measure of the I/O engine `nic`."""
    return lambda outcome: float(outcome.summary["per_io"]["nic"][measure])


def io_rows() -> Iterator[Turn]:
    """I/O engines, and the time of those that answer them."""
    at, name = "devices.nic", "devices.io-engine"
    writes, reads = beside_io(rate="4GB/s"), beside_io(traffic="dma-read", outstanding=4)
    count, speed = packets("packets"), packets("bandwidth_gb_per_s")
    delay = lambda outcome: outcome.summary["per_io"]["nic"]["latency_ns"]["mean"]  # noqa: E731
    yield Turn(f"{name}.target", writes, f"{at}.target", ("mem", "host"), RISES, bandwidth)
    yield Turn(f"{name}.traffic", writes, f"{at}.traffic", ("dma-write", "dma-read"), RISES, delay)
    yield Turn(f"{name}.rate", writes, f"{at}.rate", ("1GB/s", "8GB/s"), FALLS, bandwidth)
    yield Turn(f"{name}.size", reads, f"{at}.size", ("64B", "4096B"), RISES, speed)
    yield Turn(f"{name}.outstanding", reads, f"{at}.outstanding", (1, 4), RISES, speed)
    yield Turn(f"{name}.start", writes, f"{at}.start", ("0us", "2us"), FALLS, count)
    yield Turn(f"{name}.stop", writes, f"{at}.stop", ("2us", "4us"), RISES, count)
    targets = ("host", "host"), ("memory", "mem"), ("accelerator", "acc"), ("dcoh", "home")
    for kind, target in targets:
        asking = changed(reads, (f"{at}.target", target))
        path, times = f"devices.{target}.io_time", ("50ns", "500ns")
        yield Turn(f"devices.{kind}.io_time", asking, path, times, RISES, delay)
