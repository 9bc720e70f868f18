"""Circles of buffers: diagnosed where they can close, and never where they cannot."""

from __future__ import annotations

from itertools import pairwise

import pytest
from validation.systems import Spec, changed, generated, run

from cxloom import _core
from cxloom.base.errors import SimulationError


def ring(queueing: str, credits: int | None, **params: object) -> Spec:
    """Six switches in a circle, every one with a requester and a memory, under load."""
    link = {"bandwidth": "16GB/s", **({"credits": credits} if credits else {})}
    return generated(
        "ring",
        {"requests": 2000, "footprint": "16MiB", "reads": 0.5},
        switches=6,
        placement="paired",
        switch={"kind": "switch", "queueing": queueing},
        link=link,
        edge_link=link,
        **params,
    )


@pytest.mark.parametrize("queueing", ["voq", "fifo"])
def test_a_ring_with_few_buffers_deadlocks_and_says_so(queueing: str) -> None:
    with pytest.raises(SimulationError) as caught:
        run(ring(queueing, 1))
    text = str(caught.value)
    assert "deadlock" in text
    assert "buffer credits" in text
    circle = next(line for line in text.splitlines() if "circle:" in line)
    members = circle.split("circle: ")[1].split(" -> ")
    assert members[0] == members[-1]
    assert set(members) <= {f"sw{i}" for i in range(6)}
    assert len(members) == 7


@pytest.mark.parametrize("traffic", ["dma-write", "dma-read"])
def test_a_deadlock_is_told_while_io_goes_on_beside_it(traffic: str) -> None:
    engine = {"kind": "io-engine", "target": "host0", "traffic": traffic}
    spec = changed(ring("voq", 1), ("devices.nic", engine), ("run.livelock_deliveries", 10_000))
    spec["links"].append({"between": ["nic", "host0"], "bandwidth": "16GB/s"})
    with pytest.raises(SimulationError, match="deadlock: no request has completed") as caught:
        run(spec)
    assert "circle: " in str(caught.value)


@pytest.mark.parametrize(
    ("queueing", "credits"), [("output", 1), ("output", None), ("voq", None), ("fifo", None), ("voq", 2000)]
)
def test_a_ring_with_room_enough_finishes(queueing: str, credits: int | None) -> None:
    outcome = run(ring(queueing, credits))
    assert outcome.completed == 6 * 2000


@pytest.mark.parametrize("queueing", ["output", "voq", "fifo"])
@pytest.mark.parametrize("kind", ["chain", "tree"])
def test_without_a_circle_one_buffer_is_enough(kind: str, queueing: str) -> None:
    size = {"chain": {"switches": 6}, "tree": {"leaves": 6}}[kind]
    link = {"bandwidth": "16GB/s", "credits": 1}
    spec = generated(
        kind,
        {"requests": 1000, "footprint": "16MiB", "reads": 0.5},
        placement="paired",
        switch={"kind": "switch", "queueing": queueing},
        memory={"kind": "memory", "queue": 1},
        link=link,
        edge_link=link,
        **size,
    )
    assert run(spec).completed == 6 * 1000


def test_diagnosis_is_the_same_each_time() -> None:
    texts = set()
    for slices in (10**6, 1000):
        with pytest.raises(SimulationError) as caught:
            run(ring("voq", 1), slice_events=slices)
        texts.add(str(caught.value))
    assert len(texts) == 1


def test_cached_write_backs_do_not_deadlock_the_requester() -> None:
    host = {"kind": "host", "queue": 2, "cache": {"size": "1KiB", "ways": 1}}
    spec = generated(
        "chain",
        {"requests": 2000, "footprint": "64KiB", "reads": 0.0},
        switches=2,
        requester=host,
        memory={"kind": "memory", "queue": 1},
        edge_link={"credits": 1, "bandwidth": "4GB/s"},
    )
    outcome = run(changed(spec, ("run.warmup", 100)))
    assert outcome.completed == 2100
    assert outcome.summary["write_backs"] > 1500


FABRICS: list[tuple[str, Spec]] = [
    ("tree", {"leaves": 8}),
    ("ring", {"switches": 8}),
    ("mesh", {"size": [3, 4]}),
    ("hypercube", {"dimensions": 3}),
    ("dragonfly", {"switches_per_group": 3, "global_links": 1, "devices_per_switch": 2}),
]


