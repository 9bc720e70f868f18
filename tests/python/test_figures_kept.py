"""No table cuts a figure, however narrow the terminal: texts give way. What goes through a pipe has all of it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.display.console import _console
from cxloom.display.numbers import narrow, significant
from cxloom.display.tables import Column, laid_out
from cxloom.results import terminal
from cxloom.sweeping.labels import labels
from cxloom.sweeping.points_table import to_text
from cxloom.sweeping.result import SweepResult

WIDTHS = [60, 72, 80, 100, 132, 200]
MEDIA: list[dict[str, Any]] = [
    {"kind": "fixed", "latency": "45ns"},
    {"kind": "fixed", "latency": "90ns"},
    {"kind": "dram", "preset": "DDR5-4800"},
]
MEASURES = ("per_memory.mem0.latency_ns.mean", "per_memory.mem1.bandwidth_gb_per_s", "simulated_time_ns")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    """A sweep over maps, long names, addresses, shares and numbers."""
    return cx.sweep(
        "esf/validation",
        {
            "devices.mem[*].media": MEDIA,
            "name": ["the system as it was found in the first of the two laboratories", "another one"],
            "workload.host.footprint": ["1GiB", "0.5GiB"],
            "workload.host.requests": [50],
        },
        out=tmp_path_factory.mktemp("sweep"),
        measures=MEASURES,
    )


@pytest.mark.parametrize("width", [*WIDTHS, None])
def test_a_sweep_has_every_figure_at_every_width(swept: SweepResult, width: int | None) -> None:
    lines = [line for line in to_text(swept, MEASURES, width).splitlines() if not line.startswith("note")]
    text = "\n".join(lines)
    head, rows = lines[:-12], lines[-12:]
    assert "footprint" in head[0]
    for row, line in enumerate(rows):
        for name in ("bandwidth_gb_per_s", "latency_ns.mean", "latency_ns.p99", *MEASURES):
            assert re.search(rf"(^| ){re.escape(significant(swept.columns[name][row]))}( |$)", line), (
                name,
                line,
            )
        assert re.search(rf"(^| ){swept.points[row]['workload.host.footprint']}( |$)", line)
    assert len(set(rows)) == 12
    assert "{" not in text
    if width is None or width >= 132:
        for label in ("latency 45ns", "latency 90ns", "DDR5-4800"):
            assert label in text
    if width is not None and width >= 100:
        assert max(map(len, text.splitlines())) <= width
    if width is None:
        assert "the system as it was found in the first of the two laboratories" in text


def large(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary whose figures and names are as long as they get."""
    made = json.loads(json.dumps(summary))
    long = {"requests": 123_456_789_012, "bandwidth_gb_per_s": 123_456.78}
    latencies = dict.fromkeys(made["latency_ns"], 98_765_432_101.0) | {
        "ci95": [98_765_432_100.0, 98_765_432_102.0]
    }
    for part in (made, made["read"], made["write"]):
        part |= long
        part["latency_ns"] = latencies
    memory = (
        next(iter(made["per_memory"].values())) | long | {"latency_ns": latencies, "queue_mean": 0.000123}
    )
    made["per_memory"] = {f"a-memory-with-a-name-of-forty-letters-{n:02}": memory for n in range(4)}
    return made


@pytest.mark.parametrize("width", WIDTHS)
def test_a_run_has_every_figure_at_every_width(width: int, spec_file: Path) -> None:
    summary = large(dict(cx.run(spec_file).summary))
    report = terminal._report(summary, "#")
    file = io.StringIO()
    _console(file=file, width=max(width, terminal._needed(report)), color_system=None).print(report)
    for text in (file.getvalue(), terminal.to_text(summary)):
        rows = [line for line in text.splitlines() if re.match(r"(all|read|write|a-m\S*) ", line)]
        assert len({row.split()[0] for row in rows}) == 7
        for line in rows:
            for figure in ("123,456,789,012", "123456.78", "9.877e10"):
                assert f" {figure}" in line


