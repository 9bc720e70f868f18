"""The shipped expanders: published latencies without load, and buffers that bound them under load."""

from __future__ import annotations

import pytest

import cxloom as cx

PUBLISHED = {"expander/asic-ddr5": 284, "expander/fpga-ddr4": 375}  # ns, reads without load; CXL-DMSim
PLACES = {"expander/asic-ddr5": 48, "expander/fpga-ddr4": 36}
PRESETS = sorted(PUBLISHED)


def short(preset: str, requests: int = 4000) -> cx.System:
    """The preset as it ships, with fewer requests."""
    return cx.load(preset).set("workload.host.requests", requests).set("run.warmup", requests // 5)


@pytest.mark.parametrize("preset", PRESETS)
def test_an_unloaded_read_takes_its_published_time(preset: str) -> None:
    system = short(preset, 2000).set("devices.host.queue", 1).set("workload.host.reads", 1.0)
    assert cx.run(system).latency.mean == pytest.approx(PUBLISHED[preset], rel=0.01)


@pytest.mark.parametrize("preset", PRESETS)
def test_posting_takes_the_media_off_an_unloaded_write(preset: str) -> None:
    # Both write the same bytes; posted, the answer does not wait for the place in the DRAM's queue nor its data.
    system = short(preset, 500).set("devices.host.queue", 1).set("workload.host.reads", 0.0)
    posted = cx.run(system)
    assert posted.breakdown["media"] == 0
    system.set("devices.cxl.posted_writes", False).set("devices.cxl.media.posted_writes", False)
    waited = cx.run(system)
    assert waited.latency.mean - posted.latency.mean == pytest.approx(
        waited.breakdown["media"] + waited.breakdown["media_queue"], abs=0.01
    )
    assert waited.breakdown["media"] > 20


@pytest.mark.parametrize("preset", PRESETS)
def test_saturated_it_is_as_deep_as_its_buffers(preset: str) -> None:
    result = cx.run(short(preset, 8000).set("workload.host.reads", 1.0))
    memory = result["per_memory"]["cxl"]
    places = PLACES[preset]
    assert memory["read_places_max"] == places
    assert memory["read_places_mean"] == pytest.approx(places, rel=0.01)
    # Little's law: the time in the device, waiting for a place left out, is the buffer over the rate.
    rate = result["requests"] / result["simulated_time_ns"]
    in_device = sum(result.breakdown[part] for part in ("controller", "media_queue", "media"))
    waiting = in_device - places / rate
    assert (
        0 <= waiting <= (128 - places) / rate
    )  # in the receive buffers: one for each credit beyond the places


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("reads", [1.0, 0.67, 0.0])
def test_deeper_buffers_never_make_it_slower(preset: str, reads: float) -> None:
    before = 0.0
    for places in (4, 8, 16, 32, 64, 128):
        system = short(preset, 3000).set("workload.host.reads", reads)
        system.set("devices.cxl.read_buffer", places).set("devices.cxl.write_buffer", places)
        now = cx.run(system)["bandwidth_gb_per_s"]
        assert now >= 0.98 * before, f"{places} places"
        before = now


@pytest.mark.parametrize("preset", PRESETS)
def test_posted_or_not_writes_saturate_alike(preset: str) -> None:
    system = short(preset, 12000).set("workload.host.reads", 0.0)
    posted = cx.run(system)
    waited = cx.run(system.set("devices.cxl.posted_writes", False))
    assert posted["bandwidth_gb_per_s"] == pytest.approx(waited["bandwidth_gb_per_s"], rel=0.03)
    # What was answered reaches the DRAM.
    memory = posted["per_memory"]["cxl"]
    assert memory["media_write_gb_per_s"] == pytest.approx(memory["write_gb_per_s"], rel=0.05)
