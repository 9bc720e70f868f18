"""Every command that reads a file refuses what is none, at once and with its name: whatever stands in its place."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Outcome
from foreign_traces import FORMS
from test_no_waiting import impatience
from validation.examples import some

import cxloom as cx
from cxloom.sweeping import rows
from cxloom.trace import READ, TraceBatch, info, open_trace, write_trace

__all__ = ["impatience"]

SPEC = """\
devices:
  host: {kind: host, core: {}}
  mem: {kind: memory, capacity: 1GiB, media: MEDIA}
links: [{between: [host, mem]}]
address_map: [{to: mem, persistence: media}]
workload: {host: WORK}
"""
FIXED = "{kind: fixed, latency: 45ns}"
RANDOM = "{pattern: random, requests: 10, footprint: 1MiB}"
COMMANDS = {
    "run": "run FILE",
    "check": "check FILE",
    "resolve": "resolve FILE",
    "draw": "draw FILE",
    "explain": "explain FILE",
    "measure": "measure FILE latency",
    "crash": "crash FILE --at 10ns",
    "sweep": "sweep FILE --set run.seed=1,2 --out swept",
    "points of CSV": "sweep good.yaml --points FILE.csv --out swept",
    "points of Parquet": "sweep good.yaml --points FILE.parquet --out swept",
    "study": "study run FILE",
    "a study's system": "study run study.yaml",
    "report": "report FILE",
    "trace info": "trace info FILE",
    "trace convert": "trace convert FILE out.parquet",
    "a trace of a run": "run trace.yaml",
    "a trace of a check": "check trace.yaml",
    "a curve": "run curve.yaml",
    "exec": "exec --system FILE --replay t.txt",
    "replay": "exec --system good.yaml --replay FILE",
    "a program": "exec --system good.yaml -- ./FILE",
    "a captured program": "trace capture -- ./FILE",
    "a plug-in": "run good.yaml --plugin ./FILE",
}
"""Each command line, with FILE for what is read."""


def listening(path: str) -> None:
    """Makes a socket."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


THINGS: dict[str, Callable[[str], object]] = {
    "a pipe": os.mkfifo,
    "a directory": os.mkdir,
    "a device": lambda path: os.symlink("/dev/null", path),
    "an empty file": lambda path: Path(path).touch(),
    "a socket": listening,
}
SAYS = {
    "an empty file": "the file is empty|an empty (file|table)|no points|not Parquet|not a (directory|program)",
}
"""What is said of them; of all others that they are no file, no directory or no program, or what they are."""
NO_FILE = "not a (regular )?(file|directory|program)|that nobody writes to|no results here"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    good = SPEC.replace("MEDIA", FIXED).replace("WORK", RANDOM)
    Path("good.yaml").write_text(good)
    Path("trace.yaml").write_text(SPEC.replace("MEDIA", FIXED).replace("WORK", "{trace: FILE}"))
    Path("curve.yaml").write_text(SPEC.replace("MEDIA", "{kind: curve, file: FILE}").replace("WORK", RANDOM))
    Path("study.yaml").write_text("title: a study\nsystem: FILE\nsweep: {run.seed: [1]}\n")
    Path("t.txt").write_text("0x40 R\n")
    return tmp_path


@pytest.mark.parametrize("thing", some(THINGS))
def test_what_is_no_file_is_refused_at_once(folder: Path, cxloom: Callable[..., Outcome], thing: str) -> None:
    wrong = []
    for what, line in COMMANDS.items():
        name = next(name for name in ("FILE.csv", "FILE.parquet", "FILE") if name in line or name == "FILE")
        THINGS[thing](name)
        if thing != "a device":  # a program must be one that could be run
            Path(name).chmod(0o755)
        done = cxloom(*line.split())
        said = re.search(SAYS.get(thing, NO_FILE), done.err)
        if (done.code, done.out) != (2, "") or said is None or len(done.err.splitlines()) > 5:
            wrong.append(f"{what}: {done.code}\n{done.out}{done.err}")
        (Path(name).rmdir if thing == "a directory" else Path(name).unlink)()
    assert not wrong, "\n".join(wrong)


