"""Recording a program with valgrind: a stand-in for it that says what lackey would, and valgrind itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from validation.examples import slow

from cxloom.base.errors import InputError
from cxloom.trace import READ, WRITE, CacheLevel, CaptureResult, TraceBatch, info, open_trace
from cxloom.trace import capture as record

# Says what the file LACKEY holds, to the log that the command line names, then what the program would have answered.
STAND_IN = f"""#!{sys.executable}
import os, sys, time
options = dict(word[2:].partition("=")[::2] for word in sys.argv[1 : sys.argv.index("--")])
assert options["tool"] == "lackey" and options["trace-mem"] == "yes" and options["trace-sched"] == "yes"
if "STAY" in os.environ:
    with open(os.environ["STAY"], "w") as file:
        file.write(str(os.getpid()))
with open(os.environ["LACKEY"], "rb") as file, open(int(options["log-fd"]), "wb") as log:
    log.write(file.read())
    log.flush()
    if "STAY" in os.environ:
        time.sleep(60)
print("ran", *sys.argv[sys.argv.index("--") + 1 :])
sys.exit(3)
"""


@pytest.fixture
def lackey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts the stand-in first on the path; the argument is what it says."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "valgrind"
    script.write_text(STAND_IN)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def says(text: str) -> None:
        (tmp_path / "lackey.log").write_text(text)
        monkeypatch.setenv("LACKEY", str(tmp_path / "lackey.log"))

    return says


def capture(command: list[str], out: Path, **options: Any) -> CaptureResult:
    return record(command, out, source="valgrind", **options)


def records(path: Path) -> list[tuple[int, ...]]:
    """Address, kind, size, thread and instruction gap of each access."""
    names = ("address", "kind", "size", "thread", "instruction_gap")
    return [
        row
        for batch in open_trace(path)
        for row in zip(*(getattr(batch, n).tolist() for n in names), strict=True)
    ]


SWITCH = "--1--   SCHED[{}]:  acquired lock (VG_(scheduler):timeslice)\n"
TWO_THREADS = (
    "==1== Lackey\n"
    "I  0401,3\n S 7000,8\n"  # page 0
    "I  0404,3\nI  0407,3\n L 7008,8\n"  # same line
    + SWITCH.format(2)
    + "I  0500,1\n L 123f8,16\n"  # page 1, and straddles two lines
    + SWITCH.format(1)
    + "I  040a,3\n M 7010,4\n"
    "I  040e,3\n L 7040,4\n"
)


def test_without_caches_every_access_is_recorded(
    tmp_path: Path, lackey: Callable[[str], None], capfd: Any
) -> None:
    lackey(TWO_THREADS)
    path = tmp_path / "out.parquet"
    result = capture(["ls", "-x"], path, virtual=True)
    assert capfd.readouterr().out == "ran ls -x\n"
    assert (result.accesses, result.instructions, result.levels, result.exit_code) == (6, 6, (), 3)
    assert records(path) == [
        (0x7000, WRITE, 8, 1, 1),
        (0x7008, READ, 8, 1, 2),
        (0x123F8, READ, 16, 2, 1),
        (0x7010, READ, 4, 1, 1),
        (0x7010, WRITE, 4, 1, 0),
        (0x7040, READ, 4, 1, 1),
    ]
    assert open_trace(path).metadata["command"] == "ls -x"
    assert open_trace(path).metadata["address space"] == "virtual"


def test_caches_leave_misses_and_write_backs(tmp_path: Path, lackey: Callable[[str], None]) -> None:
    lackey(TWO_THREADS)
    path = tmp_path / "out.txt"
    result = capture(["ls"], path, caches=[CacheLevel.parse("L1:64B:1")])  # a cache of one line
    # Frames in the order of first touch: 0x7000 is in frame 0, 0x12000 in frame 1.
    assert records(path) == [
        (0x0, READ, 64, 1, 1),  # for the write
        (0x13C0, READ, 64, 2, 1),
        (0x0, WRITE, 64, 2, 0),  # which comes back when thread 2 takes its place
        (0x1400, READ, 64, 2, 0),
        (0x0, READ, 64, 1, 3),  # since the first access of thread 1
        (0x40, READ, 64, 1, 1),
        (0x0, WRITE, 64, 1, 0),
    ]
    (level,) = result.levels
    assert (level.hits, level.misses, level.write_backs) == (2, 5, 2)


def test_skip_and_limit_count_records(tmp_path: Path, lackey: Callable[[str], None]) -> None:
    lines = "".join(f"I  0401,3\n L {0x1000 + 64 * i:x},8\n" for i in range(100_000))
    lackey(lines)
    path = tmp_path / "out.parquet"
    result = capture(["ls"], path, caches=[CacheLevel("L1", "4KiB", 4)], skip=300, limit=70_000, virtual=True)
    assert result.accesses == 70_000
    assert result.exit_code is None
    assert result.levels[0].misses == result.instructions == 70_000
    addresses = np.concatenate([batch.address for batch in open_trace(path)])
    np.testing.assert_array_equal(addresses, 0x1000 + 64 * np.arange(300, 70_300))
    with pytest.raises(InputError, match="no accesses"):
        capture(["ls"], path, skip=200_000)
    assert info(path).accesses == 70_000  # what was there still is


def test_recording_may_be_switched_on_later(tmp_path: Path, lackey: Callable[[str], None]) -> None:
    lackey("".join(f"I  0401,3\n L {64 * i:x},8\n" for i in range(200_000)))
    ran = 0

    def watch(instructions: int, _: int) -> None:
        nonlocal ran
        ran = instructions

    path = tmp_path / "out.parquet"
    result = capture(["ls"], path, watch=watch, recording=lambda: ran > 10_000)
    assert 0 < result.accesses < 200_000
    assert result.instructions == result.accesses
    last = [batch.address[-1] for batch in open_trace(path)][-1]
    first = next(iter(open_trace(path))).address[0]
    assert (int(last) - int(first)) // 64 + 1 == result.accesses


def test_at_the_limit_the_program_is_ended(
    tmp_path: Path, lackey: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lackey(" L 1000,8\n" * 1000)
    monkeypatch.setenv("STAY", str(tmp_path / "pid"))
    begin = time.monotonic()
    assert capture(["ls"], tmp_path / "out.txt", limit=1000).exit_code is None
    assert time.monotonic() - begin < 30
    pid = (tmp_path / "pid").read_text()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_recorded(
    number: signal.Signals, tmp_path: Path, lackey: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lackey(" L 1000,8\n" * 1000)
    monkeypatch.setenv("STAY", str(tmp_path / "pid"))
    command = [
        sys.executable,
        "-m",
        "cxloom",
        "trace",
        "capture",
        "--with",
        "valgrind",
        "--out",
        str(tmp_path / "out.parquet"),
        "--",
        "ls",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "out.parquet").exists() and not list(tmp_path.glob(".out*")):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert b"Traceback" not in out + err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "lackey.log", "out.parquet", "pid"]
    reader = open_trace(tmp_path / "out.parquet")
    assert reader.metadata["ended"] == "interrupted"
    assert sum(len(batch) for batch in reader) == 1000
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_a_program_of_this_folder_is_named_with_its_folder(
    tmp_path: Path, cxloom: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chase-of-mine").touch()
    monkeypatch.chdir(tmp_path)
    done = cxloom("trace", "capture", "--out", tmp_path / "trace.parquet", "--", "chase-of-mine")
    assert done.code == 2
    assert "there is no program 'chase-of-mine'" in done.err
    assert "./chase-of-mine is a file here" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--levels", "L1:32KiB", "--", "ls"], "--levels: not a cache level"),
        (["--levels", "L1:32KiB:8,L2", "--", "ls"], "--levels: not a cache level"),
        (["--roi", "main", "--", "ls"], "--roi: valgrind cannot do this"),
        (["--sample", "1M/2M", "--", "ls"], "--sample: valgrind cannot do this"),
        (["--core", "{width: 4}", "--", "ls"], "--core: valgrind cannot do this"),
        (["--cache", "L1:32KiB:8:lra", "--", "ls"], "did you mean 'lru'"),
        (["--cache", "L1:32KiB:1:lru", "--", "ls"], "policy has no effect"),
        (
            ["--cache", "L1:33KB:8", "--", "ls"],
            "--levels: not a cache level: size must be a multiple of ways x 64 B",
        ),
        (["--levels", "L1:32KiB:8,L2:2MB:16", "--", "ls"], "found: 'L2:2MB:16'"),
        (
            ["--levels", "L1:32KiB:8:lruu", "--", "ls"],
            "--levels: not a cache level: unknown victim policy kind 'lruu'",
        ),
        (["--", "no-such-program"], "there is no program 'no-such-program'"),
        (["--limit", "0", "--", "ls"], "--limit"),
        ([], "missing argument"),
    ],
)
def test_what_cannot_be_captured(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    lackey: Callable[[str], None],
    cxloom: Callable[..., Any],
) -> None:
    lackey(" L 1000,8\n")
    outcome = cxloom("trace", "capture", "--with", "valgrind", "--out", tmp_path / "out.parquet", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert not (tmp_path / "out.parquet").exists()


def test_valgrind_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cxloom: Callable[..., Any]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = cxloom("trace", "capture", "--with", "valgrind", "--out", tmp_path / "out.parquet", "--", "ls")
    assert outcome.code == 2
    assert outcome.err.startswith("error: valgrind is not installed\n")


def test_a_program_that_garbles_the_log(tmp_path: Path, lackey: Callable[[str], None]) -> None:
    for text, problem in (
        ("hello\n", "cannot be read"),
        (" L 10", "cut off"),
        ("==1== \n", "no loads or stores"),
    ):
        lackey(text)
        with pytest.raises(InputError, match=problem) as caught:
            capture(["ls"], tmp_path / "out.txt")
        assert caught.value.line is None
        assert not (tmp_path / "out.txt").exists()


def test_an_instruction_that_valgrind_does_not_know(tmp_path: Path, lackey: Callable[[str], None]) -> None:
    """It says so in the log, in a line that is not marked as its own."""
    lackey(" L 10,4\nvex amd64->IR: unhandled instruction bytes: 0x66 0xF 0xAE 0x30 0xC3 0x0\n")
    with pytest.raises(InputError, match="valgrind does not know an instruction of the program") as caught:
        capture(["ls"], tmp_path / "out.txt")
    assert "--with qemu" in caught.value.allowed
    assert not (tmp_path / "out.txt").exists()


valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")


@valgrind
def test_a_real_program(tmp_path: Path, cxloom: Callable[..., Any]) -> None:
    path = tmp_path / "out.parquet"
    caches = ("--with", "valgrind", "--cache", "L1:32KiB:8", "--cache", "L2:256KiB:8")
    outcome = cxloom("trace", "capture", "--out", path, *caches, "--", "echo", "-n", "hello")
    assert outcome.code == 0
    assert outcome.out == "hello"
    assert "exit code 0" in outcome.err
    found = info(path)
    assert found.instructions > 50_000
    assert found.footprint_bytes > 16 << 10
    assert found.reads > found.writes


@slow
@valgrind
def test_larger_caches_miss_less(tmp_path: Path) -> None:
    misses = []
    for size in ("4KiB", "16KiB", "64KiB"):
        result = capture(["true"], tmp_path / "out.parquet", caches=[CacheLevel("L1", size, 4)])
        misses.append(result.levels[0].misses)
        everything = result.levels[0].hits + result.levels[0].misses
    raw = capture(["true"], tmp_path / "raw.parquet")
    assert misses == sorted(misses, reverse=True)
    assert misses[-1] > 0
    assert everything == pytest.approx(raw.accesses, rel=0.05)  # but for those that straddle lines
    assert isinstance(next(iter(open_trace(tmp_path / "raw.parquet"))), TraceBatch)
