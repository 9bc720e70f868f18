"""`cxloom advise` for several requesters: those without a common node are cases of their own."""

import pytest
from test_advise import GIB, node

from cxloom.advising.objects import PlacedObject
from cxloom.advising.policies import NodeProfile, optimum


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
    # Joined by one node they are one case again: the slow card bounds the time, and all else may stay near.
    joined = [*apart[:2], NodeProfile("far", 64 * GIB, 10.0, {"host": 250, "other": 1000})]
    assert optimum([slow, one], joined, {"host": 1e4, "other": 1e4}).shares[1]["near"] > 0.75
