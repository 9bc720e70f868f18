"""Commands as copies of a process (tests/forked.py): they are like others, and nothing of one is left to the next."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import forked as module
import pytest
from forked import forked


def without_cost(said: str) -> str:
    return re.sub(r"^.* events in .*$", "", said, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("nonsense",),
        ("components", "bus", "--json"),
        ("run", "system.yaml"),
        ("run", "system.yaml", "--set", "devices.bus.bandwith=1GB/s"),
        ("run", "system.yaml", "--out", "system.yaml/below"),
    ],
)
def test_a_copy_says_and_ends_as_a_process_of_its_own_does(words: tuple[str, ...], spec_file: Path) -> None:
    command = [sys.executable, "-m", "cxloom", *words]
    folder = spec_file.parent
    own = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    copy = forked(*words, cwd=folder)
    assert copy.returncode == own.returncode
    assert without_cost(copy.stdout) == without_cost(own.stdout)
    assert copy.stderr == own.stderr


def test_each_copy_has_its_folder(tmp_path: Path, spec_text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "system.yaml").write_text(spec_text.replace("mem[", f"{name}["))
        assert f"{name}0" in forked("check", "system.yaml", cwd=tmp_path / name).stdout
    monkeypatch.chdir(tmp_path / "one")
    assert "one0" in forked("check", "system.yaml").stdout


def test_each_copy_has_its_environment(spec_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert forked("run", spec_file, env={"CXLOOM_PROGRESS": "some"}).stderr.count("found: 'some'") == 1
    monkeypatch.setenv("CXLOOM_PROGRESS", "more")
    assert forked("run", spec_file).stderr.count("found: 'more'") == 1
    assert forked("run", spec_file, env={}).returncode == 0


def test_a_copy_that_takes_too_long_is_ended(spec_file: Path) -> None:
    endless = ("run", spec_file, "--set", "workload.host.requests=100000000000")
    with pytest.raises(subprocess.TimeoutExpired):
        forked(*endless, seconds=0.5)
    assert forked(*endless, cpu_seconds=1).returncode == -signal.SIGKILL
    assert forked("check", spec_file).returncode == 0


def test_what_counts_when_a_process_begins_is_refused() -> None:
    with pytest.raises(ValueError, match="PYTHONOPTIMIZE counts when a process begins"):
        forked("--help", env={"PYTHONOPTIMIZE": "1"})


def test_a_process_with_two_threads_is_not_copied(spec_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow starts one when it is loaded, unless it is told not to."""
    monkeypatch.setattr(module, "ONE_THREAD", {})
    server = module.Server()
    monkeypatch.setattr(module, "server", lambda _tests: server)
    rows = ("--set", "outputs.requests=true")
    assert forked("run", spec_file, *rows, "--out", spec_file.parent / "out").returncode == 0
    with pytest.raises(RuntimeError, match=r"(?s)fork_server.py ended with 1:.*a second thread .*pyarrow"):
        forked("--help")
