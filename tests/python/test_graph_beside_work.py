"""What `explain` and `compare` say of a graph of tasks beside work that goes on as long as the graph does."""

from __future__ import annotations

import pytest

import cxloom as cx

WIRE = 16 * 64 / 80
"""GB/s of lines."""


def copying(queue: int = 64, hog: int = 32) -> cx.System:
    """A copy of 1 MiB by a host with `queue`, whose reads share a wire with those of a host with `hog`."""
    system = cx.System()
    system.add("host", "host", queue=queue)
    system.add("host", "hog", queue=hog)
    system.add("switch", "sw", switching_time="0ns")
    system.add("memory", "near", capacity="1GiB")
    system.add("memory", "far", capacity="2GiB", media={"kind": "fixed", "latency": "50ns"})
    system.connect("host", "near")
    system.connect("host", "sw")
    system.connect("hog", "sw")
    system.connect("sw", "far", bandwidth="16GB/s", port_delay="5ns")
    system.map("near")
    system.map("far")
    system.workload("hog", pattern="random", requests=10**8, base="2GiB", footprint="1GiB")
    objects = [
        {"name": name, "size": "1MiB", "addresses": {"kind": "bind", "nodes": [node]}}
        for name, node in (("there", "far"), ("here", "near"))
    ]
    copy = {"name": "copy", "kind": "copy", "from": "there", "to": "here", "bytes": "1MiB", "on": "host"}
    system.set("tasks", {"objects": objects, "graph": [copy]})
    return system


# A copy has half of its queue as reads: 32 beside the 32 of the hog share the wire as they are in flight. With 64 of
# the hog's the copy has a third of the wire and takes half as long again, while all requests together are as many.
def test_gains_are_those_of_the_graph() -> None:
    found = cx.explain(copying(), jobs=1)
    assert found.tasks_ns == pytest.approx(2 * 2**20 / WIRE, rel=0.05)
    gains = {each.resource.name: each.gain for each in found.what_ifs}
    assert gains["the queue of hog"] == pytest.approx(-1 / 3, abs=0.03)
    assert gains["the wire far->sw"] > 0.5
    assert found.sentence.startswith("The graph of tasks takes 1")
    assert "speed is limited by the wire far->sw" in found.sentence


def test_a_longer_graph_is_no_chance() -> None:
    base, slower = cx.run(copying()), cx.run(copying(hog=64))
    found = cx.compare({"base": base, "slower": slower})
    assert "the tasks take" in found.sentences[0]
    change = found.row("time of the tasks").change(1)
    assert change.relative == pytest.approx(0.5, abs=0.05)
    assert change.is_clear
    same = cx.compare({"base": base, "again": cx.run(copying())})
    assert "the tasks take as long" in same.sentences[0]
