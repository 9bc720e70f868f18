"""`measure` and `explain` beside another system: ``--against``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

SPEC = """
devices:
  host: {kind: host, queue: 1, process_time: 10ns}
  mem: {kind: memory, controller_time: 20ns, media: {kind: fixed, latency: 50ns}}
links: [{between: [host, mem], delay: 30ns}]
address_map: [{to: mem}]
workload: {host: {pattern: random, requests: 2000, footprint: 1MiB}}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "near.yaml").write_text(SPEC)
    (tmp_path / "far.yaml").write_text(SPEC.replace("delay: 30ns", "delay: 60ns"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_idle_latencies_stand_side_by_side(cxloom: Call) -> None:
    """10 + 20 + 50 + 2 x 30 ns, and 60 ns more: 42.9 %."""
    lines = cxloom("measure", "far.yaml", "latency", "--against", "near.yaml").out.splitlines()
    assert "A  near.yaml" in lines
    assert "B  far.yaml" in lines
    (row,) = [line.split() for line in lines if line.startswith("mem ")]
    assert row[:5] == ["mem", "140.0", "200.0", "+42.9", "%"]


@pytest.mark.usefixtures("here")
def test_settings_change_the_measured_system_alone(cxloom: Call) -> None:
    setting = ["--set", "devices.mem.controller_time=30ns"]
    out = cxloom("measure", "near.yaml", "latency", *setting, "--against", "near.yaml").out
    (row,) = [line.split() for line in out.splitlines() if line.startswith("mem ")]
    assert row[1:3] == ["140.0", "150.0"]


def test_memories_of_other_names_have_rows_of_their_own(cxloom: Call, here: Path) -> None:
    renamed = here / "far.yaml"
    renamed.write_text(SPEC.replace("mem", "card").replace("cardory", "memory"))
    out = cxloom("measure", "far.yaml", "latency", "--against", "near.yaml").out
    rows = [line.split()[:3] for line in out.splitlines() if re.match("[AB]  (mem|card) ", line)]
    assert rows == [["A", "mem", "140.0"], ["B", "card", "140.0"]]


@pytest.mark.usefixtures("here")
def test_a_limit_that_stays_and_one_that_moves(cxloom: Call) -> None:
    """One request in flight: the queue limits, at 64 B a latency. With thousands the link does, at its bandwidth."""
    said = " ".join(cxloom("explain", "far.yaml", "--against", "near.yaml").out.split())
    assert said.startswith("Throughput -30.0 %: the limit is the queue of host in both.")
    wire = ["--set", "links[*].bandwidth=8GB/s", "--set", "devices.host.queue=512"]
    said = " ".join(cxloom("explain", "near.yaml", *wire, "--against", "near.yaml").out.split())
    assert "the limit moved from the queue of host to the wire mem->host." in said
    assert "A near.yaml: Throughput, 0.457 GB/s" in said


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", [["measure", "near.yaml", "latency"], ["explain", "near.yaml"]])
def test_what_cannot_stand_beside(cxloom: Call, command: list[str]) -> None:
    done = cxloom(*command, "--against", "near.yaml", "--json")
    assert done.code == 2
    assert "--against is no part of --json" in done.err
    done = cxloom(*command, "--against", "nosuch.yaml")
    assert done.code == 2
    assert "nosuch.yaml: no such file" in done.err
    done = cxloom(*command, "--set", "devices.host.quue=1", "--against", "near.yaml")
    assert done.code == 2
    assert "quue" in done.err


def test_a_matrix_has_the_memories_of_both(cxloom: Call, here: Path) -> None:
    (here / "far.yaml").write_text(
        SPEC.replace("mem", "card")
        .replace("cardory", "memory")
        .replace("host:", "cpu:")
        .replace("[host", "[cpu")
    )
    lines = cxloom("measure", "far.yaml", "matrix", "--against", "near.yaml").out.splitlines()
    assert ["requester", "mem", "card"] in [line.split() for line in lines]
    assert ["A", "host", "140.0", "-"] in [line.split() for line in lines]
    assert ["B", "cpu", "-", "140.0"] in [line.split() for line in lines]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", [["measure", "near.yaml", "latency"], ["explain", "near.yaml"]])
def test_notes_say_which_system_they_are_about(cxloom: Call, command: list[str]) -> None:
    limited = ["--set", "links[*].bandwidth=8GB/s"]
    here = " ".join(cxloom(*command, *limited, "--against", "near.yaml").out.split())
    both = " ".join(cxloom(*command, "--against", "near.yaml").out.split())
    if command[0] == "explain":
        assert "note: A: bandwidth unset, treated as infinite (no queueing): links host->mem" in here
        assert "note: B: bandwidth unset, treated as infinite (no queueing): memory mem" in here
    assert "note: A:" not in both
    assert "note: B:" not in both


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", [["measure", "near.yaml", "latency"], ["explain", "near.yaml"]])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    cxloom: Call, here: Path, command: list[str]
) -> None:
    done = cxloom(*command, "--set", "devices.host.quue=1", "--out", here / "near.yaml" / "x.json")
    assert done.code == 2
    assert "cannot be written: not a directory" in " ".join(done.err.split())
