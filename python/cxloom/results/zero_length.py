"""Measured windows without a length: nothing has a rate in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def why_no_length(summary: Mapping[str, Any]) -> str | None:
    """Why the window of a summary, in which requests completed, has no length; None if it has one.

    Requests that took time, too, may all complete at the instant at which it opens (docs/model/results.md).
    """
    if summary["simulated_time_ns"] > 0:
        return None
    if not summary["latency_ns"]["max"]:
        return "no request that was measured takes any time"
    return "all requests that were measured completed at the instant at which the window opened"
