"""Plans played on a system: what is emitted, that it takes what closed forms say, and what each option turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import slow

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.offload.section import spec_of
from cxloom.offload.simulated import Beside, written
from cxloom.offload.target import target
from cxloom.offload.task_graph import play

SYSTEM = """\
devices:
  host: {kind: host, queue: 1024}
  gpu:  {kind: gpu, launch_time: 1us, posted: 512, hbm: {capacity: 24GB}}
  dram: {kind: memory, capacity: 256GiB, media: {kind: fixed, latency: 90ns, bandwidth: 64GB/s}}
  card: {kind: memory, capacity: 256GiB, media: {kind: fixed, latency: 200ns, bandwidth: 16GB/s}}
links:
  - {between: [host, gpu], phy: pcie4-x16, flit: none, port_delay: 75ns}
  - {between: [host, dram]}
  - {between: [host, card]}
address_map: [{to: dram}, {to: card}]
workload: {host: {pattern: random, requests: 100}}
run: {warmup: 10, seed: 3}
"""
WAYS = """\
devices:
  host: {kind: host, queue: 1024}
  gpu:  {kind: gpu, posted: 512, hbm: {capacity: 24GB}}
  sw:   {kind: switch}
  far:  {kind: switch}
  dram: {kind: memory, capacity: 256GiB, media: {kind: fixed, latency: 90ns, bandwidth: 64GB/s}}
links:
  - {between: [host, gpu], bandwidth: 28.425GB/s}
  - {between: [host, far], bandwidth: 8GB/s, delay: 1us}
  - {between: [host, sw], bandwidth: 128GB/s}
  - {between: [sw, far], bandwidth: 128GB/s}
  - {between: [far, dram], bandwidth: 128GB/s}