def test_a_pipe_is_read_as_long_as_somebody_writes_to_it(folder: Path) -> None:
    """Who writes may take their time, and a pipe in which nothing is yet is none that nobody writes to."""
    os.mkfifo("pipe")
    with subprocess.Popen(["sh", "-c", "exec >pipe; sleep 0.1; echo 0x40 R 1; echo 0x80 W 2"]):
        while True:
            with contextlib.suppress(cx.InputError):  # until the other process has begun
                reader = open_trace("pipe")
                break
        assert [len(batch) for batch in reader] == [2]


def test_signals_end_a_wait_for_a_pipe(folder: Path) -> None:
    os.mkfifo("pipe")
    command = [sys.executable, "-m", "cxloom", "trace", "info", "pipe"]
    holder = os.open("pipe", os.O_RDWR)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not Path(f"/proc/{process.pid}/wchan").read_text().endswith("pipe_read"):
            time.sleep(0.01)
            assert process.poll() is None
        process.terminate()
        assert process.communicate(timeout=20) == (None, "error: interrupted\n")
    os.close(holder)
    assert process.returncode == 1


MARK = b"\xef\xbb\xbf"
TEXTS = {form: about for form, about in FORMS.items() if about.has_lines}


@pytest.mark.parametrize("form", [*TEXTS, "text", "lackey", "text with a header"])
def test_a_text_may_have_a_byte_order_mark(folder: Path, form: str) -> None:
    ours = {
        "text": b"0x40 R 5\n",
        "text with a header": b'# cxloom-trace 2: address kind\n# metadata: {"a": "b"}\n0x40 R\n',
        "lackey": b" L 1000,8\n",
    }
    about = TEXTS.get(form)
    content = ours[form] if about is None else about.content
    options: dict[str, Any] = {} if about is None else dict(about.options)
    if about is not None and about.needs_format:
        options["format"] = form
    for name, data in (
        ("plain", content),
        ("marked", MARK + content),
        ("packed", gzip.compress(MARK + content)),
    ):
        Path(name).write_bytes(data)
    plain, *others = [open_trace(name, **options) for name in ("plain", "marked", "packed")]
    for other in others:
        assert (other.format, other.metadata) == (plain.format, plain.metadata)
        assert info(other.path, **options).accesses == info(plain.path, **options).accesses
    Path("marked").write_bytes(MARK + b"?\n" + content)
    with pytest.raises(cx.InputError):
        info("marked", **options)


def test_specs_points_and_curves_may_have_a_byte_order_mark(
    folder: Path, cxloom: Callable[..., Outcome]
) -> None:
    for name in ("good.yaml", "curve.yaml", "study.yaml"):
        Path(name).write_bytes(MARK + Path(name).read_bytes())
    Path("FILE").write_bytes(MARK + b"reads,bandwidth_gb_per_s,latency_ns\n1,1,100\n1,10,200\n")
    Path("points.csv").write_bytes(MARK + b"devices.host.queue\n4\n")
    assert cxloom("check", "good.yaml").code == 0
    assert cxloom("check", "curve.yaml").code == 0
    assert rows.read("points.csv")[0].keys() == {"devices.host.queue"}


@pytest.mark.parametrize(
    ("asked", "is_", "found"),
    [
        ("msr", "parquet", "not a trace in the form msr, which is text: found a Parquet file"),
        (
            "champsim",
            "parquet",
            "not a trace in the form champsim, which is binary data: found a Parquet file",
        ),
        ("champsim", "text", "not a trace in the form champsim, which is binary data: found text"),
        ("parquet", "text", "not a Parquet file: found text"),
        ("msr", "champsim", "not a trace in the form msr, which is text: found binary data"),
    ],
)
def test_a_file_of_another_form_than_asked_for_says_both(
    folder: Path, cxloom: Callable[..., Outcome], asked: str, is_: str, found: str
) -> None:
    write_trace("ours.parquet", [TraceBatch.of([64], [READ])])
    Path("ours.parquet").rename("parquet")
    Path("text").write_text("0x40 R 5\n")
    Path("champsim").write_bytes(FORMS["champsim"].content)
    done = cxloom("trace", "info", is_, "--format", asked)
    assert done.code == 2
    problem, _, has = found.partition(": found ")
    assert f"{is_}: --format: {problem}\n  found: {has}\n" in done.err
