"""The parameters of GPUs, and of the copies that they make, in the table."""

from __future__ import annotations

from collections.abc import Iterator

from validation.systems import Run, Spec, changed, run
from validation.test_dma import LAUNCH, behind, copy_time, machine
from validation.turns import DIFFERS, FALLS, RISES, Turn, addresses, bandwidth, highest, latency, lowest

from cxloom.base.errors import InputError


def accepted(spec: Spec, feeds: object = None) -> Run | None:
    """None: it is refused."""
    try:
        return run(spec)
    except InputError:
        return None


def is_accepted(outcome: Run | None) -> bool:
    """A number that rises."""
    return outcome is not None


def writes(outcome: Run) -> int:
    """DMA requests that write."""
    return int(outcome.summary["writes"])


def total(outcome: Run) -> float:
    """Time of all copies."""
    return float(outcome.summary["simulated_time_ns"])


def copies(outcome: Run) -> list[int]:
    """Where the first requests go."""
    return [int(address) for address in addresses(outcome)[:400]]


def two_hosts() -> Spec:
    """The memory is that of one of two hosts."""
    spec = machine({"size": "64KiB"})
    spec["devices"]["far"] = {"kind": "host", "io_time": "900ns"}
    spec["devices"]["sw"] = {"kind": "switch"}
    spec["devices"]["mem"] = {"kind": "memory", "capacity": "4GiB"}
    spec["devices"]["host"].pop("memory")
    spec["links"] = [{"between": [end, "sw"]} for end in ("host", "far", "mem", "gpu")]
    spec["address_map"] = [{"to": ["mem"]}]
    return spec


def dma_rows() -> Iterator[Turn]:
    """GPUs, and the pattern of their copies."""
    at, name = "devices.gpu", "devices.gpu"
    small = machine({"direction": "in", "size": "64KiB"})
    outwards = changed(small, ("workload.gpu.direction", "out"))
    fast = machine({"direction": "in", "size": "256KiB"}, 1000.0, launch_time="0ns")
    fast_out = changed(fast, ("workload.gpu.direction", "out"), (f"{at}.posted", 1024))
    yield Turn(f"{name}.host", two_hosts(), f"{at}.host", ("host", "far"), RISES, copy_time)
    by_host = changed(behind(small, True), (f"{at}.peer_to_peer", False))
    yield Turn(f"{name}.peer_to_peer", by_host, f"{at}.peer_to_peer", (False, True), FALLS, latency)
    yield Turn(f"{name}.streams", small, f"{at}.streams", (1, 2), FALLS, total)
    yield Turn(f"{name}.queue", small, f"{at}.queue", (1, 4), FALLS, total)
    yield Turn(f"{name}.launch_time", small, f"{at}.launch_time", ("1us", f"{LAUNCH:g}ns"), RISES, copy_time)
    yield Turn(f"{name}.max_payload", outwards, f"{at}.max_payload", ("128B", "512B"), FALLS, copy_time)
    few = changed(fast, (f"{at}.tags", 4))
    yield Turn(f"{name}.max_read_request", few, f"{at}.max_read_request", ("128B", "512B"), FALLS, copy_time)
    yield Turn(f"{name}.completion", small, f"{at}.completion", ("64B", "256B"), FALLS, copy_time)
    yield Turn(f"{name}.tags", fast, f"{at}.tags", (4, 16), FALLS, copy_time)
    yield Turn(f"{name}.posted", fast_out, f"{at}.posted", (4, 16), FALLS, copy_time)
    lines = f"{at}.lines_at_completer"
    yield Turn(f"{name}.lines_at_completer", fast, lines, (8, 256), FALLS, copy_time)
    # Beside `hbm` itself its parts: a slow memory is slower than a fast one.
    slow = {"bandwidth": "1GB/s"}
    yield Turn(f"{name}.hbm", small, f"{at}.hbm", (..., slow), RISES, copy_time)
    yield Turn(f"{name}.hbm.bandwidth", small, f"{at}.hbm.bandwidth", ("600GB/s", "1GB/s"), RISES, copy_time)
    yield Turn(f"{name}.hbm.latency", small, f"{at}.hbm.latency", ("0ns", "2us"), RISES, copy_time)
    yield Turn(
        f"{name}.hbm.capacity",
        small,
        f"{at}.hbm.capacity",
        ("4KiB", "1MiB"),
        RISES,
        is_accepted,
        play=accepted,
    )
    wire = {"between": ["host", "gpu"], "phy": "pcie4-x16", "flit": "none"}
    of_pcie = changed(small, ("links", [wire]))
    yield Turn("link.link_layer", of_pcie, "links.0.link_layer", (0.0, 0.3), RISES, copy_time)
    at, name = "workload.gpu", "patterns.transfer"
    small["outputs"] = {"requests": True}
    yield Turn(f"{name}.direction", small, f"{at}.direction", ("in", "out"), RISES, writes)
    yield Turn(f"{name}.size", small, f"{at}.size", ("16KiB", "256KiB"), RISES, bandwidth)
    yield Turn(f"{name}.footprint", small, f"{at}.footprint", ("64KiB", "1MiB"), RISES, highest)
    yield Turn(f"{name}.base", small, f"{at}.base", ("0x0", "0x400000"), RISES, lowest)
    yield Turn(f"{name}.order", small, f"{at}.order", ("sequential", "random"), DIFFERS, copies)
