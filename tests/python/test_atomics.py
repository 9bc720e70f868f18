"""Atomic operations from the outside: workloads, results, the protocol log, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cxloom as cx
from cxloom.results.html import to_html
from cxloom.results.terminal import to_text

SPEC = """\
devices:
  h[0-1]: {kind: host, cache: {size: 4KiB}, atomics: home}
  sw: {kind: switch}
  mem: {kind: memory, capacity: 1MiB, atomic_time: 5ns, dcoh: {}}
links: [{between: [sw, "*"]}]
address_map: [{to: mem, coherence: hdm-db}]
workload:
  "h[*]": {pattern: random, atomics: 40%, reads: 50%, requests: 500, footprint: 8KiB}
outputs: {requests: true}
"""
HOME_AGENT = """\
devices:
  host: {kind: host, memory: {capacity: 1MiB}, home_agent: {}}
  nic: {kind: accelerator, cache: {size: 4KiB}, atomics: home}
links: [{between: [host, nic], phy: pcie5-x8}]
address_map: [{to: host, coherence: hdm-h}]
workload: {nic: {pattern: sequential, atomics: 100%, requests: 20, footprint: 4KiB}}
"""


def test_results_have_a_kind_of_its_own() -> None:
    result = cx.run(cx.System.from_yaml(SPEC))
    rows = result.requests()
    counts = dict(rows.group_by("kind").len().iter_rows())
    assert counts == {"read": result.reads, "write": result.writes, "atomic": result.atomics}
    assert result.count == result.reads + result.writes + result.atomics
    assert 0.3 < result.atomics / result.count < 0.5
    atomic = rows.filter(rows["kind"] == "atomic")
    assert set(atomic["size"]) == {8}
    assert result.atomic is not None
    mean = (atomic["completed_ps"] - atomic["created_ps"]).mean() / 1000  # type: ignore[operator]
    assert result.atomic.latency.mean == pytest.approx(mean, rel=1e-9)
    memory = result["per_memory"]["mem"]
    assert 0 < memory["atomics"] <= result.atomics
    for page in (to_text(result.values), to_html(result.values)):
        assert "atomic" in page


def test_results_without_atomic_operations_have_no_word_of_them() -> None:
    result = cx.run(cx.System.from_yaml(SPEC.replace("atomics: 40%, ", "")))
    assert not {"atomics", "atomic"} & set(result.values)
    assert (result.atomics, result.atomic) == (0, None)
    assert "atomic" not in to_text(result.values)


def test_the_protocol_log_has_their_opcodes(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    (tmp_path / "a.yaml").write_text(SPEC)
    outcome = cxloom("run", tmp_path / "a.yaml", "--log", "protocol")
    assert outcome.code == 0
    assert " h0  -> mem  MemAtomic " in outcome.err
    assert "+MemAtomic" in outcome.err
    (tmp_path / "b.yaml").write_text(HOME_AGENT)
    outcome = cxloom("run", tmp_path / "b.yaml", "--log", "address=0x40")
    lines = [line.split() for line in outcome.err.splitlines()]
    opcodes = [line[5] for line in lines if len(line) > 5 and line[3] == "->"]
    assert opcodes[:4] == ["Atomic", "WritePull", "D2H-Data", "H2D-Data"]


def test_a_replayed_trace_is_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0x40 A 0\n0x80 R 0\n0x44 A 0\n".replace("0x44", "0x48"))
    spec = SPEC.replace(
        "{pattern: random, atomics: 40%, reads: 50%, requests: 500, footprint: 8KiB}", "{trace: t.txt}"
    )
    (tmp_path / "s.yaml").write_text(spec.replace('"h[*]"', "h0"))
    result = cx.run(cx.load(tmp_path / "s.yaml"))
    assert (result.reads, result.atomics) == (1, 2)


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("atomics: 40%", "atomics: 140%", "workload.*.atomics", "at most 1"),
        ("atomics: 40%", "atomics: -0.1", "workload.*.atomics", "at least 0"),
        ("footprint: 8KiB", "footprint: 8KiB, size: 6B", "workload.*.size", "must be a multiple of 4"),
        ("atomics: home", "atomics: here", "devices.*.atomics", "cache, home or cache-or-home"),
        (
            "cache: {size: 4KiB}, atomics: home",
            "atomics: cache",
            "devices.*.atomics",
            "unless there is a cache",
        ),
        ("{size: 4KiB}", "{size: 4KiB, atomic_time: 5}", "devices.*.cache.atomic_time", "5"),
        ("atomic_time: 5ns", "atomic_time: -1ns", "devices.mem.atomic_time", "-1ns"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, cxloom: Callable[..., Any], old: str, new: str, where: str, what: str
) -> None:
    file = tmp_path / "bad.yaml"
    assert old in SPEC
    file.write_text(SPEC.replace(old, new))
    outcome = cxloom("run", file)
    assert outcome.code == 2
    assert what in outcome.err
    line = next(i for i, text in enumerate(file.read_text().splitlines(), 1) if new in text)
    assert f"bad.yaml:{line}" in outcome.err
    for part in where.split(".*."):
        assert part.removeprefix("*.") in outcome.err


def test_a_bad_trace_is_refused_with_file_and_line(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    spec = SPEC.replace(
        "{pattern: random, atomics: 40%, reads: 50%, requests: 500, footprint: 8KiB}", "{trace: t.txt}"
    )
    (tmp_path / "s.yaml").write_text(spec)
    for trace, said in [
        ("0x40 R 0\n0x44 A 0\n", "t.txt:2: bad address\n  found: '0x44'\n  allowed: a multiple of the size"),
        (
            "# cxloom-trace 1: address kind size\n0x40 A 3\n",
            "t.txt:2: bad size\n  found: '3'\n  allowed: 4 or 8",
        ),
    ]:
        (tmp_path / "t.txt").write_text(trace)
        outcome = cxloom("run", tmp_path / "s.yaml")
        assert outcome.code == 2
        assert said in outcome.err