@pytest.mark.parametrize("count", [7, 1_234_567])
@pytest.mark.parametrize("group", ["per_memory", "per_requester"])
def test_a_column_of_errors_leaves_lines_their_width_and_the_table_its_screen(
    count: int, group: str, spec_file: Path
) -> None:
    """Latencies have the most columns that `narrow` gives, 8: heads are folded, names are shortened, notes take lines.

    Beside a name there are 8 + 9 + 4 + 3 * 8 + 8 columns of figures and 7 * 2 between them at most, which leaves 13.
    """
    summary = json.loads(json.dumps(dict(cx.run(spec_file).summary)))
    latencies = dict.fromkeys(summary["latency_ns"], 98_765_432_101.0) | {"ci95": None}
    for part in (summary, summary["read"], summary["write"]):
        part["latency_ns"] = latencies
    wide = {"requests": 12, "bandwidth_gb_per_s": 1.0, "latency_ns": latencies, "errors": {"requests": count}}
    for each, name in (("per_memory", "mem{:02}"), ("per_requester", "host{:02}")):
        long = "{}_of_a_system_with_long_names" if each == group else "{}"
        one = next(iter(summary[each].values())) | wide
        summary[each] = {long.format(name.format(n)): one for n in range(40)}
    summary["notes"] = ["a note of many words that takes more lines than one " * 4] * 4
    lines = terminal.to_text(summary).splitlines()
    rows = [line for line in lines if re.match(r"(mem|host)\d", line)]
    assert len(rows) >= 2
    for line in rows:
        assert re.search(rf" 12 +{count:,} +1\.00( +9\.877e10){{3}} +\S+$", line)
    assert len({line.split()[0] for line in rows}) == len(rows)
    assert max(map(len, lines)) <= terminal.COLUMNS
    assert len(lines) <= terminal.LINES


@pytest.mark.parametrize(
    ("value", "three", "four"),
    [
        (0.0, "0", "0"),
        (0.0123, "0.0123", "0.01230"),
        (0.00123, "0.00123", "0.001230"),
        (0.000345, "3.45e-4", "3.450e-4"),
        (1.2e-12, "1.20e-12", "1.200e-12"),
        (0.372, "0.372", "0.3720"),
        (1.2345, "1.23", "1.234"),
        (98.765, "98.8", "98.77"),
        (1234.0, "1234", "1234"),
        (9_999_999.0, "9999999", "9999999"),
    ],
)
def test_exponents_only_where_they_help(value: float, three: str, four: str) -> None:
    assert (significant(value), significant(value, 4)) == (three, four)
    assert (narrow(value), narrow(value, 4)) == (three, four)
    assert significant(-value) == ("0" if value == 0 else f"-{three}") or value == 0


def test_large_numbers_are_whole_unless_they_have_to_be_narrow() -> None:
    assert significant(12_345_678.0) == "12345678"
    assert narrow(12_345_678.0) == "1.23e7"


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1, 2.5, None, "a"], ["1", "2.5", "", "a"]),
        (MEDIA, ["fixed, latency 45ns", "fixed, latency 90ns", "dram, preset DDR5-4800"]),
        (MEDIA[:2], ["latency 45ns", "latency 90ns"]),
        ([MEDIA[0], MEDIA[0]], ["fixed, latency 45ns"] * 2),
        ([{"kind": "fixed"}, MEDIA[0]], ["fixed", "latency 45ns"]),
        ([{}, {"a": 1}, None], ["{}", "a 1", ""]),
        ([{"a": {"x": 1}}, {"b": {"x": 1}}], ["a.x 1", "b.x 1"]),
        ([{"a": {"x": 1}, "c": 2}, {"a": {"x": 3}, "c": 2}], ["x 1", "x 3"]),
        ([[4, 4], [8, 8]], ["[4, 4]", "[8, 8]"]),
    ],
)
def test_a_map_has_a_short_label_that_tells_it_apart(values: list[object], shown: list[str]) -> None:
    assert labels(values) == shown


def test_texts_stay_different_when_they_are_shortened() -> None:
    names = [f"{'x' * 40}{n}{'y' * 40}" for n in range(3)]
    lines = laid_out([Column("name", names, True), Column("ns", ["1.23"] * 3, False, right=True)], 40)
    assert len(set(lines)) == 4
    assert all(line.endswith("1.23") for line in lines[1:])
