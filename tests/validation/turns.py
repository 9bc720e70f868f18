"""Turning one parameter of a system, and what is measured of it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from validation.systems import Run, Spec, changed, run

from cxloom import _core

Measure = Callable[[Run], Any]
RISES, FALLS, DIFFERS = operator.gt, operator.lt, operator.ne


@dataclass(frozen=True)
class Turn:
    """Two settings of one parameter, and how the second changes a measure."""

    parameter: str  # as `declared` names it
    base: Spec
    path: str  # in the spec
    values: tuple[Any, Any]
    effect: Callable[[Any, Any], Any]
    measure: Measure
    also: tuple[tuple[str, Any], ...] = ()  # what the second value needs besides
    feeds: Callable[[], Mapping[str, Any]] = dict
    play: Callable[..., Run] = run

    def outcomes(self) -> tuple[Any, Any]:
        """The measure with the first and with the second value."""
        first = changed(self.base, (self.path, self.values[0]))
        second = changed(self.base, (self.path, self.values[1]), *self.also)
        return self.measure(self.play(first, self.feeds())), self.measure(self.play(second, self.feeds()))


def declared() -> Iterator[str]:
    """Every declared parameter: "devices.host.cache.size", "link.reverse.delay", "topologies.ring.switches"."""

    def walk(prefix: str, fields: list[Spec]) -> Iterator[str]:
        for each in fields:
            yield f"{prefix}.{each['name']}"
            yield from walk(f"{prefix}.{each['name']}", each["fields"])

    for group, info in _core.declarations().items():
        if group in ("categories", "sections", "measures", "segments", "tables"):
            continue
        if "fields" in info:
            yield from walk(group, info["fields"])
        else:
            for kind, entry in info.items():
                yield from walk(f"{group}.{kind}", entry["fields"])


# --- measures --------------------------------------------------------------------------------------------------------


def latency(outcome: Run) -> float:
    """Mean latency."""
    return outcome.latency


def worst(outcome: Run) -> float:
    """Largest latency."""
    return float(outcome.summary["latency_ns"]["max"])


def bandwidth(outcome: Run) -> float:
    """Payload over time."""
    return outcome.bandwidth


def hops(outcome: Run) -> float:
    """Links crossed by a request and its answer."""
    return float(outcome.summary["mean_hops"])


def requesters(outcome: Run) -> int:
    """How many there are."""
    return len(outcome.summary["per_requester"])


def memories(outcome: Run) -> int:
    """How many there are."""
    return len(outcome.summary["per_memory"])


def hit_rate(outcome: Run) -> float:
    """The hit rate of the host's cache."""
    return float(outcome.summary["per_requester"]["host"]["cache_hit_rate"])


def served_by(memory: str) -> Measure:
    """Requests that a memory (or an accelerator with memory) answered."""
    return lambda outcome: int((outcome.requests["target"] == outcome.nodes.index(memory)).sum())


def addresses(outcome: Run) -> np.ndarray:
    """In the order of issue."""
    return outcome.requests["address"][np.argsort(outcome.requests["id"])].astype(np.int64)


def highest(outcome: Run) -> int:
    """The highest address."""
    return int(addresses(outcome).max())


def lowest(outcome: Run) -> int:
    """The lowest address."""
    return int(addresses(outcome).min())


def distinct(outcome: Run) -> int:
    """How many different addresses."""
    return len(np.unique(addresses(outcome)))


def of_memory(name: str) -> Measure:
    """A measure of the memory `mem`."""

    def measure(outcome: Run) -> float:
        return float(outcome.summary["per_memory"]["mem"][name])

    return measure
