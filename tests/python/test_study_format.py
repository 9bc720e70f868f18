"""What the file of a study can say: labelled cases, derived measures, bounds, directions, a quick form, pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import some

from cxloom.study import read, run_study

Call = Callable[..., Any]

# One request at a time takes 153.5 ns and the media; and 10 ns more if the bus takes 5 ns more each way.
STUDY = """\
title: Two buses
system:
  preset: esf/validation
  workload: {host: {requests: 200}}
  run: {warmup: 0}
set: {devices.host.queue: 1}
cases:
  - {at: {bus: fast, delay: 0}, set: {}}
  - {at: {bus: slow, delay: 5}, set: {devices.bus.bus_time: 6ns}}
sweep:
  "devices.mem[*].media.latency": [45ns, 145ns, 245ns]
quick:
  set: {workload.host.requests: 50}
  keep: {"devices.mem[*].media.latency": [45ns, 245ns]}
  tolerance: 5%
derive:
  slower: {difference: [latency_ns.mean, {measure: latency_ns.mean, at: {bus: fast, delay: 0}}]}
  half: {ratio: [slower, 2]}
  parts: {sum: ["breakdown_ns.*"]}
  queues: {greatest: ["per_memory.*.queue_max", 0]}
table: {bus: bus, media: "devices.mem[*].media.latency", latency_ns: latency_ns.mean, half: half, parts: parts}
plots:
  both: {x: media, y: latency_ns, lines: bus}
  slow: {title: The slow one, x: media, y: latency_ns, at: {bus: slow}}
explain: There is nothing to explain.
defaults: {measure: latency_ns.mean, source: sum of the parts}
expect:
  - {at: {bus: fast, "devices.mem[*].media.latency": 45ns}, value: 198.5, tolerance: 0.01%}
  - {at: {bus: slow}, measure: half, value: 5, tolerance: 0.001}
  - {measure: parts, least: 198.4, most: 408.6}
  - {measure: queues, most: 1}
  - {rises: "devices.mem[*].media.latency"}
  - {measure: bandwidth_gb_per_s, falls: "devices.mem[*].media.latency"}
