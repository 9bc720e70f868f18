"""Samples of long programs: what is simulated, and that intervals hold what they say they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exec_support import spec
from validation.examples import DRAWN, slow, some

import cxloom as cx
from cxloom.execution import replay
from cxloom.execution.sampling import Sampler, Sampling, half_width, keeps_state
from cxloom.trace import (
    ALL_BEFORE,
    CALL,
    DEMAND,
    PAGE_WALK,
    PROGRESS,
    READ,
    STORE_FILL,
    WRITE,
    WRITE_BACK,
    TraceBatch,
    write_trace,
)

SMALL = Sampling(head=5_000, period=2_000, window=200, warm_up=200, cool_down=200, periods=10)


def records(count: int, seed: int = 1) -> TraceBatch:
    """A program with phases: chases, streams and computing, over memory that it touches bit by bit."""
    random = np.random.default_rng(seed)
    phase = (np.arange(count) // 3000) % 4
    chase = random.random(count) < np.array([0.9, 0.1, 0.5, 0.0])[phase]
    chase[0] = False
    room = 1 + np.arange(count) // 8
    return TraceBatch.of(
        64 * random.integers(0, room),
        READ,
        thread=1,
        instruction_gap=10,
        cycles=np.array([4, 20, 90, 2])[phase],
        dependence=np.where(chase, 1, 0),
        dependence_cycles=np.where(chase, 5, 0),
    )


@pytest.mark.parametrize("kind", ["independent", "skewed", "a course"])
def test_the_interval_holds_the_sum_as_often_as_it_says(kind: str) -> None:
    """A sample of one window from each of 60 periods of 10, from 600 numbers that are there; 95 of 100 times."""
    held = 0
    tries = 1500
    for seed in range(tries):
        random = np.random.default_rng(seed)
        numbers = random.normal(10, 3, 600) if kind != "skewed" else random.exponential(10, 600)
        if kind == "a course":
            numbers += 30 * np.sin(np.arange(600) / 100)
        places = 10 * np.arange(60) + random.integers(0, 10, 60)
        estimate = 600 * numbers[places].mean()
        held += abs(estimate - numbers.sum()) <= half_width(numbers[places].tolist(), 600)
    # The deviation of such a share is 0.6 %.
    assert 0.93 <= held / tries <= 0.97


def test_an_interval_in_closed_form() -> None:
    """100 numbers, of which 1, 3, 2 are known: differences 2 and -1, so v = 5/4; t of two degrees is 4.303."""
    expected = 4.302653 * 100 * math.sqrt(0.97 * 1.25 / 3)
    assert half_width([1, 3, 2], 100) == pytest.approx(expected, rel=1e-5)
    assert half_width([1, 3, 2], 3) == 0  # all were measured
    assert half_width([5], 100) == math.inf


def given(sampling: Sampling, batch: TraceBatch, size: int = 700) -> tuple[Sampler, TraceBatch]:
    """What of a program is simulated, told in batches."""
    sampler = Sampler(sampling)
    batches = (batch.slice(at, min(at + size, len(batch))) for at in range(0, len(batch), size))
    parts = list(sampler.parts(batches))
    assert len(parts) == len(sampler.pieces)
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return sampler, TraceBatch(**whole)


def test_what_is_simulated() -> None:
    batch = records(65_500)
    # A number for each record, in a column that nobody looks at here.
    numbered = TraceBatch(**(batch.columns() | {"timestamp": np.arange(len(batch))}))
    sampler, chosen = given(SMALL, numbered)
    numbers = chosen.timestamp
    assert sampler.records == len(batch)
    assert sampler.cycles == int(batch.cycles.sum())
    assert sampler.sampled == 60_000  # 30 periods; the head before, and 500 behind
    assert numbers[:5000].tolist() == list(range(5000))
    assert numbers[-700:].tolist() == list(range(64_800, 65_500))  # with what warms up for the rest
    windows = [piece for piece in sampler.pieces if piece.kind == 2]
    assert len(windows) == 30
    assert len(numbers) == sampler.simulated < 5500 + 30 * 600 + 200 + 30 * 60
    # Every page is touched as it was, in the order in which it was.
    _, first = np.unique(batch.address // 4096, return_index=True)
    assert set(first.tolist()) <= set(numbers.tolist())
    assert (np.diff(numbers) > 0).all()
    # Whatever a record needs is there, right before it, or is none of its business.
    needs = chosen.dependence.astype(np.int64)
    places = np.flatnonzero(needs)
    assert (numbers[places] - numbers[places - needs[places]] == batch.dependence[numbers[places]]).all()
    detailed = chosen.cycles > 0
    assert (chosen.cycles[detailed] == batch.cycles[numbers[detailed]]).all()
    # Another seed, other windows.
    other, _ = given(replace(SMALL, seed=2), numbered)
    assert [p.cycles for p in other.pieces] != [p.cycles for p in sampler.pieces]


def test_calls_and_fences_are_kept() -> None:
    batch = records(60_000)
    batch.role[::777] = CALL
    batch.dependence[::777] = 0
    batch.dependence[1::777] = ALL_BEFORE
    assert (batch.role == DEMAND).sum() < len(batch)
    _, chosen = given(SMALL, batch)
    assert (chosen.role == CALL).sum() == (batch.role == CALL).sum()


def test_threads_side_by_side_are_simulated_as_a_whole() -> None:
    """Between stretches of one thread, which are sampled, two that take turns: no record is lost or changed there."""
    batch = records(120_000)
    batch.thread[40_000:80_000] = np.where(np.arange(40_000) % 2 == 0, 1, 2)
    numbered = TraceBatch(**(batch.columns() | {"timestamp": np.arange(len(batch))}))
    sampler, chosen = given(SMALL, numbered)
    whole = np.arange(42_000, 80_000)  # the periods around the edges go either way
    assert np.isin(whole, chosen.timestamp).all()
    places = np.searchsorted(chosen.timestamp, whole)
    for name in ("address", "dependence", "cycles", "instruction_gap"):
        np.testing.assert_array_equal(chosen.columns()[name][places], numbered.columns()[name][whole])
    for start in (10_000, 95_000):
        share = (
            ((chosen.timestamp >= start) & (chosen.timestamp < start + 20_000)).mean() * len(chosen) / 20_000
        )
        assert 0.1 < share < 0.6  # sampled
    assert 38_000 <= sampler.side_by_side <= 44_000
    # A second thread that has little to tell does not matter.
    batch = records(60_000)
    batch.thread[::50] = 2
    assert given(SMALL, batch)[0].side_by_side == 0


def test_batches_are_given_before_the_next_is_taken_where_threads_are_side_by_side() -> None:
    """So that whoever simulates can say whose records come next; where it cannot, nobody is wanted."""
    batch = records(30_000)
    batch.thread[:] = np.arange(len(batch)) % 3
    asked: list[int] = []
    taken: list[int] = []

    def batches() -> Iterator[TraceBatch]:
        for at in range(0, len(batch), 500):
            taken.append(at)
            yield batch.slice(at, at + 500)

    sampler = Sampler(SMALL)
    count = 0
    for part in sampler.parts(batches(), lambda: asked.append(1)):
        count += len(part["address"])
        assert count == taken[-1] + 500
    assert count == len(batch)
    assert len(asked) <= 2  # at the end
    single = records(30_000)
    sampler = Sampler(SMALL)
    list(sampler.parts((single.slice(at, at + 500) for at in range(0, 30_000, 500)), lambda: asked.append(1)))
    assert len(asked) > 40


def test_what_is_not_long_is_simulated_as_a_whole(tmp_path: Path) -> None:
    for count in (4_000, 5_000, 24_999, 25_000):
        batch = records(count)
        sampler, chosen = given(SMALL, batch)
        assert sampler.sampled == 0
        for name, column in batch.columns().items():
            np.testing.assert_array_equal(chosen.columns()[name], column)
    trace = tmp_path / "trace.parquet"
    write_trace(trace, [records(20_000)])
    system = [cx.load(str(spec(tmp_path)))]
    sampled, exact = replay(trace, system, sampling=SMALL), replay(trace, system, sampling=None)
    assert sampled.executions[0].core == exact.executions[0].core
    assert sampled.executions[0].sampled is None


@slow
def test_time_and_slowdown_lie_in_their_intervals(tmp_path: Path) -> None:
    """Over seeds, about as often as they say: of 20 with 95 % less than 16 come once in four hundred times."""
    trace = tmp_path / "trace.parquet"
    write_trace(trace, [records(120_000)])
    systems = [cx.load(str(spec(tmp_path))), cx.load(str(spec(tmp_path, "far", "250ns")))]
    exact = replay(trace, systems, sampling=None)
    times, slowdowns, errors = 0, 0, []
    for seed in range(20):
        sampled = replay(trace, systems, sampling=replace(SMALL, seed=seed))
        near, far = sampled.executions
        assert near.sampled is not None
        assert far.sampled is not None
        assert near.sampled.slowdown.value == 1
        assert near.sampled.slowdown.high == 1
        assert near.sampled.windows == 57
        slowdown = far.sampled.slowdown
        assert slowdown.value == pytest.approx(sampled.slowdowns[1])
        times += far.sampled.time_ns.low <= exact.executions[1].time_ns <= far.sampled.time_ns.high
        slowdowns += slowdown.low <= exact.slowdowns[1] <= slowdown.high
        errors.append(far.time_ns / exact.executions[1].time_ns - 1)
        # Windows that both have tell more of the slowdown than of the times.
        width = (slowdown.high - slowdown.low) / slowdown.value
        assert width < 0.7 * (far.sampled.time_ns.high - far.sampled.time_ns.low) / far.time_ns
        assert far.instructions_per_cycle == pytest.approx(
            exact.executions[1].instructions_per_cycle, rel=2.5 * width + 0.02
        )
        assert sum(far.parts().values()) == pytest.approx(1)
    assert times >= 16
    assert slowdowns >= 16
    # Without a bias: within three deviations of the mean.
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(len(errors))
    assert np.std(errors) < 0.1


def test_what_is_behind_a_window_is_simulated_too() -> None:
    """From the begin of a warm-up to the end of what cools down nothing is left out, across periods as well."""
    batch = records(65_500)
    numbered = TraceBatch(**(batch.columns() | {"timestamp": np.arange(len(batch))}))
    for seed in range(5):
        sampler = Sampler(Sampling(5_000, 2_000, 200, 300, cool_down=700, periods=10, seed=seed))
        parts = [part["timestamp"] for part in sampler.parts([numbered])]
        chosen = np.concatenate(parts)
        windows = [part for part, piece in zip(parts, sampler.pieces, strict=True) if piece.kind == 2]
        assert len(windows) == 30
        for window in windows:
            end = min(window[-1] + 701, len(batch))
            assert np.isin(np.arange(window[0] - 300, end), chosen).all()


def stream_over_pages(count: int, pages_of_an_entry: int) -> TraceBatch:
    """Stores to line after line, and the write-backs that they cause. For each line of the page table a
    walk reads memory, and the lines of its page wait for that; those of the pages behind it, whose entries
    are there with it, do not."""
    lines = np.arange(count // 2)
    page, of_page = lines // 64, lines % 64
    waits = page % pages_of_an_entry == 0
    batch = TraceBatch.of(
        np.repeat(64 * lines, 2),
        np.tile([READ, WRITE], count // 2),
        thread=1,
        role=np.tile([STORE_FILL, WRITE_BACK], count // 2),
        instruction_gap=np.tile([3, 0], count // 2),
        cycles=np.tile([2, 0], count // 2),
        dependence=np.stack([np.where(waits, 2 * of_page, 0), np.zeros_like(lines)], 1).ravel(),
    )
    walks = 2 * np.flatnonzero(waits & (of_page == 0))
    batch.role[walks] = PAGE_WALK
    batch.address[walks] = (1 << 29) + 64 * np.arange(len(walks))
    batch.address[1::2] = 64 * np.maximum(lines - 256, 0)  # what was stored a while ago
    return batch


def chase_over_pages(count: int, walks: bool) -> TraceBatch:
    """Each read needs the one before; with a walk of the page table before each of them, or without."""
    random = np.random.default_rng(7)
    address = 64 * random.integers(0, 1 << 20, count)
    role = np.zeros(count, np.uint8)
    if walks:
        address[::2] = (1 << 29) + 64 * random.integers(0, 1 << 14, count // 2)
        role[::2] = PAGE_WALK
    return TraceBatch.of(
        address,
        READ,
        thread=1,
        instruction_gap=4,
        cycles=2,
        dependence=np.minimum(np.arange(count), 1),
        role=role,
    )


def joined_in_turn(first: TraceBatch, second: TraceBatch, length: int) -> TraceBatch:
    """A stretch of one, a stretch of the other."""
    parts = [each.slice(at, at + length) for at in range(0, len(first), length) for each in (first, second)]
    whole = {name: np.concatenate([part.columns()[name] for part in parts]) for name in first.columns()}
    starts = np.arange(len(whole["address"])) % length
    whole["dependence"] = np.where(whole["dependence"] > starts, 0, whole["dependence"])
    return TraceBatch(**whole)


PROGRAMS = {
    "a stream over pages of 4 KiB": lambda: stream_over_pages(120_000, 8),
    "a stream that walks for each page": lambda: stream_over_pages(120_000, 2),
    "a stream over pages of 2 MiB": lambda: stream_over_pages(120_000, 1 << 20),
    "a chase over pages of 4 KiB": lambda: chase_over_pages(120_000, True),
    "a chase over pages of 2 MiB": lambda: chase_over_pages(120_000, False),
    "a stream and a chase in turn": lambda: joined_in_turn(
        stream_over_pages(60_000, 8), chase_over_pages(60_000, True), 1_000
    ),
}


@pytest.mark.parametrize("program", some(PROGRAMS, DRAWN))
def test_intervals_hold_where_the_end_of_a_window_is_overtaken(program: str, tmp_path: Path) -> None:
    """Stores that wait for miss registers by write-backs, and what waits for an answer by what does not: with nothing
    simulated behind windows five of these programs fail."""
    trace = tmp_path / "trace.parquet"
    write_trace(trace, [PROGRAMS[program]()])

    system = [cx.load(str(spec(tmp_path)))]
    [exact] = replay(trace, system, sampling=None).executions
    held, errors = 0, []
    for seed in range(20):
        sampling = Sampling(5_000, 8_000, 300, 1_200, cool_down=600, periods=10, seed=seed)
        [sampled] = replay(trace, system, sampling=sampling).executions
        assert sampled.sampled is not None
        time = sampled.sampled.time_ns
        # Windows that are all alike have an interval of next to nothing, as nothing varies between them.
        near = 0.002 * exact.time_ns
        held += time.low - near <= exact.time_ns <= time.high + near
        errors.append(time.value / exact.time_ns - 1)
    assert held >= 16, errors
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(20) + 0.002


def test_what_keeps_its_state_is_simulated_as_a_whole(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    host, dram = {"kind": "host"}, {"kind": "memory", "media": {"kind": "dram"}}
    assert not keeps_state({"devices": {"host": host, "mem": dram}})
    assert keeps_state({"devices": {"host": {**host, "cache": {"size": "1MiB"}}}})
    assert keeps_state({"devices": {"mem": {"kind": "memory", "media": {"kind": "flash"}}}})
    assert keeps_state({"devices": {"host": {**host, "memory": {"media": {"kind": "flash"}}}}})
    cached = spec(tmp_path, "cached", **{"core: {}": "core: {}, cache: {size: 64KiB}"})
    trace = tmp_path / "trace.parquet"
    write_trace(trace, [records(2_000)])
    said = cxloom("exec", "--system", cached, "--replay", trace)
    assert "simulated as a whole" in said.err
    assert "simulated as a whole" not in cxloom("exec", "--system", cached, "--replay", trace, "--exact").err


def test_the_command_samples_what_is_long(
    tmp_path: Path, cxloom: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cxloom.cli.exec.Sampling", lambda: SMALL)
    trace, out = tmp_path / "trace.parquet", tmp_path / "out.json"
    write_trace(trace, [records(60_000)])
    options = ("--system", spec(tmp_path), "--replay", trace, "--out", out)
    sampled = cxloom("exec", *options)
    assert sampled.code == 0, sampled.err
    assert "±" in sampled.err
    assert "of the records were simulated" in sampled.err
    [first] = json.loads(out.read_text())["systems"]
    assert first["windows"] == 27
    exact = cxloom("exec", *options, "--exact")
    assert "±" not in exact.err
    [second] = json.loads(out.read_text())["systems"]
    assert "windows" not in second
    low, high = first["time_ns_ci95"]
    assert low < first["time_ns"] < high
    assert low < second["time_ns"] < high


def test_windows_without_an_answer_take_their_cycles(tmp_path: Path) -> None:
    """A program that computes, and hardly ever reads: the time is that of its cycles, sampled or not."""
    batch = records(60_000)
    few = np.arange(60_000) % 4_500 == 0
    batch.role[:] = np.where(few, batch.role, PROGRESS)
    batch.dependence[:] = 0
    batch.dependence_cycles[:] = 0
    batch.cycles[:] = 400
    batch.address[:] = np.where(few, batch.address, 0)
    trace = tmp_path / "trace.parquet"
    write_trace(trace, [batch])
    system = [cx.load(str(spec(tmp_path)))]
    [sampled] = replay(trace, system, sampling=SMALL).executions
    [exact] = replay(trace, system, sampling=None).executions
    assert exact.time_ns == pytest.approx(60_000 * 400 * 0.25, rel=0.001)
    assert sampled.sampled is not None
    assert sampled.sampled.windows == 27
    assert sampled.time_ns == pytest.approx(exact.time_ns, rel=0.01)