address_map: [{to: dram}]
"""
DRAM = {"name": "dram", "bandwidth": "64GB/s"}
CARD = {"name": "card", "bandwidth": "16GB/s"}
GPU = {"tokens": 1000, "gpu_rate": "125Tflop/s", "gpu_efficiency": "32%"}
UP, DOWN = "26.36GB/s", "25.98GB/s"
"""What packets of 256 B leave of PCIe: 31.508 x 0.902 x 256 / 276 of completions, and 256 / 280 of writes."""


def step(memories: Any = (DRAM,), model: str | float = "1B", **given: Any) -> Any:
    rates = {"up": UP, "down": DOWN, "bucket": "250M", **GPU}
    return cx.plan_training(model, memories=list(memories), **(rates | given))


def system() -> cx.System:
    return cx.System.from_yaml(SYSTEM)


def played(plan: Any, **given: Any) -> Beside:
    return cx.simulate_plan(plan, system(), **({"scale": 4096} | given))


def by_kind(found: Beside, *keys: str) -> dict[str, float]:
    return {each.what: each.simulated_s for each in found.kinds if not keys or each.what in keys}


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_a_step_on_memories_of_its_rates_takes_what_the_plan_says() -> None:
    """Passes are bound by the memory, copies by the link: each takes its plan and a latency of 1 us in a 4096th."""
    found = played(step())
    for kind in found.kinds:
        late = kind.tasks * 4096 * 1e-6
        assert kind.plan_s * 0.999 <= kind.simulated_s <= kind.plan_s * 1.02 + late, kind
    assert found.simulated_s == pytest.approx(found.plan_s, rel=0.06)


@pytest.mark.parametrize("overlap", [True, False])
def test_the_differences_of_kinds_sum_to_that_of_the_whole(overlap: bool) -> None:
    found = played(step(memories=(DRAM, CARD), overlap=overlap))
    differences = sum(kind.difference_s for kind in found.kinds)
    assert differences == pytest.approx(found.simulated_s - found.plan_s, abs=1e-9)
    assert sum(kind.plan_s for kind in found.kinds) == pytest.approx(found.plan_s)


def test_overlap_hides_copies_behind_backward() -> None:
    """Four buckets of 0.038 s of copy and 0.025 s of backward: 4 max + min, and not 4 of both."""
    times = {overlap: played(step(overlap=overlap)) for overlap in (True, False)}
    spared = times[False].simulated_s - times[True].simulated_s
    assert spared == pytest.approx(times[False].plan_s - times[True].plan_s, rel=0.03)
    assert spared > 0.07


def test_an_interleave_over_a_slower_memory_lengthens_the_passes_of_the_cpu_alone() -> None:
    near, both = by_kind(played(step())), by_kind(played(step(memories=(DRAM, CARD))))
    for name, factor in (("Adam", 2), ("unscale and clip", 2), ("cast", 2), ("backward", 1), ("forward", 1)):
        assert both[name] / near[name] == pytest.approx(factor, rel=0.05), name


def test_cores_that_are_slower_than_memory_bound_adam() -> None:
    found = by_kind(played(step(adam_rate="1B")))
    assert found["Adam"] == pytest.approx(1.0, rel=0.01)
    assert by_kind(played(step(adam_rate="100B")))["Adam"] == pytest.approx(28 / 64, rel=0.03)


def test_the_gpu_takes_longer_with_a_lower_efficiency() -> None:
    times = [by_kind(played(step(gpu_efficiency=part)))["forward"] for part in ("32%", "64%")]
    assert times == pytest.approx([2e12 / 40e12, 2e12 / 80e12], rel=1e-6)


def test_the_scale_hardly_moves_the_time() -> None:
    coarse, fine = (played(step(), scale=scale).simulated_s for scale in (4096, 512))
    assert coarse == pytest.approx(fine, rel=0.06)
    assert abs(fine - step().step.total_s) < abs(coarse - step().step.total_s)


# --- what is emitted --------------------------------------------------------------------------------------------------


def section(plan: Any, tokens: int | None = None, **given: Any) -> dict[str, Any]:
    found: dict[str, Any] = spec_of(plan.task_graph(tokens), target(system(), **given))
    return found


def test_objects_are_where_the_plan_or_the_user_has_them() -> None:
    tasks = section(step(memories=({**DRAM, "weight": 3}, CARD)), place=["dram:3,card", "gradients=card"])[
        "tasks"
    ]
    places = {each["name"]: each["addresses"] for each in tasks["objects"]}
    assert places.pop("gradients") == {"kind": "bind", "nodes": ["card"]}
    assert all(
        each == {"kind": "interleave", "nodes": ["dram", "card"], "weights": [3, 1]}
        for each in places.values()
    )


def test_work_of_the_system_is_left_out_and_its_seed_kept() -> None:
    spec = section(step())
    assert "workload" not in spec
    assert spec["run"] == {"seed": 3}
    assert spec["devices"]["gpu"]["streams"] == 2


def test_work_that_is_left_out_is_said() -> None:
    """A busy neighbour slows nothing of the plan, which runs without it."""
    [note] = [each for each in played(step()).notes if "alone" in each]
    assert note == "the plan runs alone, without the workload of host"
    with_tasks = cx.System.from_yaml(written(step().task_graph(), target(system(), scale=4096)))
    assert target(with_tasks).left_out == ("its tasks",)
    idle = system().set("workload", None)
    assert not [each for each in cx.simulate_plan(step(), idle, scale=4096).notes if "alone" in each]


def test_the_ways_of_messages_are_those_of_the_system() -> None:
    """The shortest way to memory has 8 GB/s, and the one of least latency 128: only the window of a run is dropped."""
    kept = {"route_by": "latency", "routing": "adaptive", "livelock_deliveries": 1_000_000}
    by_hand = [{"at": at, "to": [to], "by": ["sw"]} for at, to in (("host", "dram"), ("far", "host"))]
    runs: list[dict[str, Any]] = [{}, kept, {"routes": by_hand}]
    times = []
    for run in runs:
        own = cx.System.from_yaml(WAYS).run(seed=5, warmup_time="1us", until={"ci": "1%"}, **run)
        assert spec_of(step().task_graph(), target(own))["run"] == {"seed": 5, **run}
        times.append(by_kind(cx.simulate_plan(step(), own, place=["dram"], scale=16384))["Adam"])
    assert times[0] > 2 * times[1]
    assert times[2] == pytest.approx(times[1], rel=0.01)


def test_adam_reads_sixteen_bytes_and_writes_twelve() -> None:
    tasks = {each["name"]: each for each in section(step(), scale=1)["tasks"]["graph"]}
    adam = tasks["Adam"]
    read, wrote = (sum(int(use["bytes"][:-1]) for use in adam[key]) for key in ("reads", "writes"))
    assert (read, wrote) == (16e9, 12e9)
    assert tasks["micro-step 0: forward"]["flops"] == 2e12


def test_a_whole_plan_is_played_in_windows_and_a_part_line_by_line() -> None:
    assert "exact" not in section(step(), scale=1)["tasks"]
    assert section(step(), scale=64)["tasks"]["exact"] is True
    assert section(step(), scale=64)["devices"]["gpu"]["launch_time"] == "15625ps"


PLAN = {"memories": {"gpu": "16GiB", "cpu": "200GiB", "disk": "0B"}, "slack": {"gpu": "9"}}


def answers(**given: Any) -> Any:
    shares = [20, 80, 50, 50, 0, 100]
    return cx.plan_inference("opt-6.7b", batch=8, batches=2, percent=shares, **(PLAN | given))


def test_flexgens_loop_on_a_system_waits_as_the_loop_does() -> None:
    """All of a step waits for all streams of the step before, without tasks that only join."""
    graph = answers().task_graph(2)
    tasks = section(answers(), 2)["tasks"]["graph"]
    assert len(tasks) == sum(task.kind != "join" for task in graph.tasks)
    assert all(task["kind"] in ("compute", "copy", "kernel") for task in tasks)
    rates = {each["name"]: each["flops"] for each in section(answers(), 2)["tasks"]["processors"]}
    assert sorted(rates.values()) == pytest.approx([0.079e12, 4.3e12, 9.97e12, 21.24e12])


@slow
def test_flexgens_loop_takes_what_its_rates_say_where_they_are_those_of_the_system() -> None:
    """Copies at the link's rate; the GPU's rates are the plan's, and so are those of the CPU's cores."""
    rates = {"to_gpu": UP, "cache_from_gpu": DOWN, "activations_from_gpu": DOWN}
    found = played(answers(rates=rates), tokens=2, scale=128)
    assert found.simulated_s == pytest.approx(found.plan_s, rel=0.03)
    assert sum(kind.difference_s for kind in found.kinds) == pytest.approx(found.simulated_s - found.plan_s)
    assert found.plan_s == pytest.approx(play(answers(rates=rates).task_graph(2)).seconds)


def test_a_cache_on_a_slower_memory_lengthens_attention_where_memory_bounds_it() -> None:
    rates = {"attention_cpu": "10Tflop/s"}
    times = [
        by_kind(played(answers(rates=rates), tokens=2, scale=512, place=["dram", *more]))[
            "attention on the CPU"
        ]
        for more in ([], ["cache=card"])
    ]
    assert times[1] / times[0] == pytest.approx(4, rel=0.1)


def test_more_threads_are_faster_where_cores_wait_for_memory() -> None:
    cores = system().set("devices.host.core", {"cores": 8, "mshrs": 8, "fill_buffers": 8})
    times = [
        by_kind(cx.simulate_plan(step(), cores, scale=16384, threads=threads))["Adam"] for threads in (1, 8)
    ]
    assert times[0] > 2 * times[1]


@pytest.mark.parametrize(("queue", "noted"), [(32, True), (1024, False)])
def test_passes_that_the_queue_of_the_host_bounds_are_noted(queue: int, noted: bool) -> None:
    """A line takes 140 ns, so that 32 of them are 14.6 GB/s of a memory of 64: a pass takes four times as long."""
    found = cx.simulate_plan(step(), system().set("devices.host.queue", queue), place=["dram"], scale=4096)
    notes = [each for each in found.notes if "in flight" in each]
    assert (
        notes
        == [
            "unscale and clip, Adam, cast: bound by the 32 lines that the host has in flight at most "
            "(devices.host.queue), and not by memory"
        ][: len(notes)]
    )
    assert bool(notes) == noted
    rate = min(64.0, queue * 64 / 140)
    assert by_kind(found)["Adam"] == pytest.approx(28 / rate, rel=0.05)


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"place": ["drum"]}, "place", "'drum'"),
    ({"place": ["dram", "half=hsot"]}, "place", "no node of this device has such a memory (object 'half')"),
    ({"place": ["dram,"]}, "place", "not a place"),
    ({"place": ["dram", "card"]}, "place", "two places"),
    ({"place": ["cache=card"]}, "place", "no object 'cache'"),
    ({"host": "hoist"}, "host", "did you mean 'host'"),
    ({"dma": "dram"}, "dma", "no gpu 'dram'"),
    ({"threads": 2}, "threads", "need cores"),
    ({"scale": 0}, "scale", "1 or more"),
    ({"tokens": 2}, "tokens", "no answers"),
]


@pytest.mark.parametrize(("given", "path", "why"), REFUSED)
def test_what_cannot_be_is_refused(given: dict[str, Any], path: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        played(step(), **given)
    assert (caught.value.path, caught.value.file) == (path, None)
    assert why in str(caught.value)


WRONG = [
    ("queue: 1024", "queue: 0", "devices.host.queue", 2),
    ("port_delay: 75ns", "port_delay: 75", "links[0].port_delay", 7),
    ("seed: 3", "routing: none", "run.routing.kind", 12),
]


@pytest.mark.parametrize(("right", "wrong", "path", "line"), WRONG)
def test_what_is_wrong_in_the_system_is_refused_at_its_place(
    right: str, wrong: str, path: str, line: int, tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    file = tmp_path / "system.yaml"
    file.write_text(SYSTEM.replace(right, wrong))
    with pytest.raises(InputError) as caught:
        target(file)
    assert (caught.value.file, caught.value.line, caught.value.path) == (str(file), line, path)
    done = cxloom(*WORDS, "--system", file, "--simulate")
    assert done.code == 2
    assert f"{file}:{line}" in done.err
    assert f" {path}: " in done.err


def test_work_of_the_system_that_cannot_run_is_left_out_all_the_same() -> None:
    own = cx.System.from_yaml(SYSTEM.replace("pattern: random", "trace: /nowhere.csv"))
    assert "workload" not in target(own).spec


def test_a_place_that_is_none_is_that_of_the_option(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "system.yaml").write_text(SYSTEM)
    for asked in (["--simulate"], ["--tasks", tmp_path / "step.yaml"]):
        done = cxloom(
            *WORDS, "--system", tmp_path / "system.yaml", "--scale", "4096", "--place", "nope", *asked
        )
        assert done.code == 2
        assert done.err.startswith("error: --place: no node of this device has such a memory")
        assert not (tmp_path / "step.yaml").exists()


def test_a_memory_that_is_none_of_the_system_is_that_of_the_option(
    tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    """Where nothing is said, objects are in what --memory names, and nobody has given --place."""
    (tmp_path / "system.yaml").write_text(SYSTEM)
    words = ["offload", "zero", "1B", "--memory", "ddr:64GB/s", "--system", tmp_path / "system.yaml"]
    done = cxloom(*words, "--scale", "4096", "--simulate")
    assert done.code == 2
    assert done.err.startswith("error: --memory: no node of this device has such a memory")


def test_a_system_without_a_gpu_and_a_plan_with_a_disk_are_refused() -> None:
    with pytest.raises(InputError, match="the system has no gpu; allowed: a device of kind gpu"):
        cx.simulate_plan(step(), "esf/validation")
    disk = cx.plan_inference(
        "opt-6.7b", batch=8, batches=2, percent=[20, 40, 50, 50, 0, 100], slack={"gpu": 9}
    )
    with pytest.raises(InputError, match="--disk 0B"):
        played(disk, tokens=1)


# --- the command ------------------------------------------------------------------------------------------------------

WORDS = ["offload", "zero", "1B", "--memory", "dram:64GB/s", "--up", UP, "--down", DOWN, "--bucket", "250M"]


def test_the_command_writes_a_spec_that_runs_as_it_simulates(
    cxloom: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "system.yaml").write_text(SYSTEM)
    on = ["--system", tmp_path / "system.yaml", "--scale", "4096"]
    done = cxloom(*WORDS, *on, "--tasks", tmp_path / "step.yaml", "--simulate", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["simulated"]
    assert sum(kind["difference_s"] for kind in found["kinds"]) == pytest.approx(
        found["simulated_s"] - found["plan_s"]
    )
    ran = cx.run(tmp_path / "step.yaml")["tasks"]
    assert ran["time_ns"] * 1e-9 * 4096 == pytest.approx(found["simulated_s"])
    assert [each["name"] for each in found["tasks"]] == list(ran["per_task"])
    shown = " ".join(cxloom(*WORDS, *on, "--simulate").out.split())
    assert "Simulated, of 1 / 4096 of it" in shown
    text = (tmp_path / "step.yaml").read_text()
    assert text == written(
        cx.plan_training("1B", memories=[DRAM], up=UP, down=DOWN, bucket="250M").task_graph(),
        target(tmp_path / "system.yaml", scale=4096, place=["dram"]),
    )


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--simulate"], "--simulate"),
        (["--place", "dram"], "--place"),
        (["--scale", "2"], "--scale"),
        (["--system", "esf/validation"], "--system"),
        (["--system", "esf/validation", "--simulate"], "--dma"),
        (["--system", "esf/validation", "--tasks", "x.json"], "--tasks"),
        (["--gpu-efficiency", "50%"], "--gpu-efficiency"),
    ],
)
def test_a_wrong_option_is_refused(words: list[str], option: str, cxloom: Callable[..., Any]) -> None:
    done = cxloom(*WORDS, *words)
    assert done.code == 2
    assert option in done.err
    assert done.out == ""


OF_THE_PLAN = [
    (
        "hbm: {capacity: 24GB}",
        "hbm: {capacity: 64KiB}",
        ("devices.gpu", 3, "a copy is larger than the memory of 'gpu' (task 'micro-step 0, bucket 0:"),
    ),
    (
        "queue: 1024",
        "queue: 1024, cache: {size: 64KiB}",
        ("devices.gpu", 3, "beside caches that may hold its lines (task 'micro-step 0, bucket 0:"),
    ),
    (
        "run: {warmup: 10, seed: 3}",
        "events: [{at: 1us, add_extent: {device: card, base: 0B, size: 1GiB, host: host}}]",
        ("events", 12, "a scale above 1, or no events"),
    ),
]


@pytest.mark.parametrize(("right", "wrong", "said"), OF_THE_PLAN, ids=["memory", "cache", "events"])
def test_what_the_plan_cannot_do_on_the_system_is_said_at_the_place_in_its_file(
    right: str, wrong: str, said: tuple[str, int, str], tmp_path: Path, cxloom: Callable[..., Any]
) -> None:
    """The system is right by itself: what nobody has written, the tasks, has no file."""
    path, line, why = said
    file = tmp_path / "system.yaml"
    text = SYSTEM.replace(right, wrong)
    if path == "events":
        text = text.replace("card: {kind: memory,", "card: {kind: memory, dynamic_capacity: {},")
    file.write_text(text)
    done = cxloom(*WORDS, "--system", file, "--simulate", "--scale", "1" if path == "events" else "4096")
    assert done.code == 2
    assert f"{file}:{line}:" in done.err
    assert f" {path}: " in done.err
    assert why in done.err
    assert "the plan's spec" not in done.err
