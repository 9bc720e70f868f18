"""Parallel links are told apart wherever their directions are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import cxloom as cx
from cxloom.report.run_page import run_page
from cxloom.report.utilisation import directions
from cxloom.results.terminal import to_text

SPEC = """\
devices:
  host: {kind: host, queue: 64}
  sw: {kind: switch}
  mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
links: [{between: [host, sw], count: 3, bandwidth: 10GB/s}, {between: [sw, mem], bandwidth: 64GB/s}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 2000, footprint: 1MiB}}
outputs: {series: 100ns}
"""
WAYS = {
    *("host->sw", "host->sw#2", "host->sw#3"),
    *("sw->host", "sw->host#2", "sw->host#3"),
    *("sw->mem", "mem->sw"),
}


@pytest.fixture(scope="module")
def result() -> cx.Result:
    """A run that uses all of them."""
    return cx.run(cx.System.from_yaml(SPEC))


def test_rows_of_the_busiest_links_have_names_of_their_own(result: cx.Result) -> None:
    _, _, table = to_text(result.summary).partition("busiest links and buses")
    names = [line.split()[0] for line in table.splitlines()[1:] if "->" in line.split(" ")[0]]
    assert len(names) == len(set(names))
    assert set(names) <= WAYS
    assert {"sw->host", "sw->host#2", "sw->host#3"} <= set(names)


def test_pages_and_series_have_them_too(result: cx.Result, tmp_path: Path) -> None:
    assert {way.name for way in directions(result.summary)} == WAYS
    assert all(
        f">{way.replace('>', '&gt;')}<" in run_page(result, tmp_path) for way in ("sw->host", "sw->host#2")
    )
    series = result.series()
    assert set(series["name"].cast(str).unique()) == WAYS | {"mem"}
    assert series.group_by("name", "time_ps").len()["len"].max() == 1


def test_one_without_bandwidth_is_named_beside_one_that_has_some() -> None:
    free = "{between: [host, sw]}, {between: [host, sw], count: 1, bandwidth: 10GB/s}, "
    free += "{between: [host, sw], count: 1}, "
    system = cx.System.from_yaml(SPEC.replace("{between: [host, sw], count: 3, bandwidth: 10GB/s}, ", free))
    summary = cx.run(system).summary
    without = {"host->sw", "sw->host", "host->sw#3", "sw->host#3"}
    assert set(summary["unlimited"]["links"]) == without
    assert {way.name for way in directions(summary) if way.busy is None} == without
