"""Logical devices of a memory: shares, limits and isolation, as docs/model/qos.md derives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples
from validation.systems import SEGMENTS, Run, Spec, feed, run

ACCESS = 100.0  # ns in the media, one after the other
PART = 1 << 24  # bytes of a logical device


SHAPES = ("hub", "vcs", "heads")


def split(
    lds: list[Spec], works: list[Spec | None], places: int = 1, shape: str = "hub", **memory: Any
) -> Spec:
    """A host for each logical device of a memory that serves one access after the other. Without work it is idle.

    They are joined by a switch; by one that is cut into a virtual switch for each host, with its logical device; or by
    a head of the memory for each.
    """
    heads = shape == "heads"
    count = len(lds)
    media = {"kind": "fixed", "latency": f"{ACCESS}ns", "banks": 1}
    devices: Spec = {f"h{i}": {"kind": "host", "queue": 64} for i in range(count)}
    devices["mem"] = {
        "kind": "memory",
        "queue": places,
        "heads": count if heads else 1,
        "controller_time": "0ns",
        "media": media,
        "logical_devices": [{"capacity": f"{PART}B", **ld} for ld in lds],
        **memory,
    }
    if not heads:
        devices["hub"] = {"kind": "switch", "queueing": "voq"}
    if shape == "vcs":
        devices["hub"]["vcs"] = [
            {"upstream": f"h{i}", "vppbs": 1, "bind": [{"to": "mem", "ld": i}]} for i in range(count)
        ]
    hub = "mem" if heads else "hub"
    links = [{"between": [f"h{i}", hub]} for i in range(count)] + (
        [] if heads else [{"between": ["hub", "mem"]}]
    )
    base = {"pattern": "random", "requests": 3000, "footprint": "1MiB", "reads": 0.5, "size": "64B"}
    workload = {}
    for i, work in enumerate(works):
        if work is None:
            continue
        devices[f"h{i}"]["queue"] = work.get("queue", 64)
        own = {key: value for key, value in work.items() if key != "queue"}
        workload[f"h{i}"] = {**base, "base": hex(i * PART), **own}
    return {
        "devices": devices,
        "links": links,
        "address_map": [{"to": ["mem"], "ld": i} for i in range(count)],
        "workload": workload,
        "run": {"warmup": 300},
        "outputs": {"requests": True},
    }


def bandwidth_of(outcome: Run, host: int) -> float:
    """What a host moves, GB/s."""
    return float(outcome.summary["per_requester"][f"h{host}"]["bandwidth_gb_per_s"])


def check(outcome: Run) -> None:
    """Every request is answered once, and every picosecond is accounted for."""
    rows = outcome.requests
    assert outcome.summary["completed"]
    assert outcome.completed == outcome.expected
    latency = rows["completed_ps"] - rows["created_ps"]
    assert np.array_equal(sum(rows[f"{name}_ps"] for name in SEGMENTS), latency)


@st.composite
def shared(draw: st.DrawFn) -> Spec:
    """Weights of two to five logical devices, some of them idle; of the others each has more to do than it gets."""
    count = draw(st.integers(2, 5))
    weights = draw(st.lists(st.integers(1, 8), min_size=count, max_size=count))
    busy = draw(st.lists(st.booleans(), min_size=count, max_size=count).filter(any))
    sizes = [draw(st.sampled_from(["64B", "32B"])) for _ in range(count)]
    works = [{"size": size, "requests": 6000} if on else None for on, size in zip(busy, sizes, strict=True)]
    lds = [{"allocated_bandwidth": weight} for weight in weights]
    return split(lds, works, draw(st.sampled_from([1, 2, 16])), draw(st.sampled_from(SHAPES)))


@settings(max_examples=examples(40), deadline=None)
@given(spec=shared())
def test_shares_are_the_weights_of_those_who_have_requests(spec: Spec) -> None:
    outcome = run(spec)
    check(outcome)
    lds = spec["devices"]["mem"]["logical_devices"]
    busy = [int(name.removeprefix("h")) for name in spec["workload"]]
    moved = {i: bandwidth_of(outcome, i) for i in busy}
    weights = {i: lds[i]["allocated_bandwidth"] for i in busy}
    for i in busy:
        due = weights[i] / sum(weights.values())
        assert moved[i] / sum(moved.values()) == pytest.approx(due, rel=0.01)
    # Nothing is left idle: an access every 100 ns.
    assert outcome.rate == pytest.approx(1 / ACCESS, rel=0.005)


def worst_of(outcome: Run, host: int) -> float:
    """The largest latency of a host."""
    return float(outcome.summary["per_requester"][f"h{host}"]["latency_ns"]["max"])


@settings(max_examples=examples(30), deadline=None)
@given(
    weights=st.lists(st.integers(1, 8), min_size=2, max_size=5),
    places=st.sampled_from([1, 2, 8]),
    controller=st.sampled_from([0, 40]),
    asked=st.sampled_from([0.1, 0.5, 0.8]),
    shape=st.sampled_from(["hub", "vcs"]),
)
def test_greedy_hosts_neither_starve_another_nor_delay_it_beyond_the_bound(
    weights: list[int], places: int, controller: int, asked: float, shape: str
) -> None:
    """The first asks for a part of its share, evenly; the others have 512 requests in flight each, whatever happens."""
    lds = [{"allocated_bandwidth": weight} for weight in weights]
    hold = ACCESS + controller  # of a place at most, when it is alone with its request
    rate = asked * weights[0] / sum(weights) / hold  # requests a ns
    modest: Spec = {"rate": f"{rate * 1e9:.0f}/s", "requests": 400}
    greedy: Spec = {"queue": 512, "requests": 20000}
    more: Spec = {"controller_time": f"{controller}ns", "shape": shape}
    alone = run(split(lds, [modest, *(None for _ in weights[1:])], places, **more))
    beset = run(split(lds, [modest, *(greedy for _ in weights[1:])], places, **more))
    check(beset)
    assert worst_of(alone, 0) == pytest.approx(alone.latency)  # nothing ever waits
    bound = (len(weights) - 2 + places) * hold
    assert worst_of(beset, 0) <= worst_of(alone, 0) + bound + 1e-6
    assert bandwidth_of(beset, 0) == pytest.approx(bandwidth_of(alone, 0), rel=0.02)


def test_who_asks_for_a_logical_device_of_another_virtual_switch_delays_nobody() -> None:
    """The switch answers it. So the owner has the times that it has alone, to the picosecond."""
    modest: Spec = {"rate": "2M/s", "arrivals": "poisson", "requests": 200}
    greedy: Spec = {"queue": 16, "requests": 25000, "base": "0x0"}  # of the first one's
    alone = run(split([{}, {}], [modest, None], shape="vcs"))
    beset = run(split([{}, {}], [modest, greedy], shape="vcs"))
    check(beset)
    own = beset.requests["requester"] == beset.nodes.index("h0")
    measured = min(int(own.sum()), len(alone.requests["id"]))
    assert measured > 150
    for column in ("created_ps", "completed_ps"):
        assert np.array_equal(beset.requests[column][own][:measured], alone.requests[column][:measured])
    assert beset.summary["per_switch"]["hub"]["isolation_errors"] == int((~own).sum()) > 1000
    assert beset.summary["per_memory"]["mem"]["logical_devices"]["1"]["requests"] == 0


@pytest.mark.parametrize("write_allocate", [True, False])
def test_a_host_with_a_cache_reaches_its_own_logical_device(write_allocate: bool) -> None:
    """Misses and write-backs name the logical device: a switch that is cut refuses those that name another."""
    spec = split([{}, {}], [{}, {}], shape="vcs")
    for host in ("h0", "h1"):
        spec["devices"][host]["cache"] = {"size": "16KiB", "ways": 4, "write_allocate": write_allocate}
    outcome = run(spec)
    check(outcome)
    assert outcome.summary["errors"]["requests"] == 0
    assert outcome.summary["per_switch"]["hub"]["isolation_errors"] == 0


def test_without_logical_devices_a_greedy_host_delays_the_other_by_all_that_it_has() -> None:
    modest: Spec = {"rate": "1M/s", "requests": 300}
    spec = split([{}, {}], [modest, {"queue": 512, "requests": 20000}])
    apart = run(spec)
    del spec["devices"]["mem"]["logical_devices"]
    spec["address_map"] = [{"to": ["mem"]}]
    together = run(spec)
    assert apart.summary["per_requester"]["h0"]["latency_ns"]["mean"] < 5 * ACCESS
    assert together.summary["per_requester"]["h0"]["latency_ns"]["mean"] > 500 * ACCESS


@settings(max_examples=examples(30), deadline=None)
@given(
    limits=st.lists(st.integers(20, 900), min_size=1, max_size=4),
    load=st.sampled_from([0.5, 0.95, 3.0]),
    places=st.sampled_from([None, 2]),
    window=st.sampled_from([0, 1024]),
)
def test_limits_hold_over_any_time(limits: list[int], load: float, places: int | None, window: int) -> None:
    """From one that leaves to the k-th behind it there are k times b / limit, but for what is saved up."""
    lds = [{"bandwidth_limit": f"{limit}MB/s", "limit_window": f"{window}ns"} for limit in limits]
    works: list[Spec | None] = [
        {"rate": f"{load * limit * 1e6 / 64:.0f}/s", "arrivals": "poisson", "requests": 1500}
        for limit in limits
    ]
    # Enough for the limits, so that they decide: one has its time in the media at any place.
    media = {"kind": "fixed", "latency": "10ns"}
    spec = split(lds, works, 1, media=media, queue=places)
    if places is None:
        del spec["devices"]["mem"]["queue"]
    outcome = run(spec)
    check(outcome)
    for i, limit in enumerate(limits):
        own = outcome.requests["requester"] == outcome.nodes.index(f"h{i}")
        # The way back is the same for all reads, and for all writes: only the data have a wire to cross.
        left = np.sort(outcome.requests["completed_ps"][own]).astype(np.float64)
        apart = 64e12 / (limit * 1e6)
        ahead = left - apart * np.arange(len(left))
        saved = max(apart, 1e3 * window)
        assert (np.maximum.accumulate(ahead) - ahead).max() <= saved + 1
        if load > 1:
            more = saved / 1e3 / outcome.summary["simulated_time_ns"]
            assert bandwidth_of(outcome, i) <= limit / 1e3 * (1.001 + more)
            if len(limits) == 1:
                assert bandwidth_of(outcome, i) == pytest.approx(limit / 1e3, rel=0.005)


@pytest.mark.parametrize("window", [0, 2000, 20_000])
def test_what_others_delay_is_made_up_for_within_the_window(window: int) -> None:
    """A limited device of little weight waits while the other has all places, until that has nothing left.

    Then a request goes every 100 ns, as the media serve them, until the k-th is due by the limit alone: 400 ns for each
    from a window before the first. No more than a request is made up for by a window of 0.
    """
    lds = [
        {"bandwidth_limit": "160MB/s", "limit_window": f"{window}ns"},
        {"allocated_bandwidth": 256},
    ]
    spec = split(lds, [{}, {}])
    spec["devices"]["h0"]["queue"] = spec["devices"]["h1"]["queue"] = 512
    spec["workload"] = {h: {"trace": "in memory", "replay": "timestamps"} for h in ("h0", "h1")}
    spec["run"]["warmup"] = 0
    mine, others = 60, 255
    late = [0] * others + [10**9]  # a last one, so that the window lasts
    feeds = {
        "h0": feed((64 * i for i in range(mine)), timestamp=0),
        "h1": feed((PART + 64 * i for i in range(others + 1)), timestamp=late),
    }
    outcome = run(spec, feeds)
    check(outcome)
    own = outcome.requests["requester"] == outcome.nodes.index("h0")
    left = np.sort(outcome.requests["completed_ps"][own])
    assert (left > outcome.requests["completed_ps"][~own].max()).sum() == mine - 1  # all but the first
    since = left[1:] - left[1]
    assert since[0] == 0
    k = np.arange(mine - 1)
    assert np.array_equal(since, np.maximum(100_000 * k, 400_000 * k - 1000 * max(window, 400)))


@pytest.mark.parametrize(("window", "reached"), [("0ns", False), (None, True)])
def test_a_device_with_requests_waiting_has_its_limit_where_dram_turns(
    window: str | None, reached: bool
) -> None:
    """Four of equal weight share DRAM with more than 20 GB/s: 3 GB/s are less than the share of the limited one.

    Places come free in bursts, as the channel writes in runs and refreshes. What is saved up meanwhile is 3 KB by
    default: 48 requests, above what a run of writes delays.
    """
    limited: Spec = {"bandwidth_limit": "3GB/s", **({"limit_window": window} if window else {})}
    dram = {"kind": "dram", "preset": "DDR5-4800"}
    work = {"requests": 20_000}
    outcome = run(split([limited, {}, {}, {}], [work] * 4, 32, media=dram))
    check(outcome)
    moved = [bandwidth_of(outcome, i) for i in range(4)]
    assert min(moved[1:]) > 5
    assert (moved[0] == pytest.approx(3, rel=0.005)) == reached
    assert moved[0] < 3.02


def test_what_a_trace_asks_of_another_host_is_answered_with_errors() -> None:
    """A half of its accesses goes to the logical device of the other: the controller answers these."""
    spec = split([{"host": "h0"}, {"host": "h1"}], [{}, None])
    spec["workload"]["h1"] = {"trace": "in memory"}
    spec["run"]["warmup"] = 0
    spec["devices"]["mem"]["controller_time"] = "40ns"
    rng = np.random.default_rng(7)
    addresses = rng.integers(0, 2 * PART // 64, 3000) * 64
    outcome = run(spec, {"h1": feed(addresses.tolist(), kind=rng.integers(0, 2, 3000))})
    check(outcome)
    own = outcome.requests["requester"] == outcome.nodes.index("h1")
    wrong = own & (outcome.requests["address"] < PART)
    assert outcome.summary["errors"]["requests"] == int(wrong.sum()) > 1000
    lds = outcome.summary["per_memory"]["mem"]["logical_devices"]
    assert [lds["0"]["refused"], lds["1"]["refused"]] == [int(wrong.sum()), 0]
    for name, expected in (("controller", 40_000), ("media_queue", 0), ("media", 0)):
        assert (outcome.requests[f"{name}_ps"][wrong] == expected).all()
    assert (outcome.requests["media_ps"][~wrong] == 100_000).all()


def test_extents_of_a_logical_device_are_at_addresses_of_the_whole_memory() -> None:
    """Dynamic capacity beside logical devices: the second host has the extent behind the first logical device alone."""
    extent = {"base": f"{PART}B", "size": "64KiB", "host": "h1"}
    spec = split([{}, {}], [None, {"footprint": "128KiB"}], 1, dynamic_capacity={"extents": [extent]})
    spec["run"]["warmup"] = 0
    outcome = run(spec)
    check(outcome)
    outside = outcome.requests["address"] >= PART + (64 << 10)
    assert outcome.summary["errors"]["requests"] == int(outside.sum()) > 0
    assert (outcome.requests["media_ps"][outside] == 0).all()
