"""`cxloom advise` for several requesters: who has no common node, or must take longer, is no measure of others."""

import pytest
from test_advise import GIB, made, node

from cxloom.advising.node_profile import NodeProfile
from cxloom.advising.objects import PlacedObject
from cxloom.advising.policies import optimum


# Two servers, each with a card of its own, share no node: that one of them takes ten times as long at a card of 1 GB/s
# leaves the other's best share at B_near / (B_near + B_far), and its phases, which meet no others, are told apart.
def test_a_requester_with_nodes_of_its_own_is_a_case_of_its_own() -> None:
    slow = PlacedObject("other", "b", GIB, (1e6,))
    theirs = NodeProfile("third", 64 * GIB, 1.0, {"other": 100})
    for phases in ((1e6,), (1e6, 3e5)):
        one = PlacedObject("host", "a", GIB, phases)
        apart = [node("near", 30, 100), theirs, node("far", 10, 250)]
        found = optimum([slow, one], apart, {"host": 1e4, "other": 1e4})
        assert found.shares[0]["third"] == pytest.approx(1)
        assert found.shares[1]["near"] == pytest.approx(0.75, abs=1e-3)


# One that waits for each of its accesses takes 25 ms whatever the others do, and leaves the shared node alone: the
# other has both of its nodes, at 30 : 10. It would gain nothing by the far one if the time of all were what counts.
def test_one_that_must_take_longer_is_no_measure_of_the_others() -> None:
    slow = PlacedObject("other", "b", GIB, (1e6,))
    nodes = [
        NodeProfile("near", 64 * GIB, 30.0, {"host": 100}),
        NodeProfile("own", 64 * GIB, 30.0, {"other": 100}),
        NodeProfile("far", 64 * GIB, 10.0, {"host": 250, "other": 250}),
    ]
    found = optimum([made("a", 1, 1e6), slow], nodes, {"host": 1e4, "other": 4})
    assert found.shares[1]["own"] == pytest.approx(1)
    assert found.shares[0]["near"] == pytest.approx(0.75, abs=1e-3)


# A tenth of a shared node is taken for as long as the slow one goes on: 15.6 accesses of 64 B in flight, of
# 1000 ns each, are 1 of 10 GB/s. The other has 30 and 9.
def test_what_the_slow_one_takes_of_a_node_is_set_aside() -> None:
    slow = PlacedObject("other", "b", GIB, (2.5e6,))
    nodes = [
        NodeProfile("near", 64 * GIB, 30.0, {"host": 100}),
        NodeProfile("far", 64 * GIB, 10.0, {"host": 250, "other": 1000}),
    ]
    found = optimum([made("a", 1, 1e6), slow], nodes, {"host": 1e4, "other": 1000 / 64})
    assert found.shares[0]["near"] == pytest.approx(30 / 39, abs=1e-3)


# Two that are alike share what they share: each has half of the pool beside a node of its own.
def test_those_who_take_as_long_share() -> None:
    nodes = [NodeProfile(f"near{i}", 64 * GIB, 10.0, {f"h{i}": 100}) for i in range(2)]
    nodes.append(NodeProfile("pool", 64 * GIB, 8.0, {"h0": 250, "h1": 250}))
    objects = [PlacedObject(f"h{i}", "a", GIB, (1e6,)) for i in range(2)]
    found = optimum(objects, nodes, {"h0": 1e4, "h1": 1e4})
    assert [found.shares[i][f"near{i}"] for i in range(2)] == pytest.approx([10 / 14] * 2, abs=1e-3)
