"""Plans as graphs of tasks: how graphs are played, and that they take what the closed forms say."""

from __future__ import annotations

import pytest

import cxloom as cx
from cxloom.offload.flexgen_graph import PLACES, flexgen_graph
from cxloom.offload.loop import schedule
from cxloom.offload.task_graph import Task, TaskGraph, play


def graph_of(*tasks: tuple[str, str, float, tuple[int, ...]]) -> TaskGraph:
    graph = TaskGraph()
    for name, on, seconds, after in tasks:
        graph.add(Task(name, name, "compute" if on else "join", on, seconds, after=after))
    return graph


def test_a_pool_gives_one_load_at_a_time() -> None:
    """Two loads of 16.484 us on one resource, and a computation behind each."""
    played = play(
        graph_of(
            ("a", "pool", 16484, ()),
            ("c", "pool", 16484, ()),
            ("b", "gpu", 1e4, (0,)),
            ("d", "gpu", 5e3, (1,)),
        )
    )
    assert list(played.end) == [16484, 32968, 26484, 37968]
    assert [task.name for task in played.critical_path()] == ["a", "c", "d"]


def test_what_is_ready_first_and_was_added_first_goes_first() -> None:
    played = play(graph_of(("a", "x", 2, ()), ("b", "x", 1, ()), ("c", "y", 1, ()), ("d", "x", 1, (2,))))
    assert list(played.start) == [0, 2, 0, 3]


def test_joins_take_no_time_and_no_place() -> None:
    played = play(graph_of(("a", "x", 2, ()), ("b", "y", 3, ()), ("all", "", 0, (0, 1)), ("c", "x", 1, (2,))))
    assert played.seconds == 4
    assert played.exposed() == {"b": 3, "c": 1}
    assert play(TaskGraph()).seconds == 0


def test_a_task_waits_for_what_is_there() -> None:
    with pytest.raises(ValueError, match="not there yet"):
        graph_of(("a", "x", 1, (0,)))


def test_layers_that_load_while_they_compute() -> None:
    """x + (l - 1) max(x, c) + c, of l loads x and computations c."""
    for x, c in ((3.0, 2.0), (2.0, 3.0)):
        tasks: list[tuple[str, str, float, tuple[int, ...]]] = []
        for layer in range(8):
            tasks.append((f"load {layer}", "dma", x, ()))
            tasks.append((f"layer {layer}", "gpu", c, (2 * layer, *([2 * layer - 1] if layer else []))))
        played = play(graph_of(*tasks))
        assert played.seconds == pytest.approx(x + 7 * max(x, c) + c)
        assert sum(task.seconds for task in played.critical_path()) == pytest.approx(played.seconds)


POLICIES = [
    (48, 3, (20, 80, 0, 100, 0, 100)),
    (8, 2, (20, 40, 30, 40, 50, 50)),
    (4, 1, (0, 90, 30, 40, 100, 0)),
    (2, 5, (0, 50, 0, 20, 0, 100)),
]


@pytest.mark.parametrize(("batch", "batches", "percent"), POLICIES)
def test_the_graph_of_a_plan_takes_what_its_loop_takes(
    batch: int, batches: int, percent: tuple[float, ...]
) -> None:
    slack = {"gpu": 9, "cpu": 9, "disk": 9}
    found = cx.plan_inference("opt-30b", output=4, batch=batch, batches=batches, percent=percent, slack=slack)
    expected = schedule(found.plan)
    played = play(flexgen_graph(found.plan))
    assert played.seconds == pytest.approx(expected.total_s)
    assert played.exposed() == pytest.approx(dict(expected.exposed))


def test_a_graph_of_fewer_tokens_is_the_beginning_of_the_whole() -> None:
    percent = (20, 80, 0, 100, 0, 100)
    slack = {"gpu": 2}
    found = cx.plan_inference("opt-30b", output=4, batch=8, batches=2, percent=percent, slack=slack)
    whole, part = found.graph()["tasks"], found.graph(2)["tasks"]
    assert part == whole[: len(part)]
    assert len(part) < len(whole)


def test_tasks_say_what_they_move_and_where() -> None:
    percent = (20, 80, 0, 100, 0, 100)
    found = cx.plan_inference("opt-30b", output=4, batch=8, batches=2, percent=percent, slack={"gpu": 2})
    graph = found.graph(2)
    tasks = graph["tasks"]
    sizes = {each["name"]: each["bytes"] for each in graph["objects"]}
    assert sizes["weights"] == pytest.approx(0.8 * 48 * found.plan.given.layer_bytes)
    assert sizes["cache"] == pytest.approx(16 * (512 + 4) * found.plan.given.model.kv_bytes_per_token())
    weights = next(task for task in tasks if task["what"] == "weights to the GPU")
    assert weights["bytes"] == pytest.approx(0.8 * found.plan.given.layer_bytes)
    assert (weights["object"], weights["from"], weights["to"]) == ("weights", "cpu", "gpu")
    attention = next(task for task in tasks if task["what"] == "attention on the CPU")
    assert attention["bytes"] == pytest.approx(4 * 8 * (512 + 1) * 7168)  # keys and values in 2 bytes each
    assert [use["object"] for use in attention["reads"]] == ["cache"]
    parts = [(task["object"], task["offset"], task["bytes"]) for task in tasks if task["kind"] == "copy"]
    parts += [(use["object"], use["offset"], use["bytes"]) for task in tasks for use in task.get("reads", ())]
    assert all(offset + size <= sizes[name] * (1 + 1e-9) for name, offset, size in parts)
    assert len({offset for name, offset, _ in parts if name == "weights"}) == 48
    matrices = next(task for task in tasks if task["what"] == "matrices on the GPU")
    assert matrices["flops"] == pytest.approx(2 * 8 * 512 * found.plan.given.model.layer_parameters)
    assert {task["what"] for task in tasks} <= {*PLACES, "synchronise"}
