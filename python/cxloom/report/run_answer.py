"""What a page of a run opens with: how fast, how long, and what is full, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cxloom.base.errors import InputError
from cxloom.bottleneck.resources import cause
from cxloom.bottleneck.shared_limits import all_resources
from cxloom.display.numbers import significant
from cxloom.spec.resolved import Resolved

if TYPE_CHECKING:
    from cxloom.base.summary import Summary

_NAMED = 2
"""Parts of the latency that are named."""


def answer_of_run(spec: Resolved, summary: Summary) -> str:
    """The sentence; nothing without requests.

    What is full last on a request's way is what limits, as far as one run tells: ``cxloom explain`` tries more of each.
    Without the plug-ins or files of the system nothing is said of what is full.
    """
    if not summary["requests"]:
        return ""
    parts = sorted(summary["breakdown_ns"].items(), key=lambda part: -part[1])[:_NAMED]
    named = " and ".join(
        f"{significant(value)} ns of {name.replace('_', ' ')}" for name, value in parts if value
    )
    rate = f"{significant(summary['bandwidth_gb_per_s'])} GB/s at {significant(summary['latency_ns']['mean'])} ns"
    said = f"{rate} on average, mostly {named}" if named else f"{rate} on average"
    try:
        full = cause(all_resources(spec.plain(), summary))
    except InputError:
        return f"{said}."
    if full is None:
        return f"{said}. Nothing is full."
    return f"{said}. Full last on a request's way: {full.name} ({full.level})."
