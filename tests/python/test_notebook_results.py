"""What a notebook gets of sweeps, comparisons, searches, explanations and measurements: frames, tables and text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cxloom as cx

# A read takes 10 + 2 x 30 + 20 + 50 = 140 ns, however many are in flight.
SPEC = """
name: <near> & far
devices:
  host: {kind: host, queue: 1, process_time: 10ns}
  mem: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], delay: 30ns}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 400, footprint: 1MiB}}
"""


@pytest.fixture(scope="module")
def system() -> cx.System:
    return cx.System.from_yaml(SPEC)


def cells(html: str) -> Iterator[list[str]]:
    """The rows of the tables in a piece of HTML."""
    for line in re.findall(r"<tr>(.*)</tr>", html):
        yield [unescape(each) for each in re.findall(r"<t[hd][^>]*>([^<]*)<", line)]


def test_a_sweep_shows_its_points(system: cx.System) -> None:
    swept = cx.sweep(system, {"devices.host.queue": [1, 2]}, jobs=1)
    assert swept.frame()["latency_ns.mean"].to_list() == [140.0, 140.0]
    assert [row[0] for row in cells(swept._repr_html_())] == ["queue", "1", "2"]
    assert str(swept).splitlines()[0].split() == ["queue", "GB/s", "mean", "ns", "p99", "ns"]


def test_a_comparison_runs_systems_and_takes_results_as_they_are(system: cx.System, tmp_path: Path) -> None:
    """30 ns more each way."""
    file = tmp_path / "far.yaml"
    file.write_text(system.copy().set("links[*].delay", "60ns").to_yaml())
    stored = tmp_path / "stored"
    cx.run(file, out=stored)
    found = cx.compare([system, file, file, stored, cx.run(file)], seed=3)
    assert found.names == ("<near> & far", str(file), f"{file} (2)", str(stored), "<near> & far (2)")
    frame = found.frame().row(by_predicate=pl.col("measure") == "mean latency", named=True)
    assert [frame[name] for name in found.names] == [140.0, 200.0, 200.0, 200.0, 200.0]
    html = found._repr_html_()
    assert "<near>" not in html
    heads = next(cells(html))
    assert heads[:3] == ["measure", "<near> & far", str(file)]
    row = next(row for row in cells(html) if row[0] == "mean latency, ns")
    assert row[1].startswith("140")
    assert row[2].startswith("200")
    assert found.sentences[0] in str(found).replace("\n", " ")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["dmsim/local"], "nothing to compare with"),
        ("dmsim/local", "not systems to compare"),
        (["dmsim/local", "dmsim/locl"], "no such file, and no preset"),
        ({"a": "dmsim/local", "b": 3}, "allowed: systems, spec files"),
    ],
)
def test_what_cannot_be_compared(given: Any, reason: str) -> None:
    with pytest.raises(cx.InputError, match=reason):
        cx.compare(given)


def test_a_limit_of_the_runs_is_said(system: cx.System) -> None:
    found = cx.compare({"one": system, "other": system}, max_time="20us")
    assert found.unfinished == ("one", "other")
    assert "note: one was stopped before its end" in str(found)


def test_a_search_shows_what_it_tried(system: cx.System) -> None:
    """64 B for each of 140 ns: 5 in flight are 2.29 GB/s, 4 are 1.83."""
    found = cx.find(system, "devices.host.queue=1..8", "bandwidth < 2GB/s", jobs=1)
    frame = found.frame()
    assert frame.columns == ["devices.host.queue", "bandwidth_gb_per_s", "holds", "error"]
    holds = dict(zip(frame["devices.host.queue"], frame["holds"], strict=True))
    assert (holds[4], holds[5]) == (True, False)
    rows = list(cells(found._repr_html_()))
    assert rows[0] == ["devices.host.queue", "bandwidth_gb_per_s", "bandwidth < 2GB/s"]
    assert len(rows) == 1 + len(frame)
    assert found.sentence in " ".join(str(found).split())


def test_a_value_without_a_result_is_null(system: cx.System) -> None:
    small = system.copy().set("devices.mem.capacity", "4MiB")
    frame = cx.find(small, "workload.host.footprint=1MiB..8MiB", "latency < 1us", jobs=1).frame()
    assert frame["latency_ns.mean"].is_null().to_list() == frame["holds"].not_().to_list()
    assert frame["error"].is_null().to_list() == frame["holds"].to_list()


def test_an_explanation_has_a_row_for_each_resource(system: cx.System) -> None:
    found = cx.explain(system, jobs=1)
    frame = found.frame()
    assert frame.columns == ["resource", "busy", "full", "limits", "bound_gb_per_s", "gain"]
    assert found.limit is not None
    limiting = frame.row(by_predicate=pl.col("limits"), named=True)
    assert limiting["resource"] == found.limit.name
    assert limiting["gain"] == pytest.approx(1.0, rel=0.01), "two in flight do twice as much"
    assert found.sentence in unescape(found._repr_html_())
    assert found.sentence in " ".join(str(found).split())


def test_a_measurement_shows_its_rows(system: cx.System) -> None:
    found = cx.measure.latency(system, reads=20)
    rows = list(cells(found._repr_html_()))
    assert len(rows) == 1 + len(found.rows)
    assert "mem" in rows[1]
    assert found.frame()["latency_ns"].to_list() == [140.0]


def test_no_name_is_markup(system: cx.System) -> None:
    assert "<near>" not in cx.measure.latency(system, reads=20)._repr_html_()
    assert "<near> & far" in str(cx.measure.latency(system, reads=20))


def test_a_system_shows_its_picture_once_it_is_whole(system: cx.System) -> None:
    assert str(system._repr_svg_()).startswith("<svg")
    half = cx.System("half")
    half.host("host")
    half.connect("host", "mem")
    assert half._repr_svg_() is None
