"""ZeRO-Offload: bytes, passes of the CPU, what overlaps, and the command. Expectations are closed forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.offload.training import TrainingPlan
from cxloom.offload.zero import VERSIONS

L = {"name": "L", "bandwidth": "460.8GB/s"}
C = {"name": "C", "bandwidth": "38.4GB/s"}


def plan(model: str | float = "8B", memories: Any = (L,), **given: Any) -> TrainingPlan:
    return cx.plan_training(model, memories=list(memories), **given)


def test_a_step_of_eight_billion_parameters() -> None:
    """18 P = 144 GB. 28 P and 42 P at 460.8 GB/s of L, and at 76.8 of L and C in turn, which C's half bounds."""
    near, both = plan().step.given, plan(memories=(L, C)).step.given
    assert near.footprint == 144e9
    assert both.bandwidth == pytest.approx(76.8e9)
    passes = [each.unscale_s + each.adam_s + each.cast_s for each in (near, both)]
    assert [round(each.adam_s, 3) for each in (near, both)] == [0.486, 2.917]
    assert [round(each, 3) for each in passes] == [0.729, 4.375]
    ups = [plan(up="25.99GB/s", version=version).step.given.up_s for version in ("4+2", "4+4")]
    assert [round(up, 3) for up in ups] == [0.616, 1.231]


@pytest.mark.parametrize(("backward", "gradient"), [(0.100, 0.060), (0.060, 0.100), (0.080, 0.080)])
def test_copies_of_buckets_overlap_with_backward_or_do_not(backward: float, gradient: float) -> None:
    """Ten buckets: n max(b, g) + min(b, g), or n (b + g): 1060 or 1600 ms for 100 and 60."""
    for overlap in (True, False):
        found = plan(10e8, bucket=1e8, backward=10 * backward, down=4e8 / gradient, overlap=overlap)
        given = found.step.given
        copied = found.step.total_s - given.unscale_s - given.adam_s - given.cast_s
        longer, shorter = max(backward, gradient), min(backward, gradient)
        assert copied == pytest.approx(10 * longer + shorter if overlap else 10 * (backward + gradient))
        assert sum(found.step.exposed.values()) == pytest.approx(found.step.total_s)


def test_a_step_says_which_of_its_work_nobody_gave_a_time() -> None:
    """Copies at no bandwidth and passes of the GPU without a time take none, and are no part of the step."""
    left = ("forward", "backward", "gradients from the GPU", "parameters to the GPU")
    assert plan().sentence.endswith(f" Left out, as no time or bandwidth is given: {', '.join(left)}.")
    given = plan(down="26GB/s", tokens=1000, gpu_rate="60Tflop/s")
    assert given.sentence.endswith(" Left out, as no time or bandwidth is given: parameters to the GPU.")
    whole = plan(down="26GB/s", up="26GB/s", forward="1s", backward="2s")
    assert "eft out" not in whole.sentence
    assert list(whole.step.exposed)[:3] == list(left[:3])
    assert list(whole.step.exposed)[-1] == left[3]


def test_a_last_bucket_has_what_is_left() -> None:
    found = plan("1.2B", bucket="500M", down="1GB/s", backward="1.2s", overlap=True)
    assert found.step.given.buckets == pytest.approx([5e8, 5e8, 2e8])
    # 0.5 s of backward, then copies of 2, 2 and 0.8 s behind each other
    assert found.step.exposed["backward"] == pytest.approx(0.5)
    assert found.step.exposed["gradients from the GPU"] == pytest.approx(4.8)


@pytest.mark.parametrize("version", VERSIONS)
def test_versions_move_what_they_say(version: str) -> None:
    down, up = VERSIONS[version]
    assert plan(version=version).step.copied_bytes == {"down": down * 8e9, "up": up * 8e9}


def test_accumulation_keeps_sums_in_memory() -> None:
    """Each micro-step but the last sends 2 bytes down, each but the first fetches 2."""
    found = plan(accumulate=4, forward="1s", backward="2s")
    assert found.step.copied_bytes == {"down": (3 * 2 + 4) * 8e9, "up": (3 * 2 + 2) * 8e9}
    assert found.step.exposed["forward"] == pytest.approx(4)
    assert found.step.exposed["backward"] == pytest.approx(8)


def test_tasks_say_which_objects_they_read_and_write() -> None:
    """The objects are the footprint, and each pass moves its bytes of them."""
    graph = plan("1.2B", accumulate=2, version="4+2").graph()
    sizes = {each["name"]: each["bytes"] for each in graph["objects"]}
    assert sizes.pop("sums") == 2 * 1.2e9
    assert sum(sizes.values()) == 18 * 1.2e9
    for task in graph["tasks"]:
        if task["kind"] == "kernel":
            assert sum(use["bytes"] for use in task["reads"] + task["writes"]) == pytest.approx(task["bytes"])
        if task["kind"] == "copy":
            limit = {**sizes, "sums": 2 * 1.2e9}[task["object"]]
            assert task["offset"] + task["bytes"] <= limit * (1 + 1e-9)
    last = graph["tasks"][-1]
    assert (last["object"], last["from"], last["to"]) == ("half", "cpu", "gpu")
    assert plan(version="4+4").graph()["tasks"][-1]["object"] == "parameters"


