"""Errors that a memory corrects: how long until a part is suspicious, and that it is spared then by itself."""

from __future__ import annotations

import json
import statistics
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cxloom as cx
from cxloom.base.errors import InputError

Spec = dict[str, Any]
READ, WRITE = 45.0, 80.0  # ns of a line in the media


def part(base: str = "0KiB", size: str = "8KiB", every: str = "1us") -> Spec:
    return {"base": base, "size": size, "every": every}


def system(*parts: Spec, memory: Spec | None = None, events: list[Spec] | None = None, **errors: Any) -> Spec:
    """A host that reads a line each microsecond, in order, for 100 us, of a memory in which errors occur evenly."""
    media = {"kind": "fixed", "latency": "45ns", "write_latency": "80ns", "bandwidth": "unlimited"}
    return {
        "devices": {
            "host": {"kind": "host", "process_time": "0ns", "queue": 64},
            "mem": {
                "kind": "memory",
                "controller_time": "0ns",
                "capacity": "1MiB",
                "spares": 4,
                "media": media,
                "corrected_errors": {"parts": list(parts), "times": "even", **errors},
                **(memory or {}),
            },
        },
        "links": [{"between": ["host", "mem"]}],
        "address_map": [{"to": "mem"}],
        "workload": {
            "host": {"pattern": "sequential", "requests": 100, "footprint": "64KiB", "rate": "1M/s"}
        },
        "events": events or [],
        "run": {"warmup": 0},
    }


def run(spec: Spec) -> cx.Result:
    return cx.run(cx.System.from_yaml(json.dumps(spec)), requests=True)


def of_memory(result: cx.Result) -> Spec:
    return dict(result.summary["per_memory"]["mem"])


@pytest.mark.parametrize("threshold", [1, 3, 20])
@pytest.mark.parametrize("every", [0.7, 2.0])
def test_even_errors_reach_the_threshold_at_its_multiple(threshold: int, every: float) -> None:
    """The part is copied from then on: its 128 lines one by one take 16 us, in which those who read it wait."""
    result = run(system(part(base="0KiB", every=f"{every}us"), threshold=threshold, buffer="64B"))
    found = of_memory(result)
    begin = 1000 * threshold * every
    assert found["threshold_ns"] == pytest.approx(begin)
    assert (found["suspicious_parts"], found["unspared_parts"], found["spared"]) == (1, 0, 1)
    assert found["corrected_errors"] == threshold
    assert found["spare_copy_ns"] == pytest.approx(128 * (READ + WRITE))
    end = begin + 128 * (READ + WRITE)
    frame = result.requests().sort("id")
    latencies = [round(ps / 1000, 3) for ps in frame["completed_ps"] - frame["created_ps"]]
    expected = [end - 1000 * at + READ if begin <= 1000 * at < end else READ for at in range(100)]
    assert latencies == pytest.approx(expected)


def test_it_is_as_an_event_at_that_time() -> None:
    by_errors = of_memory(run(system(part(base="4KiB", every="3us"), threshold=5)))
    event = {"at": "15us", "spare": {"device": "mem", "base": "4KiB"}}
    spec = system(events=[event])
    del spec["devices"]["mem"]["corrected_errors"]
    by_event = of_memory(run(spec))
    keys = ("spared", "spare_copy_ns", "spare_waits", "spare_wait_ns")
    assert {key: by_errors[key] for key in keys} == {key: by_event[key] for key in keys}


def test_each_part_has_its_own_count() -> None:
    parts = (part("64KiB", "64B", "1us"), part("128KiB", "64B", "4us"), part("192KiB", "64B", "40us"))
    found = of_memory(run(system(*parts, threshold=10)))
    assert (found["suspicious_parts"], found["spared"]) == (2, 2)
    # 10 of the first, 10 of the second, and those of 40 and 80 us.
    assert found["corrected_errors"] == 22
    assert found["threshold_ns"] == pytest.approx((10_000 + 40_000) / 2)


