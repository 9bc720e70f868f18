"""``cxloom find``: limits that closed forms give, axes of every sort, and what is no condition."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cxloom as cx
from cxloom.spec.override import Override
from cxloom.sweeping.condition import Condition
from cxloom.sweeping.find import Found, search
from cxloom.sweeping.random_points import Draws

Call = Callable[..., Any]

# A read takes 10 + 2 x 30 + 20 + 50 = 140 ns, however many are in flight: the memory has no limit of its own.
SPEC = """
devices:
  host: {kind: host, queue: 1, process_time: 10ns}
  mem: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], delay: 30ns}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 2000, footprint: 1MiB}}
run: {warmup: 400}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "system.yaml"
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one test has run is there for the others."""
    return tmp_path_factory.mktemp("points") / "points"


@pytest.fixture
def look(cxloom: Call, file: Path, points: Path) -> Callable[..., Any]:
    def look(vary: str, such_that: str, *more: str) -> Any:
        return cxloom("find", file, "--vary", vary, "--such-that", such_that, "--out", points, *more)

    return look


def test_the_largest_queue_is_that_of_the_form(look: Call) -> None:
    """64 B for each in flight, each 140 ns: 22 of them are 10.06 GB/s, 21 are 9.6."""
    found = json.loads(look("devices.host.queue=1..64", "bandwidth < 10GB/s", "--json").out)
    assert found["value"] == 21
    tried = {each["value"]: each for each in found["tried"]}
    assert tried[21]["measured"] == pytest.approx(21 * 64 / 140, rel=0.02)
    assert (tried[21]["holds"], tried[22]["holds"]) == (True, False)
    assert len(tried) < 20, "not every value is run"


def test_the_smallest_is_found_where_the_condition_begins_to_hold(look: Call) -> None:
    shown = look("devices.host.queue=1..64", "bandwidth >= 10GB/s")
    assert shown.code == 0
    said = " ".join(shown.out.split())
    assert "devices.host.queue=22 is the smallest from 1 to 64 with bandwidth >= 10GB/s: " in said
    assert "10.0 GB/s there, 9.62 GB/s with 21." in said


def test_a_time_is_found_to_a_256th_of_its_range(look: Call) -> None:
    """10 + 2 d + 70 ns stay below 500 ns up to 210 ns."""
    found = json.loads(look("links[*].delay=1ns..1us", "latency.mean <= 500ns", "--json").out)
    assert 210 - 999 / 256 <= float(found["value"].removesuffix("ns")) <= 210


@pytest.mark.parametrize(
    ("extent", "values"),
    [
        ("1GB/s..64GB/s", ["1GB/s", "16.75GB/s", "32.5GB/s", "48.25GB/s", "64GB/s"]),
        ("25ns..1us", ["25ns", "268.75ns", "512.5ns", "756.25ns", "1000ns"]),
        ("1GiB..5GiB", ["1GiB", "2GiB", "3GiB", "4GiB", "5GiB"]),
        ("10%..90%", ["10%", "30%", "50%", "70%", "90%"]),
        ("0.5..2.5", [0.5, 1.0, 1.5, 2.0, 2.5]),
    ],
)
def test_values_are_written_as_people_do(extent: str, values: list[object]) -> None:
    draws, condition = Draws.parse(f"a.b={extent}"), Condition.parse("latency < 1ns")
    found = search(draws, condition, lambda tried: [(0.0, None) for _ in tried], 2)
    assert [each.value for each in found.tried] == pytest.approx(values) if extent[-1] == "5" else values


def test_settings_reach_every_point(look: Call) -> None:
    with_more = ("--set", "devices.host.process_time=80ns", "--json")
    assert (
        json.loads(look("devices.host.queue=1..64", "bandwidth < 10GB/s", *with_more).out)["value"] == 32
    )  # 210 ns


@pytest.mark.parametrize(
    ("bound", "words"), [("1s", "holds with every value"), ("1ns", "holds with no value")]
)
def test_a_condition_that_does_not_change_is_said(look: Call, bound: str, words: str) -> None:
    shown = look("devices.host.queue=1..64", f"latency < {bound}")
    assert shown.code == 1
    assert words in " ".join(shown.out.split())


def test_what_holds_nowhere_says_how_near_it_came(look: Call) -> None:
    """Each read takes 140 ns, so that 40 ns are missing."""
    said = " ".join(look("devices.host.queue=1..64", "latency < 100ns").out.split())
    assert "was tried from 1 to 64: the nearest to the bound is 140 ns with 1." in said
    assert said.count("fails, 40.0 ns above") == 5
    said = " ".join(look("devices.host.queue=1..64", "latency < 150ns").out.split())
    assert said.count("holds, 10.0 ns below") == 5


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (9.0, "holds, 1.00 GB/s below"),
        (10.0, "fails, at the bound"),
        (12.5, "fails, 2.50 GB/s above"),
        (float("nan"), "fails: nothing was measured"),
    ],
)
def test_a_verdict_has_its_number_or_its_reason(value: float, says: str) -> None:
    assert Condition.parse("bandwidth < 10GB/s").verdict(value) == says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("latensy < 3ns", r"no measure of a run, found 'latensy'.*did you mean 'latency'"),
        ("bandwith > 3GB/s", r"no measure of a run.*did you mean 'bandwidth'"),
        ("requests > 3ns", r"not a number, found '3ns'"),
    ],
)
def test_a_misspelt_measure_is_told_from_a_wrong_bound(text: str, says: str) -> None:
    with pytest.raises(cx.InputError, match=f"(?s){says}"):
        Condition.parse(text)


def test_points_that_are_there_are_not_run_again(look: Call, points: Path) -> None:
    first = look("devices.host.queue=1..64", "bandwidth < 10GB/s", "--json")
    stored = {path: path.stat().st_mtime_ns for path in points.rglob("*.json") if path.name != "sweep.json"}
    assert stored
    again = look("devices.host.queue=1..64", "bandwidth < 10GB/s", "--json")
    assert again.out == first.out
    assert {path: path.stat().st_mtime_ns for path in stored} == stored


def test_the_directory_is_about_every_point_that_was_tried(look: Call, points: Path) -> None:
    found = json.loads(look("devices.host.queue=1..64", "bandwidth < 10GB/s", "--json").out)
    stored = cx.SweepResult.load(points)
    values = [point["devices.host.queue"] for point in stored.points]
    assert sorted(values) == [each["value"] for each in found["tried"]]
    assert set(stored.statuses) == {"finished"}


def test_a_measure_without_requests_is_unknown_and_holds_nowhere(look: Call) -> None:
    done = look("devices.host.queue=1..64", "write.latency.p99 < 500ns", "--json")
    found = json.loads(done.out)
    assert (done.code, found["value"]) == (1, None)
    assert {(each["measured"], each["holds"], each["error"]) for each in found["tried"]} == {
        (None, False, None)
    }
    shown = " ".join(look("devices.host.queue=1..64", "write.latency.p99 < 500ns").out.split())
    assert "from 1 to 64: nothing was measured with 1." in shown
    assert shown.count("unknown fails: nothing was measured") == 5


def test_values_that_are_refused_are_beyond_the_limit(look: Call) -> None:
    done = look(
        "workload.host.footprint=1MiB..8MiB", "latency < 1us", "--set", "devices.mem.capacity=4MiB", "--json"
    )
    found = json.loads(done.out)
    assert found["value"] == "4MiB"
    assert "there is no result" in found["notes"][0]
    shown = look("workload.host.footprint=1MiB..8MiB", "latency < 1us", "--set", "devices.mem.capacity=4MiB")
    assert re.search(r"8MiB +no result +fails: .*footprint", shown.out)
    assert [each["error"] is None for each in found["tried"]] == [each["holds"] for each in found["tried"]]


def test_a_system_that_is_refused_with_every_value_is_wrong_input(look: Call) -> None:
    too_large = "devices.mem.media={kind: dram, preset: DDR4-3200}"
    done = look(
        "devices.host.queue=1..64", "latency < 1us", "--set", too_large, "--set", "devices.mem.capacity=8TiB"
    )
    assert done.code == 2
    assert done.out == ""
    assert "every value is refused" in done.err
    assert "larger than its DRAM" in done.err


def looked_for(holds: Callable[[int], bool], top: int, scale: str, at_once: int) -> Found:
    """A search among whole numbers, without runs: 0 is measured where it holds, 2 elsewhere."""
    draws = Draws.parse(f"a.b=1..{top}{scale}")
    condition = Condition.parse("latency < 1ns")
    return search(
        draws, condition, lambda values: [(0.0 if holds(each) else 2.0, None) for each in values], at_once
    )


@given(st.integers(2, 5000), st.data(), st.sampled_from(["", ":log"]), st.integers(1, 7), st.booleans())
@settings(max_examples=100)
def test_the_limit_of_whole_numbers_is_exact(
    top: int, data: Any, scale: str, at_once: int, is_upper: bool
) -> None:
    limit = data.draw(st.integers(1, top - 1))
    found = looked_for(lambda value: (value <= limit) == is_upper, top, scale, at_once)
    assert found.last is not None
    assert found.last.value == (limit if is_upper else limit + 1)
    assert len(found.tried) <= 8 + 2 * at_once * top.bit_length()


def test_more_changes_than_one_are_said() -> None:
    found = looked_for(lambda value: value <= 10 or 60 <= value <= 80, 100, "", 2)
    assert len(found.changes) == 3
    assert "changes more than once, behind 10, " in found.notes[0]
    assert found.last is not None
    assert found.last.value == 10


@pytest.mark.parametrize(
    ("vary", "such_that", "reason"),
    [
        ("devices.host.queue=1,2", "latency < 1us", "not what to vary"),
        ("devices.host.queue=16..1", "latency < 1us", "a range that does not rise"),
        ("devices.hots.queue=1..16", "latency < 1us", "did you mean 'devices.host.queue'?"),
        ("devices.host.queue=1..16", "latency = 1us", "not a condition"),
        ("devices.host.queue=1..16", "latency < fast", "latency_ns.mean: not a quantity"),
        ("devices.host.queue=1..16", "latency < 5GB/s", "time"),
        ("devices.host.queue=1..64", "latency.p98 < 5ns", "no measure 'latency_ns.p98'"),
        ("devices.host.queue=1..64", "per_memory.men.queue_mean < 5", "did you mean 'mem'?"),
        ("devices.host.queue=1..64", "stop_reason < 5", "is no number"),
        ("devices.host.queue=1..16", "mean_hops < many", "not a number"),
    ],
)
def test_what_cannot_be_looked_for(look: Call, vary: str, such_that: str, reason: str) -> None:
    done = look(vary, such_that)
    assert done.code == 2
    assert reason in done.err


def test_python_gives_what_the_command_does(file: Path) -> None:
    found = cx.find(file, "devices.host.queue=1..64", "bandwidth < 10GB/s", jobs=1)
    assert found.last is not None
    assert (found.last.value, found.path) == (21, "devices.host.queue")


def test_what_runs_say_of_themselves_is_said(look: Call) -> None:
    """An event that never comes, which a stranger would think is in the numbers."""
    event = "events=[{at: 1s, fail: {device: mem}}]"
    found = json.loads(look("devices.host.queue=1..4", "latency < 100ns", "--set", event, "--json").out)
    assert any("did not happen: the run ended before" in note for note in found["notes"])


def test_a_limit_in_overload_is_said_to_be_one_of_so_many_requests(file: Path) -> None:
    """A read at a time, of 140 ns, is 7.14 million a second: of 10 million each waits 40 ns longer than the last.

    Twice the requests wait twice as long: 5 us are no limit of the system. What it moves is one."""
    vary = "workload.host.rate=1M/s..20M/s"
    values = []
    for count in (2000, 4000):
        found = cx.find(
            file, vary, "latency < 5us", overrides=[Override.parse(f"workload.host.requests={count}")]
        )
        assert found.last is not None
        values.append(float(str(found.last.value).removesuffix("M/s")))
        [note] = [each for each in found.notes if "number of requests" in each]
        assert note.startswith("with ")
        assert ": if the system is overloaded there, latency_ns.mean grows for as long as it runs" in note
    assert values[0] > values[1] > 1000 / 140
    moved = cx.find(file, vary, "bandwidth < 0.4GB/s")
    assert moved.last is not None
    assert float(str(moved.last.value).removesuffix("M/s")) == pytest.approx(0.4 / 64 * 1000, rel=0.02)
    assert not [each for each in moved.notes if "number of requests" in each]
