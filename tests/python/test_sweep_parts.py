"""The parts of a sweep, each by itself: keys, the order of points, intervals, and what a store takes for whole."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sweep_support import SPEC

import cxloom as cx
from cxloom.cli.progress import SweepBar
from cxloom.spec.node import Origin, from_plain
from cxloom.spec.override import Override
from cxloom.spec.resolved import Resolved
from cxloom.sweeping.identity import Identity, identity
from cxloom.sweeping.interval import aggregated, interval, student_t
from cxloom.sweeping.schedule import ATTEMPTS, Schedule
from cxloom.sweeping.store import Record, Store
from cxloom.sweeping.table import arrow
from cxloom.sweeping.work import Report, Task

# --- keys ------------------------------------------------------------------------------------------------------------

WHO = identity()
SYSTEM = cx.System.from_yaml(SPEC).template()
NAMES = st.sampled_from(["a", "b", "seed", "1", "é", ""])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5]) | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
SPECS = st.dictionaries(NAMES, PLAIN, max_size=3)


def kinds(value: Any) -> Any:
    """A value that is equal to another one if both are of one kind, too: 1, 1.0 and true are three."""
    if isinstance(value, dict):
        return {key: kinds(item) for key, item in value.items()}
    return [kinds(item) for item in value] if isinstance(value, list) else (type(value), value)


@given(SPECS, SPECS)
def test_a_key_is_that_of_the_spec(one: dict[str, Any], other: dict[str, Any]) -> None:
    keys = [WHO.key(Resolved(from_plain(spec, Origin()))) for spec in (one, other)]
    assert (keys[0] == keys[1]) == (kinds(one) == kinds(other))


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from(["45ns", "60ns"]), st.integers(0, 1)),
        min_size=2,
        max_size=2,
    )
)
def test_points_have_one_key_if_they_are_one_system(points: list[tuple[int, str, int]]) -> None:
    resolved = [
        SYSTEM.resolve(
            [
                Override.of("devices.host.queue", queue),
                Override.of("devices.mem[*].media.latency", latency),
                Override.of("run.seed", seed),
            ]
        )
        for queue, latency, seed in points
    ]
    assert (WHO.key(resolved[0]) == WHO.key(resolved[1])) == (resolved[0].plain() == resolved[1].plain())


def test_the_order_of_keys_in_a_spec_is_none() -> None:
    one = Resolved(from_plain({"a": 1, "b": 2}, Origin()))
    other = Resolved(from_plain({"b": 2, "a": 1}, Origin(file="elsewhere", line=3)))
    assert WHO.key(one) == WHO.key(other)


def test_another_program_gives_another_key() -> None:
    spec = SYSTEM.resolve()
    others = [
        replace(WHO, version="0.0"),
        replace(WHO, core="another build"),
        replace(WHO, plugins=("one",)),
        replace(WHO, plugins=("one", "two")),
    ]
    assert len({who.key(spec) for who in (WHO, *others)}) == 5
    assert WHO.key(spec) == Identity(WHO.version, WHO.core, ()).key(spec)


# --- the order of points ---------------------------------------------------------------------------------------------


def play(schedule: Schedule, seconds: dict[str, float], jobs: int) -> tuple[list[str], float]:
    """Points of these lengths on so many processors: the order in which they end, and when the last one does."""
    clock, free, under_way, ends = 0.0, jobs, [], []
    while not schedule.is_done:
        while free and (task := schedule.next()) is not None:
            whole = seconds[task.key]
            gives_up = task.pilot and whole > 0.5
            under_way.append((clock + (0.05 if gives_up else whole), task, gives_up))
            free -= 1
        under_way.sort(key=lambda each: each[0])
        clock, task, gives_up = under_way.pop(0)
        free += 1
        schedule.ended(Report(task.key, "postponed" if gives_up else "stored", seconds[task.key]))
        if not gives_up:
            ends.append(task.key)
    return ends, clock


def tasks(keys: list[str], pilot: bool = True) -> list[Task]:
    return [Task(key, None, pilot) for key in keys]


def test_the_longest_points_are_run_first() -> None:
    seconds = {"a": 0.1, "b": 3.0, "c": 7.0, "d": 0.1, "e": 5.0}
    ends, _ = play(Schedule(tasks(list(seconds))), seconds, jobs=1)
    assert ends == ["a", "d", "c", "e", "b"]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40), st.integers(1, 8))
def test_the_end_is_near_the_best_possible(lengths: list[float], jobs: int) -> None:
    """A processor that is free takes the next point, so the last one to begin did so before the mean load was through
    (R. L. Graham, SIAM J. Appl. Math. 17, 1969). Short points come first here, and a pilot costs at most a tenth of its
    point."""
    seconds = {str(index): length for index, length in enumerate(lengths)}
    ends, clock = play(Schedule(tasks(list(seconds))), seconds, jobs)
    assert sorted(ends) == sorted(seconds)
    short = sum(length for length in lengths if length <= 0.5)
    longs = sum(length for length in lengths if length > 0.5)
    bound = max(max(lengths), 1.1 * longs / jobs + max(lengths)) + 0.55 + short / jobs
    assert clock <= bound + 1e-9


def test_a_point_whose_process_dies_is_tried_thrice_and_then_alone() -> None:
    schedule = Schedule(tasks(["bad", "good", "long"]))
    for _ in range(ATTEMPTS):
        task = schedule.next()
        assert task is not None
        assert task.key == "bad"
        schedule.died("bad", "killed")
    good = schedule.next()
    assert good is not None
    assert good.key == "good"
    long = schedule.next()
    assert long is not None
    assert schedule.next() is None  # not beside the others
    schedule.ended(Report("good", "stored", 1.0))
    schedule.ended(Report("long", "postponed", 9.0))
    long = schedule.next()
    assert long is not None
    assert not long.pilot
    assert schedule.next() is None
    schedule.ended(Report("long", "stored", 9.0))
    alone = schedule.next()
    assert alone is not None
    assert alone.key == "bad"
    assert schedule.next() is None
    assert not schedule.is_done
    schedule.died("bad", "killed again")
    assert schedule.is_done
    assert schedule.lost == {"bad": "killed again"}
    assert schedule.attempts == 4


def test_how_far_a_sweep_is() -> None:
    schedule = Schedule(tasks(["a", "b", "c", "d"]))
    assert schedule.cost() == (0, 4)  # nothing is known: one is as long as another
    for key, what, seconds in (("a", "stored", 1.0), ("b", "postponed", 9.0), ("c", "stored", 2.0)):
        task = schedule.next()
        assert task is not None
        schedule.ended(Report(key, what, seconds))  # type: ignore[arg-type]
    assert schedule.cost() == (3, 12 + 4)
    for key, seconds in (("d", 4.0), ("b", 10.0)):
        schedule.next()
        schedule.ended(Report(key, "stored", seconds))
    assert schedule.cost() == (17, 17)


def test_a_point_under_way_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("cxloom.sweeping.schedule.time.monotonic", lambda: now[0])
    schedule = Schedule(tasks(["a", "b"]))
    schedule.next()
    schedule.ended(Report("a", "postponed", 8.0))
    schedule.next()
    schedule.ended(Report("b", "stored", 2.0))
    schedule.next()
    now[0] += 3
    assert schedule.cost() == (2 + 3, 10)
    now[0] += 33
    assert schedule.cost() == (2 + 36, 2 + 36 / 0.9)  # it takes longer than was thought, and is not done


def test_a_point_under_way_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before that nothing is known of a first one: 90 % stood there for as long as it took."""
    now = [100.0]
    monkeypatch.setattr("cxloom.sweeping.schedule.time.monotonic", lambda: now[0])
    shown: list[tuple[object, ...]] = []
    bar = SweepBar(quiet=False)
    monkeypatch.setattr(SweepBar, "due", True)
    monkeypatch.setattr(bar, "show", lambda *words: shown.append(words))
    schedule = Schedule(tasks(["a"]))
    schedule.next()
    now[0] += 6
    bar.update(schedule)
    schedule.expects(Report("a", "expected", 20.0))
    bar.update(schedule)
    assert shown == [("0 of 1 point",), ("0 of 1 point", 300_000, 1_000_000)]