def test_errors_go_on_where_no_spare_part_is_left() -> None:
    """An event has one of two spare parts for itself: the second part that is suspicious gets none."""
    event = {"at": "90us", "spare": {"device": "mem", "base": "512KiB", "size": "64B"}}
    parts = (part("64KiB", "64B", "1us"), part("128KiB", "64B", "2us"))
    found = of_memory(run(system(*parts, threshold=10, memory={"spares": 2}, events=[event])))
    assert (found["suspicious_parts"], found["unspared_parts"], found["spared"]) == (2, 1, 2)
    assert found["corrected_errors"] == 10 + 49
    none = of_memory(run(system(*parts, threshold=10, memory={"spares": 0})))
    assert (none["suspicious_parts"], none["unspared_parts"], none["spared"]) == (2, 2, 0)
    assert none["corrected_errors"] == 99 + 49


def test_random_errors_reach_the_threshold_as_erlang_says() -> None:
    """The sum of 16 exponential times of 1 us each: 16 us in the mean, with a deviation of 4 us."""
    parts = [part(f"{4 * i}KiB", "64B", "1us") for i in range(200)]
    spec = system(*parts, threshold=16, times="random", memory={"spares": 200})
    means = []
    for seed in range(3):
        spec["run"]["seed"] = seed
        found = of_memory(run(spec))
        assert found["suspicious_parts"] == 200
        assert found["corrected_errors"] == 16 * 200
        means.append(found["threshold_ns"])
    assert len(set(means)) == 3
    assert statistics.mean(means) == pytest.approx(16_000, abs=3 * 4000 / 600**0.5)
    assert of_memory(run(spec))["threshold_ns"] == means[-1]


def test_errors_keep_no_run_alive() -> None:
    spec = system(part(every="1ms"))
    assert run(spec).summary["completed"] is True
    found = of_memory(run(spec))
    assert found["corrected_errors"] == 0
    assert found["threshold_ns"] is None


@settings(max_examples=10, deadline=None)
@given(
    parts=st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(["64B", "1KiB", "8KiB"]), st.integers(20, 3000)),
        min_size=1,
        max_size=5,
    ),
    threshold=st.integers(1, 8),
    spares=st.integers(0, 4),
    times=st.sampled_from(["even", "random"]),
    media=st.sampled_from([{}, {"banks": 2}, {"bandwidth": "4GB/s"}]),
    memory=st.sampled_from([{}, {"queue": 4}, {"heads": 2}]),
    seed=st.integers(0, 1000),
)
def test_every_access_is_answered_once(
    parts: list[tuple[int, str, int]],
    threshold: int,
    spares: int,
    times: str,
    media: Spec,
    memory: Spec,
    seed: int,
) -> None:
    drawn = [part(f"{base}KiB", size, f"{every}ns") for base, size, every in parts]
    spec = system(*drawn, threshold=threshold, times=times, memory={**memory, "spares": spares})
    spec["devices"]["mem"]["media"] |= media
    spec["workload"]["host"] |= {"pattern": "random", "requests": 800, "reads": "60%", "rate": "unlimited"}
    spec["run"]["seed"] = seed
    result = run(spec)
    assert result.summary["completed"] is True
    assert result.summary["errors"]["requests"] == 0
    assert result.requests()["id"].sort().to_list() == list(range(800))
    found = of_memory(result)
    assert found["suspicious_parts"] <= len(parts)
    assert found["unspared_parts"] == max(0, found["suspicious_parts"] - spares)
    assert found["spared"] <= found["suspicious_parts"] - found["unspared_parts"]
    assert found["corrected_errors"] >= threshold * found["suspicious_parts"]


@pytest.mark.parametrize(
    ("change", "message", "key"),
    [
        ({"base": "1MiB"}, "beyond the memory", "parts[0].base"),
        ({"base": "0x20"}, "whole lines", "parts[0].base"),
        ({"size": "100B"}, "whole lines", "parts[0].size"),
        ({"every": "0ns"}, "every", "parts[0].every"),
    ],
)
def test_mistakes_of_parts_are_refused(change: Spec, message: str, key: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        run(system({**part(), **change}))
    assert raised.value.path == f"devices.mem.corrected_errors.{key}"


@pytest.mark.parametrize(
    ("errors", "key"),
    [({"threshold": 0}, "threshold"), ({"buffer": "100B"}, "buffer"), ({"times": "x"}, "times")],
)
def test_mistakes_are_refused(errors: Spec, key: str) -> None:
    with pytest.raises(InputError) as raised:
        run(system(part(), **errors))
    assert raised.value.path == f"devices.mem.corrected_errors.{key}"
