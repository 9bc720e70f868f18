"""A mean or a share of nothing is null in results, and no zero: an idle part is not one that does badly, or well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import cxloom as cx

SPEC = """\
devices:
  busy: {kind: host, throttle: {rate: 2GB/s}}
  idle: {kind: host}
  sw: {kind: switch}
  bus: {kind: bus, bandwidth: 10GB/s}
  used: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
  far: {kind: memory, capacity: 1GiB, qos: LOAD, media: {kind: fixed, latency: 45ns}}
  mld:
    kind: memory
    qos: LOAD
    logical_devices: [{capacity: 1GiB, host: busy}, {capacity: 1GiB}]
    media: {kind: fixed, latency: 45ns}
links:
  - {between: [busy, sw]}
  - {between: [sw, used]}
  - {between: [sw, mld]}
  - {between: [idle, bus]}
  - {between: [bus, sw]}
  - {between: [sw, far], phy: pcie5-x8, flit: 256B}
address_map: [{to: used}, {to: far}, {to: mld, ld: 0}, {to: mld, ld: 1}]
workload: {busy: {pattern: sequential, requests: 50, footprint: 1MiB}}
""".replace("LOAD", "{optimal: 4, moderate: 8, severe: 16}")
OF_SAMPLES = {"efficiency", "wait_ns", "devload_mean"}
"""Means over samples and shares of a count. Means over time are those of an idle time, and rates of a window: zero."""


def leaves(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value with its path."""
    for key, value in values.items():
        if hasattr(value, "items"):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def means(summary: Any) -> dict[str, Any]:
    """What is a mean over samples, by path."""
    return {
        ".".join(path): value
        for path, value in leaves(summary)
        if path[-1] in OF_SAMPLES or "byte_shares" in path
    }


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """The means of a run in which one host uses one memory."""
    return means(cx.run(cx.System.from_yaml(SPEC)).summary)


def test_means_of_nothing_are_null(found: dict[str, Any]) -> None:
    used = ("per_link.busy-sw.", "per_link.sw-used.", "per_requester.")
    idle = {path: value for path, value in found.items() if not path.startswith(used)}
    assert len(idle) > 20
    assert {path for path, value in idle.items() if value is not None} == set()
    for path in (
        "per_memory.far.devload_mean",
        "per_memory.mld.logical_devices.0.wait_ns",
        "per_switch.bus.efficiency",
        "per_link.sw-far.far->sw.flits.byte_shares.data",
    ):
        assert path in idle


def test_means_of_something_are_numbers(found: dict[str, Any]) -> None:
    assert found["per_link.sw-used.used->sw.efficiency"] > 0.5
    assert found["per_link.sw-used.sw->used.efficiency"] == 0, "requests of reads have no payload"
    assert found["per_requester.busy.throttle.used.devload_mean"] == 0, "of answers that say no load"
    summary = cx.run(cx.System.from_yaml(SPEC).set("workload.busy.base", "2GiB")).summary
    assert summary["per_memory"]["mld"]["logical_devices"]["0"]["wait_ns"] >= 0
    assert summary["per_memory"]["mld"]["devload_mean"] is not None
    assert summary["per_link"]["sw-used"]["sw->used"]["efficiency"] is None
