"""Progress where no terminal is: lines on standard error, late and rarely, from every command that may take long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Outcome

import cxloom as cx
from cxloom.base.errors import SimulationError
from cxloom.cli import progress
from cxloom.execution import replay

ONE = """\
devices:
  host: {kind: host, queue: 4}
  mem: {kind: memory, capacity: 1GiB, media: {kind: fixed, latency: 45ns}}
links: [{between: [host, mem]}]
address_map: [{to: mem, persistence: controller}]
workload:
  host: WORK
"""
RANDOM = ONE.replace("WORK", "{pattern: random, requests: 8000, footprint: 1MiB}")
TRACE = ONE.replace("WORK", "{trace: t.txt}")
WORN = """\
devices:
  host: {kind: host, core: {}}
  mem:
    kind: memory
    capacity: 64MiB
    media:
      kind: cached
      size: 1MiB
      page: 4KiB
      cache: {kind: fixed, latency: 45ns}
      backing: {kind: flash, preset: z-nand, channels: 1, packages: 1, dies: 1, planes: 1, filled: 90%, overwritten: 6}
links: [{between: [host, mem]}]
address_map: [{to: mem}]
"""
"""Flash whose past is played before a run."""


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is shown, as it is unless somebody asks for none."""
    monkeypatch.delenv("CXLOOM_PROGRESS")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the systems; every line is due at once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    Path("random.yaml").write_text(RANDOM)
    Path("trace.yaml").write_text(TRACE)
    Path("worn.yaml").write_text(WORN)
    Path("t.txt").write_text("0x1000 R\n0x2000 W\n" * 50)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("run random.yaml", "requests, "),
        ("measure random.yaml latency --jobs 1", "latency: "),
        ("sweep random.yaml --set devices.host.queue=1,2 --jobs 1 --out points", "of 2 points"),
        ("explain random.yaml --jobs 1", "explain: "),
        ("crash random.yaml --at 10us", " instant ("),
        ("check trace.yaml", "reading traces: 100 accesses"),
        ("trace info t.txt", "reading: 100 accesses"),
        ("trace convert t.txt t.parquet", "converting: 100 accesses"),
        ("exec --system worn.yaml --replay t.txt", "playing what the flash has been through before the run"),
    ],
)
def test_a_long_command_says_how_far_it_is(
    folder: Path, cxloom: Callable[..., Outcome], command: str, says: str
) -> None:
    outcome = cxloom(*command.split())
    lines = [line for line in outcome.err.splitlines() if line.startswith("cxloom: ")]
    assert outcome.code == 0, outcome.err
    assert len(lines) == 1, "rarely"
    assert says in lines[0]


@pytest.mark.parametrize(
    "command", ["run random.yaml --quiet", "measure random.yaml latency --quiet --jobs 1"]
)
def test_quiet_is_quiet(folder: Path, cxloom: Callable[..., Outcome], command: str) -> None:
    outcome = cxloom(*command.split())
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_the_environment_may_ask_for_none(
    folder: Path, cxloom: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLOOM_PROGRESS", "none")
    outcome = cxloom("explain", "random.yaml", "--jobs", "1")
    assert (outcome.code, outcome.err) == (0, "")
    monkeypatch.setenv("CXLOOM_PROGRESS", "nine")
    outcome = cxloom("explain", "random.yaml", "--jobs", "1")
    assert outcome.code == 2
    assert "CXLOOM_PROGRESS in the environment\n  found: 'nine'\n  allowed: 'none', or unset" in outcome.err


def test_lines_come_late_and_rarely(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    lines = progress.Lines()
    said: list[tuple[float, str]] = []
    for tenth in range(140):
        now = 100.0 + tenth / 10
        lines.show("reading", tenth, 140)
        if (line := capfd.readouterr().err) != "":
            said.append((round(now - 100, 1), line))
    assert said == [
        (2.0, "cxloom: reading (14%)\n"),
        (7.0, "cxloom: reading (50%)\n"),
        (12.0, "cxloom: reading (86%)\n"),
    ]


def test_an_interrupt_ends_the_past_of_flash_before_a_program(folder: Path) -> None:
    heard: list[Any] = []
    with pytest.raises(SimulationError, match="interrupted before the program began"):
        replay(
            "t.txt",
            [cx.load("worn.yaml")],
            interrupted=lambda: len(heard) == 1,
            watch_past=lambda done, whole: heard.append((done, whole)),
        )
    assert len(heard) == 1
    assert 0 < heard[0][0] < heard[0][1]
