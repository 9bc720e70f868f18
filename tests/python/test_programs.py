"""The programs of examples/programs: they build without warnings, repeat, and check themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from program_support import PERSISTENT, SMALL, built_programs

from cxloom.study.shipped import find
from cxloom.trace.measuring import info

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "studies" / "esf" / "traces"


@pytest.fixture(scope="module")
def built() -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    return built_programs()


def run(built: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([built / name, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", [*SMALL, *PERSISTENT])
def test_a_program_repeats_and_is_right(built: Path, name: str) -> None:
    sizes = (SMALL | PERSISTENT)[name]
    first, second = (run(built, name, *sizes) for _ in range(2))
    assert first.returncode == 0, first.stdout
    assert first.stdout == second.stdout
    assert first.stdout.startswith(f"{name}: ")
    for wrong in ("0", "-3", "many"):
        refused = run(built, name, wrong)
        assert refused.returncode == 2
        assert "not a whole number" in refused.stderr


def test_threads_do_not_race_to_bind_functions(built: Path) -> None:
    """Several threads that call a function for the first time side by side would look it up in no certain order."""
    said = subprocess.run(
        ["readelf", "--dynamic", built / "stream"], capture_output=True, text=True, check=True
    )
    assert "BIND_NOW" in said.stdout


def test_the_seed_changes_what_comes_out(built: Path) -> None:
    costs = {run(built, "mincostflow", *SMALL["mincostflow"], seed).stdout for seed in ("1", "2", "3")}
    assert len(costs) == 3


@pytest.mark.parametrize("name", ["logappend", "hashmap", "cowtree", "queue"])
def test_the_seed_changes_persistent_data(built: Path, name: str) -> None:
    sizes = PERSISTENT[name]
    results = {run(built, name, *sizes, *["7"] * (2 - len(sizes)), seed).stdout for seed in ("1", "2", "3")}
    assert len(results) == 3


def test_the_log_makes_no_difference_to_the_values(built: Path) -> None:
    undo, redo = (run(built, "kvstore", *PERSISTENT["kvstore"], "1", log) for log in ("undo", "redo"))
    assert undo.returncode == redo.returncode == 0
    assert undo.stdout == redo.stdout
    refused = run(built, "kvstore", *PERSISTENT["kvstore"], "1", "both")
    assert (refused.returncode, "usage:" in refused.stderr) == (2, True)


@pytest.mark.parametrize("name", [*list(SMALL)[:6], "compiler"])
def test_the_slice_of_a_trace_is_small_and_has_both_kinds(name: str) -> None:
    path = TRACES / f"{name}.parquet"
    assert path.stat().st_size < 300_000
    found = info(path)
    assert found.accesses == 40_000
    assert 0 < found.reads < 40_000
    assert find("esf/traces").parent == path.parent.parent
