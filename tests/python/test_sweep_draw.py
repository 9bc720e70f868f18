"""Random points of sweeps: what is drawn is in its range, evenly, and the same each time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.sweeping.random_points import Draws, samples

Call = Callable[..., Any]
COUNT = 4000


def drawn(text: str, count: int = COUNT, seed: int = 1) -> list[Any]:
    return [point["a"].plain() for point in samples([Draws.parse(f"a={text}")], count, seed)]


def number(value: object) -> float:
    match = re.match(r"[0-9.]+", str(value))
    assert match is not None
    return float(match[0])


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("25ns..100ns", 25_000, 100_000, "ps"),
        ("500ps..1us", 500, 1_000_000, "ps"),
        ("16GB/s..64GB/s", 16, 64, "GB/s"),
        ("10%..90%", 10, 90, "%"),
        ("0.5..2.5", 0.5, 2.5, ""),
    ],
)
@pytest.mark.parametrize("scale", ["", ":log"])
def test_ranges_are_filled_evenly(text: str, low: float, high: float, unit: str, scale: str) -> None:
    values = drawn(text + scale)
    assert {re.sub("[0-9.]", "", str(value)) for value in values} == {unit}
    numbers = [number(value) for value in values]
    assert low <= min(numbers)
    assert max(numbers) <= high
    share = [
        math.log(each / low) / math.log(high / low) if scale else (each - low) / (high - low)
        for each in numbers
    ]
    # Even numbers from 0 to 1 have a mean of 1/2 and a variance of 1/12; four deviations of the mean of 4000.
    assert sum(share) / COUNT == pytest.approx(1 / 2, abs=4 * math.sqrt(1 / 12 / COUNT))
    squares = sum((each - 1 / 2) ** 2 for each in share) / COUNT
    assert squares == pytest.approx(1 / 12, abs=4 * math.sqrt(1 / 180 / COUNT))


def test_whole_numbers_are_each_as_likely() -> None:
    values = drawn("3..6")
    assert set(values) == {3, 4, 5, 6}
    assert all(abs(values.count(each) / COUNT - 1 / 4) < 0.03 for each in set(values))
    logarithmic = drawn("1..7:log")
    assert set(logarithmic) == set(range(1, 8))
    # n has the share log((n + 1) / n) of log(8): of 1 it is a third.
    assert logarithmic.count(1) / COUNT == pytest.approx(1 / 3, abs=0.03)
    assert set(drawn("-2..1")) == {-2, -1, 0, 1}


def test_sizes_are_whole_units_of_the_low_end() -> None:
    assert set(drawn("1GiB..4GiB")) == {"1GiB", "2GiB", "3GiB", "4GiB"}
    assert set(drawn("1KiB..1MiB:log", 200)) <= {f"{n}KiB" for n in range(1, 1025)}
    assert set(drawn("1.5GiB..3.5GiB")) == {"2GiB", "3GiB"}  # never below the low end
    assert set(drawn("1kB..3kB")) == {"1kB", "2kB", "3kB"}  # every unit that a spec takes


def test_lists_are_chosen_from() -> None:
    values = drawn("[1,2],x,3")
    assert [values.count(each) / COUNT for each in ([1, 2], "x", 3)] == pytest.approx([1 / 3] * 3, abs=0.03)


def test_files_of_the_folder_above_are_no_range() -> None:
    assert set(drawn("../a.parquet,../b.parquet")) == {"../a.parquet", "../b.parquet"}
    assert set(drawn("x/../a.parquet")) == {"x/../a.parquet"}


def test_the_same_seed_draws_the_same() -> None:
    one = [Draws.parse("a=1..1000"), Draws.parse("b=0.5..1.5")]
    first = samples(one, 20, 7)
    assert samples(one, 20, 7) == first
    assert samples(one, 5, 7) == first[:5]
    assert samples(one, 20, 8) != first
    beside = samples([Draws.parse("c=1..9"), *one], 20, 7)
    assert [(each["a"], each["b"]) for each in beside] == [(each["a"], each["b"]) for each in first]


def test_what_is_drawn_is_run() -> None:
    system = cx.load("esf/validation").set("workload.host.requests", 50).set("run.warmup", 0)
    given = {
        "devices.host.queue": "1..64:log",
        "devices.mem[*].media.latency": "45ns..90ns",
        "workload.host.reads": [0, 1],
    }
    result = cx.sweep(system, draw=given, samples=6, draw_seed=3, jobs=2)
    assert result.statuses == ["finished"] * 6
    assert len({at["devices.host.queue"] for at in result.points}) > 2
    assert [dict(at) for at in cx.sweep(system, draw=given, samples=3, draw_seed=3, jobs=1).points] == [
        dict(at) for at in result.points[:3]
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "not what to draw"),
        ("=1..2", "not what to draw"),
        ("a=", "no values to sweep"),
        ("a=1..", "not a range"),
        ("a=..2", "not a range"),
        ("a=5..5", "a range that does not rise"),
        ("a=9..1", "a range that does not rise"),
        ("a=0..8:log", "a logarithm of what is not positive"),
        ("a=1..8:lin", "not a range"),
        ("a=1ns..8KiB", "both ends of one unit"),
        ("a=1ns..8", "both ends of one unit"),
        ("a=1..2..3", "not a range"),
        ("a=x..y", "not a range"),
    ],
)
def test_what_cannot_be_drawn(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Draws.parse(text)


def test_wrong_arguments_are_refused(spec_file: object, cxloom: Call) -> None:
    assert "no number of samples" in cxloom("sweep", spec_file, "--draw", "run.seed=1..9").err
    assert "samples of what is not said" in cxloom("sweep", spec_file, "--samples", 3).err
    assert "too many points" in cxloom("sweep", spec_file, "--draw", "run.seed=1..9", "--samples", 10**9).err
    for given in (
        {"draw": {"run.seed": 3}, "samples": 1},
        {"draw": [1], "samples": 1},
        {"draw": {3: [1]}, "samples": 1},
    ):
        with pytest.raises(InputError, match="not "):
            cx.sweep("esf/validation", **given)  # type: ignore[arg-type]
