"""Sweeps whose processes are killed at any moment: what is finished stays, and all else comes out as if nothing was."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sweep_support import LATENCY, SPEC, command, is_alive, started, stored, workers
from validation.examples import slow, some

POINTS = 60
SETS = (
    f"--set={LATENCY}=45ns,60ns,75ns",
    f"--set=run.seed={','.join(map(str, range(1, POINTS // 3 + 1)))}",
    "--set=workload.host.requests=20000",  # some 20 ms: a kill mostly falls into one
    "--quiet",
    "--jobs=2",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spec of a sweep, and its directory when nothing has disturbed it."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "spec.yaml").write_text(SPEC)
    subprocess.run(command(folder / "spec.yaml", *SETS, "--out", folder / "out"), check=True)
    return folder


def finish(whole: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Runs the sweep to its end, and looks at what came out."""
    done = subprocess.run(
        command(whole / "spec.yaml", *SETS, "--out", out), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    as_if_undisturbed(whole, out)
    return done


def as_if_undisturbed(whole: Path, out: Path) -> None:
    assert (out / "results.parquet").read_bytes() == (whole / "out" / "results.parquet").read_bytes()
    assert stored(out) == stored(whole / "out")
    left = [path.name for path in out.rglob("*.tmp")]
    assert len(left) <= 1, left  # of the last worker that was killed, which the next sweep removes


def contents(out: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (out / "points").glob("*.json")}


@pytest.mark.parametrize("seed", some([1, 2]))
def test_workers_may_be_killed(whole: Path, tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    process = started(tmp_path, whole / "spec.yaml", *SETS)
    killed = 0
    for _ in range(5):
        time.sleep(draw.uniform(0, 0.1))
        if process.poll() is None and (pids := workers(process)):
            os.kill(draw.choice(pids), signal.SIGKILL)
            killed += 1
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert (out, err) == ("", "")
    assert killed > 0
    as_if_undisturbed(whole, tmp_path)


@slow
@pytest.mark.parametrize("seed", some([1, 2]))
def test_the_driver_may_be_killed(whole: Path, tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(3):
        before = contents(tmp_path)
        process = started(tmp_path, whole / "spec.yaml", *SETS, points=len(before) + draw.randrange(1, 12))
        time.sleep(draw.uniform(0, 0.03))
        pids = workers(process)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 10
        while any(map(is_alive, pids)):
            assert time.monotonic() < deadline, "workers outlive their driver"
            time.sleep(0.01)
        after = contents(tmp_path)
        assert {path: after[path] for path in before} == before, "finished points are run again"
        assert len(after) > len(before)
    assert not (tmp_path / "results.parquet").exists()
    last = contents(tmp_path)
    finish(whole, tmp_path)
    assert {path: data for path, data in contents(tmp_path).items() if path in last} == last


@pytest.mark.parametrize("number", some([signal.SIGINT, signal.SIGTERM]))
def test_an_interrupt_says_how_to_go_on(whole: Path, tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path, whole / "spec.yaml", *SETS, points=5)
    pids = workers(process)
    assert pids
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert out == ""
    assert (
        err == f"error: interrupted: what is finished is in {tmp_path}; the same command goes on from there\n"
    )
    assert not any(map(is_alive, pids))
    before = contents(tmp_path)
    finish(whole, tmp_path)
    assert {path: data for path, data in contents(tmp_path).items() if path in before} == before


def test_a_terminal_sends_ctrl_c_to_all(whole: Path, tmp_path: Path) -> None:
    """The workers hear it with the driver, as they are of its group, and say nothing."""
    process = subprocess.Popen(
        command(whole / "spec.yaml", *SETS, "--out", tmp_path),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not workers(process):
        time.sleep(0.002)
    time.sleep(0.05)  # Python starts
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err.count("\n") == 1, err


@slow
def test_two_drivers_may_share_a_directory(whole: Path, tmp_path: Path) -> None:
    both = [
        subprocess.Popen(
            command(whole / "spec.yaml", *SETS, "--out", tmp_path), stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in both:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    as_if_undisturbed(whole, tmp_path)
    assert list(tmp_path.rglob("*.tmp")) == []


def damages(data: bytes) -> Iterator[bytes]:
    """What a full disk, a bad one, or a person may make of a file."""
    yield b""
    yield data[: len(data) // 2]
    yield data[:-1]
    yield data[:-4] + b"}}\n"
    yield data.replace(b'"requests":20000', b'"requests":20001', 1)
    yield bytes([data[0] ^ 1]) + data[1:]
    yield b"\0" * len(data)
    yield data + data
    yield b"{}"


def test_damaged_points_are_run_anew(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole / "out", out)
    files = sorted((out / "points").iterdir())
    good = contents(out)
    kinds = list(damages(good[files[0]]))
    for file, damaged in zip(
        files, (list(damages(good[file]))[i] for i, file in enumerate(files[: len(kinds)])), strict=False
    ):
        assert damaged != good[file]
        file.write_bytes(damaged)
    files[-1].write_bytes(good[files[-2]])  # that of another point
    files[-3].unlink()
    (out / "points" / f".{files[0].name}.1-00.tmp").write_text("left by a killed worker")
    (out / "results.parquet").write_text("damaged, too")
    finish(whole, out)
    assert list(out.rglob("*.tmp")) == []
    touched = {*files[: len(kinds)], files[-1], files[-3]}
    assert {path for path, data in contents(out).items() if data == good[path]} >= set(files) - touched
