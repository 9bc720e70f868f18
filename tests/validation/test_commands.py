"""Every command on every system: it answers or says why not, in bounded time, and nothing ends in a traceback.

The systems are drawn from all generators of this folder, with features of any system besides, so that each command
meets systems that its own tests do not use. What it says is judged by what holds whatever the system. CXLOOM_SYSTEMS
says how many: `make commands-check` draws 3000.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from forked import forked
from hypothesis import HealthCheck, Phase, given, seed, settings
from validation.featured_systems import TRACE, TRACE_TEXT, featured
from validation.judged import (
    Values,
    judge_again,
    judge_explanation,
    judge_latencies,
    judge_numbers,
    judge_run,
    judge_table,
)
from validation.systems import Spec

COUNT = int(os.environ.get("CXLOOM_SYSTEMS", "4"))
SEED = int(os.environ.get("CXLOOM_SEED", "1"))
CPU_SECONDS = 30
"""More than any command takes on such systems."""
TOOLS = ("latency", "matrix", "sizes", "loaded", "bandwidth", "stream")
EVERY_TENTH = (
    *((f"measure {tool}", ("measure", "SPEC", tool, "--json", "--jobs", "1")) for tool in TOOLS),
    ("explain", ("explain", "SPEC", "--json")),
    ("crash", ("crash", "SPEC", "--at", "500ns", "--json")),
    ("run and report", ("run", "SPEC", "--json", "--out", "OUT")),
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
    @given(featured())
    def draw(spec: Spec) -> None:
        specs.append(spec)

    draw()
    return specs


def cxloom(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with a bound on its time: also of what waits without an end."""
    return forked(*words, cwd=folder, seconds=20 * CPU_SECONDS, cpu_seconds=CPU_SECONDS)


def check_answer(done: subprocess.CompletedProcess[str]) -> None:
    """It finished, or was diagnosed, or refused the system in words; what it printed are finite numbers."""
    told = f"{done.args}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert done.returncode in (0, 1, 2), told
    assert "Traceback" not in done.stderr, told
    assert "bug" not in done.stderr, told
    if done.returncode == 2:
        assert done.stderr.startswith("error: "), told
    if done.returncode == 0 and "--json" in done.args:
        assert not list(judge_numbers(json.loads(done.stdout))), told


def folder_with(spec: Spec, folder: Path) -> Path:
    """A folder with the spec in it, which asks for rows, and the trace that it may replay."""
    recorded = {**spec, "outputs": {**spec.get("outputs", {}), "requests": True}}
    (folder / "SPEC").write_text(json.dumps(recorded))
    (folder / TRACE).write_text(TRACE_TEXT)
    return folder


def rows_in(folder: Path) -> dict[str, np.ndarray]:
    """The rows of requests that a run has written."""
    table = pq.read_table(folder / "requests.parquet")
    return {name: table.column(name).to_numpy() for name in table.column_names}


@pytest.mark.parametrize("number", range(COUNT))
def test_a_run_ends_or_is_diagnosed(number: int, tmp_path: Path) -> None:
    if number >= len(drawn()):
        pytest.skip("fewer systems were drawn: duplicates are left out")
    folder = folder_with(drawn()[number], tmp_path)
    done = cxloom(folder, "run", "SPEC", "--json", "--out", "OUT")
    check_answer(done)
    if done.returncode == 0:
        assert not list(judge_run(json.loads(done.stdout), rows_in(folder / "OUT")))
    # A table of routes may be drawn that leads in a circle, or pages for which there is no room.
    checked = cxloom(folder, "check", "SPEC")
    if (
        "out of memory" in done.stderr
    ):  # memory fails and comes back while pages are touched: only a run knows when
        assert checked.returncode in (0, 2), checked.stderr
    else:
        expected = (2, done.stderr) if done.returncode == 2 else (0, "")
        assert (checked.returncode, checked.stderr) == expected


def judge_report(summary: Values, folder: Path) -> Iterator[str]:
    """The table and the page of a run are of its numbers, and its spec as it was resolved gives the same ones."""
    yield from judge_table(summary, cxloom(folder, "run", "SPEC").stdout)
    yield from judge_again(
        summary, json.loads(cxloom(folder, "run", "OUT/spec.yaml", "--json").stdout), "spec.yaml"
    )
    page = cxloom(folder, "report", "OUT")
    check_answer(page)
    if page.returncode != 0:
        yield page.stderr


JUDGES: dict[str, Callable[[Values], Iterator[str]]] = {
    "measure latency": judge_latencies,
    "explain": judge_explanation,
}
"""What holds of the answers of single commands."""


@pytest.mark.parametrize("name", [name for name, _ in EVERY_TENTH])
@pytest.mark.parametrize("number", range(0, COUNT, 10))
def test_every_command_answers(number: int, name: str, tmp_path: Path) -> None:
    if number >= len(drawn()):
        pytest.skip("fewer systems were drawn: duplicates are left out")
    folder = folder_with(drawn()[number], tmp_path)
    done = cxloom(folder, *dict(EVERY_TENTH)[name])
    check_answer(done)
    if done.returncode != 0:
        return
    if name in JUDGES:
        assert not list(JUDGES[name](json.loads(done.stdout)))
    if name == "run and report":
        assert not list(judge_report(json.loads(done.stdout), folder))
