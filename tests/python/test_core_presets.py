"""The cores of shipped servers: what they have under way, at random and in sequence."""

from __future__ import annotations

from typing import Any

import pytest

import cxloom as cx
from cxloom.spec import presets

NAMES = [name for name in presets.names() if name.startswith(("server/", "char/"))]


def one_thread(preset: str, pattern: str) -> dict[str, Any]:
    """What one core of the preset gets of its nearest memory, without the caches that cores share."""
    system = cx.load(preset)
    devices = system.resolve().plain()["devices"]
    host = next(name for name, device in devices.items() if device["kind"] == "host")
    near = next(name for name, device in devices.items() if device["kind"] == "memory")
    system.set(f"devices.{host}.cache", None).set("run.warmup", 2000)
    work = {"pattern": pattern, "requests": 12_000, "footprint": "1GiB"}
    work["addresses"] = {"kind": "bind", "nodes": [near]}
    system.set("workload", {host: work})
    core: dict[str, Any] = devices[host]["core"]
    found: dict[str, Any] = cx.run(system).summary["per_requester"][host]
    return {**found, "core": core}


@pytest.mark.parametrize("preset", NAMES)
def test_reads_without_a_pattern_have_the_fill_buffers_alone(preset: str) -> None:
    """Nothing is asked for ahead: a line would be that of another in 1 GiB, and be thrown away."""
    found = one_thread(preset, "random")
    assert found["in_flight_mean"] == pytest.approx(found["core"]["fill_buffers"], rel=0.01)


@pytest.mark.parametrize("preset", NAMES)
def test_prefetches_of_a_stream_fill_what_the_second_level_has_more(preset: str) -> None:
    found = one_thread(preset, "sequential")
    assert found["in_flight_mean"] == pytest.approx(found["core"]["mshrs"], rel=0.02)
    # As form 1 of the characterisation has it, by Little.
    assert found["bandwidth_gb_per_s"] == pytest.approx(
        64 * found["core"]["mshrs"] / found["latency_ns"]["mean"], rel=0.02
    )
