"""Commands whose standard streams are closed: a program has what it has by itself, and no file is written into."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from emulated_programs import PROGRAMS, needs_qemu
from exec_support import spec
from validation.examples import pairs

import cxloom as cx
from cxloom.trace import open_trace

STREAMS = ("<&-", ">&-", "2>&-")
CLOSED = [
    closed for count in range(4) for closed in itertools.combinations(STREAMS, count)
]  # all combinations
TRIED = pairs(["exec", "trace capture", "run"], CLOSED)
"""In the slice each combination with one of the commands."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("program") / "descriptors"
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-static", PROGRAMS / "descriptors.c", "-o", file], check=True)
    return str(file)


def started(closed: tuple[str, ...], *command: object) -> subprocess.Popen[bytes]:
    """A command with these streams closed, and the others as pipes."""
    line = f'exec "$@" {" ".join(closed)}'
    words = ["sh", "-c", line, "sh", *map(str, command)]
    return subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=True
    )


def outcome(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(b"x", timeout=300)
    return process.returncode, out, err


def tried(command: str) -> list[tuple[str, ...]]:
    return [closed for name, closed in TRIED if name == command]


def beside_itself(program: str, folder: Path, name: str, *command: object) -> dict[tuple[str, ...], Any]:
    """Runs the program under a command, and by itself, in every way: the exit code, the output and the open descriptors
    have to be the same. Gives what the command said."""
    running = {}
    for number, closed in enumerate(tried(name)):
        words = [*name.split(), *(str(word).replace("NUMBER", str(number)) for word in command)]
        running[closed] = (
            started(closed, program, folder / f"{number}.own"),
            started(
                closed, sys.executable, "-m", "cxloom", *words, "--", program, folder / f"{number}.under"
            ),
        )
    said = {}
    for number, (closed, (own, under)) in enumerate(running.items()):
        code, out, _ = outcome(own)
        found = outcome(under)
        assert found[:2] == (code, out), (closed, found)
        descriptors = (folder / f"{number}.own").read_text(), (folder / f"{number}.under").read_text()
        assert descriptors[0] == descriptors[1], closed
        said[closed] = found[2]
    return said


@needs_qemu
def test_a_program_that_is_run(program: str, tmp_path: Path) -> None:
    said = beside_itself(program, tmp_path, "exec", "--system", spec(tmp_path))
    for closed, err in said.items():
        assert (b"instructions per cycle" in err) == ("2>&-" not in closed)


@needs_qemu
def test_a_program_that_is_recorded(program: str, tmp_path: Path) -> None:
    beside_itself(program, tmp_path, "trace capture", "--out", tmp_path / "NUMBER.parquet")
    for number in range(len(tried("trace capture"))):
        assert open_trace(tmp_path / f"{number}.parquet").length


def test_results_of_a_run(tmp_path: Path) -> None:
    text = (
        spec(tmp_path).read_text() + "workload: {host: {pattern: random, requests: 100, footprint: 1MiB}}\n"
    )
    file = tmp_path / "run.yaml"
    file.write_text(text)
    running = [
        started(
            closed, sys.executable, "-m", "cxloom", "run", file, "--json", "--out", tmp_path / str(number)
        )
        for number, closed in enumerate(tried("run"))
    ]
    for number, (closed, process) in enumerate(zip(tried("run"), running, strict=True)):
        code, out, err = outcome(process)
        assert cx.Result.load(tmp_path / str(number)).count == 100
        if ">&-" in closed:
            assert code == 2
            assert ("2>&-" in closed) != (b"standard output cannot be written: it is closed" in err)
        else:
            assert code == 0
            assert json.loads(out)["requests"] == 100
