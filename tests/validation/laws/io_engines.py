"""Laws of I/O engines."""

from __future__ import annotations

import numpy as np
from validation.laws import law
from validation.laws.look import Look
from validation.laws.requests import PART
from validation.systems import Spec


def engine(look: Look, name: str) -> Spec:
    """Its measures."""
    measures: Spec = look.summary["per_io"][name]
    return measures


@law("per_io.*.packets", "per_io.*.bandwidth_gb_per_s")
def packets(look: Look, value: float, name: str) -> None:
    measures, device = engine(look, name), look.device(name)
    size = 4 if device["traffic"] == "config-read" else int(device.get("size", "256B").removesuffix("B"))
    look.equal(measures["bandwidth_gb_per_s"] * look.length, float(measures["packets"] * size))
    # What it is paced at, and what was under way when the window opened.
    limit = float(device.get("rate", "1000GB/s").removesuffix("GB/s"))
    if look.path[-1] == "packets":
        look.within(value, 0, limit * look.length / size + 40)


@law("per_io.*.in_flight_mean")
def io_in_flight(look: Look, value: float, name: str) -> None:
    measures = engine(look, name)
    # Little's law but for the packets under way when the window opens and closes.
    took = measures["packets"] * (measures["latency_ns"]["mean"] or 0.0)
    early = 500 * (measures["latency_ns"]["max"] or 0.0)
    look.within(value * look.length, max(0.0, took - early), took + 500 * look.length)


@law("per_io.*.latency_ns.*")
def io_latency(look: Look, value: float | None, name: str, key: str) -> None:
    latencies = engine(look, name)["latency_ns"]
    order = [latencies[each] for each in ("min", "p50", "p90", "p99", "p999", "max")]
    if engine(look, name)["packets"] == 0:
        return look.equal(value, None)
    assert order == sorted(order)
    look.within(latencies["mean"], latencies["min"], latencies["max"])
    if engine(look, name)["packets"] == 1:
        look.equal(value, latencies["max"], rel=PART)
    return None


@law("per_io.*.breakdown_ns.*")
def io_breakdown(look: Look, value: float | None, name: str, segment: str) -> None:
    measures = engine(look, name)
    parts = list(measures["breakdown_ns"].values())
    if measures["packets"] == 0:
        return look.equal(value, None)
    return look.equal(float(np.sum(parts)), measures["latency_ns"]["mean"])
