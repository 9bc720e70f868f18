"""The traces of programs with persistent memory that a study replays: small, and what the programs make durable now."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from program_support import PROGRAMS, built_programs
from test_persist_programs import flush_rows
from test_trace_emulator import needs_qemu
from validation.examples import some

from cxloom.study.shipped import find
from cxloom.trace import CacheLevel, capture, info

TRACES = Path(__file__).parents[2] / "studies" / "pswitch" / "traces"
POOL = 0x10000000000
NAMES = sorted(path.stem for path in TRACES.glob("*.parquet"))
MAKEFILE = (PROGRAMS / "Makefile").read_text()


@pytest.fixture(scope="module")
def built() -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    return built_programs()


def test_there_is_one_of_each() -> None:
    listed = re.search(r"^PERSISTENT_TRACES := (.*)$", MAKEFILE, re.MULTILINE)
    assert listed is not None
    assert sorted(listed[1].split()) == NAMES
    assert sum(path.stat().st_size for path in TRACES.iterdir()) < 250_000
    assert find("pswitch/traces").parent == TRACES.parent


@needs_qemu
@pytest.mark.parametrize("name", some(NAMES))
def test_a_trace_is_what_its_program_makes_durable(built: Path, tmp_path: Path, name: str) -> None:
    """The same lines of the pool in the same order, whatever compiler and C library there are."""
    command = re.search(rf"^{name}-persists := (.*)$", MAKEFILE, re.MULTILINE)
    assert command is not None
    program, *arguments = command[1].split()
    trace = tmp_path / "t.parquet"
    caches = [CacheLevel("L1", "32KiB", 8), CacheLevel("L2", "256KiB", 8)]
    capture([str(built / program), *arguments], trace, caches=caches, region="marks", virtual=True)
    now, before = flush_rows(trace)
    kept, kept_before = flush_rows(TRACES / f"{name}.parquet")
    assert now == kept
    assert before == kept_before
    addresses = np.array([address for address, _ in kept])
    assert ((addresses >= POOL) & (addresses < POOL + (1 << 30))).all()
    assert info(TRACES / f"{name}.parquet").flushes == len(kept) > 2000


@needs_qemu
def test_a_recording_repeats_byte_by_byte(built: Path, tmp_path: Path) -> None:
    traces = [tmp_path / "one.parquet", tmp_path / "other.parquet"]
    for trace in traces:
        capture([str(built / "queue-out"), "300"], trace, region="marks", virtual=True)
    assert traces[0].read_bytes() == traces[1].read_bytes()


def test_the_makefile_checks_each_program() -> None:
    subprocess.run(["make", "-s", "-n", "-C", PROGRAMS, "check"], check=True, capture_output=True)
    checked = MAKEFILE[MAKEFILE.index("check: all") : MAKEFILE.index("# What is run for each trace")]
    assert all(f"$(BUILD)/{name} " in checked for name in ("logappend", "hashmap", "cowtree", "queue"))
