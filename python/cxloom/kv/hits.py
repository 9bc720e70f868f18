"""What requests find in a KV cache, without servers and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cxloom import _core
from cxloom.kv.requests import Requests


def hits(
    requests: Requests,
    tiers: Sequence[Mapping[str, Any]],
    *,
    model: str | Mapping[str, Any] | None = None,
    inclusion: str = "inclusive",
    writes: str | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """Plays requests one after the other: each finds the longest prefix that is there, and has all of its blocks then.

    Args:
        requests: of a trace, or drawn.
        tiers: maps with ``name``, ``blocks`` or ``capacity``, and ``policy``, the nearest tier first.
        model: says what a block takes, for capacities in bytes.
        inclusion: "inclusive", or "exclusive".
        writes: "through" or "back", of inclusive tiers; by default through.
        seed: for policies that draw.

    Returns ``hit_blocks``, ``hit_tokens``, their shares, and the same of each tier with what went into it.
    Raises InputError for tiers that cannot be.
    """
    params: dict[str, Any] = {"tiers": [dict(tier) for tier in tiers], "inclusion": inclusion, "seed": seed}
    if model is not None:
        params["model"] = model
    if writes is not None:
        params["writes"] = writes
    found: dict[str, Any] = _core.kv_hits(params, requests.core)
    return found