def test_adam_is_bound_by_cores_or_by_memory() -> None:
    fast, slow = plan(), plan(adam_rate="2.6B")
    assert (fast.adam_bound, slow.adam_bound) == ("memory", "cores")
    assert slow.step.given.adam_s == pytest.approx(8 / 2.6)
    assert plan(memories=(L, C), adam_rate="2.6B").step.given.adam_s == pytest.approx(
        8 / 2.6
    )  # 2.92 s of memory


def test_weights_of_the_interleave() -> None:
    """Twelve pages of L for one of C use both to the full: 499.2 GB/s."""
    weighted = plan(memories=({**L, "weight": 12}, C)).step.given
    assert weighted.bandwidth == pytest.approx(499.2e9)
    assert weighted.share(weighted.memories[1]) == pytest.approx(1 / 13)


def test_the_gpu_computes_six_operations_for_a_token_and_parameter() -> None:
    given = plan(tokens=1000, gpu_rate="60Tflop/s").step.given
    assert given.forward_s == pytest.approx(2 * 8e9 * 1000 / 60e12)
    assert given.backward_s == pytest.approx(2 * given.forward_s)


def test_each_parameter_of_a_step_moves_its_time() -> None:
    base = {"down": "26GB/s", "up": "26GB/s", "forward": "1s", "backward": "2s"}
    before = plan(**base).step.total_s
    for longer in (
        {"down": "13GB/s"},
        {"up": "13GB/s"},
        {"forward": "2s"},
        {"backward": "3s"},
        {"accumulate": 2},
    ):
        assert plan(**{**base, **longer}).step.total_s > before
    assert plan(**{**base, "overlap": True}).step.total_s < before
    small = plan(**{**base, "overlap": True, "bucket": "100M"}).step.total_s
    assert small < plan(**{**base, "overlap": True, "bucket": "4B"}).step.total_s


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"model": "8X"}, "parameters", "such as 8B"),
    ({"model": "deepseek-v3", "memories": ({**L, "capacity": "768GB"},)}, "memories", "1.208e+04 GB"),
    ({"model": "gpt3"}, "model", "unknown model"),
    ({"memories": (L, L)}, "memories", "one name"),
    ({"memories": ()}, "memories", "need a memory"),
    ({"memories": ({**L, "capacity": "100GB"},)}, "memories", "5.556 billion"),
    ({"memories": ({"name": "L", "bandwidth": "5"},)}, "memories.0.bandwidth", "not a bandwidth"),
    ({"version": "3"}, "version", "4+2"),
    ({"accumulate": 0}, "accumulate", "greater than or equal to 1"),
    ({"forward": "-1s"}, "forward", "not a time"),
    ({"tokens": 5}, "gpu_rate", "together"),
    ({"gpu_rate": "6Tflop/s"}, "tokens", "together"),
    ({"tokens": 5, "gpu_rate": "6Tflop/s", "forward": "1s"}, "tokens", "twice"),
    ({"overlapp": True}, "overlapp", "did you mean 'overlap'"),
]


@pytest.mark.parametrize(("given", "path", "why"), REFUSED)
def test_what_cannot_be_is_refused_with_its_place(given: dict[str, Any], path: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(**given)
    assert caught.value.path == path
    assert why in str(caught.value)


def test_the_command_gives_a_step(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    out, graph = tmp_path / "step.json", tmp_path / "tasks.json"
    words = ["offload", "zero", "8B", "--memory", "L:460.8GB/s:768GB", "--memory", "C:38.4GB/s:128GB"]
    words += [
        "--down",
        "26GB/s",
        "--up",
        "26GB/s",
        "--tokens",
        "1000",
        "--gpu-rate",
        "60Tflop/s",
        "--overlap",
    ]
    done = cxloom(*words, "--json", "--out", out, "--graph", graph)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert json.loads(out.read_text()) == found
    assert found["adam_s"] == pytest.approx(2.9167, abs=1e-4)
    assert found["given"]["adam_rate"] is None
    assert found["buckets"] == 16
    tasks = json.loads(graph.read_text())["tasks"]
    assert [task["what"] for task in tasks[-4:]] == [
        "unscale and clip",
        "Adam",
        "cast",
        "parameters to the GPU",
    ]
    assert "which memory bounds" in " ".join(cxloom(*words).out.split())


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["8X", "--memory", "L:1GB/s"], "MODEL"),
        (["8B", "--memory", "L"], "--memory"),
        (["8B", "--memory", "L:5"], "--memory"),
        (["8B", "--memory", "L:5GB/s:100GB"], "--memory"),
        (["8B", "--memory", "L:5GB/s", "--tokens", "4"], "--gpu-rate"),
        (["8B", "--memory", "L:5GB/s", "--version", "3"], "--version"),
        (["8B"], "--memory"),
    ],
)
def test_a_wrong_option_is_refused(words: list[str], option: str, cxloom: Callable[..., Any]) -> None:
    done = cxloom("offload", "zero", *words)
    assert done.code == 2
    assert option in done.err
    assert "----" not in done.err
    assert done.out == ""
