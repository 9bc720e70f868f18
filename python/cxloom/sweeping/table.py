"""The table of a sweep, a row for each point: derived from the store, so it can be made again at any time.

The same points give the same bytes of Parquet, whoever ran them in whatever order. What a run cost is in the store.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cxloom.base.temporary import written_whole
from cxloom.sweeping.plan import Point
from cxloom.sweeping.store import Record

if TYPE_CHECKING:
    import pyarrow as pa

RESULTS = "results.parquet"
STATUS = ("key", "status", "error")
"""The columns between what is set and what was measured."""

Columns: TypeAlias = dict[str, list[Any]]
ERRORS = "errors.requests"
"""The column of requests that were answered without data."""

NOTES_APART = " | "
"""Between the notes of a run, which are one column."""

_INTERVAL = "ci95"
"""How the names of pairs end that are two columns."""
_ENDS = ("low", "high")


def columns_of(
    points: Sequence[Point], records: Iterable[Record | None], more: Sequence[str] = ()
) -> Columns:
    """Each point's settings, status and measures: all numbers that are not of one component.

    Args:
        points: in the order of the rows.
        records: of each point; None where it has not been run. They are not kept: of large systems each is large.
        more: further measures, as paths with stars: ``per_memory.*.queue_mean``.
    """
    axes = list(dict.fromkeys(path for point in points for path in point.at))
    table: Columns = {path: _set_at(points, path) for path in axes}
    table |= {name: [] for name in STATUS}
    measures: list[dict[str, Any]] = []
    for point, record in zip(points, records, strict=True):
        cells = (point.key, _status(point, record), point.error or (record.error if record else None))
        for name, cell in zip(STATUS, cells, strict=True):
            table[name].append(cell)
        measures.append(_measures(record.summary, more) if record and record.summary else {})
    for name in dict.fromkeys(itertools.chain.from_iterable(measures)):
        table[name] = [each.get(name) for each in measures]
    return table


def notes_in(columns: Columns) -> list[list[str]]:
    """The notes of each point."""
    return [note.split(NOTES_APART) if note else [] for note in columns.get("notes", ())]


def arrow(columns: Columns) -> pa.Table:
    """The columns, each of one type: whole numbers, numbers, true or false, or text; JSON where kinds differ."""
    import pyarrow as pa  # which takes as long to load as many a point to run

    return pa.table({name: _typed(pa, values) for name, values in columns.items()})


def write(path: Path, columns: Columns) -> None:
    """Stores a table as Parquet. Raises OSError."""
    import pyarrow.parquet as pq

    table = arrow(columns)
    with written_whole(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _set_at(points: Sequence[Point], path: str) -> list[Any]:
    """The value of each point at a path, None where it sets nothing; there null is a text, as it is something else."""
    if all(path in point.at for point in points):
        return [point.at[path] for point in points]
    return ["null" if path in point.at and point.at[path] is None else point.at.get(path) for point in points]


def _status(point: Point, record: Record | None) -> str:
    if point.error is not None:
        return "refused"
    return "missing" if record is None else record.status


def _measures(summary: Mapping[str, Any], more: Sequence[str]) -> dict[str, Any]:
    """The measures of a summary by their dotted paths."""
    found: dict[str, Any] = {}
    _flatten({key: value for key, value in summary.items() if not key.startswith("per_")}, "", found)
    if more:
        everything: dict[str, Any] = {}
        _flatten(summary, "", everything)
        found |= {
            path: value for path, value in everything.items() if any(is_like(path, wanted) for wanted in more)
        }
    return found


def is_like(path: str, wanted: str) -> bool:
    """Whether a measure is one that is asked for, by its path or with stars in it."""
    return path == wanted or fnmatchcase(path, wanted)


def paths_of(summary: Mapping[str, Any]) -> list[str]:
    """The dotted paths of all measures of a summary."""
    everything: dict[str, Any] = {}
    _flatten(summary, "", everything)
    return list(everything)


def _flatten(values: Mapping[str, Any], prefix: str, found: dict[str, Any]) -> None:
    """Adds the numbers and texts of a map by their dotted paths."""
    for key, value in values.items():
        path = prefix + key
        if isinstance(value, dict):
            _flatten(value, path + ".", found)
        elif key.endswith(_INTERVAL):
            ends = value or [None] * len(_ENDS)
            found.update(zip((f"{path}.{end}" for end in _ENDS), ends, strict=True))
        elif key == "notes":
            found[path] = NOTES_APART.join(value) or None
        elif not isinstance(value, list):
            found[path] = value


def _typed(pa: Any, values: Sequence[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(abs(value) < 1 << 63 for value in values if value is not None):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if kinds == {str}:
        return pa.array(values, pa.string())
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pa.array(texts, pa.string())