def saturated(kind: str, shape: Spec, routing: str, channels: int, credits: int = 4) -> float | None:
    """Bandwidth of a fabric with few buffers; none: it deadlocks."""
    link = {"bandwidth": "8GB/s", "credits": credits}
    spec = generated(
        kind,
        {"requests": 2000, "footprint": "16MiB", "reads": 0.0, "size": "64B"},
        placement="paired",
        switch={"kind": "switch", "queueing": "voq"},
        link={**link, "virtual_channels": channels},
        edge_link=link,
        **shape,
    )
    spec["run"] |= {"routing": routing, "warmup": 200}
    try:
        return run(spec).bandwidth
    except SimulationError:
        assert _core.check(spec, {})["deadlock"]["possible"]
        return None


@pytest.mark.parametrize("routing", ["deterministic", "adaptive"])
@pytest.mark.parametrize(("kind", "shape"), FABRICS)
def test_more_virtual_channels_cost_no_bandwidth_and_gain_some(kind: str, shape: Spec, routing: str) -> None:
    """Those that no dateline needs keep pairs of devices out of each other's way."""
    rates = [saturated(kind, shape, routing, channels) or 0.0 for channels in range(1, 5)]
    for fewer, more in pairwise(rates):
        assert more > 0.98 * fewer
    assert rates[-1] > 1.05 * rates[0]
    proven = [rate for rate in rates if rate]
    assert kind == "hypercube" or proven[-1] > 1.2 * proven[0]


def test_virtual_channels_take_nothing_from_classes_that_use_fewer() -> None:
    """A class has its turn at a port however many of its virtual channels have messages.

    With room for all they are of no use.
    """
    shape = {"switches_per_group": 3, "global_links": 1, "devices_per_switch": 2}
    rates = [saturated("dragonfly", shape, "deterministic", channels, 64) for channels in range(1, 5)]
    assert rates[0]
    assert rates == pytest.approx([rates[0]] * 4, rel=0.05)


def test_virtual_channels_that_nobody_uses_are_noted() -> None:
    link = {"credits": 4, "virtual_channels": 2}
    note = (
        "virtual_channels have no effect: only switches with input queues (queueing: voq or fifo) on links with "
        "credits use them"
    )
    for queueing, noted in (("output", True), ("voq", False), ("fifo", False)):
        spec = generated("ring", {}, switches=6, switch={"kind": "switch", "queueing": queueing}, link=link)
        assert (note in _core.check(spec, {})["notes"]) == noted


def test_check_says_how_many_virtual_channels_the_routes_need() -> None:
    found = _core.check(ring("voq", 1), {})["deadlock"]
    assert found["virtual_channels_needed"] == 2
    for channels, possible in ((2, False), (4, False)):
        more = ring("voq", 1)
        for link in more["links"]:
            link["virtual_channels"] = channels
        proven = _core.check(more, {})["deadlock"]
        assert (proven["possible"], proven["virtual_channels_needed"]) == (possible, 2)
    assert _core.check(ring("voq", None), {})["deadlock"]["virtual_channels_needed"] is None


def test_check_says_from_which_event_on_a_circle_can_close() -> None:
    """Leaves and spines: messages that went down to a leaf turn up again when their link is repaired."""
    link = {"bandwidth": "16GB/s", "credits": 1}
    spec = generated(
        "spine-leaf",
        {"requests": 10, "footprint": "1MiB"},
        leaves=3,
        spines=2,
        devices_per_leaf=2,
        placement="paired",
        switch={"kind": "switch", "queueing": "voq"},
        link=link,
    )
    assert not _core.check(spec, {})["deadlock"]["possible"]
    part = {"link": ["leaf0", "spine0"]}
    spec["events"] = [{"at": "1us", "fail": {**part, "reroute_time": "1us"}}]
    spec["events"].append({"at": "1500ns", "repair": part})  # before it is known: routes stay what they are
    stays = _core.check(spec, {})["deadlock"]
    assert (stays["possible"], stays["epochs"], stays["from"]) == (False, 2, None)
    spec["events"][1]["at"] = "5us"
    found = _core.check(spec, {})["deadlock"]
    assert (found["possible"], found["epochs"]) == (True, 3)
    assert found["from"]["at"] == "5us"
    assert found["from"]["only_while_routes_change"]
    assert len(found["circle"]) >= 2


def test_check_shows_the_circle_and_proves_that_there_is_none() -> None:
    found = _core.check(ring("voq", 1), {})["deadlock"]
    assert found["possible"]
    assert len(found["circle"]) == 6
    assert all("sw" in channel for channel in found["circle"])
    proven = _core.check(ring("output", 1), {})["deadlock"]
    assert not proven["possible"]
    assert proven["circle"] == []
    assert proven["channels"] > 0
    assert _core.check(ring("voq", None), {})["deadlock"]["channels"] == 0
