"""All routing strategies, on five topologies and three patterns of traffic, against the bounds of the graph."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import pytest
from validation.examples import WHOLE, pairs
from validation.graph import Graph
from validation.strategies import LOADS, OBLIVIOUS, SHAPES, STRATEGIES, Place
from validation.systems import generated
from validation.traffic import drawn, largest_load, least_load, valiant, worst_permutation


@cache
def place(shape: str) -> Place:
    return Place(shape)


def test_the_loads_are_those_of_textbooks() -> None:
    """Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, sections 3.3 and 9.2."""
    ring, torus, cube = (place(shape) for shape in ("ring of 8", "torus 4x4", "hypercube of 16"))
    for at, uniform in ((ring, 8 / 8), (torus, 4 / 8), (cube, 1 / 2)):  # k / 8 on tori
        assert largest_load(at.graph, at.uniform, drawn) == pytest.approx(uniform)
        assert least_load(at.graph, at.uniform) == pytest.approx(uniform)
        # Whatever the permutation, Valiant's phases are uniform traffic, twice.
        load, _ = worst_permutation(at.graph, at.memories, at.hosts, valiant)
        assert load == pytest.approx(2 * uniform)
    # Tornado traffic: everybody goes k/2 - 1 switches around, the same way.
    assert worst_permutation(ring.graph, ring.memories, ring.hosts, drawn)[0] == pytest.approx(3.0)
    # All hosts of a group read from the next one, over one link.
    fly = place("dragonfly of 5 x 4")
    assert worst_permutation(fly.graph, fly.memories, fly.hosts, drawn)[0] == pytest.approx(4.0)


TRAFFIC = [(shape, pattern) for shape in SHAPES for pattern in ("uniform", "adversarial")]


@pytest.mark.parametrize(("traffic", "strategy"), pairs(TRAFFIC, LOADS), ids=str)
def test_hosts_keep_their_demand_up_to_the_bound(traffic: tuple[str, str], strategy: str) -> None:
    shape, pattern = traffic
    at = place(shape)
    bound = at.bound(pattern, LOADS[strategy])
    assert at.kept(pattern, strategy, 0.94 * bound) > 0.97
    assert at.kept(pattern, strategy, 1.08 * bound) < 0.97


@pytest.mark.parametrize(("traffic", "strategy"), pairs(TRAFFIC, ["adaptive", "ugal"]), ids=str)
def test_strategies_that_see_the_load(traffic: tuple[str, str], strategy: str) -> None:
    """No routing carries more than the linear program says; adaptive ones no less than what they improve on."""
    shape, pattern = traffic
    at = place(shape)
    most = 1.0 / least_load(at.graph, at.flows(pattern))
    shortest = at.bound(pattern, drawn)
    assert at.kept(pattern, strategy, 1.08 * most) < 0.97
    assert at.kept(pattern, strategy, 0.85 * shortest) > 0.97
    if strategy == "ugal" and pattern == "adversarial" and shortest < 0.9 * most:
        assert at.kept(pattern, strategy, 1.2 * shortest) > 0.97


def test_credits_show_ugal_what_is_busy_further_on() -> None:
    """In a dragonfly the first switch of a message does not have the global link. Its queue grows without an end to be
    seen; with credits it fills the buffers on the way, and detours carry what Valiant's do."""
    shape = "dragonfly of 5 x 4"
    bound = place(shape).bound("adversarial", valiant)
    assert place(shape).kept("adversarial", "ugal", 0.7 * bound) < 0.9
    assert Place(shape, credits=16).kept("adversarial", "ugal", 0.97 * bound) > 0.97


@pytest.mark.parametrize("shape", list(SHAPES)[:: 1 if WHOLE else 2])
def test_no_strategy_relieves_a_slow_endpoint(shape: str) -> None:
    """Each host reads as much from the slow memory as from each other: all wait for it. The draws count, hence 5 %."""
    at = place(shape)
    read = {strategy: at.with_slow_endpoint(strategy) for strategy in STRATEGIES}
    assert read == pytest.approx(dict.fromkeys(STRATEGIES, len(at.memories)), rel=0.05)
    assert max(read.values()) < 1.01 * min(read.values())


def test_the_worst_permutation_is_the_worst_of_all() -> None:
    """On four switches all permutations can be looked at."""
    for kind, params in (
        ("ring", {"switches": 4}),
        ("hypercube", {"dimensions": 2}),
        ("chain", {"switches": 4}),
    ):
        spec = generated(kind, placement="paired", **params)
        graph, hosts = Graph.of(spec), list(spec["workload"])
        memories = spec["address_map"][0]["to"]
        for shares in OBLIVIOUS.values():
            found, _ = worst_permutation(graph, memories, hosts, shares)
            each = [
                largest_load(graph, dict.fromkeys(zip(memories, order, strict=True), 1.0), shares)
                for order in permutations(hosts)
            ]
            assert found == pytest.approx(max(each))
