"""What a run, its page and its explanation say of pages that a policy moves: the measures that the core declares."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_tiering import POLICY, as_written, of_host, system

import cxloom as cx
from cxloom.display.numbers import duration, size
from cxloom.report.series import series_of
from cxloom.results.terminal import LINES, to_text

WORK = {"pattern": "random", "requests": 20_000}
MOVES = {**POLICY, "scan": "64KiB"}


@pytest.fixture(scope="module")
def tiered() -> cx.Result:
    return cx.run(system(WORK, MOVES, outputs={"series": "10us", "requests": True}))


def figures(result: cx.Result) -> list[str]:
    """What of the tiering people read."""
    host = of_host(result)
    tiering = host["tiering"]
    times = (tiering["fault_ns"], host["page_moves_ns"], host["page_wait_ns"], tiering["interrupted_ns"])
    return [
        *map(duration, times),
        *(size(tiering[f"{way}_bytes"]) for way in ("promoted", "demoted")),
    ]


def test_the_table_has_a_row_for_each_requester_that_is_tiered(tiered: cx.Result) -> None:
    text = to_text(tiered.summary)
    [row] = [line for line in text.splitlines() if line.startswith("host ")]
    assert "tiering" in text
    assert " 16 " in row
    for figure in figures(tiered):
        assert figure in row
    assert len(text.splitlines()) <= LINES
    assert max(map(len, text.splitlines())) <= 100
    assert "tiering" not in to_text(cx.run(system(WORK, None)).summary)


# 20 000 requests are over before a policy acts for the first time after a second.
def test_a_policy_that_did_nothing_is_said(tiered: cx.Result) -> None:
    idle = cx.run(system(WORK, {**MOVES, "period": "1s"})).summary
    [note] = [note for note in idle["notes"] if "saw and moved nothing" in note]
    assert note.startswith("tiering of 'host' saw and moved nothing: in all of ")
    assert not [note for note in tiered.summary["notes"] if "saw and moved nothing" in note]


def test_an_explanation_notes_what_it_took(tiered: cx.Result) -> None:
    [note] = [note for note in cx.explain(system(WORK, MOVES)).notes if note.startswith("tiering of host")]
    for figure in figures(tiered):
        assert figure in note
    assert "16 hint faults" in note
    assert "16 pages moved" in note
    assert not [note for note in cx.explain(system(WORK, None)).notes if "tiering" in note]


def test_the_page_has_the_same(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    work = {**WORK, "tiering": MOVES}
    spec.write_text(json.dumps(as_written(work, "1MiB", outputs={"series": "10us"})))
    done = cxloom("run", str(spec), "--out", str(tmp_path / "out"), "--quiet")
    assert done.code == 0, done.err
    done = cxloom("report", str(tmp_path / "out"), "--out", str(tmp_path / "page.html"))
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text()
    assert "What moving pages to nearer memory took" in page
    for head in ("hint faults", "bytes to nearer nodes", "bytes to farther nodes", "ns taken of threads"):
        assert f">{head}<" in page
    assert "65,536" in page  # sixteen pages
    assert "Accesses that the nearest node answered" in page


def test_the_share_of_the_nearest_node_is_that_of_the_rows(tiered: cx.Result) -> None:
    """Each interval's, of the requests that were answered in it; at first none, and all when the pages are there."""
    own = tiered.series().filter(pl.col("name") == "host: nearest node")
    assert own["queue"].null_count() == own.height > 5
    rows = tiered.requests()
    opened = int(rows["created_ps"].to_numpy().min())
    before = opened
    for end, share in own.select("time_ps", "utilization").iter_rows():
        part = rows.filter((pl.col("completed_ps") > before) & (pl.col("completed_ps") <= opened + end))
        near = part.filter(pl.col("target") == "near").height
        assert share == (None if part.height == 0 else pytest.approx(near / part.height, abs=0.02))
        before = opened + end
    shares = own["utilization"].drop_nulls().to_list()
    assert shares[0] == 0
    assert shares[-1] == 1
    [curve] = [each for each in series_of(tiered) if each.key == "nearest"]
    assert list(curve.curves) == ["host: nearest node"]
    assert curve.curves["host: nearest node"][1][-1] == 100
    # Among the wires and queues it is not.
    others = [each for each in series_of(tiered) if each.key != "nearest"]
    assert all("host: nearest node" not in each.curves for each in others)


def test_what_is_not_tiered_has_no_such_share() -> None:
    result = cx.run(system(WORK, None, outputs={"series": "10us"}))
    assert not result.series().filter(pl.col("name").cast(pl.String).str.contains("nearest")).height
    assert not [each for each in series_of(result) if each.key == "nearest"]
