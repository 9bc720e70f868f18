"""Energy over time: each part of the window by itself, and all of them together the whole."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from validation.examples import some

import cxloom as cx
from cxloom.base.errors import InputError
from cxloom.spec import presets
from cxloom.spec.override import Override
from cxloom.system.simulation import build

EXAMPLES = Path(__file__).parents[2] / "examples"

PHASES = """\
devices:
  host: {kind: host, queue: 8}
  mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], bandwidth: 64GB/s}]
address_map: [{to: [mem]}]
workload:
  host:
    rate: 10M/s
    phases:
      - {pattern: random, reads: 100%, requests: 400}
      - {pattern: random, reads: 0%, requests: 400}
run: {warmup: 0}
"""


@pytest.mark.parametrize("name", some([*presets.names()]))
def test_the_parts_of_a_preset_are_the_whole(name: str) -> None:
    window = cx.run(name).summary["simulated_time_ns"]
    found = cx.energy(name, {"port_idle_share": 0.3}, every_ns=window / 7)
    parts = found.over_time
    assert len(parts) == 7
    assert sum(each.length_ns for each in parts) == pytest.approx(found.window_ns, abs=0.1)
    assert sum(each.requests for each in parts) == found.requests
    for number, row in enumerate(found.rows):
        joules = sum(each.rows[number].power_w * each.length_ns for each in parts)
        assert joules == pytest.approx(row.power_w * found.window_ns, rel=1e-6)
        idle = sum(each.rows[number].idle_w * each.length_ns for each in parts)
        assert idle == pytest.approx(row.idle_w * found.window_ns, rel=1e-6)


def test_power_follows_the_load(tmp_path: Path) -> None:
    """10 million lines a second, read at 10 pJ a bit and then written at 30: 51.2 mW, and 153.6 mW."""
    (tmp_path / "s.yaml").write_text(PHASES)
    figures = {"media": {"mem": {"read_pj_per_bit": 10, "write_pj_per_bit": 30, "idle_w": 0}}}
    parts = cx.energy(tmp_path / "s.yaml", figures, every_ns=10_000).over_time
    assert len(parts) == 8
    for part in parts[:3]:
        assert part.power_w == pytest.approx(64 * 8 * 10e-12 * 10e6, rel=0.011)
        assert part.nj_per_request == pytest.approx(64 * 8 * 10e-3, rel=0.011)
    for part in parts[5:7]:
        assert part.power_w == pytest.approx(64 * 8 * 30e-12 * 10e6, rel=0.011)
    halves = cx.energy(tmp_path / "s.yaml", figures, every_ns=5_000).over_time
    assert len(halves) == 16


def test_the_command_shows_and_writes_the_course(cxloom: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(PHASES)
    (tmp_path / "f.yaml").write_text("links: {'*': 2}\n")
    files = ["--out", str(tmp_path / "o.csv"), "--out", str(tmp_path / "o.json")]
    done = cxloom("energy", tmp_path / "s.yaml", "--figures", tmp_path / "f.yaml", "--every", "16us", *files)
    assert done.code == 0, done.err
    assert "Over time it is" in done.out
    course = json.loads((tmp_path / "o.json").read_text())["over_time"]
    rows = list(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))
    assert len(rows) == len(course) == 5
    for row, each in zip(rows, course, strict=True):
        assert float(row["power_w"]) == each["power_w"] > 0


@pytest.mark.parametrize(
    ("every", "said"),
    [
        ("1", "--every"),
        ("0ns", "without a length"),
        ("1ps", "more than 10,000 intervals"),
        ("-1us", "--every"),
    ],
)
def test_wrong_lengths_are_refused(cxloom: Callable[..., Any], tmp_path: Path, every: str, said: str) -> None:
    (tmp_path / "s.yaml").write_text(PHASES)
    done = cxloom("energy", tmp_path / "s.yaml", "--every", every, "--out", tmp_path / "o.csv")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "o.csv").exists()


OVER_TIME = ["qos", "failures", "memory-failure", "share", "coherence", "fabric", "persist"]


@pytest.mark.parametrize(
    ("example", "threads"), [*((name, 1) for name in OVER_TIME), *((name, 2) for name in some(OVER_TIME))]
)
def test_the_parts_of_an_example_are_the_whole(example: str, threads: int) -> None:
    system = cx.System.load(EXAMPLES / f"{example}.yaml")
    window = cx.run(system).summary["simulated_time_ns"]
    whole = cx.energy(
        system, {"port_idle_share": 0}, every_ns=window / 5, overrides=[Override.of("run.threads", threads)]
    )
    assert len(whole.over_time) == 5
    assert sum(each.requests for each in whole.over_time) == whole.requests
    joules = sum(each.power_w * each.length_ns for each in whole.over_time)
    assert joules == pytest.approx(whole.power_w * whole.window_ns, rel=1e-6)


def test_a_run_in_several_threads_has_one_window() -> None:
    resolved = cx.System.load(EXAMPLES / "fabric.yaml").resolve([Override.of("run.threads", 2)])
    simulation = build(resolved)
    simulation.run_until(100.0)
    with pytest.raises(InputError, match="several threads"):
        simulation.next_part()