def test_whoever_carries_a_point_out_is_told_how_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cxloom.sweeping.work import Bench, Job, Sweep

    monkeypatch.setattr("cxloom.sweeping.work.TOLD_SECONDS", 0.0)
    bench = Bench(Job(Sweep(SYSTEM), tmp_path, [], WHO))
    Store(tmp_path).prepare()
    requests = from_plain(100_000, Origin(path="workload.host.requests"))
    told: list[Report] = []
    began = time.monotonic()
    stored = bench.carry_out(Task("0" * 32, {"workload.host.requests": requests}, pilot=False), told.append)
    took = time.monotonic() - began
    assert stored.what == "stored"
    assert {(report.key, report.what) for report in told} == {("0" * 32, "expected")}
    assert 0 < told[-1].seconds < 2 * took


def test_a_short_point_costs_no_second_run(tmp_path: Path) -> None:
    """A pilot that comes to the end is the run; one of a long point gives up within a tenth of it."""
    from cxloom.sweeping.work import PILOT_SECONDS, PILOT_SHARE, Bench, Job, Sweep

    bench = Bench(Job(Sweep(SYSTEM), tmp_path, [], WHO))
    store = Store(tmp_path)
    store.prepare()

    def work(requests: int) -> dict[str, Any]:
        return {"workload.host.requests": from_plain(requests, Origin(path="workload.host.requests"))}

    short = bench.carry_out(Task("0" * 32, work(200), pilot=True))
    assert short.what == "stored"
    assert short.seconds < PILOT_SECONDS
    long = bench.carry_out(Task("1" * 32, work(30_000_000), pilot=True))
    assert long.what == "postponed"
    assert long.seconds > PILOT_SECONDS / PILOT_SHARE
    assert store.read("1" * 32) is None
    record = store.read("0" * 32)
    assert record is not None
    assert record.cost is not None
    assert record.cost["requests"] == 200


