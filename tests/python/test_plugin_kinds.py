"""Kinds of patterns, topologies, placements and collections from plug-ins are used by a run, with their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plugin_support import with_plugin
from validation.examples import slow

THREE_MEMORIES = """
devices:
  host: {kind: host, queue: 4}
  first: {kind: memory, capacity: 64KiB}
  second: {kind: memory, capacity: 64KiB}
  third: {kind: memory, capacity: 64KiB}
links: [{between: [host, first]}, {between: [host, second]}, {between: [host, third]}]
address_map: [{to: [first]}, {to: [second]}, {to: [third]}]
workload: {host: {pattern: sequential, requests: 1000, footprint: 192KiB}}
run: {warmup: 0}
"""


def test_a_pattern_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "backwards.cpp", THREE_MEMORIES)

    def reads(pattern: str, *settings: str) -> list[int]:
        found = played.results(f"workload.host.pattern={pattern}", *settings)
        return [found["per_memory"][name]["reads"] for name in ("first", "second", "third")]

    # Each memory has 1024 of the 3072 lines.
    assert reads("sequential") == [1000, 0, 0]
    assert reads("backwards") == [0, 0, 1000]
    assert reads("backwards", "workload.host.skip=1024") == [0, 1000, 0]
    # Over all lines but 24, from the last of them on, and the last 24 again.
    assert reads("backwards", "workload.host.skip=24", "workload.host.requests=3072") == [1024, 1024, 1024]
    assert reads("backwards", "workload.host.skip=3071") == [1000, 0, 0]
    played.assert_kind(
        "workload.host.pattern=backwards",
        "pattern",
        "One block after the other, the last one first",
    )


def test_a_placement_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "numbered_node.cpp", THREE_MEMORIES)

    def pages(addresses: str) -> dict[str, int]:
        sets = ["workload.host.footprint=96KiB", "workload.host.requests=1536"]
        found = played.results(f"workload.host.addresses={addresses}", *sets)
        placed: dict[str, int] = found["per_requester"]["host"]["pages"]
        return placed

    # 24 pages of 4 KiB; a node has 16, and what it has no room for goes to the first other one.
    assert pages("{kind: numbered-node, node: 2}") == {"first": 8, "second": 0, "third": 16}
    assert pages("{kind: numbered-node, node: 1}") == {"first": 8, "second": 16, "third": 0}
    assert pages("numbered-node") == pages("first-touch") == {"first": 16, "second": 8, "third": 0}
    setting = "workload.host.addresses=numbered-node"
    played.assert_kind(setting, "placement", "The node of a number first")


TASKS = """
devices:
  host: {kind: host, queue: 4}
  first: {kind: memory, capacity: 64KiB}
  second: {kind: memory, capacity: 64KiB}
links: [{between: [host, first]}, {between: [host, second]}]
address_map: [{to: [first]}, {to: [second]}]
tasks:
  objects: [{name: object, size: 32KiB, addresses: numbered-node}]
  graph: [{name: read, kind: kernel, on: host, reads: [{object: object, bytes: 32KiB}]}]
"""


@slow
def test_objects_of_tasks_may_be_placed_by_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "numbered_node.cpp", TASKS)

    def reads(*settings: str) -> list[int]:
        found = played.results(*settings)["per_memory"]
        return [found[name]["reads"] for name in ("first", "second")]

    assert reads() == [512, 0]
    assert reads("tasks.objects[0].addresses={kind: numbered-node, node: 1}") == [0, 512]
    said = played.refusal("tasks.objects[0].addresses=as-is")
    assert "bind, preferred, interleave, first-touch, or one of a plug-in" in said


STAR = """
topology: {kind: star, leaves: 4, link: {bandwidth: 32GB/s}}
workload: {host0: {pattern: random, requests: 500, footprint: 1MiB}}
run: {warmup: 0}
"""


def test_a_topology_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "star.cpp", STAR)

    # Hosts hang on two of the leaves and memories on the others: each request goes over the hub, and its answer.
    found = played.results()
    assert found["per_switch"].keys() == {"leaf0", "leaf1", "leaf2", "leaf3", "hub"}
    assert found["per_switch"]["hub"]["messages"] == 2 * 500
    # In the circle mem1 is on the leaf beside that of host0, so that only what mem0 serves may go over the hub.
    closed = played.results("topology.closed=true")
    served = {name: memory["requests"] for name, memory in closed["per_memory"].items()}
    assert served["mem0"] + served["mem1"] == 500
    assert served["mem1"] > 0
    assert closed["per_switch"]["hub"]["messages"] <= 2 * served["mem0"]
    played.assert_kind("topology.kind=star", "topology", "Leaf switches around a hub")


FLASH = """
devices:
  host: {kind: host, queue: 16}
  mem:
    kind: memory
    capacity: 2MiB
    media:
      kind: flash
      preset: z-nand
      channels: 2
      packages: 1
      dies: 2
      planes: 1
      pages: 16
      blocks: 12
      over_provisioning: 40%
      write_buffer: 4
links: [{between: [host, mem]}]
address_map: [{to: [mem]}]
workload: {host: {pattern: random, size: 4KiB, reads: 0.0, requests: 3000, footprint: 2MiB}}
run: {warmup: 0}
"""


@slow
def test_a_collection_of_flash_may_come_from_a_plugin(tmp_path: Path) -> None:
    played = with_plugin(tmp_path, "settled_greedy.cpp", FLASH)

    def measured(collection: str) -> dict[str, Any]:
        found = played.results(f"devices.mem.media.collection={collection}")
        memory: dict[str, Any] = found["per_memory"]["mem"]
        return memory

    # If blocks settle at once it ranks them as greedy does; if they never do, as fifo.
    greedy, fifo = measured("greedy"), measured("fifo")
    assert greedy["pages_moved"] < fifo["pages_moved"]
    assert measured("settled-greedy") == greedy
    assert measured("{kind: settled-greedy, pages: 1000000}") == fifo
    between = measured("{kind: settled-greedy, pages: 60}")["pages_moved"]
    assert greedy["pages_moved"] < between < fifo["pages_moved"]
    setting = "devices.mem.media.collection=settled-greedy"
    played.assert_kind(setting, "garbage collection", "fewest current pages among those")
