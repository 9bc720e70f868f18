"""Recordings over time, as curves: the busiest links, the longest queues, and what the nearest node answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cxloom.base.buses import buses, ways_of
from cxloom.base.errors import InputError
from cxloom.base.words import direction_name
from cxloom.display.numbers import duration
from cxloom.results.result import Result

if TYPE_CHECKING:
    import polars as pl

    from cxloom.base.summary import Summary

_MOST = 6
"""Curves in a plot."""
_POINTS = 1500
"""Points of a curve: of longer ones means of so many parts."""
_SCALES = {"ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}


@dataclass(frozen=True, slots=True)
class Series:
    """A plot of something over time."""

    key: str
    title: str
    unit: str
    time_unit: str
    curves: Mapping[str, tuple[list[float], list[float]]]


def series_of(result: Result) -> list[Series]:
    """How busy links and buses were, what waited, and what nearest nodes answered of tiered programs.

    Raises InputError for a table that cannot be read.
    """
    if "series" not in result.tables:
        return []
    import polars as pl

    table = result.tables["series"]
    file = table if isinstance(table, Path) else None
    try:
        frame = rows_of(result).select(
            pl.col("name").cast(pl.String),
            "time_ps",
            pl.col("utilization", "turnaround", "queue").cast(pl.Float64),
        )
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(
            "not a table of series: it is no Parquet, cut off, or of something else", file=file
        ) from None
    if not len(frame):
        return []
    longest = float(frame["time_ps"].max() or 0) / 1000  # type: ignore[arg-type]
    unit = duration(longest).split()[1]
    found = []
    # A share has no queue: that of a program's accesses which its nearest node answered.
    shares = pl.col("queue").is_null().all().over("name")
    for key, of, column, title, y, scale in (
        ("busy", ~shares, "utilization", "The busiest links and buses", "busy (%)", 100.0),
        ("queues", ~shares, "queue", "The longest queues", "waiting, or in a memory", 1.0),
        (
            "nearest",
            shares,
            "utilization",
            "Accesses that the nearest node answered",
            "of memory's (%)",
            100.0,
        ),
    ):
        rows = frame.filter(of).drop_nulls(column)
        if key == "busy":
            rows = busy_of_wires(rows, result.summary)
        order = (
            rows.group_by("name")
            .agg(pl.col(column).mean())
            .filter(pl.col(column) > 0)
            .sort(column, "name", descending=[True, False])
        )
        curves = {
            name: _curve(rows.filter(pl.col("name") == name).sort("time_ps"), column, scale, _SCALES[unit])
            for name in order["name"].head(_MOST)
        }
        if curves:
            found.append(Series(key, title, y, unit, curves))
    return found


def rows_of(result: Result) -> pl.DataFrame:
    """What was recorded over time, those of earlier results with the columns of today's."""
    import polars as pl

    rows = result.series().rename({"link": "name"}, strict=False)
    if "turnaround" in rows.columns:
        return rows
    return rows.with_columns(pl.lit(None, pl.Float64).alias("turnaround"))


def busy_of_wires(rows: pl.DataFrame, summary: Summary) -> pl.DataFrame:
    """Rows of `rows_of` with their `utilization`, one wire of half duplex for both of its directions.

    Each direction has its own share of the wire; together with `turnaround`, which is the same in both, they are what
    is taken of it, as in the tables of the run. Earlier results lack the time of turning.
    """
    import polars as pl

    wires = {
        direction_name(link, name): link
        for link, ways in summary["per_link"].items()
        for name, values in ways.items()
        if "turnaround" in values
    }
    for name, bus in buses(summary).items():
        if "turnaround" in bus:
            wires |= {f"{name} {way.name}": name for way in ways_of(bus)}
    if not wires:
        return rows
    return (
        rows.with_columns(pl.col("name").replace(wires))
        .group_by("name", "time_ps", maintain_order=True)
        .agg((pl.col("utilization").sum() + pl.col("turnaround").max().fill_null(0)).clip(0, 1))
    )


def _curve(rows: object, column: str, scale: float, time: float) -> tuple[list[float], list[float]]:
    import polars as pl

    assert isinstance(rows, pl.DataFrame)
    if len(rows) > _POINTS:
        part = pl.int_range(pl.len()) * _POINTS // pl.len()
        rows = rows.group_by(part.alias("part"), maintain_order=True).agg(pl.col("time_ps", column).mean())
    return (rows["time_ps"] / time).round(6).to_list(), (rows[column] * scale).round(5).to_list()
