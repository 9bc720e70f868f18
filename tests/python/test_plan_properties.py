"""Pools of random demand: what is given is given back, nobody has more than there is, and bounds hold."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.examples import examples

from cxloom.planning.allocation import UNLIMITED, Asks, play
from cxloom.planning.bound import bound
from cxloom.planning.demand import Demand
from cxloom.planning.sizing import Pools, sized


@st.composite
def pools(draw: st.DrawFn) -> Pools:
    """VMs of small numbers, so that much happens at one instant, on servers with random links."""
    servers, units = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    vm = st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 7), st.integers(0, servers - 1))
    rows = np.array(draw(st.lists(vm, min_size=1, max_size=25)))
    if draw(st.booleans()):
        links = tuple((server % units,) for server in range(servers))
    else:
        sets = st.sets(st.integers(0, units - 1), min_size=1)
        links = tuple(tuple(sorted(draw(sets))) for _ in range(servers))
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    start, end = rows[:, 0].astype(float), (rows[:, 0] + rows[:, 1]).astype(float)
    ones = np.ones(len(rows))
    begin = float(draw(st.integers(0, int(end.max()) - 1)))
    demand = Demand(start, end, ones.astype(int), ones, ones, rows[:, 3], begin, float(end.max()))
    delay = float(draw(st.integers(0, 3)))
    asks = Asks.of(start, end, rows[:, 2], rows[:, 3], delay)
    devices = draw(st.integers(1, 3))
    return Pools(asks, links, units, devices, demand, draw(st.sampled_from(["vms", "time"])))


@settings(max_examples=examples(300))
@given(pools(), st.integers(0, 12), st.booleans())
def test_what_is_given_is_asked_for_and_given_back(drawn: Pools, room: int, wait: bool) -> None:
    asks = drawn.asks
    played = play(asks, drawn.units_of, drawn.units, room, wait=wait)
    for ask in range(len(asks)):
        given_ones = sum(count for _, count in played.pieces[ask])
        assert given_ones == (asks.slices[ask] if played.served[ask] else 0)
        assert all(
            count > 0 and unit in drawn.units_of[asks.server[ask]] for unit, count in played.pieces[ask]
        )
        if played.served[ask]:
            assert asks.start[ask] <= played.since[ask] < asks.leave[ask] or not wait
    used = np.zeros(drawn.units, dtype=int)
    steps = [
        (time, is_start, unit, count if is_start else -count)
        for ask in range(len(asks))
        for unit, count in played.pieces[ask]
        for time, is_start in ((float(asks.end[ask]), False), (float(played.since[ask]), True))
    ]
    for _, _, unit, count in sorted(steps):
        used[unit] += count
        assert 0 <= used[unit] <= room
    assert not used.any()


@settings(max_examples=examples(200))
@given(pools(), st.integers(0, 6))
def test_who_is_refused_had_no_room(drawn: Pools, room: int) -> None:
    """At its start the devices that it is linked to have fewer slices free than it asks for."""
    asks = drawn.asks
    played = play(asks, drawn.units_of, drawn.units, room)
    order = [event for event in asks.events if event >= 0]
    for refused in np.flatnonzero(~played.served).tolist():
        before = set(order[: order.index(refused)])
        now = asks.start[refused]
        free = dict.fromkeys(drawn.units_of[asks.server[refused]], room)
        for ask in before:
            if played.served[ask] and asks.end[ask] > now:
                for unit, count in played.pieces[ask]:
                    if unit in free:
                        free[unit] -= count
        assert sum(free.values()) < asks.slices[refused]


@settings(max_examples=examples(100))
@given(pools(), st.floats(0.2, 1))
def test_sizes_serve_what_they_promise_and_are_above_the_bound(drawn: Pools, probability: float) -> None:
    counted = drawn.within()
    least, is_exact = bound(counted, counted.played(UNLIMITED))
    assert is_exact
    found = sized(drawn, probability, -(-least // drawn.devices))
    assert drawn.served(drawn.played(found.enough)) >= probability
    assert drawn.served(drawn.played(found.always)) == 1
    assert found.enough <= found.always
    assert found.always * drawn.devices >= least
    if drawn.demand.begin == 0 and all(len(links) == 1 for links in drawn.units_of):
        assert found.always == -(-least // drawn.devices)  # nothing to choose: the bound is reached
    assert all(0 <= share <= 1 for _, share in found.curve)
