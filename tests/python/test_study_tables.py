"""Tables and plots of studies: what they show, and what is refused of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

TABLE = """\
title: A line for each queue
system:
  preset: esf/validation
  workload: {host: {requests: 200}}
  run: {warmup: 0}
sweep:
  devices.host.queue: [1, 2]
  "devices.mem[*].media.latency": [45ns, 145ns]
table: {queue: devices.host.queue, media: "devices.mem[*].media.latency", latency_ns: latency_ns.mean}
plot: {x: media, y: latency_ns, lines: queue}
"""


def test_a_table_is_shown_written_and_drawn(tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "study.yaml").write_text(TABLE)
    outcome = cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert outcome.code == 0
    assert "latency_ns" in outcome.out
    rows = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert rows[0] == "queue,media,latency_ns"
    assert [row.split(",")[:2] for row in rows[1:]] == [
        ["1", "45ns"],
        ["1", "145ns"],
        ["2", "45ns"],
        ["2", "145ns"],
    ]
    first, second = (float(row.split(",")[2]) for row in rows[1:3])
    assert second - first == pytest.approx(100, abs=1)
    assert (tmp_path / "out" / "plot.png").read_bytes().startswith(b"\x89PNG")


BARS = "plot: {x: media, stack: [latency_ns, max_ns], panels: queue}\n"


def test_columns_can_be_drawn_as_bars(tmp_path: Path, cxloom: Call) -> None:
    text = TABLE.replace("latency_ns.mean}", "latency_ns.mean, max_ns: latency_ns.max}")
    text = text[: text.index("plot:")] + BARS
    (tmp_path / "study.yaml").write_text(text)
    assert cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "plot.png").read_bytes().startswith(b"\x89PNG")
    for was, wrong, says in (
        ("latency_ns, max_ns]", "latency_ns, maxns]", "no column 'maxns'"),
        ("x: media, ", "", "'x' of the plot is missing"),
        ("x: media", "y: media", "unknown key 'y'"),
    ):
        (tmp_path / "study.yaml").write_text(text.replace(was, wrong))
        outcome = cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "none")
        assert outcome.code == 2
        assert says in " ".join(outcome.err.split())


@pytest.mark.parametrize("split", [", lines: queue", ", panels: queue"])
def test_a_picture_need_not_be_split(tmp_path: Path, cxloom: Call, split: str) -> None:
    text = TABLE if "lines" in split else TABLE[: TABLE.index("plot:")] + BARS.replace(", max_ns", "")
    assert split in text
    (tmp_path / "study.yaml").write_text(text.replace(split, ""))
    outcome = cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "out" / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_values_can_be_set_at_all_points(tmp_path: Path, cxloom: Call) -> None:
    (tmp_path / "study.yaml").write_text(TABLE)
    set_to = ("--set", "devices.host.process_time=110ns", "--json", "--out", tmp_path)
    rows = [
        json.loads(cxloom("study", "run", tmp_path / "study.yaml", *arguments).out)["table"]
        for arguments in (("--json", "--out", tmp_path), set_to)
    ]
    for before, after in zip(*rows, strict=True):
        assert after["latency_ns"] - before["latency_ns"] == pytest.approx(100, abs=5)


@pytest.mark.parametrize(
    ("given", "more"),
    [
        ("devices.host.queue=3", ()),
        ("devices.h*.queue=3", ()),
        ("devices.mem0.media.latency=3ns", ()),
        ("workload.host.requests=300", ("--quick",)),
    ],
)
def test_a_value_that_the_study_sets_itself_is_refused(
    tmp_path: Path, cxloom: Call, given: str, more: tuple[str, ...]
) -> None:
    """It was taken without a word, and made no difference: what is swept, and what quick sets, is laid over it."""
    quick = "quick: {set: {workload.host.requests: 100}}\n"
    (tmp_path / "study.yaml").write_text(TABLE + quick)
    done = cxloom("study", "run", tmp_path / "study.yaml", "--set", given, *more, "--out", tmp_path / "out")
    assert done.code == 2
    assert f"the study sets this value itself at every point (from --set {given})" in " ".join(
        done.err.split()
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("was", "wrong", "says"),
    [
        ("y: latency_ns,", "y: latency,", "the table has no column 'latency'"),
        ("x: media, ", "", "'x' of the plot is missing"),
        ("lines: queue", "line: queue", "unknown key 'line'"),
        ("latency_ns: latency_ns.mean", "latency_ns: latency_ns.men", "no measure 'latency_ns.men'"),
        ("latency_ns: latency_ns.mean", "latency_ns: latency_ns.men", "study.yaml:9:"),
        ("latency_ns: latency_ns.mean", "latency_ns: latency_ns", "'latency_ns' is no number"),
        ("latency_ns: latency_ns.mean", "latency_ns: per_memory.mem9.requests", "did you mean 'mem0'"),
    ],
)
def test_a_wrong_table_or_plot_is_refused(
    tmp_path: Path, cxloom: Call, was: str, wrong: str, says: str
) -> None:
    assert was in TABLE
    (tmp_path / "study.yaml").write_text(TABLE.replace(was, wrong))
    outcome = cxloom("study", "run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert outcome.code == 2
    assert says in " ".join(outcome.err.split())
    assert not (tmp_path / "out").exists()
