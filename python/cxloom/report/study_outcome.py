"""The outcome of a study as a file, from which its page is made: ``outcome.json`` beside the table and the pictures.

It holds what people look at: every comparison, the table, the main measures of each point, and of
some points the whole system with its load. The points themselves are in the store of the study.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cxloom._core import __version__
from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import text_of
from cxloom.base.temporary import written_whole
from cxloom.report.study_table import allowed_text, expected_text, measure_text
from cxloom.results.caveats import error_count
from cxloom.results.outdir import OF_STUDY
from cxloom.spec.resolved import Resolved
from cxloom.study.compare import Comparison
from cxloom.study.plots import Plot, Stack
from cxloom.study.runner import Outcome

OUTCOME = OF_STUDY
PAGE = "report.html"
"""The name of a page beside the results that it shows."""
_SCHEMA = 2
_SYSTEMS = 8
"""The most systems that are kept whole."""
_LARGEST = 200
"""Devices of a system that is kept, unless all have more."""
_KEYS = ("title", "points", "comparisons", "table", "plots", "systems", "version")


def write_outcome(outcome: Outcome, directory: Path, command: str = "") -> Path:
    """Writes the outcome into a directory, whole or not at all, and gives the path. Raises OSError.

    `command` is what somebody types to have the same again.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / OUTCOME
    text = json.dumps(plain(outcome, command), separators=(",", ":"), allow_nan=False)
    with written_whole(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    return path


def read_outcome(directory: Path) -> dict[str, Any]:
    """The outcome that `write_outcome` wrote. Raises InputError if it is not there, or not whole."""
    path = directory / OUTCOME
    try:
        found = json.loads(text_of(path))
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=path) from None
    except ValueError:
        raise InputError("not the outcome of a study: it is no JSON, or cut off", file=path) from None
    missing = [key for key in _KEYS if not isinstance(found, dict) or key not in found]
    if missing:
        raise InputError(
            f"not the outcome of a study: no '{missing[0]}'",
            allowed="what `cxloom study run` writes",
            file=path,
        )
    if found.get("schema") != _SCHEMA:
        raise InputError(
            "the outcome is of another version of cxloom", allowed="one that is run again", file=path
        )
    return dict(found)


def plain(outcome: Outcome, command: str = "") -> dict[str, Any]:
    """The outcome as plain data."""
    study = outcome.study
    return {
        "schema": _SCHEMA,
        "version": __version__,
        "title": study.title,
        "source": study.source,
        "about": study.about,
        "explain": study.explain,
        "quick": study.quick,
        "command": command,
        "passed": outcome.passed,
        "axes": list(study.points[0]),
        "points": [
            {"at": point, **_measures(summary)}
            for point, summary in zip(study.points, outcome.summaries, strict=True)
        ],
        "comparisons": [_comparison(comparison) for comparison in outcome.comparisons],
        "table": outcome.table if study.columns else [],
        "plots": {name: asdict(plot) for name, plot in study.plots.items()},
        "systems": _systems(outcome),
    }


def plot_of(plain: Mapping[str, Any]) -> Plot | Stack:
    """A plot of a study from plain data."""
    if "stack" in plain:
        return Stack(**{**plain, "stack": tuple(plain["stack"])})
    return Plot(**plain)


def _measures(summary: Mapping[str, Any]) -> dict[str, Any]:
    keys = (
        "requests",
        "bandwidth_gb_per_s",
        "latency_ns",
        "breakdown_ns",
        "simulated_time_ns",
        "spec_hash",
        "cost",
    )
    return {key: summary.get(key) for key in keys} | {"errors": error_count(summary)}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    expectation = comparison.expectation
    return {
        "at": {
            axis: "all" if axis == expectation.along else value for axis, value in comparison.point.items()
        },
        "measure": measure_text(comparison),
        "simulated": comparison.simulated,
        "expected": expectation.value,
        "expected_text": expected_text(expectation),
        "allowed_text": allowed_text(expectation),
        "least": _finite(expectation.least),
        "most": _finite(expectation.most),
        "deviation": comparison.deviation,
        "passed": comparison.passed,
        "state": comparison.state,
        "published": expectation.published,
        "source": expectation.source,
        "derived": expectation.derived,
        "note": expectation.note,
        "fitted": expectation.fitted,
        "open": expectation.open,
    }


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _systems(outcome: Outcome) -> list[dict[str, Any]]:
    """Systems that differ in devices or links: for each value of the first axis the largest that is legible."""
    study = outcome.study
    systems = [spec for spec in study.specs if isinstance(spec, Resolved)]
    if len(systems) < len(study.specs):
        return []  # of KV caches there is no picture
    graphs = [_graph(spec.lean()) for spec in systems]
    chosen: dict[object, int] = {}
    for index, (point, graph) in enumerate(zip(study.points, graphs, strict=True)):
        key = next(iter(point.values()), "")
        best = chosen.get(key)
        if best is None or _rank(graph) > _rank(graphs[best]):
            chosen[key] = index
    distinct: dict[object, int] = {}
    for index in chosen.values():
        distinct.setdefault(repr(graphs[index]), index)
    return [
        {
            "at": study.points[index],
            "spec": systems[index].plain(),
            "summary": _shown(outcome.summaries[index]),
        }
        for index in list(distinct.values())[:_SYSTEMS]
    ]


def _graph(spec: Mapping[str, Any]) -> tuple[Sequence[str], Sequence[tuple[str, ...]]]:
    return list(spec["devices"]), [tuple(link["between"]) for link in spec["links"]]


def _rank(graph: tuple[Sequence[str], Sequence[object]]) -> float:
    """Larger systems are better, until they are too large."""
    count = len(graph[0])
    return count if count <= _LARGEST else _LARGEST / count


def _shown(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if not key.startswith("by_")}
