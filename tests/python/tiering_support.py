"""A host whose pages move between a near and a far memory, and what it did, for tests of tiering."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

import cxloom as cx

PAGE, LINES = 4096, 64
NEAR, FAR = 45.0, 245.0  # ns of a line, unloaded: 45 of the media, and 100 of the link each way
FAULT, UNMAP, SHOOTDOWN, INTERRUPT = 1000.0, 1000.0, 2000.0, 500.0  # ns, the defaults
FREE = {"protect": "0ns", "interrupt": "0ns"}
POLICY = {"kind": "promote-on-fault", "period": "10us", "scan": "4KiB"}


def system(work: dict[str, Any], tiering: Any = POLICY, **more: Any) -> cx.System:
    """A host whose pages are in the far memory at first, and move."""
    if tiering:
        work = {**work, "tiering": tiering, "kernel": more.pop("kernel", {})}
    return cx.System.from_yaml(json.dumps(as_written(work, more.pop("near", "1MiB"), **more)))


def as_written(work: dict[str, Any], capacity: str, **more: Any) -> dict[str, Any]:
    """A near and a far memory of fixed latency behind links without a bandwidth. Pages begin far."""
    host: dict[str, Any] = {"kind": "host", "process_time": "0ns", "queue": 1, **more.pop("host", {})}
    memory = {"kind": "memory", "controller_time": "0ns", "capacity": "1MiB"}
    memory["media"] = {"kind": "fixed", "latency": "45ns", "bandwidth": "unlimited"}
    near = {**memory, "capacity": capacity}
    work = {"addresses": {"kind": "preferred", "nodes": ["far"]}, **work}
    if "trace" not in work:
        work.setdefault("footprint", "64KiB")
    return {
        "devices": {"host": host, "near": near, "far": memory},
        "links": [{"between": ["host", "near"]}, {"between": ["host", "far"], "delay": "100ns"}],
        "address_map": [{"to": "near"}, {"to": "far"}],
        "workload": {"host": work},
        "run": {"warmup": 0},
        **more,
    }


def rows(result: cx.Result) -> pl.DataFrame:
    """The requests, in the order in which they were made, with times in ns."""
    times = {name: pl.col(f"{name}_ps") / 1000 for name in ("created", "completed", "process")}
    frame = result.requests().sort("id").with_columns(**times)
    return frame.with_columns(latency=(pl.col("completed") - pl.col("created")).round(3))


def of_host(result: cx.Result) -> dict[str, Any]:
    found: dict[str, Any] = result.summary["per_requester"]["host"]
    return found
