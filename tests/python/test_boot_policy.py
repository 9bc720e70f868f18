"""Where a program's pages are in a booted machine: memories by name, and the guest's nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from boot_support import TOPOLOGIES, machine

from cxloom.base.errors import InputError
from cxloom.booting.machine import InterleaveSet
from cxloom.booting.policy import KINDS, Policy


def policy(**given: str) -> Policy | None:
    return Policy.parse({kind: given.get(kind.replace("-", "_")) for kind in KINDS})


def test_memories_are_the_guests_nodes() -> None:
    made = machine(TOPOLOGIES["two bridges"])
    binding = policy(membind="m1,local")
    assert binding is not None
    assert binding.commands(made, [4, 7]) == ([], ["numactl", "--membind=7,0", "--"])
    weighted = policy(weighted_interleave="local=3,m0=1")
    assert weighted is not None
    before, front = weighted.commands(made, [4, 7])
    assert front == ["numactl", "--weighted-interleave=0,4", "--"]
    assert [line.partition(" >")[0] for line in before] == ["echo 3", "echo 1"]
    assert [line.rpartition("/")[2] for line in before] == ["node0", "node4"]
    assert policy() is None


def test_a_node_of_its_own_counts_before_one_that_is_shared() -> None:
    made = machine(TOPOLOGIES["two devices on one bridge"])
    shared = InterleaveSet("address_map[3]", ("m0", "m1"), 256, 512 << 20)
    found = policy(membind="m1")
    assert found is not None
    for sets, node in (((shared, *made.sets), 3), ((*made.sets, shared), 2), ((shared,), 1)):
        assert found.commands(replace(made, sets=sets), [1, 2, 3][: len(sets)])[1][1] == f"--membind={node}"


def test_weights_are_said_to_be_exact_with_small_pages_alone() -> None:
    weighted, binding = policy(weighted_interleave="local=3,m0=1"), policy(membind="m0")
    assert weighted is not None
    assert binding is not None
    for large, told in ((None, True), ("always", True), ("madvise", True), ("never", False)):
        assert any("--large-pages never" in note for note in weighted.notes(large)) == told
        assert binding.notes(large) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"membind": "m0", "interleave": "m0"}, "said twice"),
        ({"membind": "m0,"}, "not the name of a memory"),
        ({"preferred": "m0,m1"}, "not the name of a memory"),
        ({"weighted_interleave": "m0"}, "not a memory and its weight"),
        ({"weighted_interleave": "m0=0"}, "not a memory and its weight"),
        ({"weighted_interleave": "m0=256"}, "not a memory and its weight"),
    ],
)
def test_policies_that_are_none_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        policy(**given)


def test_a_policy_over_what_is_no_memory_is_refused() -> None:
    found = policy(membind="far")
    assert found is not None
    with pytest.raises(InputError, match="no memory of the machine") as error:
        found.check(machine(TOPOLOGIES["direct"]), "kernel")
    assert (error.value.path, error.value.allowed) == ("--membind", "local, m0")


def test_memories_of_one_node_have_one_weight() -> None:
    """Only the first of several would count, and what follows them would be the weight of another node."""
    made = machine(TOPOLOGIES["a switch with two devices"])
    for given in ("m0=1,m1=4,local=3", "local=3,m0=1,m1=1"):
        found = policy(weighted_interleave=given)
        assert found is not None
        with pytest.raises(InputError, match="one node, and a node has one weight") as error:
            found.check(made, "kernel")
        assert (error.value.found, error.value.path) == ("m0, m1", "--weighted-interleave")
    one, several = policy(weighted_interleave="m1=4,local=3"), policy(interleave="m0,local,m1")
    assert one is not None
    assert several is not None
    before, front = one.commands(made, [1])
    assert front[1] == "--weighted-interleave=1,0"
    assert [(line.split()[1], line[-5:]) for line in before] == [("4", "node1"), ("3", "node0")]
    assert several.commands(made, [1])[1][1] == "--interleave=1,0"
