"""A law for every statistic of a result: what it must be by Little, by utilisation, or by its neighbours.

A law is registered for a path of keys of the summary, in which `*` stands for any name. It gets a `Look` at the run,
the value, and the names. It tells what the value has to be (`equal`), or between what it lies (`within`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import product
from typing import Any

from validation.laws.look import Look
from validation.systems import Run

Law = Callable[..., None]
Path = tuple[str, ...]

LAWS: dict[Path, Law] = {}


def law(*patterns: str, laws: dict[Path, Law] = LAWS) -> Callable[[Law], Law]:
    """Registers a law for the paths that match a pattern such as "per_link.*.*.bytes"."""

    def register(function: Law) -> Law:
        for pattern in patterns:
            path = tuple(pattern.split("."))
            assert path not in laws, f"two laws for {pattern}"
            laws[path] = function
        return function

    return register


def flattened(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every statistic of a summary with its path; a map that is empty is one itself."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flattened(inner, (*path, key))
    else:
        yield path, value


def law_of(path: Path, laws: Mapping[Path, Law] = LAWS) -> tuple[Path, Law, list[str]]:
    """The law for a path: that which names the most of its keys, and the names that it leaves open."""
    found = [pattern for pattern in product(*((key, "*") for key in path)) if pattern in laws]
    if not found:
        raise LookupError(f"no law for the statistic {'.'.join(path)}: register one in tests/validation/laws")
    best = min(found, key=lambda pattern: pattern.count("*"))
    return best, laws[best], [key for p, key in zip(best, path, strict=True) if p == "*"]


def check(outcome: Run, decided: Counter[Path]) -> None:
    """Every statistic of a run by its law. Counts by pattern how often a law said what a value other than 0 must be."""
    look = Look(outcome)
    for path, value in flattened(outcome.summary):
        pattern, statement, names = law_of(path)
        look.path, look.decisive = path, False
        statement(look, value, *names)
        decided[pattern] += look.decisive and bool(value)


for name in (
    "behind",
    "cached",
    "compressed",
    "cores",
    "dram",
    "ecc",
    "failures",
    "io_engines",
    "large",
    "media",
    "memory",
    "persists",
    "prefetch",
    "qos",
    "removals",
    "requests",
    "sparing",
    "tiering",
    "wires",
):
    import_module(f"validation.laws.{name}")  # which registers its laws
