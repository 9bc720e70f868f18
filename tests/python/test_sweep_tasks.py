"""Sweeps of graphs of tasks: their time is what is compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

GRAPH = """
devices: {host: {kind: host, queue: 8}, mem: {kind: memory, capacity: 1GiB}}
links: [{between: [host, mem], bandwidth: 8GB/s}]
address_map: [{to: mem}]
tasks:
  objects: [{name: a, size: 1MiB, addresses: {kind: bind, nodes: [mem]}}]
  processors: [{name: p, flops: 1e12}]
  graph: [{name: x, kind: compute, on: p, flops: 1e6}]
"""


@pytest.mark.parametrize("moves", [False, True])
def test_the_table_of_graphs_has_their_time(tmp_path: Path, cxloom: Any, moves: bool) -> None:
    """1e6 operations at 1e12 a second take 1000 ns, at 2e12 500; nothing that moves no line has a bandwidth."""
    spec = tmp_path / "g.yaml"
    more = ", {name: r, kind: kernel, on: host, reads: [a]}]" if moves else "]"
    spec.write_text(GRAPH.replace("flops: 1e6}]", "flops: 1e6}" + more))
    flops = "tasks.processors[0].flops=1e12,2e12"
    done = cxloom("sweep", spec, "--set", flops, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    heads, *rows = [line.split() for line in done.out.splitlines()[:3]]
    if moves:
        assert heads == ["flops", "tasks", "ns", "GB/s", "mean", "ns", "p99", "ns"]
    else:
        assert heads == ["flops", "tasks", "ns"]
        assert [row[-1] for row in rows] == ["1000", "500"]
    assert cxloom("report", tmp_path / "out").code == 0
    assert ">tasks ns</button>" in (tmp_path / "out/report.html").read_text()
