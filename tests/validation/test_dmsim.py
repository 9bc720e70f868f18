"""The CXL-DMSim systems: sums of parts to the picosecond, and slots as Little's law has them."""

from __future__ import annotations

import pytest

import cxloom as cx

PARTS = {  # ns: local memory, and twice bridge 50, host protocol 12, device protocol 15 or 60, switch 100, or socket 35
    "local": 130,
    "remote": 130 + 2 * 35,
    "asic": 130 + 2 * (50 + 12 + 15),
    "fpga": 130 + 2 * (50 + 12 + 60),
    "switch": 130 + 2 * (50 + 12 + 15 + 100),
}
PUBLISHED = {"local": 130, "remote": 200, "asic": 284, "fpga": 375, "switch": 487}
HELD = {"asic": 95, "fpga": 185}  # a device's slot: twice its protocol, and 65 of memory
LINE = 64


def short(preset: str, requests: int = 500) -> cx.System:
    """The preset with fewer requests."""
    return cx.load(f"dmsim/{preset}").set("workload.host.requests", requests)


def loaded(preset: str, **settings: object) -> float:
    """Bandwidth of random reads, GB/s."""
    system = short(preset, 20_000).set("run.warmup", 2000).set("workload.host.pattern", "random")
    for path, value in settings.items():
        system.set(path.replace("__", "."), value)
    return cx.run(system).bandwidth


@pytest.mark.parametrize("preset", PARTS)
def test_an_unloaded_read_takes_the_sum_of_its_parts(preset: str) -> None:
    latency = cx.run(short(preset)).latency
    assert latency.min == latency.mean == latency.max == PARTS[preset]
    assert latency.mean == pytest.approx(PUBLISHED[preset], rel=0.01)


@pytest.mark.parametrize("preset", HELD)
@pytest.mark.parametrize("slots", [16, 36, 48, 96, 128])
@pytest.mark.parametrize("queue", [32, 384])
def test_bandwidth_follows_the_slots(preset: str, slots: int, queue: int) -> None:
    """64 B x min(n / L, slots / T, 128 / (124 + T)): requests in flight, slots of the device, slots of the bridge."""
    time = HELD[preset]
    form = LINE * min(queue / PARTS[preset], slots / time, 128 / (124 + time))
    got = loaded(
        preset,
        devices__cxl__queue=slots,
        devices__host__queue=queue,
        devices__cxl__media__bandwidth="1000GB/s",
    )
    assert got == pytest.approx(form, rel=0.01)


@pytest.mark.parametrize("preset", HELD)
def test_beyond_the_slots_latency_is_what_is_in_flight_over_bandwidth(preset: str) -> None:
    system = short(preset, 20_000).set("run.warmup", 2000).set("workload.host.pattern", "random")
    result = cx.run(system)
    assert result.latency.mean == pytest.approx(384 * LINE / result.bandwidth, rel=0.01)
    assert result["per_memory"]["cxl"]["queue_max"] == {"asic": 48, "fpga": 36}[preset]


@pytest.mark.parametrize("writes", [0.0, 0.5])
def test_a_write_holds_a_slot_too(writes: float) -> None:
    """Its completion is an answer as data are."""
    assert loaded("asic", workload__host__reads=1 - writes) == pytest.approx(LINE * 48 / 95, rel=0.01)


@pytest.mark.parametrize("preset", HELD)
@pytest.mark.parametrize("near", [0, 1, 2, 3, 4])
def test_interleaved_pages_are_as_fast_as_the_memory_that_fills_first(preset: str, near: int) -> None:
    """min(B_local / w, B_far / (1 - w)), where as many are in flight as fill both."""
    far = {"asic": LINE * 48 / 95, "fpga": LINE * 36 / 185}[preset]
    share = near / 4
    form = min(35.2 / share if share else 1e9, far / (1 - share) if share < 1 else 1e9)
    addresses = {"kind": "interleave", "nodes": ["local", "cxl"], "weights": [near, 4 - near]}
    got = loaded(
        preset,
        workload__host__pattern="sequential",  # draws would have shares of their own
        workload__host__addresses=addresses,
        devices__host__queue=384,
        run__warmup=12_000,
    )
    assert got == pytest.approx(form, rel=0.01)
