"""What the tests of the Python side share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

# The helpers beside these tests are imported by their names, and those of validation as `validation.<module>`.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from exec_support import memory_program  # once their folder is known
from forked import forked
from points_here import PointsHere
from validation.examples import examples

# A shell without job control has its background jobs ignore these, and so do all that they start: tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What a command writes is compared. On a slow machine lines of progress would be in it: tests of progress ask for them.
os.environ["CXLOOM_PROGRESS"] = "none"

# How long a case takes depends on what else the machine does. The same examples are drawn each time, unless somebody
# asks for others by CXLOOM_HYPOTHESIS=long (tests/validation/conftest.py).
settings.register_profile("cxloom", max_examples=examples(100), deadline=None, derandomize=True)
if "CXLOOM_HYPOTHESIS" not in os.environ:
    settings.load_profile("cxloom")

SPEC = """\
# One host, four memories
devices:
  host:     {kind: host, process_time: 10ns, queue: 64}
  bus:      {kind: bus, bandwidth: 64GB/s}
  mem[0-3]: {kind: memory, capacity: 16GiB, controller_time: 40ns, media: {kind: fixed, latency: 45ns}}
links:
  - {between: [host, bus], port_delay: 25ns}
  - {between: [bus, "mem[*]"]}
address_map:
  - {to: "mem[*]", interleave: 256B}
workload:
  host: {pattern: random, reads: 67%, requests: 2000, footprint: 1GiB}
run: {warmup: 200, seed: 1}
"""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def spec_text() -> str:
    """A valid spec, which takes a moment to run."""
    return SPEC


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    """A file with `spec_text`."""
    path = tmp_path / "system.yaml"
    path.write_text(SPEC)
    return path


@pytest.fixture
def cxloom(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the command in this process: ``cxloom("run", path)``."""
    from cxloom.cli import main

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["cxloom", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            main()
        out, err = capfd.readouterr()
        code = exit_info.value.code
        return Outcome(code if isinstance(code, int) else 0, out, err)

    return call


@pytest.fixture
def subprocess_cxloom() -> Callable[..., Outcome]:
    """Runs the command as a process of its own."""

    def call(*arguments: object, cwd: Path | None = None) -> Outcome:
        done = forked(*arguments, cwd=cwd)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session", autouse=True)
def _points_here() -> Iterator[None]:
    """What measures or searches a system plays its points in this process, also with `jobs`: a worker takes a third of
    a second to start, and is what the tests of sweeps and of studies are about."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("at_points", "runs"):
            patch.setattr(f"cxloom.sweeping.{module}.Supervisor", PointsHere)
        yield


@pytest.fixture(scope="session")
def program() -> str:
    """The program whose accesses are known: exec_support.py."""
    return memory_program()
