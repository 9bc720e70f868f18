"""Curves in tables: the CSV files of `curve` media, and what `cxloom measure loaded --out FILE.csv` writes."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from cxloom.base.errors import InputError
from cxloom.curves.points import Point

_BANDWIDTH, _LATENCY, _READS = "bandwidth_gb_per_s", "latency_ns", "reads"


def read_table(text: str, file: str, reads: float | None = None) -> list[Point]:
    """The points of a table with columns `bandwidth_gb_per_s` and `latency_ns`, in any order, and others beside them.

    Args:
        text: the table, of CSV, or of TSV if its header has a tab. ``#`` begins a comment.
        file: its name, for errors.
        reads: the share of reads of the load where there is no column `reads`; 1 by default.

    Raises InputError for a header without these columns, and for a row that has no such numbers.
    """
    lines = [(number, line.partition("#")[0]) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line.strip()]
    header = lines[0][1] if lines else ""
    columns = _cells(header, header)
    if _BANDWIDTH not in columns or _LATENCY not in columns:
        raise InputError(
            "no table of a curve",
            found=f"'{header.strip()[:60]}'",
            allowed=f"a header with {_BANDWIDTH} and {_LATENCY}, or the output of mlc --loaded_latency",
            file=file,
            line=lines[0][0] if lines else 1,
        )
    points = [_point(columns, _cells(line, header), file, number, reads) for number, line in lines[1:]]
    if not points:
        raise InputError("a table without rows", allowed="two loads or more", file=file)
    return points


def _cells(line: str, header: str) -> list[str]:
    (row,) = csv.reader([line], delimiter="\t" if "\t" in header else ",")
    return [cell.strip() for cell in row]


def _point(columns: Sequence[str], cells: Sequence[str], file: str, line: int, reads: float | None) -> Point:
    row = dict(zip(columns, cells, strict=False))
    share = row.get(_READS, "")
    try:
        point = Point(
            (1.0 if reads is None else reads) if not share else _share(share),
            float(row.get(_BANDWIDTH, "")),
            float(row.get(_LATENCY, "").removesuffix("ns")),
            line,
        )
    except ValueError:
        point = Point(-1, 0, 0, line)
    if not (0 <= point.reads <= 1 and point.bandwidth_gb_per_s > 0 and point.latency_ns > 0):
        raise InputError(
            "not a point of a curve",
            found=f"'{', '.join(cells)}'",
            allowed="a share of reads, GB/s above 0 and ns above 0",
            file=file,
            line=line,
        )
    return point


def _share(text: str) -> float:
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
