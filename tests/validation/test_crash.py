"""Power that fails in large systems: several hosts behind two levels of persistent switches, at drawn instants, and
again at drawn instants of recovery. CXLOOM_CRASH_INSTANTS says at how many in all (`make crash-check`: 100,000)."""

from __future__ import annotations

import os
import time

import pytest

import cxloom as cx
from cxloom.crash.power_failures import crash

INSTANTS = int(os.environ.get("CXLOOM_CRASH_INSTANTS", "1200"))
POLICIES = ("drain", "forward")


def tree(leaf: str, root: str, requests: int) -> str:
    """Eight hosts, two with caches, at a switch; behind it another one, three memories there and one before it.

    They write whole lines and parts of them, few lines again and again, read each other's, and have fences.
    """
    few = "footprint: 1KiB, persists: 50%, reads: 100%"
    parts = "footprint: 1KiB, reads: 50%, fence_every: 6"
    return f"""
devices:
  host[0-5]: {{kind: host, queue: 8}}
  cached[0-1]: {{kind: host, queue: 8, cache: {{size: 2KiB}}}}
  leaf: {{kind: switch, persist_buffer: {{entries: 16, policy: {leaf}}}}}
  root: {{kind: switch, persist_buffer: {{entries: 32, policy: {root}, queue: 8}}}}
  near: {{kind: memory, capacity: 1MiB, media: {{kind: nvm, write_buffer: 0}}}}
  far[0-2]: {{kind: memory, capacity: 1MiB, media: {{kind: nvm}}}}
links:
  - {{between: ["host[*]", leaf], bandwidth: 16GB/s}}
  - {{between: ["cached[*]", leaf], bandwidth: 16GB/s}}
  - {{between: [leaf, near], bandwidth: 16GB/s}}
  - {{between: [leaf, root], bandwidth: 32GB/s}}
  - {{between: [root, "far[*]"], bandwidth: 16GB/s}}
address_map:
  - {{to: near, persistence: media}}
  - {{to: "far[*]", interleave: 256B, persistence: controller}}
workload:
  host0: {{pattern: log-append, base: 1MiB, footprint: 4KiB, requests: {requests}}}
  host1: {{pattern: log-append, footprint: 4KiB, requests: {requests}}}
  host2: {{pattern: random, base: 1MiB, {few}, epoch: 3, requests: {requests}}}
  host3: {{pattern: random, base: 1MiB, {parts}, size: 16B, requests: {requests}}}
  host4: {{pattern: random, base: 0x0, {few}, epoch: 8, requests: {requests}}}
  host5: {{pattern: random, base: 0x0, {parts}, size: 32B, requests: {requests}}}
  cached0: {{pattern: random, base: 2MiB, {few}, epoch: 2, requests: {requests}}}
  cached1: {{pattern: random, base: 2MiB, {few}, flush: keep, requests: {requests}}}
"""


@pytest.mark.parametrize("root", POLICIES)
@pytest.mark.parametrize("leaf", POLICIES)
def test_nothing_is_lost_in_large_systems(leaf: str, root: str) -> None:
    instants = INSTANTS // 4
    requests = 250 if instants < 1000 else 2500
    system = cx.System.from_yaml(tree(leaf, root, requests))
    begun = time.process_time()
    found = crash(system, drawn=instants, cuts=2)
    took = time.process_time() - begun
    print(
        f"\nleaf: {leaf}, root: {root}: {found.instants:,} instants, {found.recoveries:,} recoveries, "
        f"{took:.1f} CPU seconds"
    )
    assert found.instants == instants
    assert (found.lost_instants, found.other_ends) == (0, 0)
    assert found.recoveries > 2 * instants  # nearly always something is left to be drained, and again
    buffers = cx.run(system).values["per_switch"]
    assert buffers["root"]["persist_buffer"]["persists"] > 0
    # Lines are written again, read, and known in part.
    for count in ("coalesced", "read_hits", "held_reads"):
        assert buffers["leaf"]["persist_buffer"][count] > 0


# A switch that is lost takes more lines the more it keeps, and none that the switch before it still has.
def test_a_lost_switch_takes_what_it_alone_has() -> None:
    lost = {}
    for leaf in POLICIES:
        system = cx.System.from_yaml(tree(leaf, "forward", 100))
        for switch in ("leaf", "root"):
            found = crash(system, drawn=60, lose=switch, cuts=0, history=False)
            lost[leaf, switch] = found.most_lines
            assert {line.rule for line in found.lines} <= {"answered", "read"}
    assert lost["forward", "leaf"] > lost["drain", "leaf"] > 0
    assert lost["drain", "root"] > 0
