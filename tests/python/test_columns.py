"""The columns of the tables that a run writes are declared, with unit and meaning, and shown by `cxloom components`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cxloom as cx
from cxloom.spec.declared import tables

SPEC = """
devices:
  host: {kind: host, queue: 8}
  sw: {kind: switch, persist_buffer: {}}
  mem: {kind: memory, media: {kind: dram, preset: DDR5-4800}, capacity: 1GiB}
links: [{between: [host, sw]}, {between: [sw, mem]}]
address_map: [{to: mem, persistence: controller}]
workload: {host: {pattern: random, requests: 200, footprint: 64KiB, reads: 0.5, persists: 0.5, size: 64B}}
outputs: {requests: true, series: 1us, commands: true}
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run that writes all tables."""
    directory = tmp_path_factory.mktemp("columns") / "out"
    result = cx.run(cx.System.from_yaml(SPEC), log="protocol")
    result.save(directory)
    return directory


@pytest.mark.parametrize("name", tables())
def test_a_table_has_the_columns_that_are_declared(written: Path, name: str) -> None:
    frame = pl.read_parquet(written / name)
    assert len(frame) > 0
    declared = tables()[name]
    assert frame.columns == [column["name"] for column in declared]
    for column in declared:
        assert column["doc"], column["name"]
        assert (column["unit"] == "ps") == column["name"].endswith("_ps")


def test_columns_are_shown(cxloom: Callable[..., Any]) -> None:
    shown = cxloom("components", "series.parquet").out
    assert "sampled" in shown
    for column in tables()["series.parquet"]:
        assert column["name"] in shown
    assert "did you mean 'series.parquet'?" in cxloom("components", "serie.parquet").err
    everything = cxloom("components").out
    assert all(name in everything for name in tables())
