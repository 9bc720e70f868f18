"""What a policy that knows the future is shown ends with the work: nothing moves for what is never accessed."""

from __future__ import annotations

import pytest

import cxloom as cx

SPEC = """
devices:
  host: {{kind: host, process_time: 0ns, queue: 1{core}}}
  near: {{kind: memory, capacity: 1MiB}}
  far: {{kind: memory, capacity: 1MiB}}
links:
  - {{between: [host, near]}}
  - {{between: [host, far], delay: 200ns}}
address_map: [{{to: near}}, {{to: far}}]
workload:
  host:
    pattern: sequential
    footprint: 64KiB
    requests: {requests}
    addresses: {{kind: preferred, nodes: [far]}}
    tiering: {{kind: oracle, period: 1us, foresees: 100000}}
    kernel: {{unmap: 1ns, shootdown: 1ns, interrupt: 1ns}}
{more}
"""


def pages_moved(requests: int) -> int:
    system = cx.System.from_yaml(SPEC.format(requests=requests, core="", more=""))
    return int(cx.run(system).summary["per_requester"]["host"]["pages_moved"])


def test_nothing_moves_for_accesses_behind_the_last_one() -> None:
    """Sixteen lines are one visit of a quarter of a page, which pays for no move; a hundred passes do."""
    assert pages_moved(16) == 0
    assert pages_moved(100 * 1024) > 0


def test_a_warm_up_that_is_rounded_up_is_foreseen() -> None:
    """A warm-up of 1 is the first MiB here, of 16,384 lines, and the work is the second: its pages move as well."""
    text = SPEC.format(requests=1, core="", more="run: {warmup: 1}").replace(
        "capacity: 1MiB", "capacity: 4MiB"
    )
    system = cx.System.from_yaml(text.replace("footprint: 64KiB", "footprint: 2MiB\n    size: 1MiB"))
    pages = cx.run(system).summary["per_requester"]["host"]["pages"]
    assert pages["near"] > 300, "of 512, of which the warm-up has 256"


def test_several_threads_are_refused() -> None:
    text = SPEC.format(requests=1000, core=", core: {}", more="    threads: 2")
    with pytest.raises(cx.InputError, match="knows it of one thread"):
        cx.run(cx.System.from_yaml(text))
