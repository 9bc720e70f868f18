"""The rows of each tool that measures, in each form of table: what is read back is what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cxloom as cx
from cxloom.measure.measurement import gb_per_s

SYSTEM = """\
name: two ways
devices:
  h: {kind: host, queue: 4, process_time: 10ns, cache: {size: 4KiB}}
  o: {kind: host, queue: 4}
  near: {kind: memory, capacity: 1MiB, controller_time: 0ns, media: {kind: fixed, latency: 40ns}}
  far: {kind: memory, controller_time: 5ns, media: {kind: fixed, latency: 40ns}, logical_devices:
    [{capacity: 1MiB, host: h}, {capacity: 1MiB, host: o}]}
  bus: {kind: bus, bus_time: 0ns}
links:
  - {between: [h, bus]}
  - {between: [o, bus]}
  - {between: [near, bus]}
  - {between: [far, bus]}
address_map: [{to: near}, {to: far, ld: 0}, {to: far, ld: 1}]
"""
TOOLS: dict[str, dict[str, Any]] = {
    "latency": {"reads": 20},
    "matrix": {"reads": 20},
    "sizes": {"memories": ["near"], "largest": "8KiB"},
    "loaded": {"memories": ["near"]},
    "bandwidth": {"memories": ["near"]},
    "stream": {"memories": ["near"]},
}


def flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A column for each part of a latency; none is None."""
    parts = [f"breakdown_ns.{part}" for row in rows for part in row.get("breakdown_ns", {})]
    empty = dict.fromkeys([key for row in rows for key in row if key != "breakdown_ns"] + parts)
    return [
        empty
        | {key: value for key, value in row.items() if key != "breakdown_ns"}
        | {f"breakdown_ns.{part}": value for part, value in row.get("breakdown_ns", {}).items()}
        for row in rows
    ]


@pytest.mark.parametrize("tool", TOOLS)
def test_every_table_holds_what_was_measured(tool: str, tmp_path: Path) -> None:
    measured = getattr(cx.measure, tool)(cx.System.from_yaml(SYSTEM), jobs=1, **TOOLS[tool])
    assert measured.rows
    assert pl.read_csv(measured.save(tmp_path / "rows.csv")).to_dicts() == flat(measured.rows)
    assert json.loads(measured.save(tmp_path / "rows.json").read_text())["rows"] == measured.rows
    measured.frame().write_parquet(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").to_dicts() == flat(measured.rows)


def test_where_time_goes_is_a_column_for_each_part(tmp_path: Path) -> None:
    """10 ns in the host, 12 of a look-up of its cache, 40 in the media, and 5 in the controller of one memory; of
    another host's nothing.
    """
    measured = cx.measure.latency(cx.System.from_yaml(SYSTEM), reads=20, jobs=1)
    assert measured.save(tmp_path / "rows.csv").read_text().splitlines() == [
        "requester,memory,latency_ns,least_ns,most_ns,breakdown_ns.process,breakdown_ns.cache,breakdown_ns.media,"
        "breakdown_ns.controller",
        "h,near,62.0,62.0,62.0,10.0,12.0,40.0,",
        "h,far ld 0,67.0,67.0,67.0,10.0,12.0,40.0,5.0",
        "h,far ld 1,,,,,,,",
    ]


def test_memory_that_takes_no_time_has_a_table(tmp_path: Path) -> None:
    """Its latency has no parts at all."""
    system = cx.System.from_yaml(
        "devices:\n"
        "  h: {kind: host, process_time: 0ns}\n"
        "  mem: {kind: memory, capacity: 1MiB, controller_time: 0ns, media: {kind: fixed, latency: 0ns}}\n"
        "links: [{between: [h, mem], port_delay: 0ns}]\n"
        "address_map: [{to: mem}]\n"
    )
    measured = cx.measure.latency(system, reads=20, jobs=1)
    rows = [{"requester": "h", "memory": "mem", "latency_ns": 0.0, "least_ns": 0.0, "most_ns": 0.0}]
    measured.frame().write_parquet(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").to_dicts() == rows
    assert pl.read_csv(measured.save(tmp_path / "rows.csv")).to_dicts() == rows


# 64 B of a request each 5 us are 0.0128 GB/s, which one decimal would show as nothing.
def test_the_rates_of_slow_memory_are_no_zeros() -> None:
    system = cx.System.from_yaml(SYSTEM)
    system.set("devices.near.media.latency", "20us")
    table = str(cx.measure.bandwidth(system, memories=["near"], jobs=1))
    assert table.count("0.026 ") >= 4  # 4 in flight of each of two requesters: 8 x 64 B / 20 us
    assert [gb_per_s(value) for value in (0.0, 0.0128, 0.256, 0.996, 12.34)] == [
        "0.0",
        "0.013",
        "0.26",
        "1.0",
        "12.3",
    ]


def test_memory_that_the_probe_may_not_use_is_named() -> None:
    curve = cx.measure.loaded(cx.System.from_yaml(SYSTEM), jobs=1)
    assert {row["memory"] for row in curve.rows} == {"near", "far ld 0"}
    assert (
        "no curve of far ld 1, which h, whose probe it is, may not use: --from names another one"
        in curve.note
    )
