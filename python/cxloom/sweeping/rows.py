"""The points of a sweep as rows of a table: a file of CSV, Parquet or YAML, or a list in Python.

The columns are paths. A cell that is empty, or an entry that is not there, leaves what the spec says.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence

from cxloom.base.errors import InputError, reason_of
from cxloom.base.filenames import content_of
from cxloom.spec.node import Node, Origin, described, from_plain
from cxloom.spec.reader import compose, file_text, read_value
from cxloom.sweeping.space import Setting, node_of

_FORMS = ".csv, .parquet, .yaml or .yml"


def given(points: object, named: bool = True) -> list[Setting]:
    """The settings of a list of maps in Python. Raises InputError.

    Errors name the point of a value, unless nobody knows of points: `named` is false.
    """
    allowed = 'a list of maps such as {"devices.host.queue": 8}'
    if isinstance(points, (str, bytes, Mapping)) or not isinstance(points, Iterable):
        raise InputError("not a list of points", found=described(points), allowed=allowed, path="points")
    settings: list[Setting] = []
    for index, point in enumerate(points):
        if not isinstance(point, Mapping) or not all(isinstance(path, str) for path in point):
            found = described(point)
            raise InputError("not a point", found=found, allowed="values by path", path=f"points[{index}]")
        note = f"from points[{index}]" if named else ""
        settings.append({path: node_of(path, value, note) for path, value in point.items()})
    return _checked(settings, None)


def read(path: str) -> list[Setting]:
    """The settings in a file, whose name says what it is. Raises InputError, with file and line."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".csv":
        return _checked(_of_csv(path), path)
    if suffix == ".parquet":
        return _checked(_of_parquet(path), path)
    if suffix in (".yaml", ".yml"):
        return _checked(_of_yaml(path), path)
    raise InputError("not a table of points", found=f"a name in '{suffix}'", allowed=_FORMS, file=path)


def _of_csv(path: str) -> list[Setting]:
    reader = csv.reader(
        file_text(path, "a CSV file").splitlines(keepends=True), strict=True, skipinitialspace=True
    )
    settings: list[Setting] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        for column, name in enumerate(header):
            if not name or name in header[:column]:
                problem = "a column twice" if name else "a column without a name"
                raise InputError(problem, found=f"'{name}'", allowed="a path for each", file=path, line=1)
        for cells in reader:
            if not cells:
                continue  # an empty line
            if len(cells) != len(header):
                found, allowed = f"{len(cells)} cells", f"{len(header)}, as in the first line"
                raise InputError(
                    "a row of another length", found=found, allowed=allowed, file=path, line=reader.line_num
                )
            place = Origin(file=path, line=reader.line_num, column=1)
            filled = {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip()}
            settings.append({name: read_value(cell, place.below(name)) for name, cell in filled.items()})
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=path, line=reader.line_num) from None
    return settings


def _of_parquet(path: str) -> list[Setting]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(content_of(path)))
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", file=path) from None
    except pa.ArrowException as error:
        raise InputError(f"not Parquet: {str(error).splitlines()[0]}", file=path) from None
    settings: list[Setting] = []
    for number, row in enumerate(table.to_pylist(), 1):
        place = Origin(file=path, column=0, note=f"row {number}")
        filled = {name: value for name, value in row.items() if value is not None}
        settings.append({name: from_plain(value, place.below(name)) for name, value in filled.items()})
    return settings


def _of_yaml(path: str) -> list[Setting]:
    top = compose(file_text(path), lambda line, column: Origin(file=path, line=line, column=column))
    if top is None or not isinstance(top.value, list):
        found = "nothing" if top is None else described(top.value)
        raise InputError("not a list of points", found=found, allowed="- {devices.host.queue: 8}", file=path)
    return [{name: _at(node, name) for name, node in point.map().items()} for point in top.value]


def _at(node: Node, path: str) -> Node:
    """A value as one that is set at a path, wherever it stands in a file of points."""
    place = Origin(node.origin.file, node.origin.line, node.origin.column, path)
    return from_plain(node.plain(), place)


def _checked(settings: Sequence[Setting], path: str | None) -> list[Setting]:
    if not settings:
        raise InputError("no points", allowed="at least one", file=path, path="" if path else "points")
    for number, setting in enumerate(settings, 1):
        if not setting:
            raise InputError("a point that sets nothing", found=f"point {number}", file=path)
    return list(settings)
