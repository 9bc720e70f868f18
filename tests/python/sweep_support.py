"""What the tests of sweeps share: a system whose latency is known, and ways to look at a sweep while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cxloom.spec.resolve import Resolved, Template
from cxloom.sweeping.engine import Engine
from cxloom.sweeping.space import Axis
from cxloom.sweeping.store import Record
from cxloom.sweeping.sweep import engine_of, settings_of

SPEC = """\
# One request at a time: its latency is the sum of the parts on its way.
preset: esf/validation
devices: {host: {queue: 1}, bus: {bandwidth: unlimited}, "mem[*]": {media: {bandwidth: unlimited}}}
workload: {host: {requests: 200}}
run: {warmup: 0}
"""
LATENCY = "devices.mem[*].media.latency"
REST_NS = 152
"""Latency of the system without its media: test_study.py derives the 197 ns of media of 45 ns."""


def command(*arguments: object) -> list[str]:
    """The command as a process runs it."""
    return [sys.executable, "-m", "cxloom", "sweep", *map(str, arguments)]


def stored(directory: Path) -> set[str]:
    """The keys of the points in a directory."""
    return {path.stem for path in (directory / "points").glob("*.json")}


def started(directory: Path, *arguments: object, points: int = 1) -> subprocess.Popen[str]:
    """A sweep into a directory, once so many of its points are stored."""
    process = subprocess.Popen(
        command(*arguments, "--out", directory), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while len(stored(directory)) < points:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return process


def workers(process: subprocess.Popen[str]) -> list[int]:
    """The processes that a sweep has started and that live."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children if is_alive(int(pid))]


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def engine(template: Template, directory: Path, grid: Sequence[Axis]) -> Engine:
    """The engine of a grid."""
    return engine_of(template, settings_of(grid=grid), directory, "test")


def records_of(engine: Engine) -> list[Record | None]:
    """What each point gave."""
    return [engine.record(point.key) for point in engine.manifest.points if point.key is not None]


class Poisoned:
    """A source of specs, some of which kill the process that makes them: by a signal, as a broken plug-in does."""

    def __init__(self, template: Template, path: str, poison: Sequence[object], alone: bool = False) -> None:
        self.template, self.path, self.poison, self.alone = template, path, poison, alone

    def resolve(self, work: dict[str, object]) -> Resolved:
        """The spec under a setting, or death."""
        from cxloom.sweeping.work import Sweep

        value = work[self.path].plain()  # type: ignore[attr-defined]
        if value in self.poison and not (self.alone and siblings() == 0):
            print(f"poisoned by {value}", file=sys.stderr, flush=True)
            os.abort()
        return Sweep(self.template).resolve(work)  # type: ignore[arg-type]


def siblings() -> int:
    """How many of the other children of this process's parent are busy: run or wait for a processor."""
    parent = os.getppid()
    pids = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    states = [
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        for pid in pids
        if int(pid) != os.getpid()
    ]
    return sum(state in "RD" for state in states)
