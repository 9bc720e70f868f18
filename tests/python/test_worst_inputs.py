"""Every row of the table of the worst inputs ends quickly, with its exit code and its reason, and leaves nothing."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from validation.examples import some
from worst_inputs import Bad, table

SECONDS = 3.0
"""Seconds of processor time. What is too much takes minutes; on a machine with other work, after all that earlier
tests have left behind, what takes a twentieth of a second may take one."""
BYTES = 1 << 30

TABLE = table()


def test_there_are_as_many_as_were_promised() -> None:
    assert len({bad.name for bad in TABLE}) >= 150


@pytest.mark.parametrize("bad", some(bad for bad in TABLE if not bad.apart), ids=lambda bad: bad.name)
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


# A process counts as its own the memory of the one that forked it: this one is small, that of the tests is not.
LAUNCHER = """
import json, os, subprocess, sys
with open(sys.argv[1], "w") as out, open(sys.argv[2], "w") as err:
    process = subprocess.Popen(sys.argv[3:], stdout=out, stderr=err)
    _, status, usage = os.wait4(process.pid, 0)
seconds = usage.ru_utime + usage.ru_stime
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "seconds": seconds, "bytes": usage.ru_maxrss * 1024}))
"""


@pytest.mark.parametrize("bad", [bad for bad in TABLE if bad.apart], ids=lambda bad: bad.name)
def test_in_a_process_of_its_own(bad: Bad, tmp_path: Path) -> None:
    bad.make(tmp_path)
    before = everything(tmp_path)
    out, err = tmp_path.with_suffix(".out"), tmp_path.with_suffix(".err")
    command = [
        sys.executable,
        "-c",
        LAUNCHER,
        str(out),
        str(err),
        sys.executable,
        "-m",
        "cxloom",
        *bad.command,
    ]
    launched = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    used = json.loads(launched.stdout)
    # What the interpreter and its libraries take to start is not the input's.
    judge(bad, used["code"], out.read_text(), err.read_text(), used["seconds"] - SECONDS)
    assert used["bytes"] < BYTES
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
