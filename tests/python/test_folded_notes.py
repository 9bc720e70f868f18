"""A person is shown the first of many notes that are alike; the result has all of them."""

from __future__ import annotations

from pathlib import Path

import cxloom as cx
from cxloom.display.notes import folded
from cxloom.trace import READ, TraceBatch, write_trace

SPEC = """
devices: {"host[0-5]": {kind: host}, bus: {kind: bus}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: ["host[*]", bus]}, {between: [bus, mem]}]
address_map: [{to: mem}]
workload: {"host[0-5]": {trace: gaps.txt}}
run: {warmup: 0}
"""


def test_three_of_those_that_differ_in_numbers() -> None:
    alike = [f"workload.host{i} ended after {100 * i} of 900 requests" for i in range(9)]
    assert folded([*alike, "another"]) == [*alike[:3], "6 more like the 3 before", "another"]
    # Four take no more lines than three and the count of the rest.
    assert folded(alike[:4]) == alike[:4]
    assert folded(alike[:5]) == [*alike[:3], "2 more like the 3 before"]
    assert folded([]) == []
    # Another name is another note, though the words are the same.
    assert len(folded([f"workload.{name} ended" for name in ("host", "gpu", "nic", "dma", "core")])) == 5


def test_a_run_says_it_of_the_first_hosts(tmp_path: Path) -> None:
    write_trace(tmp_path / "gaps.txt", [TraceBatch.of([0, 64], READ, instruction_gap=[7, 7])])
    (tmp_path / "spec.yaml").write_text(SPEC)
    result = cx.run(tmp_path / "spec.yaml")
    said = [note for note in result.summary["notes"] if "took no time" in note]
    assert [f"workload.host{i} " in note for i, note in enumerate(said)] == [True] * 6
    lines = str(result)
    assert lines.count("took no time") == 3
    assert "note: 3 more like the 3 before\n" in lines
