"""The parameters of sharing in software in the table: memory types, stores past the caches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, rows
from validation.turns import RISES, Turn, bandwidth, latency

from cxloom import _core


def alone(work: Spec, region: Spec | None = None, kind: str = "host", **host: Any) -> Spec:
    """A host or accelerator with a cache before a memory."""
    cache = {"size": "64KiB", "ways": 8}
    return rows(
        {
            "devices": {"host": {"kind": kind, "cache": cache, **host}, "mem": {"kind": "memory"}},
            "links": [{"between": ["host", "mem"], "port_delay": "25ns"}],
            "address_map": [{"to": ["mem"], **(region or {})}],
            "workload": {"host": {"requests": 500, **work}},
        }
    )


def past(outcome: Run) -> int:
    """Lines that combining buffers wrote."""
    host = outcome.summary["per_requester"]["host"]
    return int(host.get("combined_full", 0) + host.get("combined_partial", 0))


def followed(outcome: Run) -> int:
    """How much is said of stores: nothing where nobody asks."""
    return len(outcome.summary.get("sharing", {}))


def sharing_rows() -> Iterator[Turn]:
    """All of them."""
    at = "workload.host"
    writes: Spec = {"pattern": "sequential", "reads": 0.0, "footprint": "1MiB"}
    for kind in ("host", "accelerator"):
        stores = alone(writes, {"type": "wc"}, kind)
        yield Turn(
            f"devices.{kind}.combining_buffers",
            stores,
            "devices.host.combining_buffers",
            (1, 16),
            RISES,
            bandwidth,
        )
    for kind in _core.declarations()["patterns"]:
        if kind in ("sequential", "strided", "random", "hot-cold", "zipf", "pointer-chase", "cycle"):
            base = alone({"pattern": kind, "reads": 0.5, "footprint": "1MiB"})
            yield Turn(
                f"patterns.{kind}.stores", base, f"{at}.stores", ("cached", "non-temporal"), RISES, past
            )
    reads = alone({"pattern": "random", "footprint": "4KiB"})
    yield Turn("region.type", reads, "address_map.0.type", ("wb", "uc"), RISES, latency)
    yield Turn("outputs.sharing", reads, "outputs.sharing", (False, True), RISES, followed)
