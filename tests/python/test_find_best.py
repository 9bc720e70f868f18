"""``cxloom find`` with a goal: optima that closed forms give, conditions, seeds, what is stored, and wrong input."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.sweeping.condition import Condition, Measure
from cxloom.sweeping.optimum import Goal, Optimum, optimum
from cxloom.sweeping.random_points import Draws
from cxloom.sweeping.runs import Run, runs_of

pytest.importorskip("optuna")

Call = Callable[..., Any]

# A read takes 30 + 2 d + m ns with a link of d and a medium of m, however many are in flight; they carry 64 B each.
SPEC = """
devices:
  host: {kind: host, queue: 1, process_time: 10ns}
  mem: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], delay: 30ns}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 300, footprint: 1MiB}}
run: {warmup: 100}
"""
QUEUE, DELAY, MEDIA = (
    "devices.host.queue=1..32",
    "links[*].delay=1ns..100ns",
    "devices.mem.media.latency=10ns..200ns",
)

CORNER = {QUEUE: 32, DELAY: "1ns", MEDIA: "10ns"}


def latency(settings: Any) -> float:
    """The form."""
    numbers = {path: float(str(value).removesuffix("ns")) for path, value in settings.items()}
    return 30 + 2 * numbers.get("links[*].delay", 30) + numbers.get("devices.mem.media.latency", 50)


class Form:
    """Runs of the form above, in no time."""

    def __init__(self) -> None:
        self.rounds: list[list[dict[str, Any]]] = []

    def at(self, settings: list[dict[str, Any]], *, is_first: bool) -> list[Run]:
        assert is_first == (not self.rounds)
        self.rounds.append(settings)
        return [self._run(each) for each in settings]

    @staticmethod
    def _run(settings: dict[str, Any]) -> Run:
        mean = latency(settings)
        bandwidth = 64 * settings.get("devices.host.queue", 1) / mean
        return Run({"latency_ns": {"mean": mean}, "bandwidth_gb_per_s": bandwidth}, None)


def best_of(vary: list[str], such_that: list[str], trials: int = 96, seed: int = 1, **goal: str) -> Optimum:
    draws = [Draws.parse(each) for each in vary]
    wanted = Goal.of(goal.get("maximise"), goal.get("minimise"), [each.path for each in draws])
    conditions = [Condition.parse(each) for each in such_that]
    return optimum(Form(), draws, wanted, conditions, trials=trials, seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_greatest_bandwidth_is_at_the_corner(seed: int) -> None:
    """32 in flight, each as short as can be: 64 x 32 / (30 + 2 + 10) = 48.8 GB/s."""
    found = best_of([QUEUE, DELAY, MEDIA], [], maximise="bandwidth", seed=seed)
    assert found.best is not None
    assert found.best.value == pytest.approx(64 * 32 / 42)
    assert found.settings == {path.partition("=")[0]: value for path, value in CORNER.items()}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_conditions_bound_the_best(seed: int) -> None:
    """The slowest medium with 10 GB/s at 200 ns at most: 32 x 64 / 10 = 204.8 ns, so that 200 bind: 30 + 2 + m."""
    found = best_of(
        [QUEUE, DELAY, MEDIA],
        ["bandwidth >= 10GB/s", "latency <= 200ns"],
        maximise="devices.mem.media.latency",
        seed=seed,
    )
    assert found.best is not None
    assert 130 <= found.best.value <= 168
    assert latency(found.settings) <= 200
    assert all(each.holds == (each.measured[0] >= 10 and each.measured[1] <= 200) for each in found.tried)


def test_what_is_least() -> None:
    """The fewest in flight that carry 10 GB/s: 64 q / (90 + m) with m = 10: 16."""
    found = best_of([QUEUE, MEDIA], ["bandwidth >= 10GB/s"], minimise="devices.host.queue")
    assert found.best is not None
    assert 16 <= found.best.value <= 17
    assert (
        " is the least devices.host.queue of 96 points that were tried with bandwidth >= 10GB/s."
        in found.sentence
    )


def test_a_best_in_overload_is_said_to_be_one_of_so_many_requests() -> None:
    """A read at a time, of 140 ns, is 7.14 million a second: of 20 million all wait, as long as there are requests."""
    system, vary = cx.System.from_yaml(SPEC.replace("300", "2000")), "workload.host.rate=1M/s..20M/s"
    rate = vary.partition("=")[0]
    found = cx.find(system, [vary], "latency < 500us", maximise=rate, trials=8, jobs=1)
    assert found.best is not None
    assert found.best.value == 20e6 > 1e9 / 140
    assert "latency_ns.mean would be greater with more requests" in " ".join(found.notes)
    settled = cx.find(system, [vary], "latency < 141ns", maximise=rate, trials=8, jobs=1)
    moved = cx.find(system, [vary], "bandwidth < 0.5GB/s", maximise=rate, trials=8, jobs=1)
    for each in (settled, moved):
        assert "more requests" not in " ".join(note for note in each.notes if "best" in note)


@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [
        ("workload.host.rate=500k/s,20M/s,3M/s", "500k/s", "20M/s"),
        ("links[*].delay=900ps,40ns,0.5us", "900ps", "0.5us"),
        ("workload.host.footprint=512KiB,1MiB,3MiB", "512KiB", "3MiB"),
    ],
)
def test_values_of_several_units_are_in_the_order_of_what_they_are(
    values: str, least: str, greatest: str
) -> None:
    system, path = cx.System.from_yaml(SPEC), values.partition("=")[0]
    assert cx.find(system, [values], maximise=path, trials=6, jobs=1).settings == {path: greatest}
    assert cx.find(system, [values], minimise=path, trials=6, jobs=1).settings == {path: least}


def test_one_of_a_list_is_chosen() -> None:
    found = best_of(["links[*].delay=90ns,5ns,40ns", QUEUE], [], trials=32, minimise="latency")
    assert found.settings["links[*].delay"] == "5ns"


def test_a_seed_tries_the_same_and_more_trials_begin_with_them() -> None:
    one, more, other = (
        [each.settings for each in best_of([QUEUE, DELAY], [], trials, seed, maximise="bandwidth").tried]
        for trials, seed in ((24, 1), (40, 1), (24, 2))
    )
    assert one == more[:24]
    assert one != other


def test_no_point_is_run_twice() -> None:
    form, draws = Form(), [Draws.parse("devices.host.queue=1..4")]
    goal = Goal.of("bandwidth", None, ["devices.host.queue"])
    found = optimum(form, draws, goal, [], trials=40)  # type: ignore[arg-type]
    ran = [each["devices.host.queue"] for settings in form.rounds for each in settings]
    assert sorted(ran) == [1, 2, 3, 4]
    assert len(found.tried) == 40
    assert found.settings == {"devices.host.queue": 4}
    assert found.notes == ["devices.host.queue=4 is the end of its range: a wider one may have better values"]


def test_points_without_a_result_are_passed_over() -> None:
    class Broken(Form):
        @staticmethod
        def _run(settings: dict[str, Any]) -> Run:
            return Form._run(settings) if settings["devices.host.queue"] <= 16 else Run(None, "too many")

    goal = Goal.of("bandwidth", None, ["devices.host.queue"])
    found = optimum(Broken(), [Draws.parse(QUEUE)], goal, [], trials=48)  # type: ignore[arg-type]
    assert found.settings == {"devices.host.queue": 16}
    assert any("without a result, the first: too many" in note for note in found.notes)
    frame = found.frame()
    assert frame["bandwidth_gb_per_s"].is_null().to_list() == [each is not None for each in frame["error"]]


def test_where_nothing_is_one_it_is_said() -> None:
    found = best_of([QUEUE], ["latency < 1ns"], trials=8, maximise="bandwidth")
    assert found.best is None
    # 30 + 2 x 30 + 50 ns, whatever the queue.
    assert re.fullmatch(
        r"None of 8 points that were tried is one with latency < 1ns; the nearest to that is devices\.host\.queue=\d+: "
        r"latency < 1ns fails, 139 ns above\.",
        found.sentence,
    )
    assert found.to_json()["value"] is None


def cells(found: Optimum) -> list[str]:
    """The last column of the table."""
    return list(map(str, found.table().columns[-1].cells))


def test_the_table_says_which_condition_fails_and_by_how_much() -> None:
    """One queue entry carries 64 / 140 = 0.457 GB/s; 8 carry 3.66; all at 140 ns."""
    vary = ["devices.host.queue=1,8"]
    one = best_of(vary, ["bandwidth > 1GB/s"], trials=8, maximise="bandwidth")
    assert cells(one) == ["holds", "bandwidth > 1GB/s fails, 0.543 GB/s below"]
    two = best_of(vary, ["bandwidth > 1GB/s", "latency < 100ns"], trials=8, maximise="bandwidth")
    assert cells(two) == [
        "latency < 100ns fails, 40.0 ns above",
        "bandwidth > 1GB/s fails, 0.543 GB/s below; latency < 100ns fails, 40.0 ns above",
    ]
    assert two.sentence.endswith(
        "the nearest to that is devices.host.queue=8: latency < 100ns fails, 40.0 ns above."
    )
    both = best_of(vary, ["bandwidth > 0.1GB/s", "latency < 200ns"], trials=8, maximise="bandwidth")
    assert cells(both) == ["all hold", "all hold"]
    without = best_of(vary, [], trials=8, maximise="bandwidth")
    assert [str(column.header) for column in without.table().columns] == [
        "devices.host.queue",
        "bandwidth_gb_per_s",
    ]


def test_a_table_that_is_cut_says_so() -> None:
    found = best_of([QUEUE, DELAY], [], trials=24, maximise="bandwidth")
    assert len(found.table().rows) == 10
    points = len({str(each.settings) for each in found.tried})
    assert f"the table has the best 10 of {points} points with a result; --json has all" in found.notes


@pytest.mark.parametrize(
    ("text", "value", "excess"),
    [
        ("latency < 100ns", 50.0, -0.5),
        ("latency < 100ns", 150.0, 0.5),
        ("latency <= 100ns", 100.0, 0.0),
        ("bandwidth >= 10GB/s", 5.0, 0.5),
        ("mean_hops > 0", 1.0, -1.0),
    ],
)
def test_how_far_a_condition_is_from_holding(text: str, value: float, excess: float) -> None:
    assert Condition.parse(text).excess(value) == pytest.approx(excess)
    assert Condition.parse("latency < 100ns").excess(100.0) > 0, "it has to stay below"


def test_measures_have_their_units() -> None:
    assert Measure.parse("latency.p99").unit == "ns"
    assert Measure.parse("latency") == Measure("latency_ns.mean")
    assert Measure.parse("per_memory.mem.bandwidth").unit == "GB/s"
    assert Measure.parse("mean_hops").unit == ""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "system.yaml"
    path.write_text(SPEC)
    return path


def test_the_command_finds_stores_and_goes_on(cxloom: Call, file: Path, tmp_path: Path) -> None:
    """The form, simulated; and again from what is stored."""
    points = tmp_path / "points"
    words = [
        "find",
        file,
        "--vary",
        QUEUE,
        "--vary",
        DELAY,
        "--maximise",
        "bandwidth",
        "--such-that",
        "latency < 150ns",
    ]
    first = cxloom(*words, "--trials", "24", "--out", points, "--json")
    assert first.code == 0
    found = json.loads(first.out)
    for each in found["tried"]:
        assert each["measured"] == [pytest.approx(latency(each["settings"]), rel=0.01)]
    stored = {path: path.stat().st_mtime_ns for path in (points / "points").iterdir()}
    shown = cxloom(*words, "--trials", "24", "--out", points)
    assert shown.code == 0
    assert "has the greatest bandwidth of 24 points that were tried with latency < 150ns: " in " ".join(
        shown.out.split()
    )
    assert {path: path.stat().st_mtime_ns for path in (points / "points").iterdir()} == stored


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([QUEUE, DELAY], "nothing is to be the best"),
        ([QUEUE], "nothing is to be the best"),
        ([QUEUE, "--such-that", "latency < 1us", "--trials", "9"], "--trials without a goal"),
        ([QUEUE, "--maximise", "bandwidth", "--minimise", "latency"], "two goals"),
        ([QUEUE, QUEUE, "--maximise", "bandwidth"], "a path is varied twice"),
        (["devices.host.queue", "--maximise", "bandwidth"], "not what to vary"),
        (["devices.host.queue=9..1", "--maximise", "bandwidth"], "a range that does not rise"),
        (["devices.hots.queue=1..9", "--maximise", "bandwidth"], "did you mean 'devices.host.queue'?"),
        ([QUEUE, "--maximise", "bandwith"], "no measure 'bandwith'"),
        ([QUEUE, "--maximise", "a b"], "not a measure"),
        (["devices.mem.media.kind=fixed,dram", "--maximise", "devices.mem.media.kind"], "without an order"),
    ],
)
def test_what_cannot_be_looked_for(
    cxloom: Call, file: Path, tmp_path: Path, words: list[str], reason: str
) -> None:
    at = next((at for at, word in enumerate(words) if word.startswith("--")), len(words))
    vary = [word for path in words[:at] for word in ("--vary", path)]
    done = cxloom("find", file, *vary, *words[at:], "--out", tmp_path / "points")
    assert done.code == 2
    assert reason in " ".join(done.err.split())


def test_without_optuna_it_says_what_to_install(
    cxloom: Call, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = cxloom("find", file, "--vary", QUEUE, "--maximise", "bandwidth", "--out", tmp_path / "points")
    assert done.code == 2
    assert "pip install 'cxloom[optuna]'" in done.err
    assert not (tmp_path / "points").exists()


def test_a_round_beyond_the_limit_is_no_mistake(file: Path) -> None:
    """All points of a later round of a search may be refused; of a first one that is what is wrong with the input."""
    settings = [{"devices.host.queue": size} for size in (2**25, 2**26)]
    with runs_of(file, jobs=1, out=None, overrides=(), watch=lambda _schedule: None) as runs:
        for run in runs.at(settings, is_first=False):
            assert run.summary is None
            assert "queue" in str(run.error)
        with pytest.raises(cx.InputError, match="queue"):
            runs.at(settings, is_first=True)
