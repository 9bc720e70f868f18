"""Accesses that a program gives by number and tag: their latencies and segments, later ones, what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embed_support import EXAMPLE, compiled, copied, resolved, run

# Two memories that take turns by 256 B.
INTERLEAVED = """
devices:
  host: {kind: host, queue: 8}
  a: {kind: memory, capacity: 1GiB}
  b: {kind: memory, capacity: 1GiB}
links:
  - {between: [host, a]}
  - {between: [host, b]}
address_map: [{to: [a, b]}]
"""

# A host with few places and a cache, before a bus and DRAM.
CROWDED = """
devices:
  host: {kind: host, queue: 4, cache: {levels: [{size: 16KiB}]}}
  bus: {kind: bus, bandwidth: 32GB/s}
  a: {kind: memory, capacity: 4GiB, media: {kind: dram, preset: DDR4-2400}}
  b: {kind: memory, capacity: 4GiB, queue: 2}
links:
  - {between: [host, bus], bandwidth: 16GB/s, port_delay: 10ns}
  - {between: [bus, a]}
  - {between: [bus, b]}
address_map: [{to: [a, b]}]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return copied(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def program(installed: tuple[Path, Path]) -> Path:
    return compiled(Path(__file__).parent / "programs" / "given.c", installed[0].parent / "given", installed)


@pytest.mark.parametrize("test", ["alone", "later", "refused"])
def test_accesses_with_tags(tmp_path: Path, cxloom: Callable[..., Any], program: Path, test: str) -> None:
    done = run(program, test, resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("test", "system"), [("offsets", INTERLEAVED), ("many", CROWDED)])
def test_accesses_with_tags_of_several_memories(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path, test: str, system: str
) -> None:
    (tmp_path / "system.yaml").write_text(system)
    done = run(program, test, resolved(cxloom, tmp_path / "system.yaml", tmp_path / "system.json"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_latency_begins_when_an_access_is_ready_however_full_the_queue_is(
    tmp_path: Path, cxloom: Callable[..., Any], program: Path
) -> None:
    spec = resolved(
        cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json", "--set", "devices.host.queue=2"
    )
    done = run(program, "full", spec)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_says_where_the_time_went(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    program = compiled(EXAMPLE / "given.c", tmp_path / "given", installed)
    done = run(program, resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json"))
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout.splitlines()
    number, _, latency, *_ = head.split()
    parts = {name: float(value) for name, value in (line.split() for line in lines)}
    assert number == "1000"
    assert parts["controller"] == 40
    assert parts["media"] == 45
    assert parts["port_delay"] == 100
    assert abs(sum(parts.values()) - float(latency)) <= 0.005 * (len(parts) + 1)


def test_the_example_of_steps_sleeps_until_answers_and_measures_its_phases(
    tmp_path: Path, cxloom: Callable[..., Any], installed: tuple[Path, Path]
) -> None:
    """Alone an access takes 10 + 4*25 + 2*5 + 40 + 45 ns, and its 16 B and the 80 B of its answer at 32 GB/s."""
    program = compiled(EXAMPLE / "steps.c", tmp_path / "steps", installed)
    done = run(program, resolved(cxloom, EXAMPLE / "system.yaml", tmp_path / "system.json"))
    assert done.returncode == 0, done.stderr
    alone, *phases = done.stdout.splitlines()
    assert alone == "alone: 208.00 ns"
    figures = [
        re.fullmatch(r"(\d+) at once: (\d+) reads, ([\d.]+) ns each, (\d+) wakes", phase) for phase in phases
    ]
    rows = [tuple(map(float, figure.groups())) for figure in figures if figure]
    assert [row[:2] for row in rows] == [(1, 256), (4, 256), (64, 256)]
    means = [row[2] for row in rows]
    assert means[0] == 208
    assert means == sorted(means)
    # Twice for an access, as many of an instant together: far fewer than its events.
    assert all(256 <= row[3] <= 2.6 * 256 for row in rows[:2])
