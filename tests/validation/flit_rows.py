"""Turns of the parameters of links with a physical layer: flits, errors, integrity checks, link faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed, host_and_memory
from validation.turns import DIFFERS, FALLS, RISES, Measure, Turn, bandwidth, latency, worst


def flits(way: str, key: str) -> Measure:
    """What the flits of a direction carried, by its key in the result."""
    return lambda outcome: outcome.directions()[way]["flits"][key]


def flits_of(kind: str) -> Measure:
    """Flits of a kind, both directions."""
    return lambda outcome: sum(way["flits"]["flits"].get(kind, 0) for way in outcome.directions().values())


def slots_of(kind: str) -> Measure:
    """Slots of a kind on the way to the memory."""
    return lambda outcome: outcome.directions()["host->mem"]["flits"]["slots"].get(kind, 0.0)


def errors(outcome: Run) -> int:
    """Flits sent again, both directions."""
    return sum(way["flits"]["errors"] for way in outcome.directions().values())


def failed(outcome: Run) -> int:
    """Requests answered with an error."""
    return int(outcome.summary["errors"]["requests"])


def blocked(kind: str) -> Measure:
    """Time in which a class waited for credits on the way to the memory."""
    return lambda outcome: outcome.directions()["host->mem"]["credit_blocked_ns_by_class"].get(kind, 0.0)


def system(reads: float = 0.5, **link: Any) -> Spec:
    """A host and a memory, and a link that is full."""
    spec = host_and_memory(
        {"phy": "pcie5-x4", **link},
        host={"queue": 256},
        work={"requests": 4000, "reads": reads, "footprint": "1MiB"},
    )
    spec["outputs"] = {"requests": True}
    return spec


def flit_rows() -> Iterator[Turn]:
    """The rows."""
    base, at = system(), "links.0"

    def turn(
        key: str, values: tuple[Any, Any], effect: Any, measure: Measure, spec: Spec = base, **more: Any
    ) -> Turn:
        return Turn(f"link.{key}", spec, f"{at}.{key}", values, effect, measure, **more)

    yield turn("phy", ("pcie5-x4", "pcie5-x8"), RISES, bandwidth)
    yield turn("phy", ("pcie4-x4", "pcie5-x4"), RISES, bandwidth)
    yield turn("sync_header_bypass", (False, True), RISES, bandwidth)
    yield turn(
        "flit", ("68B", "256B"), RISES, bandwidth, system(1.0)
    )  # 52.7 and 53.2 GB/s on x16: docs/model/flit.md
    yield turn("flit", ("256B", "256B-pbr"), FALLS, bandwidth, system(1.0))
    table = {"M2S Req": 512}, {"M2S Req": 4}
    yield turn("credits", table, FALLS, bandwidth, system(delay="50ns"))
    yield turn("credits", table, RISES, blocked("M2S Req"), system(delay="50ns"))
    yield turn("errors", ({}, {"every": 10}), RISES, errors)
    yield turn("errors.every", (100, 10), FALLS, bandwidth)
    yield turn("errors.bit_error_rate", (1e-6, 1e-4), RISES, errors)
    yield turn("errors.bit_error_rate", (0.0, 1e-4), FALLS, bandwidth)
    yield turn("ide", ({}, {"mode": "skid"}), RISES, slots_of("mac"))
    yield turn("ide.mode", ("off", "skid"), FALLS, bandwidth)
    one_by_one = system(1.0)
    one_by_one["devices"]["host"]["queue"] = 1
    yield turn("flit", ("256B", "256B-lo"), FALLS, latency, one_by_one)
    yield turn("ide.mode", ("skid", "containment"), RISES, latency, one_by_one)
    yield turn("retimers", (0, 2), RISES, latency, one_by_one)
    retimed = changed(one_by_one, (f"{at}.retimers", 1))
    yield turn("retimer_delay", ("10ns", "30ns"), RISES, latency, retimed)
    # A pair of devices keeps to one of two links, but for a bundle's.
    two = changed(system(flit="256B", count=2), ("devices.mem.heads", 2), ("run", {"routing": "flow-hash"}))
    yield turn("bundle", (False, True), RISES, bandwidth, two)
    checked = system(ide={"mode": "skid"})
    yield turn("ide.aggregation", (2, 10), RISES, bandwidth, checked)
    down = system(outage={"at": "2us"})
    yield turn("outage", ({}, {"at": "2us"}), RISES, worst)
    yield turn("outage.at", (..., "2us"), FALLS, bandwidth)
    yield turn("outage.length", ("1us", "5us"), RISES, worst, down)
    yield turn("outage.fail", (False, True), RISES, failed, down)
    slow = {"at": "2us", "phy": "pcie5-x1"}
    yield turn("degraded", ({}, slow), FALLS, bandwidth)
    yield turn("degraded.at", ("10us", "1us"), FALLS, bandwidth, system(degraded=slow))
    yield turn("degraded.phy", ("pcie5-x2", "pcie5-x1"), FALLS, bandwidth, system(degraded=slow))
    # A retry takes flits of link control, and with 68B more of them.
    yield turn("flit", ("256B", "68B"), RISES, flits_of("control"), system(errors={"every": 10}))
    yield turn("flit", ("256B", "68B"), DIFFERS, flits("host->mem", "slots"))