"""


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def test_everything_a_study_can_say(study_file: Path, tmp_path: Path, cxloom: Call) -> None:
    outcome = cxloom("study", "run", study_file, "--out", tmp_path / "out", "--json")
    assert outcome.code == 0, outcome.err + outcome.out
    result = json.loads(outcome.out)
    # 1 + 3 + 6 + 6 values, and a direction once for each bus.
    assert len(result["expectations"]) == 1 + 3 + 6 + 6 + 2 + 2
    assert [row["half"] for row in result["table"]] == pytest.approx([0, 0, 0, 5, 5, 5])
    for row in result["table"]:
        assert row["parts"] == pytest.approx(row["latency_ns"])
    rise = [each["simulated"] for each in result["expectations"] if each["measure"] == "latency_ns.mean"]
    assert rise[1:] == pytest.approx([398.5 / 298.5, 408.5 / 308.5])
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written >= {"both.png", "slow.png", "table.csv", "points"}
    shown = cxloom("study", "run", study_file, "--out", tmp_path / "out").out
    for words in (
        "198.4 to 408.6",
        "at most 1",
        "rises",
        "falls",
        "There is nothing to explain.",
        "20 expectations: ",
    ):
        assert words in shown


def test_an_axis_of_numbers_may_be_an_operand(study_file: Path) -> None:
    """The bus that takes 5 ns more makes 10 ns more: less its own delay, or less that of the slow bus at both."""
    elsewhere = "{measure: delay, at: {bus: slow, delay: 5}}"
    for operand, halves in (("delay", [0, 0, 0, 5, 5, 5]), (elsewhere, [-5, -5, -5, 5, 5, 5])):
        study_file.write_text(STUDY.replace("ratio: [slower, 2]", f"difference: [slower, {operand}]"))
        outcome = run_study(read(study_file))
        assert [row["half"] for row in outcome.table] == pytest.approx(halves)
        assert outcome.passed


def test_the_quick_form_has_fewer_points_and_wider_tolerances(study_file: Path) -> None:
    study = read(study_file, quick=True)
    assert [tuple(point.values()) for point in study.points] == [
        ("fast", 0, "45ns"), ("fast", 0, "245ns"), ("slow", 5, "45ns"), ("slow", 5, "245ns"),
    ]  # fmt: skip
    assert {spec.plain()["workload"]["host"]["requests"] for spec in study.specs} == {50}
    assert study.expectations[0].tolerance == 0.05
    outcome = run_study(study)
    assert outcome.passed
    assert [each.simulated for each in outcome.comparisons][-4] == pytest.approx(398.5 / 198.5)


def test_an_expectation_at_a_point_that_the_quick_form_lacks_is_left_out(study_file: Path) -> None:
    study_file.write_text(
        STUDY.replace('media.latency": 45ns}, value: 198.5', 'media.latency": 145ns}, value: 298.5')
    )
    assert len(read(study_file).expectations) == len(read(study_file, quick=True).expectations) + 1


def test_a_table_has_a_row_for_each_entry_of_a_map(study_file: Path, tmp_path: Path, cxloom: Call) -> None:
    each = 'each: by_hops\ntable: {bus: bus, links: "*", latency_ns: by_hops.*.mean_ns, all_ns: latency_ns.mean}\n'
    plots = "plots:\n  both: {x: links, y: latency_ns, lines: bus}\n"
    text = STUDY[: STUDY.index("table:")] + each + plots + STUDY[STUDY.index("explain:") :]
    study_file.write_text(text)
    rows = run_study(read(study_file)).table
    assert [row["links"] for row in rows] == [4] * 6
    assert all(row["latency_ns"] == row["all_ns"] for row in rows)
    study_file.write_text(text.replace("each: by_hops", "each: by_hop"))
    outcome = cxloom("study", "run", study_file, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert f"{study_file}:21:" in outcome.err
    assert "no map 'by_hop'" in outcome.err


@pytest.mark.parametrize(
    ("was", "wrong"),
    some(
        [
            ("value: 198.5", "value: 199.5"),
            ("value: 5,", "value: 4.9,"),
            ("most: 408.6", "most: 408.4"),
            ("queues, most: 1", "queues, least: 1.1"),
            ("- {rises:", "- {falls:"),
            ("{measure: bandwidth_gb_per_s, falls", "{measure: bandwidth_gb_per_s, rises"),
            ("{measure: bandwidth_gb_per_s, falls", "{measure: requests, falls"),  # what stays does not fall
        ]
    ),
)
def test_what_is_not_met_fails(study_file: Path, was: str, wrong: str) -> None:
    assert was in STUDY
    study_file.write_text(STUDY.replace(was, wrong))
    assert not run_study(read(study_file)).passed


def test_nothing_is_a_ratio_to_nothing(study_file: Path, cxloom: Call) -> None:
    """A direction, and a ratio, from a measure that is 0."""
    for wrong in ("- {measure: errors.requests, rises:", "- {measure: slower, at: {bus: fast}, rises:"):
        study_file.write_text(STUDY.replace("- {rises:", wrong))
        outcome = cxloom("study", "run", study_file)
        assert outcome.code == 2
        assert "is 0 at one of its points: nothing is a ratio to that" in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    ("was", "wrong", "line", "says"),
    [
        ("delay: 5}", "dely: 5}", 9, "the case has other axes than the first"),
        ("{at: {bus: slow, delay: 5}, set", "{set", 9, "'at' of a case is missing"),
        ("set: {}}", "sets: {}}", 8, "did you mean 'set'?"),
        ("keep: {", "kep: {", 14, "did you mean 'keep'?"),
        ("[45ns, 245ns]", "[45ns, 246ns]", 14, "no point has devices.mem[*].media.latency = 246ns"),
        ("tolerance: 5%", "tolerance: wide", 15, "not a percentage"),
        ("{difference: [", "{diference: [", 17, "did you mean 'difference'?"),
        ("ratio: [slower, 2]", "ratio: [slower]", 18, "no ratio of these"),
        ("ratio: [slower, 2]", "ratio: [parts, 2]", 18, "'parts' is derived later"),
        ("ratio: [slower, 2]", "ratio: [slowest, 2]", 18, "did you mean 'slower'?"),
        ("ratio: [slower, 2]", "ratio: [slower, bus]", 18, "the axis 'bus' is no number"),
        ('sum: ["breakdown_ns.*"]', 'sum: ["breakdown.*"]', 19, "no measure is like 'breakdown.*'"),
        ("at: {bus: fast, delay: 0}}]}", "at: {bus: quick}}]}", 17, "no point has bus = quick"),
        ("half: half,", "half: halve,", 21, "no measure 'halve'"),
        ("at: {bus: slow}}\nexplain", "at: {bus: snow}}\nexplain", 24, "no point has bus = snow"),
        ("tolerance: 0.01%}", "least: 198, tolerance: 1%}", 28, "both value and least"),
        ("value: 198.5, tolerance: 0.01%}", "value: 198.5}", 28, "'tolerance' of an expectation is missing"),
        ("{measure: queues, most: 1}", "{measure: queues}", 31, "an expectation without a value"),
        ("least: 198.4, most: 408.6", "least: 500, most: 408.6", 30, "'least' is more than 'most'"),
        ("falls: \"devices.mem[*].media.latency\"", "falls: media", 33, "unknown axis 'media'"),
        ("source: sum of the parts}", "derived: sum}", 28, "'source' of an expectation is missing"),
        ("plots:", "plot: {x: media, y: half}\nplots:", 22, "'plot' beside 'plots'"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_before_anything_runs(
    study_file: Path, cxloom: Call, was: str, wrong: str, line: int, says: str
) -> None:
    assert was in STUDY
    study_file.write_text(STUDY.replace(was, wrong))
    for more in ([], ["--quick"]):
        outcome = cxloom("study", "run", study_file, *more)
        if more and outcome.code == 0:
            continue  # the quick form does not need what is missing
        assert outcome.code == 2, outcome.out
        assert f"study.yaml:{line}:" in outcome.err
        assert says in " ".join(outcome.err.split())
