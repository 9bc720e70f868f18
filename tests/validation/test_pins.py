"""The latency targets at the pins, as the preset `cxl/pins-x16-64` has them."""

from __future__ import annotations

import pytest

import cxloom as cx

FLIT = 256 / 128  # ns: x16 at 64 GT/s


@pytest.mark.parametrize(("reads", "target"), [(1.0, 80.0), (0.0, 40.0)])
def test_idle_accesses_take_what_the_specification_asks_for(reads: float, target: float) -> None:
    system = cx.System.from_yaml("preset: cxl/pins-x16-64\n")
    for path, value in {
        "devices.host.queue": 1,  # idle: one at a time
        "workload.host.reads": reads,
        "workload.host.requests": 100,
        "run.warmup": 0,
    }.items():
        system = system.set(path, value)
    summary = cx.run(system)
    latency, parts = summary["latency_ns"], summary["breakdown_ns"]
    assert latency["min"] == latency["max"]
    # Half of the ports are the host's. Between the last bit of the request and the first of the answer no flit counts.
    assert latency["mean"] - 2 * FLIT - parts["port_delay"] / 2 == pytest.approx(target, abs=1e-9)
    assert parts["port_delay"] / 2 + parts["controller"] + parts["media"] == pytest.approx(target, abs=1e-9)
    assert parts["serialization"] == pytest.approx(2 * FLIT, abs=1e-9)
