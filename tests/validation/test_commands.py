"""Every command on every system: it answers or says why not, in bounded time, and nothing ends in a traceback.

The systems are drawn from all generators of this folder, so that each command meets systems that its own tests do not
use. CXLOOM_SYSTEMS says how many: `make commands-check` draws 3000.
"""

from __future__ import annotations

import functools
import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from validation.coherent_systems import coherent_systems
from validation.mixed_systems import mixed_systems
from validation.rich_systems import rich_systems
from validation.systems import Spec
from validation.test_failures import failing_systems
from validation.test_given_routes import tabled_systems
from validation.test_logical_devices import shared
from validation.test_persist import persistent_systems
from validation.test_virtual_switches import cut_switches

COUNT = int(os.environ.get("CXLOOM_SYSTEMS", "10"))
SEED = int(os.environ.get("CXLOOM_SEED", "1"))
CPU_SECONDS = 30
"""More than any command takes on such systems."""
ANY = st.one_of(
    rich_systems(),
    coherent_systems(),
    mixed_systems(),
    failing_systems(),
    tabled_systems(),
    shared(),
    persistent_systems(),
    cut_switches(),
)
TOOLS = ("latency", "matrix", "sizes", "loaded", "bandwidth", "stream")
EVERY_TENTH = (
    *((f"measure {tool}", ("measure", "SPEC", tool, "--json", "--jobs", "1")) for tool in TOOLS),
    ("explain", ("explain", "SPEC", "--json")),
    ("crash", ("crash", "SPEC", "--at", "500ns", "--json")),
    ("run and report", ("run", "SPEC", "--quiet", "--out", "OUT")),
    ("draw", ("draw", "SPEC", "--out", "OUT.svg")),
)


@functools.cache
def drawn() -> list[Spec]:
    """The systems, the same ones in each process."""
    specs: list[Spec] = []

    @seed(SEED)
    @settings(
        max_examples=COUNT,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(ANY)
    def draw(spec: Spec) -> None:
        specs.append(spec)

    draw()
    return specs


def cxloom(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with a bound on its time: also of what waits without an end."""

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))

    return subprocess.run(
        [sys.executable, "-m", "cxloom", *words],
        capture_output=True,
        text=True,
        timeout=20 * CPU_SECONDS,
        cwd=folder,
        check=False,
        preexec_fn=bounded,
    )


def numbers(plain: Any) -> Iterator[float]:
    """Every number of a result."""
    if isinstance(plain, dict):
        plain = list(plain.values())
    if isinstance(plain, list):
        for each in plain:
            yield from numbers(each)
    elif isinstance(plain, float):
        yield plain


def check_answer(done: subprocess.CompletedProcess[str]) -> None:
    """It finished, or was diagnosed, or refused the system in words; what it printed are finite numbers."""
    told = f"{done.args}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert done.returncode in (0, 1, 2), told
    assert "Traceback" not in done.stderr, told
    assert "bug" not in done.stderr, told
    if done.returncode == 2:
        assert done.stderr.startswith("error: "), told
    if done.returncode == 0 and "--json" in done.args:
        assert all(math.isfinite(number) for number in numbers(json.loads(done.stdout))), told


def folder_with(spec: Spec, folder: Path) -> Path:
    """A folder with the spec in it."""
    (folder / "SPEC").write_text(json.dumps(spec))
    return folder


@pytest.mark.parametrize("number", range(COUNT))
def test_a_run_ends_or_is_diagnosed(number: int, tmp_path: Path) -> None:
    if number >= len(drawn()):
        pytest.skip("fewer systems were drawn: duplicates are left out")
    folder = folder_with(drawn()[number], tmp_path)
    done = cxloom(folder, "run", "SPEC", "--json")
    check_answer(done)
    # A table of routes may be drawn that leads in a circle.
    assert cxloom(folder, "check", "SPEC").returncode == (2 if done.returncode == 2 else 0), done.stderr


@pytest.mark.parametrize("name", [name for name, _ in EVERY_TENTH])
@pytest.mark.parametrize("number", range(0, COUNT, 10))
def test_every_command_answers(number: int, name: str, tmp_path: Path) -> None:
    if number >= len(drawn()):
        pytest.skip("fewer systems were drawn: duplicates are left out")
    folder = folder_with(drawn()[number], tmp_path)
    check_answer(cxloom(folder, *dict(EVERY_TENTH)[name]))
    if name == "run and report" and (folder / "OUT").exists():
        done = cxloom(folder, "report", "OUT")
        check_answer(done)
        assert done.returncode == 0, done.stderr
