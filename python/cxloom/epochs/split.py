"""The error of the split in two time scales: a small copy of a study, by epochs and line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cxloom import _core
from cxloom.epochs.scaled import Spec, scaled
from cxloom.running.run import run
from cxloom.system.system import System

PAGES = 1024
"""Pages of the copy, about (own choice: as many as a scan of lines goes through in milliseconds)."""
ACCESSES = 200_000
"""Accesses of the copy at most (own choice: a second of lines)."""
_LONGEST = "3000s"
COUNTS = (
    "faults",
    "protected_pages",
    "scanned_pages",
    "samples",
    "shootdowns",
    "promoted_bytes",
    "demoted_bytes",
)


def checked(
    spec: Mapping[str, Any], found: Mapping[str, Any], params: Mapping[str, Any], accesses: int
) -> dict[str, Any]:
    """A small copy of a study at both levels: what each gives, and how far they are apart.

    Args:
        spec: the resolved spec of the study.
        found: what the study has found.
        params: its window and tolerance.
        accesses: of the copy at most.
    """
    device = found["device"]
    factor = max(1, found["footprint_bytes"] // found["page_bytes"] // PAGES)
    small = scaled(spec, device, found["page_bytes"], factor)
    work = small["workload"][device]
    work["requests"] = max(1, min(accesses, round(found["accesses"] / factor)))
    small["run"] = {**small.get("run", {}), "warmup": 0}
    small["run"].pop("warmup_time", None)
    lines = by_lines(small, device)
    epochs = by_epochs(small, params)
    return {
        "factor": factor,
        "footprint_bytes": epochs["footprint_bytes"],
        "accesses": work["requests"],
        "lines": lines,
        "epochs": {key: epochs[key] for key in lines},
        "difference": {key: difference(epochs[key], lines[key]) for key in lines if key != "pages"}
        | {"pages": moved_apart(epochs["pages"], lines["pages"])},
    }


def by_lines(spec: Spec, device: str) -> dict[str, Any]:
    """What a run of lines says, in the words of a study."""
    summary = run(System.from_yaml(json.dumps(spec))).summary
    own: Mapping[str, Any] = summary["per_requester"][device]
    done: Mapping[str, Any] = own["tiering"]
    return {
        "time_s": summary["simulated_time_ns"] / 1e9,
        **{key: done[key] for key in COUNTS},
        "pages_moved": own["pages_moved"],
        "pages_not_moved": own["pages_not_moved"],
        "pages": dict(own["pages"]),
    }


def by_epochs(spec: Spec, params: Mapping[str, Any]) -> dict[str, Any]:
    """What epochs say of all accesses of a spec."""
    study = _core.PageStudy(
        System.from_yaml(json.dumps(spec)).resolve().lean(), {**params, "duration": _LONGEST}
    )
    while not study.advance(1_000_000):
        pass
    return study.result()


def difference(epochs: float, lines: float) -> float | None:
    """By epochs, how much more, as a share of what lines give; None where lines give none and epochs some."""
    if lines:
        return epochs / lines - 1
    return None if epochs else 0.0


def moved_apart(epochs: Mapping[str, int], lines: Mapping[str, int]) -> float:
    """The share of all pages that are in another node at the end, at least."""
    whole = sum(lines.values())
    return sum(abs(epochs.get(name, 0) - lines[name]) for name in lines) / 2 / whole if whole else 0.0
