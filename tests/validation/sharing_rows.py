"""The parameters of sharing in software in the table: memory types, stores past the caches, protocols."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from validation.systems import Run, Spec, changed, rows, run
from validation.turns import DIFFERS, FALLS, RISES, Turn, bandwidth, highest, latency, lowest

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


def flushes(outcome: Run) -> int:
    """How many of the requests."""
    return int(outcome.summary.get("flushes", 0))


def operation(outcome: Run) -> float:
    """Mean time of an operation."""
    return float(outcome.summary["per_requester"]["host"]["large_access_ns"])


def followed(outcome: Run) -> int:
    """How much is said of stores: nothing where nobody asks."""
    return len(outcome.summary.get("sharing", {}))


def with_another(spec: Spec, feeds: Any) -> Run:
    """Plays it with a second host like the first."""
    spec = copy.deepcopy(spec)
    spec["devices"]["other"] = spec["devices"]["host"]
    spec["devices"]["mem"]["heads"] = 2
    spec["links"].append({"between": ["other", "mem"]})
    spec["workload"]["other"] = spec["workload"]["host"]
    return run(spec, feeds)


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
    lock = alone({"pattern": "share", "size": "1KiB", "requests": 8})
    name = "patterns.share"
    yield Turn(f"{name}.base", lock, f"{at}.base", ("0x0", "0x400000"), RISES, lowest)
    yield Turn(f"{name}.size", lock, f"{at}.size", ("256B", "4KiB"), RISES, highest)
    yield Turn(f"{name}.flush", lock, f"{at}.flush", ("clflushopt", "clflush"), RISES, operation)
    yield Turn(f"{name}.drop", lock, f"{at}.drop", (True, False), FALLS, flushes)
    yield Turn(f"{name}.stores", lock, f"{at}.stores", ("cached", "non-temporal"), RISES, past)
    both = changed(lock, (f"{at}.requests", 4))
    protocols = ("lock", "publish")
    yield Turn(
        f"{name}.protocol",
        both,
        f"{at}.protocol",
        protocols,
        DIFFERS,
        lambda outcome: outcome.summary.get("atomics", 0),
        play=with_another,
    )
