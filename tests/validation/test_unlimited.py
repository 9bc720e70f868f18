"""What had no limit of bandwidth is named whenever it carried messages, and only then."""

from __future__ import annotations

from typing import Any

import pytest
from validation.systems import Run, Spec, changed, generated, host_and_memory, host_bus_memories, run

from cxloom import _core

LIMIT = {"bandwidth": "16GB/s"}
NOTE = "bandwidth unset"


def named(outcome: Run) -> tuple[dict[str, Any], str]:
    """What was found to have no limit, and the note on it."""
    notes = [note for note in outcome.summary["notes"] if NOTE in note]
    assert len(notes) <= 1
    return outcome.summary["unlimited"], "".join(notes)


def test_a_plain_host_link_and_memory_are_named() -> None:
    unlimited, note = named(run(host_and_memory()))
    assert unlimited == {"links": ["host->mem", "mem->host"], "buses": [], "memories": ["mem"]}
    assert all(name in note for name in ("links host->mem, mem->host", "memory mem"))


@pytest.mark.parametrize(
    "memory",
    [
        {"queue": 48},
        {"read_buffer": 48, "write_buffer": 48},
        {"media": {"kind": "fixed", **LIMIT}},
        {"media": {"kind": "fixed", "banks": 8}},
        {"media": {"kind": "dram", "preset": "DDR5-4800"}},
        {"media": {"kind": "nvm"}},
        {"media": {"kind": "flash"}},
    ],
)
def test_what_has_a_limit_is_not_named(memory: Spec) -> None:
    for link in (LIMIT, {"phy": "pcie5-x16"}):
        assert named(run(host_and_memory(link, memory))) == ({"links": [], "buses": [], "memories": []}, "")


def test_each_direction_and_each_bus_counts_for_itself() -> None:
    link = {**LIMIT, "reverse": {"bandwidth": "unlimited"}}
    assert named(run(host_and_memory(link, {"queue": 8})))[0]["links"] == ["mem->host"]
    spec = host_bus_memories({"bandwidth": "unlimited"})
    assert named(run(spec))[0]["buses"] == ["bus"]
    assert named(run(changed(spec, ("devices.bus.bandwidth", "1GB/s"))))[0]["buses"] == []


def test_what_carried_nothing_is_not_named() -> None:
    spec = host_bus_memories(memories=3, work={"footprint": "512B"})
    unlimited, _ = named(run(spec))
    assert unlimited["memories"] == ["mem0", "mem1"]
    assert "mem2->bus" not in unlimited["links"]
    # Before a run, all that could be is named.
    description = _core.check(spec)
    assert description["unlimited"]["memories"] == ["mem0", "mem1", "mem2"]
    assert any(NOTE in note and "bus bus" in note for note in description["notes"])


def test_links_to_devices_are_like_those_between_switches_unless_said_otherwise() -> None:
    shape = {"switches": 4, "link": {"phy": "pcie5-x16"}, "memory": {"kind": "memory", "queue": 8}}
    assert named(run(generated("ring", **shape)))[0]["links"] == []
    bare = named(run(generated("ring", **shape, edge_link={})))[0]["links"]
    assert bare
    assert all("host" in name or "mem" in name for name in bare)
