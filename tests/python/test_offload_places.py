"""Where objects of a plan are on a system: nodes with room, logical devices, and memory that is not the host's."""

from __future__ import annotations

import pytest
from test_offload_system import SYSTEM, by_kind, step, system

import cxloom as cx
from cxloom.base.errors import InputError, SimulationError
from cxloom.tasks.table import headline

POOL = """\
devices:
  host:  {kind: host, queue: 1024}
  other: {kind: host}
  gpu:   {kind: gpu, host: host, posted: 512, hbm: {capacity: 24GB}}
  sw:    {kind: switch, vcs: [{upstream: host, vppbs: 1, bind: [card]}, {upstream: other, vppbs: 1, bind: [beside]}]}
  card:   {kind: memory, capacity: 256GiB, media: {kind: fixed, latency: 90ns, bandwidth: 64GB/s}}
  beside: {kind: memory, capacity: 256GiB, media: {kind: fixed, latency: 90ns, bandwidth: 64GB/s}}
links:
  - {between: [host, gpu]}
  - {between: [host, sw]}
  - {between: [other, sw]}
  - {between: [sw, card]}
  - {between: [sw, beside]}
address_map: [{to: card}, {to: beside}]
events: [{at: 1us, unbind: {switch: sw, vcs: 1, vppb: 0}}]
"""
NEAR = 8 * 2**30


@pytest.mark.parametrize("scale", [1, 512])
def test_what_has_no_room_near_is_far_at_any_scale(scale: int) -> None:
    """In 8 GiB near are 4 GB of parameters and 4.6 of 8 GB of moments, and behind them nothing but the card has room.

    Adam goes through its objects side by side: as far as moments are near their memory bounds it, or the card with a
    sixth of the bytes; from there on the card with all of moments and gradients.
    """
    found = cx.simulate_plan(step(), system().set("devices.dram.capacity", "8GiB"), place=[], scale=scale)
    near = (NEAR - 4e9) / 8e9
    adam = near * max(24 / 64, 4 / 16) + (1 - near) * max(8 / 64, 20 / 16)
    assert by_kind(found)["Adam"] == pytest.approx(adam, rel=0.005)
    assert by_kind(found)["gradients from the GPU"] == pytest.approx(4 / 16, rel=0.03)


def test_what_fits_exactly_fits_divided_too() -> None:
    """Each divided object is rounded up to a page, for which the node has to have room."""
    exactly = system().set("devices.dram.capacity", "17578132KiB")  # 18 bytes of each of 1e9 parameters
    found = cx.simulate_plan(step(), exactly, place=["dram"], scale=4096)
    assert by_kind(found)["Adam"] == pytest.approx(28 / 64, rel=0.01)


def test_the_nearest_memory_is_not_the_first_of_the_address_map() -> None:
    turned = system().set("links[2].delay", "50ns").set("address_map", [{"to": "card"}, {"to": "dram"}])
    found = by_kind(cx.simulate_plan(step(), turned, place=[], scale=4096))
    assert found["Adam"] == pytest.approx(28 / 64, rel=0.01)


def test_a_logical_device_is_a_place() -> None:
    """A fifth of the pages are on the one that the host has, and Adam's bytes there take 8 GB/s."""
    halves = {"capacity": "128GiB", "bandwidth_limit": "8GB/s"}
    spec = SYSTEM.replace(
        "capacity: 256GiB, media: {kind: fixed, latency: 200ns", "media: {kind: fixed, latency: 200ns"
    )
    parted = cx.System.from_yaml(spec).set(
        "devices.card.logical_devices", [{**halves, "host": "host"}, halves]
    )
    parted = parted.set("address_map", [{"to": "dram"}, {"to": "card", "ld": 0}, {"to": "card", "ld": 1}])
    found = by_kind(cx.simulate_plan(step(), parted, place=["dram: 4, card ld 0"], scale=4096))
    assert found["Adam"] == pytest.approx(28 / 5 / 8, rel=0.02)
    with pytest.raises(InputError, match="as many weights as nodes are needed"):
        cx.simulate_plan(step(), parted, place=["dram:4,card"], scale=4096)


def test_memory_that_another_host_has_is_no_place() -> None:
    """Its errors come sooner than data: of a plan without them the copies were four times as fast as the link."""
    pool = cx.System.from_yaml(POOL)
    found = cx.simulate_plan(step(), pool, place=["card"], scale=16384)
    assert [each for each in found.notes if "events come at their times" in each]
    with pytest.raises(
        InputError, match="'host' has no way to, or no extent of its own of, beside"
    ) as caught:
        cx.simulate_plan(step(), pool, place=["beside"], scale=16384)
    assert caught.value.path == "place"


def moving(*events: str) -> cx.System:
    """A card that comes and goes at the virtual switch of its host."""
    what = {
        "unbind": {"switch": "sw", "vcs": 0, "vppb": 0},
        "bind": {"switch": "sw", "vcs": 0, "vppb": 0, "to": "card"},
    }
    named = [each.split() for each in events]
    return cx.System.from_yaml(POOL).set("events", [{"at": at, name: what[name]} for name, at in named])


def test_memory_that_goes_for_a_moment_fails_the_tasks_of_that_moment() -> None:
    """Adam fails, and is left out of what is compared; the others take what they do without the event."""
    whole, failed = (
        cx.simulate_plan(step(), moving(*events), place=["card"], scale=4096)
        for events in ((), ("unbind 100us", "bind 101us"))
    )
    kinds, before = ({each.what: each for each in found.kinds} for found in (failed, whole))
    assert {name: kind.failed for name, kind in kinds.items() if kind.failed} == {"Adam": 1}
    assert kinds["Adam"].simulated_work_s == kinds["Adam"].plan_work_s == 0
    for name in ("gradients from the GPU", "cast", "parameters to the GPU"):
        assert kinds[name].simulated_work_s == pytest.approx(before[name].simulated_work_s, rel=0.01)
    assert "with 1 of 13 tasks failed" in failed.sentence
    assert [each for each in failed.notes if "1 failed: Adam; what these took is no time" in each]
    assert not [each for each in whole.notes if "failed" in each]
    assert [headline(each.tasks).partition("simulated")[2] for each in (whole, failed)] == [
        "",
        "; 1 failed: Adam",
    ]


def test_memory_that_goes_for_good_is_none_to_run_on() -> None:
    with pytest.raises(SimulationError, match=r"the plan cannot run there: .* answered with an error"):
        cx.simulate_plan(step(), moving("unbind 1us"), place=["card"], scale=16384)


def test_an_object_without_room_is_refused_by_its_name() -> None:
    """Its own bytes count, and not a part of them: 4 MB of it fit into 8 GiB."""
    small = system().set("devices.dram.capacity", "8GiB")
    with pytest.raises(InputError, match=r"place: object 'moments' is larger than the memory.* 7812500KiB"):
        cx.simulate_plan(step(), small, place=["dram"], scale=4096)


@pytest.mark.parametrize(("gpu", "noted"), [("16GiB", False), ("80GiB", True)])
def test_a_plan_for_a_larger_gpu_than_that_of_the_system_is_noted(gpu: str, noted: bool) -> None:
    """OPT-30B has 55 GiB of weights, which are all on a GPU of 80 GiB, and the one here has 24 GB."""
    memories = {"gpu": gpu, "cpu": "200GiB", "disk": "0B"}
    plan = cx.plan_inference("opt-30b", memories=memories, batch=1, batches=1)
    notes = cx.simulate_plan(plan, system(), tokens=1, scale=65536).notes
    assert bool([each for each in notes if "whose memory here has 22.4 GiB (hbm.capacity)" in each]) == noted
