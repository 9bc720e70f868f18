"""Every row of the table of the worst inputs ends quickly, with its exit code and its reason, and leaves nothing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from worst_inputs import Bad, table

SECONDS = 3.0
"""Of processor time. What is too much takes minutes; on a machine with other work, after all that earlier
tests have left behind, what takes a twentieth of a second may take one."""
BYTES = 1 << 30

TABLE = table()


def test_there_are_as_many_as_were_promised() -> None:
    assert len({bad.name for bad in TABLE}) >= 150


@pytest.mark.parametrize("bad", [bad for bad in TABLE if not bad.apart], ids=lambda bad: bad.name)
def test_here(bad: Bad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cxloom: Callable[..., Any]) -> None:
    monkeypatch.chdir(tmp_path)
    bad.make(tmp_path)
    before = everything(tmp_path)
    started = time.process_time()
    with at_most_memory(BYTES):
        outcome = cxloom(*bad.command)
    seconds = time.process_time() - started
    judge(bad, outcome.code, outcome.out, outcome.err, seconds)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("bad", [bad for bad in TABLE if bad.apart], ids=lambda bad: bad.name)
def test_in_a_process_of_its_own(bad: Bad, tmp_path: Path) -> None:
    bad.make(tmp_path)
    before = everything(tmp_path)
    out, err = tmp_path.with_suffix(".out"), tmp_path.with_suffix(".err")
    with out.open("w") as stdout, err.open("w") as stderr:
        command = [sys.executable, "-m", "cxloom", *bad.command]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    # What the interpreter and its libraries take to start is not the input's.
    seconds = usage.ru_utime + usage.ru_stime - SECONDS
    judge(bad, process.returncode, out.read_text(), err.read_text(), seconds)
    assert usage.ru_maxrss * 1024 < BYTES
    assert everything(tmp_path) == before


def judge(bad: Bad, code: int, out: str, err: str, seconds: float) -> None:
    assert code == bad.code, err
    assert out == ""
    place = "" if bad.line is None else f"bad.yaml:{bad.line}:"
    assert err.startswith(f"error: {place}"), err
    for words in [bad.says] if isinstance(bad.says, str) else bad.says:
        assert words in err, err
    assert "Traceback" not in err
    assert not bad.alone or err.count("error: ") == 1, err
    assert seconds < SECONDS


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@contextmanager
def at_most_memory(more: int) -> Iterator[None]:
    """Lets this process have so much more memory, and not a byte beyond."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
