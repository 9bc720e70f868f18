"""Pictures say what they should: lines that can be told apart, legends beside the data, what is busiest first."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from figure_faults import faults
from matplotlib.figure import Figure
from matplotlib.text import Text

from cxloom import _core
from cxloom.display import palette, style
from cxloom.report import figures, run_picture
from cxloom.report.study_plots import bars, lines
from cxloom.study.file import Plot
from cxloom.study.plots import Stack

PLOT = Plot(x="reads", y="bandwidth_gb_per_s", lines="link")


def curves(count: int) -> Figure:
    rows = [
        {"link": f"a link with a long name {index}", "reads": share, "bandwidth_gb_per_s": 10.0 * index + at}
        for index in range(count)
        for at, share in enumerate(["0%", "25%", "100%"])
    ]
    return lines(rows, PLOT, "Curves")


def test_lines_can_be_told_apart() -> None:
    looks = [tuple(sorted(style.line(index).items())) for index in range(28)]
    assert len(set(looks)) == 28
    for one, other in itertools.pairwise(looks):  # neighbours differ in everything that can differ
        assert all(a != b for a, b in zip(one, other, strict=True) if a[0] not in ("linewidth", "markersize"))
    drawn = curves(9).axes[0].get_lines()
    assert len({(each.get_color(), each.get_linestyle(), each.get_marker()) for each in drawn}) == 9


def test_names_are_no_formulas() -> None:
    """What is no formula, such as a single backslash command that does not exist, is a name as any other."""
    name = r"$\nothing$ for $5"
    rows = [{"way": name, "x$y$": value, "z": value} for value in (1.0, 2.0)]
    for drawn in (
        lines(rows, Plot(x="x$y$", y="z", lines="way"), name),
        bars(rows, Stack(x="way", stack=["x$y$"], panels="way"), name),
        figures.lines({name: ([name], [1.0])}, name, name),
    ):
        drawn.canvas.draw()
        shown = {each._get_wrapped_text() for each in drawn.findobj(Text)}  # type: ignore[attr-defined]
        assert name.replace("$", r"\$") in shown


def test_no_line_is_lost_on_white() -> None:
    for index in range(7):
        red, green, blue = style.to_rgb(style.line(index)["color"])
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.75


def test_the_legend_stands_beside_the_data() -> None:
    figure = curves(9)
    figure.canvas.draw()
    (legend,) = figure.legends
    assert legend.get_window_extent().x0 >= figure.axes[0].get_window_extent().x1
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_names_below_bars_do_not_overlap() -> None:
    rows = [
        {"memory": f"a long name {index}", "reads": share, "ns": 5.0 + index}
        for share in ("0%", "100%")
        for index in range(5)
    ]
    drawn = bars(rows, Stack(x="memory", stack=("ns",), panels="reads"), "Bars")
    drawn.canvas.draw()
    assert [axes.get_title() for axes in drawn.axes] == ["reads 0%", "reads 100%"]
    for axes in drawn.axes:
        ends = [name.get_window_extent().x1 for name in axes.get_xticklabels()]
        assert min(np.diff(ends)) > 10
        assert all(name.get_rotation() == 40 for name in axes.get_xticklabels())


def test_shares_are_numbers() -> None:
    assert list(curves(1).axes[0].get_lines()[0].get_xdata()) == [0, 25, 100]
    assert curves(1).axes[0].get_xlabel() == "reads (%)"


def test_every_segment_has_a_look_of_its_own() -> None:
    segments = {segment["name"]: segment["waits"] for segment in _core.declarations()["segments"]}
    assert set(segments) == set(palette.SEGMENTS), "SEGMENTS in cxloom/display/palette.py has each once"
    assert len(set(palette.SEGMENTS.values())) == len(segments), "colour and hatching of another one"
    hatched = {name for name, (_, hatch) in palette.SEGMENTS.items() if hatch}
    assert hatched == {name for name, waits in segments.items() if waits}, "waits alone are hatched"


def requests(memories: dict[str, float]) -> pl.DataFrame:
    """A thousand reads of each memory, of its mean latency, and ten times as many reads as writes."""
    rows: list[dict[str, Any]] = [
        {"kind": "write" if index % 11 == 10 else "read", "target": name, "latency": mean + index % 3 - 1}
        for name, mean in memories.items()
        for index in range(5500)
    ]
    return pl.DataFrame(rows)


def test_a_legend_has_as_many_columns_as_there_is_room_for() -> None:
    for words in (1, 8, 18):
        names = {f"{'word ' * words}{index}": ([0, 1], [1.0, index]) for index in range(3)}
        drawn = figures.lines(names, "x", "y", "A heading " * 20, logarithmic="x")
        assert faults(drawn) == []
        assert drawn.axes[0].get_xlabel() == "x, logarithmic"
    assert figures.lines({"": ([0, 1], [1, 2])}, "x", "y").legends == []


def test_a_histogram_counts_by_logarithms_and_no_outlier_is_left_out() -> None:
    rows = requests({"mem0": 100.0}).with_row_index().with_columns(
        latency=pl.when(pl.col("index") == 17).then(90_000.0).otherwise(pl.col("latency"))
    )  # fmt: skip
    made = style.figure(6, 4)
    axes = made.add_subplot()
    run_picture._draw_histogram(axes, rows)
    assert faults(made) == []
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_ylabel() == "requests (%), logarithmic"
    assert axes.get_xlim()[1] >= 90_000
    reads, _ = (text.get_text() for text in axes.get_legend().get_texts())
    assert reads == "reads: p50 100, p99 101, p99.9 101 ns"


def test_equal_memories_have_no_bars_of_their_own() -> None:
    bars = run_picture.groups(requests({"mem0": 100.0, "mem1": 100.5}))
    assert list(bars) == ["reads", "writes", "slowest 1 % of reads", "slowest 1 % of writes"]
    assert len(bars["reads"]) == 10_000
    assert bars["slowest 1 % of reads"]["latency"].min() == 101.5
    assert list(run_picture.groups(requests({"mem0": 100.0, "mem1": 120.0})))[4:] == ["mem0", "mem1"]


@pytest.mark.parametrize("order", [1, -1])
def test_the_busiest_way_comes_first(order: int) -> None:
    busy = {"bus upstream": 0.99, "host->bus": 0.4, "idle": 0.0, "mem0": None, "a": 0.1, "b": 0.2, "c": 0.3}
    rows = [
        {"time_ps": 1000 * time, "name": name, "utilization": value}
        for time in range(3)
        for name, value in list(busy.items())[::order]
    ]
    axes = style.figure(4, 4).add_subplot()
    run_picture._draw_utilization(axes, pl.DataFrame(rows))
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["bus upstream (99 %)", "host->bus (40 %)", "c (30 %)", "b (20 %)"]
