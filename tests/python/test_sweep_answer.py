"""The sentences that a page of a sweep opens with."""

from __future__ import annotations

from typing import Any

import pytest

import cxloom as cx
from cxloom.report.sweep_answer import sweep_answer
from cxloom.report.sweep_page import sweep_page


def table(axis: list[Any], bandwidth: list[float | None], mean: list[float | None], **more: Any) -> Any:
    count = len(axis)
    return {
        "devices.host.queue": axis,
        **more.pop("axes", {}),
        "key": [str(row) for row in range(count)],
        "status": ["finished"] * count,
        "error": [None] * count,
        "bandwidth_gb_per_s": bandwidth,
        "latency_ns.mean": mean,
        **more.pop("columns", {}),
    }


def test_the_best_points_the_knee_and_the_part_that_changes_are_named() -> None:
    parts = {
        "breakdown_ns.media": [80.0, 90.0, 100.0, 110.0],
        "breakdown_ns.link_queue": [20.0, 30.0, 100.0, 390.0],
    }
    assert sweep_answer(
        table([8, 1, 2, 16], [39.5, 10.0, 20.0, 40.0], [200.0, 100.0, 120.0, 500.0], columns=parts)
    ) == (
        "Bandwidth is highest at queue 16 (40.0 GB/s) and lowest at queue 1 (10.0 GB/s). "
        "From queue 8 on it is within 5 % of the highest. "
        "Mean latency is lowest at queue 1 (100 ns) and highest at queue 16 (500 ns). "
        "Of the 400 ns between them, 360 ns are link queue."
    )


@pytest.mark.parametrize(
    ("axis", "bandwidth", "axes"),
    [
        ([1, 2, 4], [10.0, 20.0, 40.0], {}),  # it keeps rising
        ([1, 2, 4], [40.0, 20.0, 39.0], {}),  # it falls in between
        (["lru", "fifo", "lifo"], [10.0, 40.0, 40.0], {}),  # words have no order
        ([1, 2, 4], [10.0, 40.0, 40.0], {"run.warmup": [1, 2, 3]}),  # so has a plane
    ],
)
def test_there_is_no_knee_where_bandwidth_does_not_level_off_along_one_axis(
    axis: list[Any], bandwidth: list[float | None], axes: dict[str, list[Any]]
) -> None:
    said = sweep_answer(table(axis, bandwidth, [100.0, 120.0, 140.0], axes=axes))
    assert "Bandwidth is highest at" in said
    assert "within 5 %" not in said


@pytest.mark.parametrize("ends", ["latency_ns.ci95.{}", "latency_ns.mean:{}"])
def test_what_chance_explains_is_called_the_same(ends: str) -> None:
    def said(half: float) -> str:
        mean = [100.0, 103.0]
        columns = {
            ends.format("low"): [each - half for each in mean],
            ends.format("high"): [each + half for each in mean],
        }
        return sweep_answer(table([1, 2], [10.0, 10.2], mean, columns=columns))

    assert said(4.0) == (
        "Bandwidth is the same at all points, as far as the runs tell: 10.0 to 10.2 GB/s. "
        "Mean latency is the same at all points, as far as the runs tell: 100 to 103 ns."
    )
    assert "Mean latency is lowest at queue 1 (100 ns)" in said(0.5)


def test_the_extremes_of_many_points_differ_by_chance() -> None:
    """The lowest and the highest of twenty equal means, each known to 1.96, are 5.01 apart in one of twenty sweeps, and
    two of them 2.77: as the tables of the studentized range have it."""

    def said(points: int, apart: float) -> str:
        mean = [100.0 + apart * row / (points - 1) for row in range(points)]
        ends = (("low", -1.96), ("high", 1.96))
        columns = {f"latency_ns.ci95.{end}": [each + off for each in mean] for end, off in ends}
        return sweep_answer(table(list(range(points)), [10.0] * points, mean, columns=columns))

    assert "Mean latency is the same" in said(20, 4.9)
    assert "Mean latency is lowest" in said(20, 5.1)
    assert "Mean latency is the same" in said(2, 2.7)
    assert "Mean latency is lowest" in said(2, 2.9)


def test_a_bandwidth_has_an_interval_of_its_own() -> None:
    columns = {"bandwidth_ci95.low": [9.0, 10.3], "bandwidth_ci95.high": [11.0, 12.3]}
    assert "Bandwidth is the same" in sweep_answer(
        table([1, 2], [10.0, 11.3], [100.0, 100.0], columns=columns)
    )


def test_points_without_results_are_left_out_and_one_alone_says_nothing() -> None:
    said = sweep_answer(table([1, 2, 4], [10.0, None, 20.0], [100.0, None, 200.0]))
    assert "lowest at queue 1 (100 ns) and highest at queue 4 (200 ns)" in said
    assert sweep_answer(table([1, 2], [10.0, None], [100.0, None])) == ""


def test_the_page_opens_with_it_and_has_the_notes_of_its_runs(tmp_path: Any) -> None:
    system = cx.load("expander/x16-ddr5").set("workload.host.requests", 300)
    swept = cx.sweep(
        system.set("links[0].errors.every", 10**6), {"devices.host.queue": [1, 64]}, jobs=1, out=tmp_path
    )
    page = sweep_page(swept, tmp_path)
    answer = page.index('<p class="answer">Bandwidth is highest at queue 64 (')
    assert answer < page.index('<dl class="tiles">') < page.index('class="notes"') < page.index("<section")
    assert "highest at queue 64</small>" in page
    assert "lowest at queue 1</small>" in page
