"""What a divided plan says of the whole: latencies are not divided, and grow with the scale."""

from __future__ import annotations

import pytest
from test_offload_system import answers, step, system

import cxloom as cx


def test_what_latencies_add_is_taken_off_again() -> None:
    """Copies of 250 million gradients are 950 lines of 1 / 16384, whose latency is 2 % of the step."""
    exact = cx.simulate_plan(step(), system(), place=["card"], scale=1)
    found = cx.simulate_plan(step(), system(), place=["card"], scale=16384)
    assert found.simulated_s > 1.015 * exact.simulated_s
    assert found.whole_s == pytest.approx(exact.simulated_s, rel=0.003)
    assert sum(each.whole_s or 0.0 for each in found.kinds) == pytest.approx(found.whole_s)
    assert sum(each.more_s for each in found.kinds) == pytest.approx(found.whole_s - found.plan_s)
    assert "the whole about" in found.sentence
    titles = [column.header for column in found.table().columns]
    assert titles == ["critical path", "tasks", "plan", "simulated", "whole", "more", "each takes"]


@pytest.mark.parametrize("scale", [1, 512])
def test_where_latencies_do_not_count_nothing_is_taken_off(scale: int) -> None:
    found = cx.simulate_plan(step(), system(), place=["card"], scale=scale)
    assert found.whole_s is None
    assert found.to_json()["whole_s"] is None
    assert "whole" not in found.sentence


def test_many_small_copies_are_nearer_to_the_whole() -> None:
    """A token of sixteen sequences: activations of 64 KiB, each of which takes a microsecond in a 4096th, too."""
    fine, coarse = (cx.simulate_plan(answers(), system(), tokens=2, scale=scale) for scale in (128, 4096))
    assert coarse.whole_s is not None
    assert fine.whole_s is not None
    assert coarse.simulated_s > 1.05 * fine.whole_s
    assert abs(coarse.whole_s - fine.whole_s) < 0.6 * (coarse.simulated_s - fine.whole_s)
    kinds = {each["what"]: each for each in coarse.to_json()["kinds"]}
    assert kinds["activations to the GPU"]["whole_s"] < 0.8 * kinds["activations to the GPU"]["simulated_s"]


def test_times_that_differ_a_little_are_told_apart() -> None:
    """Both have four digits; of what takes as long that is said."""
    found = cx.simulate_plan(step(), system(), place=["card"], scale=2048)
    assert f"takes {found.simulated_s:.4g} s and not {found.plan_s:.4g} s: " in found.sentence
    memories = {"gpu": "20GiB", "cpu": "100GiB", "disk": "0B"}
    inside = cx.plan_inference("opt-6.7b", memories=memories, batch=1, batches=1)
    assert cx.simulate_plan(inside, system(), tokens=1).sentence.endswith(", as it says.")