# --- intervals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 30, 99, 100, 1000])
def test_students_t(degrees: int) -> None:
    assert student_t(degrees) == pytest.approx(float(stats.t.ppf(0.975, degrees)), rel=1e-11)


def test_an_interval_holds_the_mean_in_95_of_100() -> None:
    draw = random.Random(1)
    held = 0
    for _ in range(4000):
        mean, half = interval([draw.gauss(10, 3) for _ in range(4)])
        assert mean is not None
        assert half is not None
        held += abs(mean - 10) <= half
    assert held / 4000 == pytest.approx(0.95, abs=0.012)  # 3.5 deviations of that share


def test_seeds_that_did_not_finish_are_not_in_the_mean() -> None:
    columns = {
        "a": [1, 1, 1, 2],
        "run.seed": [1, 2, 3, 1],
        "key": ["k", "l", "m", "n"],
        "status": ["finished", "unfinished", "finished", "refused"],
        "error": [None, "deadlock", None, "wrong"],
        "x": [1.0, 100.0, 3.0, None],
        "seed": [1, 2, 3, None],
        "name": ["s", "s", "s", None],
    }
    found = aggregated(columns)
    assert found["a"] == [1, 2]
    assert found["seeds"] == [2, 0]
    assert found["x"] == [2.0, None]
    half = 12.706204736 * 2**0.5 / 2**0.5  # t of one degree, deviation sqrt(2) of two values
    assert found["x:low"][0] == pytest.approx(2 - half)
    assert found["x:high"] == [pytest.approx(2 + half), None]
    assert set(found) == {"a", "seeds", "x", "x:low", "x:high"}


def test_a_point_that_is_there_twice_counts_once_for_its_seed() -> None:
    # Random samples may draw a value again: both rows are one run, known by its key, and no two independent ones.
    columns = {
        "a": [1, 1, 1, 1],
        "run.seed": [1, 2, 1, 2],
        "key": ["k", "l", "k", "l"],
        "status": ["finished"] * 4,
        "error": [None] * 4,
        "x": [1.0, 3.0, 1.0, 3.0],
    }
    found = aggregated(columns)
    assert found["seeds"] == [2]
    assert found["x"] == [2.0]
    half = 12.706204736  # t of one degree; the deviation is sqrt(2), of two values
    assert found["x:high"] == [pytest.approx(2 + half)]


# --- store and table -------------------------------------------------------------------------------------------------


def test_a_store_gives_what_it_was_given(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    key = "0123456789abcdef" * 2
    assert store.read(key) is None
    for record in (
        Record("finished", None, {"a": {"b": 1.5}, "c": None, "d": "é\n"}, {"cpu_seconds": 0.1}),
        Record("lost", "killed"),
    ):
        store.write(key, record)
        assert store.read(key) == record
    assert [path.name for path in (tmp_path / "points").iterdir()] == [f"{key}.json"]


@given(data=st.data())
def test_a_store_notices_any_damage(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = Store(folder)
    store.prepare()
    key = "0123456789abcdef" * 2
    store.write(key, Record("finished", None, {"requests": 200, "note": "text"}, {}))
    whole = store.path(key).read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        damaged = whole[:place]
    else:
        flip = data.draw(st.integers(1, 255))
        damaged = whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :]
    store.path(key).write_bytes(damaged)
    assert store.read(key) is None


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 2], "int64"),
        ([1, 2.5, None], "double"),
        ([True, None], "bool"),
        (["45ns", None], "string"),
        ([1, "many"], "string"),
        ([True, 1], "string"),
        ([[1], {"a": 2}, None], "string"),
        ([None, None], "double"),
        ([1 << 63, 1], "double"),
    ],
)
def test_columns_have_one_type(values: list[Any], kind: str) -> None:
    assert str(arrow({"x": values}).schema.field("x").type) == kind


def test_a_plugin_is_part_of_the_key(tmp_path: Path) -> None:
    from cxloom.spec import plugins

    library = tmp_path / "libmine.so"
    library.write_bytes(b"one")
    before = list(plugins._loaded)
    try:
        plugins._loaded.append(str(library))
        one = identity()
        library.write_bytes(b"another")
        other = identity()
    finally:
        plugins._loaded[:] = before
    assert len({WHO, one, other}) == 3
