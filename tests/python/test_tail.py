"""The slowest requests, beside forms for two memories of different speed, and for a queue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cxloom as cx
from cxloom.results.tail import tail_of

Call = Callable[..., Any]

# A read of the near memory takes 10 + 2 x 30 + 20 + 50 = 140 ns, one of the far memory 200 ns of media more.
SPEC = """
devices:
  host: {kind: host, queue: 1, process_time: 10ns}
  near: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
  far: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 250ns}}
links:
  - {between: [host, near], delay: 30ns}
  - {between: [host, far], delay: 30ns}
address_map: [{to: [near, far], interleave: 256B}]
workload: {host: {pattern: sequential, requests: 800, footprint: 1MiB}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "system.yaml"
    path.write_text(SPEC)
    return path


def test_of_two_memories_the_slow_one_is_the_tail(file: Path) -> None:
    tail = cx.run(file).tail(0.99)
    assert tail.count == 400, "equal latencies stay together, so that no order decides"
    assert (tail.least_ns, tail.mean_ns, tail.mean_of_all_ns) == (340.0, 340.0, 240.0)
    parts = {part.name: (part.of_all_ns, part.of_tail_ns) for part in tail.parts}
    assert parts["media"] == (150.0, 250.0)
    assert parts["propagation"] == (60.0, 60.0)
    groups = {(group.column, group.name): (group.of_all, group.of_tail) for group in tail.groups}
    assert groups == {("memory", "far"): (0.5, 1.0), ("memory", "near"): (0.5, 0.0)}
    assert "take 100 ns more than the mean: media 100 ns. 100.0 % of them are of memory far" in tail.sentence


def test_parts_sum_to_the_means_and_the_percentile_is_that_of_the_run() -> None:
    result = cx.run("memory/local-remote-cxl")
    for share in (0.0, 0.5, 0.99, 0.999):
        tail = result.tail(share)
        assert sum(part.of_tail_ns for part in tail.parts) == pytest.approx(tail.mean_ns)
        assert sum(part.of_all_ns for part in tail.parts) == pytest.approx(tail.mean_of_all_ns)
        assert sum(group.of_tail for group in tail.groups if group.column == "memory") == pytest.approx(1)
        assert tail.count >= (1 - share) * result.count - 1e-6
    assert result.tail(0.99).least_ns == pytest.approx(result.latency.p99, rel=0.01)
    assert result.tail(0).mean_ns == pytest.approx(result.latency.mean)


def test_the_table_says_it(cxloom: Call, file: Path) -> None:
    shown = cxloom("run", file, "--tail", "99.9").out
    lines = [line.split() for line in shown.splitlines()]
    assert ["media", "250", "150", "+100"] in lines
    assert ["memory", "far", "100.0", "%", "50.0", "%"] in lines
    assert "The 400 requests from the 99.9th percentile on (340 ns and more)" in " ".join(shown.split())


@pytest.mark.parametrize("wrong", ["100", "-1", "much", "p", "nan"])
def test_what_is_no_percentile(cxloom: Call, file: Path, wrong: str) -> None:
    done = cxloom("run", file, f"--tail={wrong}")
    assert done.code == 2
    assert "not a percentile" in done.err


def test_a_table_is_no_json(cxloom: Call, file: Path) -> None:
    assert "--tail is no part of --json" in cxloom("run", file, "--tail", "99", "--json").err


def test_answers_with_errors_are_left_out(file: Path) -> None:
    rows = cx.run(file).requests()
    assert tail_of(rows.with_columns(error=pl.col("target").cast(pl.String) == "far"), 0.99).mean_ns == 140.0
    with pytest.raises(cx.InputError, match="no request was answered"):
        tail_of(rows.with_columns(error=True), 0.99)
    with pytest.raises(cx.InputError, match="not a percentile"):
        tail_of(rows, 1.0)


def test_a_share_is_no_percentile(cxloom: Call) -> None:
    done = cxloom("run", "dmsim/asic", "--tail", "0.99")
    assert done.code == 2
    assert "a percentile below the first" in done.err
    assert "did you mean '99'?" in done.err
