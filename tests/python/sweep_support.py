"""What the tests of sweeps share: a system whose latency is known, and ways to look at a sweep while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cxloom.spec.resolve import Template
from cxloom.spec.resolved import Resolved
from cxloom.sweeping.engine import Engine
from cxloom.sweeping.schedule import ATTEMPTS
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
    return children(process.pid)


def children(pid: int) -> list[int]:
    """The processes that the first thread of a process has started and that live."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in started if is_alive(int(each))]


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
    """A source of specs, some of which kill the process that makes them: by a signal, as a broken plug-in does.

    With a file `deaths` they do so as often as a point may die beside others, which the file tells, and then live.
    """

    def __init__(
        self, template: Template, path: str, poison: Sequence[object], deaths: Path | None = None
    ) -> None:
        self.template, self.path, self.poison, self.deaths = template, path, poison, deaths

    def resolve(self, work: dict[str, object]) -> Resolved:
        """The spec under a setting, or death."""
        from cxloom.sweeping.work import Sweep

        value = work[self.path].plain()  # type: ignore[attr-defined]
        if value in self.poison and not self._died_enough():
            print(f"poisoned by {value}", file=sys.stderr, flush=True)
            os.abort()
        return Sweep(self.template).resolve(work)  # type: ignore[arg-type]

    def _died_enough(self) -> bool:
        if self.deaths is None:
            return False
        died = self.deaths.stat().st_size if self.deaths.exists() else 0
        if died < ATTEMPTS:
            self.deaths.write_text("x" * (died + 1))
        return died >= ATTEMPTS
